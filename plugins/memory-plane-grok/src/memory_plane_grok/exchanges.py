"""A turn of Grok as its own files tell it, and what it becomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_plane import capture
from memory_plane.types import OpenItem, Operation, Origin

QUIET = timedelta(minutes=10)
"""After this long without a sign of life a turn is over, whatever its files say: it was cancelled, or killed."""


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One turn; `at` is when it was last heard of, `before` what had been said last ahead of it.

    `over`: nothing more comes of it. Without a person's words `prompt` is "": the agent woke by itself.
    """

    session: str
    at: datetime
    id: str = ""
    prompt: str = ""
    answer: str = ""
    before: str = ""
    over: bool = False
    origin: Origin = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Where the turns of one session or chat are; `stamp` is when it last changed, in nanoseconds since 1970.

    `read` returns the latest turns, oldest first, and the folder that they were about, "" for none. After `quiet`
    without a word the last turn is over.
    """

    agent: str
    key: str
    stamp: int
    read: Callable[[], tuple[Sequence[Exchange], str]]
    quiet: timedelta = QUIET


def operations(
    agent: str, exchange: Exchange, folder: str, *, over: bool, asked: Sequence[OpenItem] = ()
) -> tuple[Operation, ...]:
    """Return what a turn becomes: its focus and, once it is over, the few thoughts of it.

    `asked` are the agent's open questions.
    """
    return capture.operations(
        capture.Turn(
            agent=agent,
            session=exchange.session,
            id=exchange.id,
            at=exchange.at,
            prompt=exchange.prompt,
            answer=exchange.answer if over else "",
            before=exchange.before if exchange.prompt else "",
            project=capture.project_of(folder) if folder else None,
            origin=exchange.origin,
            asked=asked,
        )
    )
