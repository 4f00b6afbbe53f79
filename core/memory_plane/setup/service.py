"""The hub as a service of the person's own session: what launchd or systemd is told, and how to tell it."""

from __future__ import annotations

import hashlib
import os
import plistlib
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memory_plane.errors import MemoryPlaneError
from memory_plane.setup.files import replace

MARK = "Written by `memory-plane service install`"
"""Stands in each file that is ours; one without it is somebody else's and left alone."""
SECONDS = 30.0
"""How long a command of the system may take."""

Command = tuple[str, ...]

_NOT_STARTED = re.compile(r"""["'\\\x00-\x1f\x7f]""")
"""What systemd allows in an argument, but not in the path of the program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A file for the system, and the commands that make it take notice; those of `before` and `stop` may fail."""

    name: str
    path: Path
    content: bytes
    before: tuple[Command, ...] = ()
    start: tuple[Command, ...]
    stop: tuple[Command, ...]
    after_removal: tuple[Command, ...] = ()
    is_active: Command
    lingers: Command | None = None


def of(home: Path, log: Path, command: Sequence[str], environment: Mapping[str, str]) -> Service:
    """Return the service that runs `command` for a home; raise `MemoryPlaneError` where there can be none."""
    if odd := next((word for word in (*command, *environment.values()) if not _is_utf8(word)), None):
        raise MemoryPlaneError(
            f"no service can name {odd!r}, which is not UTF-8; move it to a folder with another name"
        )
    name = service_name(home)
    if sys.platform == "darwin":
        return launchd(name, log, command, environment)
    if sys.platform.startswith("linux"):
        return systemd(name, command, environment)
    raise MemoryPlaneError("services are made for launchd and systemd; run `memory-plane up --detach` at login instead")


