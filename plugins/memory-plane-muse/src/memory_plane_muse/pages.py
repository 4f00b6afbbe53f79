"""A page for each person whom muse spoke of lately: what is known, what is open, what was heard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from memory_plane.pages import NOTICE, escape
from memory_plane.types import Edge, Fact, Node, OpenItem, Snapshot, Thought, View
from memory_plane_muse.agents import MUSE
from memory_plane_muse.notes import ME

FOLDER = "dossiers"
BYTES = 4 * 1024
"""How large a page may be."""

_FACTS, _EDGES, _ITEMS, _HEARD = 20, 12, 10, 12
_QUOTES = str.maketrans("“”", '""')


def pages(snapshot: Snapshot) -> Iterator[View]:
    """Yield a page for each person, bounded and the same bytes for the same state."""
    for person in snapshot.people(MUSE):
        if person.name.casefold() == ME:
            continue
        name = person.slug.removeprefix("node:person:") or person.id
        yield View(path=Path(FOLDER, f"{name}.md"), text=_page(snapshot, person))


def _page(snapshot: Snapshot, person: Node) -> str:
    names = {name.casefold() for name in (person.name, *person.aliases)}
    graph, heard = snapshot.person(person.id), snapshot.about(person.id)
    facts = [fact for fact in snapshot.facts() if fact.subject.casefold() in names]
    said = {thought.id for thought in heard}
    items = [item for item in snapshot.items() if item.id in said or _concerns(item, names)]
    open_ids = {item.id for item in items}
    sections: tuple[tuple[str, Iterable[str]], ...] = (
        ("Open", map(_item, items[:_ITEMS])),
        ("Facts", map(_fact, facts[:_FACTS])),
        ("Connections", map(_edge, graph.edges[:_EDGES] if graph else ())),
        ("Heard", (_thought(thought) for thought in heard[:_HEARD] if thought.id not in open_ids)),
    )
    return _fitting(f"# {_shown(person.name, 80)}: {NOTICE}", sections)


def _concerns(item: OpenItem, names: set[str]) -> bool:
    return any(who is not None and who.casefold() in names for who in (item.owner, item.to))


def _fitting(title: str, sections: Sequence[tuple[str, Iterable[str]]]) -> str:
    """Join whole lines as long as they fit."""
    lines, left = [title], BYTES - len(title.encode()) - 1
    for head, entries in sections:
        before = f"\n\n## {head}\n"
        for entry in entries:
            line = f"{before}\n- {entry}"
            if (size := len(line.encode())) > left:
                break
            lines.append(line)
            left -= size
            before = ""
    return "".join(lines) + "\n"


def _item(item: OpenItem) -> str:
    due = f"due {_when(item.due_at)}" if item.due_at else ""
    owner = f"{_shown(item.owner or item.agent, 40)}{f' → {_shown(item.to, 40)}' if item.to else ''}"
    return _line(item.id[:8], item.kind, due, owner, _told(item.text, item.origin))


def _fact(fact: Fact) -> str:
    return _line(f"{_shown(fact.key, 60)}: {_told(fact.value, fact.origin)}", _when(fact.valid_from)[:10])


def _edge(edge: Edge) -> str:
    said = f"{_shown(edge.source.name, 60)} {_shown(edge.relation, 40)} {_shown(edge.target.name, 60)}"
    return _line(said, f"{edge.probability:.2f}")


def _thought(thought: Thought) -> str:
    return _line(_when(thought.created_at), _shown(thought.agent, 40), _told(thought.text, thought.origin))


def _told(text: str, origin: str) -> str:
    if origin != "external":
        return _shown(text, 200)
    return f"⟨external⟩ “{_shown(text.translate(_QUOTES), 200)}”"


def _shown(text: str | None, limit: int) -> str:
    words = " ".join((text or "")[: 4 * limit].split())
    return escape(words if len(words) <= limit else f"{words[: limit - 1]}…") or "–"


def _line(*parts: str) -> str:
    return " · ".join(filter(None, parts))


def _when(at: datetime) -> str:
    try:
        return at.astimezone().strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return at.strftime("%Y-%m-%d %H:%M")
