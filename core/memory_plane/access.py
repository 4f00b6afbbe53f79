"""The token that opens the hub: made once, kept in a file that only its owner can read."""

from __future__ import annotations

import logging
import os
import secrets
from pathlib import Path

from memory_plane.errors import ConfigurationError

logger = logging.getLogger(__name__)

SHORTEST = 32


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
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = home / f".token-{os.getpid()}-{secrets.token_hex(4)}"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(32) + "\n")
        file.flush()
        os.fsync(file.fileno())
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
