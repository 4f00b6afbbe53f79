"""The tools of `--tools graph`: those that agents know from another graph memory, by the same names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from memory_plane.ask.wording import chain
from memory_plane.importers.graph_facts import key_of
from memory_plane.surfaces import entries, mcp_tools
from memory_plane.surfaces.corrections import author, receipt
from memory_plane.surfaces.fit import ROOM, page, shorten, size
from memory_plane.surfaces.spec import Arguments, Spec, moment, number, text
from memory_plane.writes import asked

if TYPE_CHECKING:
    from memory_plane.client import Client
    from memory_plane.plane import Plane
    from memory_plane.types import Edge

MOST = 100
"""How many nodes or edges one answer is chosen from at most."""
_HEAD = {"note": entries.NOTE}
_NAMED = {"nodes": "entities", "edges": "relationships"}


def ingest(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Do what `memory_ingest` does with words of the agent's own, by the names that are known here."""
    told = mcp_tools.ingest(plane, agent, {"text": given["text"], "origin": "agent"})
    return {_NAMED.get(name, name): value for name, value in told.items()}


def query(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Answer a question in plain words."""
    return mcp_tools.ask(plane, agent, {"question": given["question"], "as_of": ""})


def search(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Find entities by their names."""
    return _found(plane, given, meaning=False)


def semantic_search(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Find entities by their names and by what is said of them."""
    return _found(plane, {**given, "type": ""}, meaning=True)


def path(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Tell how two entities hang together."""
    trail = plane.path(given["from"], given["to"], max_hops=given["max_hops"] or None, as_of=given["as_of"] or None)
    told = chain(trail.edges, trail.nodes[0].id) if trail.edges else ""
    known = {"found": bool(trail.nodes), "probability": round(trail.probability, 3), "complete": trail.complete}
    links = {"relationships": [entries.edge(edge) for edge in trail.edges]}
    shown = page(links, "", heads=40, room=ROOM // 2 - size(_HEAD))["relationships"]
    return {**_HEAD, **known, "path": shorten(told, ROOM // 2), "relationships": shown}


def stats(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Count entities and relations by their types."""
    found = plane.stats()
    return {
        "entities": sum(found.nodes_by_type.values()),
        "relationships": sum(found.edges_by_relation.values()),
        "types": dict(list(found.nodes_by_type.items())[:MOST]),
        "relations": dict(list(found.edges_by_relation.items())[:MOST]),
        "most_linked": dict(found.most_linked),
    }


def temporal(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Tell what was true of an entity at a time."""
    at, known = (asked(name, given[name] or None, plane.settings.timezone) for name in ("at", "known_at"))
    facts = plane.facts(subject=given["entity"], as_of=at, known_at=known, limit=MOST)
    edges = plane.graph(about=given["entity"], as_of=at, known_at=known, limit=MOST).edges
    told = [
        entries.present({"id": fact.id, "key": fact.key, "value": shorten(fact.value, 280), "source": fact.origin,
                         "valid_from": entries.iso(fact.valid_from), "valid_until": entries.iso(fact.valid_until)})
        for fact in facts
    ]  # fmt: skip
    sections = {"facts": told, "relationships": [entries.edge(edge) for edge in edges]}
    return {**_HEAD, **page(sections, given["cursor"], heads=40, room=ROOM - size(_HEAD))}


def supersede(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Replace what was true of an entity; what was is kept as history."""
    who, relation = author(agent), key_of(given["relation"])
    since = moment("valid_from", given["valid_from"])
    if given["old"]:
        verb = f"no longer {relation}" if re.match(r"[a-z]+s\b", relation) else f"is no longer {relation}"
        receipt(plane.post(f"{given['entity']} {verb} {given['old']}.", agent=who, kind="observation"))
    return receipt(plane.fact(given["entity"], relation, given["new"], agent=who, valid_from=since))


def decay(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Tell what has faded: what links count for by their age."""
    from datetime import UTC, datetime

    from memory_plane.recall import fading

    now, edges = datetime.now(UTC), plane.graph(limit=2_000).edges
    faded = sorted((fading.left(now - edge.known_since), *_told(edge)) for edge in edges)
    keys = ("weight", "source", "relation", "target")
    old = [dict(zip(keys, (round(row[0], 3), *row[1:]), strict=True)) for row in faded if row[0] < 0.9995][:MOST]
    head = {
        "note": "What age leaves of a weight, at least 0.1: recall ranks memories by it; no link is lowered or hidden."
    }
    return {**head, **page({"faded": old}, given["cursor"], heads=40, room=ROOM - size(head))}


def embed(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Say that nothing is to be done here: what search by meaning needs comes with every write, or by the hub."""
    return {"generated": 0, "detail": "made with every write, and by the hub for older entries"}


def dedup_relations(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Say that there is nothing to do: of two entities one relation is kept once, and vague ones are refused."""
    found = plane.stats().edges_by_relation
    return {
        "removed": 0,
        "relationships": sum(found.values()),
        "detail": "a relation of two entities is kept once, with all that speaks for it; vague ones are refused",
    }


def _found(plane: Plane | Client, given: Arguments, *, meaning: bool) -> dict[str, Any]:
    limit = max(1, min(given["limit"], MOST))
    nodes = plane.search(given["query"], kind=given["type"] or None, meaning=meaning, limit=limit)
    sections = {"entities": [entries.node(node) for node in nodes]}
    return {**_HEAD, **page(sections, given["cursor"], heads=MOST, room=ROOM - size(_HEAD))}


def _told(edge: Edge) -> tuple[str, str, str]:
    return edge.source.slug or edge.source.name, edge.relation, edge.target.slug or edge.target.name


_LIMIT = number("integer", 20, f"At most {MOST}")
_CURSOR = text("next_cursor of the page before")
_TIME = "ISO 8601 with zone, or a day"

GRAPH: tuple[Spec, ...] = (
    Spec(
        name="memory_graph_ingest",
        description="Add knowledge from a text: its entities and how they are related are found and kept.",
        parameters={"text": text("With full names of people and projects")},
        required=("text",),
        read_only=False,
        idempotent=False,
        call=ingest,
    ),
    Spec(
        name="memory_graph_query",
        description="Answer a question in plain words: Who works at X? What does Y use? How is A connected to B?",
        parameters={"question": text("In plain words")},
        required=("question",),
        call=query,
    ),
    Spec(
        name="memory_graph_search",
        description="Find entities by their names.",
        parameters={
            "query": text("A name, or words of it"),
            "type": text("Only this type: Person …"),
            "limit": _LIMIT,
            "cursor": _CURSOR,
        },
        required=("query",),
        call=search,
    ),
    Spec(
        name="memory_graph_path",
        description="How two entities are connected: the likeliest short way between them.",
        parameters={
            "from": text("Name, slug or id"),
            "to": text("Name, slug or id"),
            "max_hops": number("integer", 0, "How many links at most; 0 = what the settings say, 5"),
            "as_of": text(f"{_TIME}: as it was known then"),
        },
        required=("from", "to"),
        call=path,
    ),
    Spec(name="memory_graph_stats", description="How many entities and relations there are.", call=stats),
    Spec(
        name="memory_graph_temporal",
        description="What was true of an entity at a time: facts and relations.",
        parameters={
            "entity": text("Its name"),
            "at": text(f"{_TIME}: when it was true"),
            "known_at": text(f"{_TIME}: as it was known then"),
            "cursor": _CURSOR,
        },
        required=("entity",),
        call=temporal,
    ),
    Spec(
        name="memory_graph_supersede",
        description="Update what is true: the new value replaces the old one, which is kept as history.",
        parameters={
            "entity": text("Whose fact it is"),
            "relation": text("Such as WORKS_AT or role"),
            "new": text("What is true now"),
            "old": text("What is true no longer, to end that relation too"),
            "valid_from": text("ISO 8601 with zone"),
        },
        required=("entity", "relation", "new"),
        read_only=False,
        call=supersede,
    ),
    Spec(
        name="memory_graph_decay",
        description="Which relations have faded with time.",
        parameters={"cursor": _CURSOR},
        call=decay,
    ),
    Spec(name="memory_graph_embed", description="Whether anything has to be made for search by meaning.", call=embed),
    Spec(
        name="memory_graph_semantic_search",
        description="Find entities by meaning: by their names and by what is said of them.",
        parameters={"query": text("A few words"), "limit": _LIMIT, "cursor": _CURSOR},
        required=("query",),
        call=semantic_search,
    ),
    Spec(
        name="memory_graph_dedup_relations",
        description="Whether there are relations that say the same twice, or too little.",
        call=dedup_relations,
    ),
)
