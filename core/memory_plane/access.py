"""The keys of the hub: the master token in a file of its owner, and what is derived from it.

An agent's token is made from the master token, so nothing but that one file is ever stored; a new master token ends
them all. A proof shows that a hub knows a token without showing the token.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import logging
import os
import secrets
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, unquote

from memory_plane.errors import ConfigurationError, MemoryPlaneError

logger = logging.getLogger(__name__)

SHORTEST = 32
LONGEST_CHALLENGE = 128
_AGENT_TOKEN = "mp"


def token_path(home: Path) -> Path:
    """Return where the token of this home is kept."""
    return home / "token"


def read_token(home: Path) -> str | None:
    """Return the token, or None where there is none yet; close the file to others if it was open to them."""
    path = token_path(home)
    try:
        token = path.read_text("utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read ({error}); make it readable or delete it") from None
    if len(token) < SHORTEST or not token.isascii():
        raise ConfigurationError(f"{path}: holds no token of {SHORTEST} characters or more; delete it to get a new one")
    if os.name == "posix" and path.stat().st_mode & 0o077:
        logger.warning("%s was readable by others; closed it to them. Delete it to get a new token", path)
        path.chmod(0o600)
    return token


def ensure_token(home: Path) -> str:
    """Return the token, making it on the first start; processes that start at once agree on one."""
    if (token := read_token(home)) is not None:
        return token
    draft = _draft(home)
    try:
        # A link appears whole or not at all, and only the first one succeeds.
        os.link(draft, token_path(home))
    except FileExistsError:
        logger.debug("another process made the token first")
    finally:
        draft.unlink()
    made = read_token(home)
    if made is None:
        raise ConfigurationError(f"{token_path(home)}: disappeared while it was made")
    return made


def renew_token(home: Path) -> Path:
    """Put a new master token in place, which ends the old one and every token made from it; return its file."""
    return _draft(home).replace(token_path(home))


def _draft(home: Path) -> Path:
    """Write a fresh token beside its place, on disk and readable by its owner alone."""
    draft = home / f".token-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise MemoryPlaneError(f"{token_path(home)}: cannot be made: {error.strerror}") from error
    return draft


class TokenFile:
    """The master token of a home, read anew when its file changes, so that a renewal needs no restart."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._seen: tuple[int, int, int] | None = None
        self._token: str | None = None

    def __call__(self) -> str | None:
        """Return the token; a deleted one is made anew, and a damaged file opens nothing: None."""
        try:
            seen = self._look()
            if seen is None or seen != self._seen:
                self._token = ensure_token(self._home)
                self._seen = self._look()
        except (MemoryPlaneError, OSError) as error:
            if self._token is not None:
                logger.warning("the hub is closed: %s", error)
            self._seen, self._token = None, None
        return self._token

    def _look(self) -> tuple[int, int, int] | None:
        try:
            found = token_path(self._home).stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size


# --- what is derived from it -------------------------------------------------------------------------------------


def agent_token(master: str, agent: str) -> str:
    """Return the token that lets its bearer write as `agent` and as nobody else: `mp.<agent>.<mac>`, all ASCII."""
    agent = agent.strip().lower()
    mac = hmac.digest(master.encode(), f"agent:{agent}".encode(), "sha256")
    # What an agent's name may hold beyond ASCII is written with `~`, which no name holds.
    name = quote(agent, safe="").replace("%", "~")
    return f"{_AGENT_TOKEN}.{name}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


def agent_of(token: str) -> str | None:
    """Return the agent that a token claims to be of, None for a master token; `opens` tells whether it is true."""
    prefix, point, rest = token.partition(".")
    name, last, _ = rest.rpartition(".")
    return unquote(name.replace("~", "%")) if prefix == _AGENT_TOKEN and point and last else None


def opens(master: str, token: str) -> bool:
    """Tell whether a token is the master token or made from it, in a time that says nothing about either."""
    return token.isascii() and hmac.compare_digest(_expected(master, token), token)


def session(master: str, until: int) -> str:
    """Return what a browser shows to be let in until a time, in seconds since 1970: `<until>.<mac>`, all ASCII."""
    mac = hmac.digest(master.encode(), f"session:{until}".encode(), "sha256")
    return f"{until}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


def session_lasts(master: str, shown: str, now: float) -> bool:
    """Tell whether a session was made from the master token and has not ended."""
    until = shown.partition(".")[0]
    if not (shown.isascii() and until.isdecimal() and len(until) <= 12):
        return False
    return hmac.compare_digest(session(master, int(until)), shown) and now < int(until)


def code(home: Path, said: str) -> str:
    """Return eight characters that only this home gives for some words: who brings them was shown these."""
    key = ensure_token(home).encode()
    return hmac.digest(key, f"memory-plane code\n{said}".encode(), "sha256").hex()[:8]


def key_id(token: str) -> str:
    """Return the name of a token, from which nobody can tell the token; an agent's begins with `mp.<agent>.`."""
    name = hashlib.sha256(b"memory-plane key id" + token.encode()).hexdigest()[:16]
    return name if agent_of(token) is None else f"{token.rpartition('.')[0]}.{name}"


def named(master: str, key: str) -> str | None:
    """Return the token with this key id, None where it is not of this master."""
    token = _expected(master, key)
    return token if key.isascii() and hmac.compare_digest(key_id(token), key) else None


def _expected(master: str, name: str) -> str:
    """Return the one token that a token or key id of this form can be or name."""
    agent = agent_of(name) if name.isascii() else None
    return master if agent is None else agent_token(master, agent)


def proof(token: str, challenge: str, authority: str) -> str:
    """Return what only a holder of `token` can answer to a challenge, in hexadecimal digits.

    `authority` is host and port as the client dialled them: a stranger who relays the challenge gets a proof for
    another address.
    """
    said = f"memory-plane proof\n{authority.lower()}\n{challenge}".encode()
    return hmac.digest(token.encode(), said, "sha256").hex()


def verify(token: str, challenge: str, authority: str, answer: object) -> bool:
    """Tell whether `answer` is the proof that was asked for."""
    expected = proof(token, challenge, authority)
    return isinstance(answer, str) and hmac.compare_digest(expected.encode(), answer.encode("utf-8", "replace"))


def is_loopback(host: str) -> bool:
    """Tell whether an address is of this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
