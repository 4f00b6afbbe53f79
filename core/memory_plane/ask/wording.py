"""Answers as text: names, dates and edges on one line, words of other people fenced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from memory_plane.pages import clean, fenced
from memory_plane.types import Answer, Edge, Finding, Node
from memory_plane.vocabulary.meanings import backwards, is_office

UNKNOWN = "I don't know"
SHOWN = 20
"""How many things an answer names."""
LINE = 240
"""How many characters of a memory's text an answer repeats."""
_WRITERS = frozenset({"me", "user"})


def unknown(*, understood: bool) -> Answer:
    """Return that the memory does not say it, or that the question was not understood."""
    return Answer(text=UNKNOWN, known=False, understood=understood)


def answer(text: str, findings: Iterable[Finding]) -> Answer:
    """Return an answer that rests on something, each thing once."""
    found = {(one.text, one.at, one.until, one.evidence): one for one in findings}
    return Answer(text=text, known=True, understood=True, findings=tuple(found.values())[:SHOWN])


def concluded(text: str, findings: Iterable[Finding]) -> Answer:
    """Return a yes, no, day or number, fenced like their words where only other people say what it rests on."""
    found = tuple(findings)
    external = bool(found) and all(one.origin == "external" for one in found)
    return answer(fenced(text, LINE) if external else text, found)


def read_as(answer: Answer, names: Mapping[str, str], origin: str = "agent") -> Answer:
    """Return the answer with the names of a question that were taken for others, each with the one it was taken for."""
    notes = [f"“{text}” read as {plainly(name, 60, origin)}" for text, name in names.items()]
    return replace(answer, text=f"{answer.text} ({'; '.join(notes)})") if notes else answer


def listed(names: Sequence[str], total: int | None = None) -> str:
    """Return names in a row, and how many more there are."""
    different = list(dict.fromkeys(names))
    left = (len(different) if total is None else total) - min(len(different), SHOWN)
    return ", ".join(different[:SHOWN]) + (f" and {left} more" if left > 0 else "")


def named(node: Node, *, apart: bool = False, external: bool = False) -> str:
    """Return the name of a node, with its slug where another one of the same name stands beside it."""
    if node.name in _WRITERS:
        return "you"
    name = plainly(node.name, 120, "external" if external or node.origin == "external" else node.origin)
    return f"{name} ({plainly(node.slug, 90, 'agent')})" if apart else name


def plainly(text: str, limit: int, origin: str) -> str:
    """Return text of the memory on one line, fenced if other people said it."""
    if origin == "external":
        return fenced(text, limit)
    line = clean(text[: 8 * limit]).replace("⟨", "‹").replace("⟩", "›")  # it must not claim an origin
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def owed(name: str | None) -> str:
    """Return who owes an item or whom it is for."""
    return "you" if name is None or name.casefold() in _WRITERS else name


def day(at: datetime, zone: tzinfo | None) -> str:
    """Return the day of a moment where the person is."""
    try:
        return at.astimezone(zone).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return at.date().isoformat()


def office(edge: Edge) -> str:
    """Return a role as people say it: "CTO of Acme", "engineer"."""
    if not is_office(edge.relation):
        return named(edge.target)
    label, *thing = edge.relation.removesuffix("_OF").split("_")
    title = label if len(label) < 4 or label == "CISO" else label.lower()
    spoken = " ".join([title, *(word.lower() for word in thing)])
    return f"{spoken} of {named(edge.target, external=edge.origin == 'external')}"


def finding(edge: Edge) -> Finding:
    """Return an edge as something that an answer rests on."""
    external = edge.origin == "external"
    ends = named(edge.source, external=external), named(edge.target, external=external)
    return Finding(
        text=f"{ends[0]} {edge.relation} {ends[1]}",
        at=edge.valid_from or edge.known_since,
        evidence=edge.evidence,
        origin=edge.origin,
        probability=edge.probability,
        until=edge.valid_until,
    )


def chain(edges: Sequence[Edge], start: str) -> str:
    """Return a path from the node with the id `start`: Bob →[MEMBER_OF]→ Platform team →[LED_BY]→ Alice."""
    at, text = start, ""
    for edge in edges:
        forward = edge.source.id == at
        here, there = (edge.source, edge.target) if forward else (edge.target, edge.source)
        external = edge.origin == "external"
        label = edge.relation if forward else backwards(edge.relation)
        text = text or named(here, external=external)
        text += f" →[{label}]→ {named(there, external=external)}"
        at = there.id
    return text
