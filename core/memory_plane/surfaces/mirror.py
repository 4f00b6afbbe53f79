"""The pages of a memory that is at a hub elsewhere, kept on this machine's disk: hooks and agents read them here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memory_plane.client import Client
from memory_plane.copies import NAME, Copies
from memory_plane.errors import MemoryPlaneError
from memory_plane.operations import agent_id
from memory_plane.surfaces.rounds import Rounds
from memory_plane.types import View
from memory_plane.views import write_views

if TYPE_CHECKING:
    from memory_plane.settings import Settings

EVERY = 2.0
"""Seconds between two looks: what one agent does is to be there on the next turn of another on any machine."""


@contextmanager
def kept(settings: Settings, agent: str) -> Iterator[None]:
    """Keep meanwhile what the agent reads from this disk, where nobody renders it here.

    The agent's own calls wait for no page: these have a connection of their own.
    """
    if settings.elsewhere is None:
        yield
        return
    with Client(settings) as client:
        page = f"the page of agent {agent!r}"
        with Rounds(lambda: [(page, partial(keep, client, [agent]))], every=EVERY, patience=EVERY):
            yield


def keep(client: Client, agents: Iterable[str]) -> list[Path]:
    """Write the pages that these agents read, and the copies of them; return which pages changed.

    While the hub does not answer they stay as they are.
    """
    views = []
    for name in dict.fromkeys(page for agent in agents for page in _pages(client.home, agent)):
        with suppress(MemoryPlaneError):
            views.append(View(path=Path(name), text=client.page(name)))
    written = write_views(client.home, views)
    if written:
        Copies(client.home).write()
    return written


def agents_of(home: Path) -> list[str]:
    """Return the agents of this machine: those that were set up here, and those that have a page already."""
    with_page = (path.stem for path in (home / "brief").glob("*.md"))
    return sorted({*_set_up(home), *filter(agent_id, with_page)})


def _pages(home: Path, agent: str) -> Iterator[str]:
    name = agent_id(agent) or agent
    yield f"brief/{name}.md"
    with suppress(LookupError, TypeError):
        for edit in _set_up(home).get(name, ()):
            if edit["kind"] == "copy":
                yield str(edit["page"])


def _set_up(home: Path) -> dict[str, list[dict[str, object]]]:
    with suppress(OSError, ValueError, LookupError, TypeError):
        found = json.loads((home / NAME).read_text("utf-8"))["agents"]
        return found if isinstance(found, dict) else {}
    return {}
