"""Where log lines of the command line go: a file in the home, and stderr when asked for."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path

import click

from memory_plane.surfaces.cli.text import one_line

_MAX_BYTES = 1_000_000
_LINE = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def default_home() -> str:
    """Return the home where the settings could not be read."""
    return os.environ.get("MEMORY_PLANE_HOME") or str(Path.home() / ".memory-plane")


class Log:
    """The handlers of one command line; without any, Python would print traces of warnings on stderr."""

    def __init__(self, home: str, verbose: bool) -> None:
        self.path = Path(home) / "memory-plane.log"
        self._handlers: list[logging.Handler] = [_File(self.path)]
        self._level = logging.root.level
        if verbose:
            self._handlers.append(_Screen())
            logging.root.setLevel(logging.INFO)
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


class _File(logging.FileHandler):
    """A file for the owner alone, opened at the first line; a log that cannot be written never fails a command."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, delay=True, encoding="utf-8", errors="backslashreplace")
        self.setFormatter(logging.Formatter(_LINE))

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        if path.exists() and path.stat().st_size > _MAX_BYTES:
            path.replace(path.with_suffix(".log.1"))
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors=self.errors)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except OSError:
            self.handleError(record)

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


class _Screen(logging.Handler):
    """Lines without traces on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):
            click.echo(f"{record.levelname.lower()} {record.name}: {one_line(record.getMessage())}", err=True)
