"""Where log lines of the command line go: a file in the home, and stderr when asked for."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from copy import copy
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

import click

from memory_plane.surfaces.cli.text import one_line

COMMANDS, HUB = "memory-plane.log", "logs/hub.log"
"""The files in the home: one of the commands, one of the hub."""

_MAX_BYTES = 1_000_000
_KEPT = 2
_LINE = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def default_home() -> str:
    """Return the home where the settings could not be read."""
    return os.environ.get("MEMORY_PLANE_HOME") or str(Path.home() / ".memory-plane")


def open_file(path: Path) -> int:
    """Open a log for appending, for its owner alone, and its folder if there is none; return the descriptor."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def last_line(path: Path) -> str:
    """Return the last line of a log, empty where there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 8192))
            lines = file.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    return next((line for line in reversed(lines) if line.strip()), "")


class Log:
    """The handlers of one command line; without any, Python would print traces of warnings on stderr."""

    def __init__(self, home: str, verbose: bool, file: str = COMMANDS) -> None:
        self.path = Path(home) / file
        self._handlers: list[logging.Handler] = [LogFile(self.path)]
        self._level = logging.root.level
        if verbose:
            self._handlers.append(_Screen())
            logging.root.setLevel(logging.INFO)
            logging.getLogger("httpx").setLevel(logging.WARNING)  # it tells addresses, and with them what is searched
        for handler in self._handlers:
            logging.root.addHandler(handler)

    def record(self, error: Exception) -> Path:
        """Write the trace of an unexpected error and return the file."""
        logging.getLogger("memory_plane").error("unexpected %s", type(error).__name__, exc_info=error)
        self.path.stat()
        return self.path

    def close(self) -> None:
        """Take the handlers away again."""
        logging.root.setLevel(self._level)
        for handler in self._handlers:
            logging.root.removeHandler(handler)
            handler.close()


class LogFile(RotatingFileHandler):
    """A file for the owner alone, opened at the first line; a log that cannot be written never fails a command.

    When it is full it becomes `.1`, and that `.2`. Several processes may write it: each follows who was first.
    """

    def __init__(self, path: Path, max_bytes: int = _MAX_BYTES) -> None:
        super().__init__(
            path, maxBytes=max_bytes, backupCount=_KEPT, delay=True, encoding="utf-8", errors="backslashreplace"
        )
        self.setFormatter(_Redacted(_LINE))

    def _open(self) -> TextIOWrapper:
        return os.fdopen(open_file(Path(self.baseFilename)), "a", encoding=self.encoding, errors=self.errors)

    def shouldRollover(self, record: logging.LogRecord) -> bool:
        """Whether the line would not fit any more into the file that bears the name now."""
        if self.stream is not None and not _is_open_at(self.stream.fileno(), self.baseFilename):
            self.stream.close()
            self.stream = None
        return bool(super().shouldRollover(record))

    def doRollover(self) -> None:
        """Begin a new file; a standard stream that went into the old one goes on into the new one."""
        led_here = [number for number in (1, 2) if _is_open_at(number, self.baseFilename)]
        with suppress(OSError):  # another process was faster
            super().doRollover()
        self.stream = self._open()
        for number in led_here:
            os.dup2(self.stream.fileno(), number)

    def flush(self) -> None:
        """Write what is buffered, where it can be written."""
        with suppress(OSError):
            super().flush()

    def close(self) -> None:
        """Close the file; lines that found no room are lost."""
        with suppress(OSError):
            super().close()

    def handleError(self, record: logging.LogRecord) -> None:
        """Keep quiet."""


class _Redacted(logging.Formatter):
    """Cuts secrets out of a line, and the words of errors out of its trace: these may repeat what they were given."""

    def format(self, record: logging.LogRecord) -> str:
        from memory_plane.redact import redact

        own = copy(record)
        own.exc_text = None  # a trace that another handler has made, with all of its words
        return redact(super().format(own))

    def formatException(self, ei: Any) -> str:
        from memory_plane.failures import places

        return places(ei[1]) if ei[1] is not None else ""


class _Screen(logging.Handler):
    """Lines without traces on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        from memory_plane.redact import redact

        with suppress(OSError):
            line = f"{record.levelname.lower()} {record.name}: {one_line(record.getMessage())}"
            click.echo(redact(line), err=True)


def _is_open_at(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), Path(path).stat())
    except OSError:
        return False
