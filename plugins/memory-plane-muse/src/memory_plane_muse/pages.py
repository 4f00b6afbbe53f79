"""A page for each person whom muse spoke of lately: what is known, what is open, what was heard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from memory_plane.pages import NOTICE, linked, stated, told, whose
from memory_plane.store.graph import slug
from memory_plane.types import Edge, Fact, Node, OpenItem, Snapshot, Thought, View
from memory_plane_muse.agents import ME, MUSE

FOLDER = "dossiers"
BYTES = 4 * 1024
"""How large a page may be."""

_FACTS, _EDGES, _ITEMS, _HEARD = 20, 12, 10, 12


def pages(snapshot: Snapshot) -> Iterator[View]:
    """Yield a page for each person, bounded and the same bytes for the same state."""
    people = [person for person in snapshot.people(MUSE) if person.name.casefold() != ME]
    named = Counter(slug(person.type, person.name) for person in people)
    pages: dict[Path, View] = {}
    for person in people:
        name = slug(person.type, person.name)
        # A number would change with every older namesake that another machine knows; an id is the same everywhere.
        apart = person.id[:8] if named[name] > 1 or person.slug != f"node:{name}" else ""
        file = "-".join(filter(None, (name.partition(":")[2], apart)))
        path = Path(FOLDER, f"{file}.md")
        pages[path] = View(path=path, text=_page(snapshot, person, f" ({apart})" if apart else ""))
    yield from pages.values()


def _page(snapshot: Snapshot, person: Node, apart: str) -> str:
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
    return _fitting(f"# {told(person.name, 80, person.origin)}{apart}: {NOTICE}", sections)


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
    return _line(item.id[:8], item.kind, due, whose(item), told(item.text, 200, item.origin))


def _fact(fact: Fact) -> str:
    return _line(told(stated(fact), 260, fact.origin), _when(fact.valid_from)[:10])


def _edge(edge: Edge) -> str:
    return _line(linked(edge), f"{edge.probability:.2f}")


def _thought(thought: Thought) -> str:
    return _line(_when(thought.created_at), thought.agent, told(thought.text, 200, thought.origin))


def _line(*parts: str) -> str:
    return " · ".join(filter(None, parts))


def _when(at: datetime) -> str:
    try:
        return at.astimezone().strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return at.strftime("%Y-%m-%d %H:%M")
