"""When each agent was last heard: a file of `seen/` in the home, whose time says when, by a hook or over MCP."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

logger = logging.getLogger(__name__)

FOLDER = "seen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """When an agent last ran a hook, of which event, and when it last asked over MCP; None where it never did."""

    hook: datetime | None = None
    event: str = ""
    mcp: datetime | None = None


def last(home: Path, agent: str) -> Seen:
    """Return when an agent was last heard; the hook shim leaves the one word, the MCP server the other."""
    hook, event = home / FOLDER / f"{agent}.hook", ""
    at = _time(hook)
    with suppress(OSError):
        event = hook.read_text("utf-8", "replace") if at else ""
    return Seen(hook=at, event=event, mcp=_time(home / FOLDER / f"{agent}.mcp"))


def over_mcp(home: Path, agent: str) -> None:
    """Note that an agent asks over MCP; where it cannot be noted that is for the log."""
    folder = home / FOLDER
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / f"{agent}.mcp").touch(mode=0o600)
    except OSError as error:
        logger.info("that agent %r was seen is not noted: %s", agent, error)


@contextmanager
def undisturbed(home: Path) -> Iterator[None]:
    """Put the notes back afterwards as they were: what an agent does because we ask it is no word of its own."""
    before = _times(home)
    try:
        yield
    finally:
        for path, at in _times(home).items():
            with suppress(OSError):
                if path not in before:
                    path.unlink()
                elif at != before[path]:
                    os.utime(path, ns=(before[path], before[path]))


def _times(home: Path) -> dict[Path, int]:
    with suppress(OSError):
        return {path: path.stat().st_mtime_ns for path in (home / FOLDER).iterdir()}
    return {}


def _time(path: Path) -> datetime | None:
    with suppress(OSError):
        if path.is_file():
            return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return None
