"""The outermost guard: whatever happens, the terminal sees one line and the shell an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from memory_plane.errors import ConfigurationError, MemoryPlaneError
from memory_plane.surfaces.cli.text import one_line

if TYPE_CHECKING:
    from memory_plane.surfaces.cli.session import Session

FAILED, USAGE, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141


def guarded(call: Callable[[], Any], session: Session) -> int:
    """Run the command line and return the exit code; a failure is told in one line on stderr."""
    code = _run(call, session)
    flushed = _flush()
    return code or flushed


def _run(call: Callable[[], Any], session: Session) -> int:
    try:
        return call() or 0
    except click.ClickException as error:
        return _tell_click(error)
    except MemoryPlaneError as error:
        tell(str(error))
        return USAGE if isinstance(error, ConfigurationError) else FAILED
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - no trace ever reaches the terminal
        tell(f"{_name(error)}{session.record(error)}")
        return FAILED


def tell(message: str) -> None:
    """Write one line on stderr, under the program's name."""
    with suppress(OSError):
        click.echo(f"memory-plane: {one_line(message)}", err=True)


def _name(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename!r}" if error.filename else error.strerror
    return f"unexpected {type(error).__name__}: {error}"


def _tell_click(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
    elif isinstance(error, click.UsageError) and error.ctx is not None:
        tell(f"{error.format_message().rstrip('.')}  (see: {error.ctx.command_path} --help)")
    else:
        tell(error.format_message())
    return error.exit_code


def _flush() -> int:
    """Flush stdout; where nobody takes the rest, drop it, or the interpreter would complain on its way out."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        code = BROKEN_PIPE
    except (OSError, ValueError) as error:
        tell(f"cannot write the output: {getattr(error, 'strerror', None) or error}")
        code = FAILED
    else:
        return 0
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