def _is_utf8(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def service_name(home: Path) -> str:
    """Return the name of a home's service: each home has its own."""
    if home == Path("~/.memory-plane").expanduser():
        return "memory-plane"
    return f"memory-plane-{hashlib.sha256(os.fsencode(home)).hexdigest()[:8]}"


# --- systemd -----------------------------------------------------------------------------------------------------


def systemd(name: str, command: Sequence[str], environment: Mapping[str, str]) -> Service:
    """Return a user unit; see systemd.service(5)."""
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
    unit = f"{name}.service"
    call = ("systemctl", "--user")
    return Service(
        name=name,
        path=folder / "systemd" / "user" / unit,
        content=_unit(command, environment).encode(),
        start=((*call, "daemon-reload"), (*call, "enable", unit), (*call, "restart", unit)),
        stop=((*call, "disable", "--now", unit),),
        after_removal=((*call, "daemon-reload"),),
        is_active=(*call, "is-active", "--quiet", unit),
        lingers=("loginctl", "show-user", str(os.getuid()), "--property=Linger", "--value"),
    )


def _unit(command: Sequence[str], environment: Mapping[str, str]) -> str:
    if _NOT_STARTED.search(command[0]):
        if "=" in command[0]:
            raise MemoryPlaneError(
                f"systemd cannot start {command[0]!r}; install Memory Plane in a folder without quotes"
            )
        command = ("/usr/bin/env", *command)
    program, *arguments = command
    words = [_quoted(program), *(_quoted(word).replace("$", "$$") for word in arguments)]
    variables = "".join(f"Environment={_quoted(f'{name}={value}')}\n" for name, value in environment.items())
    return f"""\
# {MARK}
[Unit]
Description=Memory Plane hub
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
ExecStart={" ".join(words)}
{variables}Restart=on-failure
RestartSec=5
# A wrong setting does not come right by itself.
RestartPreventExitStatus=2
TimeoutStopSec=30
UMask=0077

[Install]
WantedBy=default.target
"""


def _quoted(word: str) -> str:
    """Write a word as systemd reads it: escaped as in C, and with `%` doubled, which begins a specifier."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return '"' + "".join(f"\\x{ord(one):02x}" if one < " " or one == "\x7f" else one for one in escaped) + '"'


# --- launchd -----------------------------------------------------------------------------------------------------


def launchd(name: str, log: Path, command: Sequence[str], environment: Mapping[str, str]) -> Service:
    """Return a launch agent; see launchd.plist(5)."""
    path = Path("~/Library/LaunchAgents").expanduser() / f"{name}.plist"
    domain = f"gui/{os.getuid()}"
    return Service(
        name=name,
        path=path,
        content=_plist(name, log, command, environment),
        before=(("launchctl", "bootout", f"{domain}/{name}"),),
        start=(("launchctl", "bootstrap", domain, str(path)),),
        stop=(("launchctl", "bootout", f"{domain}/{name}"),),
        is_active=("launchctl", "print", f"{domain}/{name}"),
    )


def _plist(name: str, log: Path, command: Sequence[str], environment: Mapping[str, str]) -> bytes:
    told = plistlib.dumps(
        {
            "Label": name,
            "ProgramArguments": list(command),
            "EnvironmentVariables": dict(environment),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 10,
            "ExitTimeOut": 30,
            "Umask": 0o077,
            "StandardOutPath": str(log),
            "StandardErrorPath": str(log),
        },
        sort_keys=False,
    )
    head, plist, body = told.partition(b"<plist")
    return head + f"<!-- {MARK} -->\n".encode() + plist + body


# --- telling the system ------------------------------------------------------------------------------------------


def installed(service: Service) -> bytes | None:
    """Return what stands in the service's file, None where there is none."""
    try:
        return service.path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise MemoryPlaneError(f"{service.path}: cannot be read: {error.strerror}") from None


def check_ours(service: Service) -> bytes | None:
    """Return what stands in the file; raise `MemoryPlaneError` where somebody else has written it."""
    found = installed(service)
    if found is not None and MARK.encode() not in found:
        raise MemoryPlaneError(f"{service.path}: was not written by Memory Plane and is left alone; move it away first")
    return found


def install(service: Service) -> str | None:
    """Write the file and start the service; return what the system complained of, None if it did not."""
    check_ours(service)
    _write(service.path, service.content)
    for command in service.before:
        run(command)
    return _first_complaint(service.start)


def uninstall(service: Service) -> bool:
    """Stop the service and remove its file; False where it was not installed."""
    if check_ours(service) is None:
        return False
    for command in service.stop:
        run(command)
    try:
        service.path.unlink(missing_ok=True)
    except OSError as error:
        raise MemoryPlaneError(f"{service.path}: cannot be removed: {error.strerror}") from None
    for command in service.after_removal:
        run(command)
    return True


def is_active(service: Service) -> bool:
    """Tell whether the system runs the service."""
    return run(service.is_active) is None


def lingers(service: Service) -> bool:
    """Tell whether the service goes on when the person logs out, as far as the system knows of such a thing."""
    if service.lingers is None:
        return True
    with suppress(OSError, subprocess.TimeoutExpired):
        said = subprocess.run(service.lingers, capture_output=True, text=True, timeout=SECONDS, check=False)
        return said.stdout.strip() == "yes"
    return False


def run(command: Command) -> str | None:
    """Run a command of the system; return in one line what went wrong, None if nothing did."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except FileNotFoundError:
        return f"there is no {command[0]!r} here"
    except subprocess.TimeoutExpired:
        return f"{' '.join(command)!r} did not end within {SECONDS:g} s"
    except OSError as error:
        return f"{command[0]!r} cannot be run: {error.strerror}"
    if done.returncode == 0:
        return None
    said = (done.stderr or done.stdout).strip().splitlines()
    return f"{' '.join(command)!r} ended with {done.returncode}{f': {said[0]}' if said else ''}"


def _first_complaint(commands: Iterable[Command]) -> str | None:
    return next((complaint for command in commands if (complaint := run(command)) is not None), None)


def _write(path: Path, content: bytes) -> None:
    """Put a file in place, whole or not at all."""
    path = path.resolve()  # what is a link stays one
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, content, 0o644)
    except OSError as error:
        raise MemoryPlaneError(f"{path}: cannot be written: {error.strerror}") from None
