"""The tools that agents call over MCP: names, flat schemas, and what each does with the `Plane`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memory_plane import __version__
from memory_plane.errors import HubUnreachable, Refused, StoreError
from memory_plane.graphs import MEMORIES
from memory_plane.operations import id_of
from memory_plane.surfaces import entries
from memory_plane.surfaces.corrections import CORRECTIONS, author, correct, whole_id
from memory_plane.surfaces.corrections import receipt as receipt_of
from memory_plane.surfaces.fit import ROOM, level, page, shorten, size
from memory_plane.surfaces.spec import Arguments, Spec, listing, number, object_, text
from memory_plane.types import KINDS, ORIGINS, Found

if TYPE_CHECKING:
    from memory_plane.client import Client
    from memory_plane.plane import Plane
    from memory_plane.types import Thought

OUTCOMES = ("done", "dropped", "answered", "acknowledged")
MAX_HITS = 20
HEARD = 20
"""How many thoughts that concern the caller the pulse shows."""
RECEIPTS = 20
"""How many paragraphs of a text are answered one by one."""


def get_pulse(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Return the live state of the fleet, or what is held back from it, a page at a time."""
    if given["section"]:
        held, reviews = given["section"] == "held", given["section"] == "reviews"
        sections = {"held": [entries.held(memory) for memory in plane.held(limit=200)]} if held else {}
        sections |= {"reviews": [entries.review(one) for one in plane.reviews(limit=50)]} if reviews else {}
        head: dict[str, Any] = {"note": entries.NOTE}
        return {**head, **page(sections, given["cursor"], heads=0, room=ROOM - size(head))}
    pulse = plane.pulse()
    items = pulse.items if pulse.items_total <= len(pulse.items) else plane.items(limit=200)
    sections = {
        "agents": [entries.heartbeat(beat) for beat in pulse.heartbeats],
        "open_items": [entries.item(item) for item in items],
        "for_you": [
            entries.thought(one) for one in _heard(plane, agent) if one.id not in {item.memory for item in items}
        ],
        "recent": [entries.thought(thought) for thought in pulse.thoughts],
        "graph": [entries.edge(edge) for edge in pulse.edges],
    }
    head = {"note": entries.NOTE, "time": entries.iso(pulse.at), "items_total": pulse.items_total}
    return {**head, **page(sections, given["cursor"], heads=7, room=ROOM - size(head))}


def _heard(plane: Plane | Client, agent: str | None) -> Sequence[Thought]:
    """Return what concerns an agent; nothing where only a copy of the memory answers, which knows no scores."""
    with suppress(HubUnreachable, StoreError):
        if agent is not None:
            least = plane.settings.threshold(agent)
            return plane.graph(agent=agent, min_attention=least, limit=HEARD).attention
    return ()


def post_thought(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Write a thought, and the agent's focus when it names one."""
    who = author(agent)
    focus = given.pop("focus")
    receipt = plane.post(given.pop("text"), agent=who, **_given(given))
    answer = receipt_of(receipt)
    if focus:
        beat = plane.heartbeat(agent=who, focus=focus, project=given["project"] or None)
        if beat.state == "refused":
            answer["detail"] = "; ".join(filter(None, (receipt.detail, f"focus not updated: {beat.detail}")))
    return answer


def upsert_fact(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Write one value of (subject, key)."""
    words = [given.pop(name) for name in ("subject", "key", "value")]
    return receipt_of(plane.fact(*words, agent=author(agent), **_given(given)))


def ingest(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Write a text down, each paragraph as an entry, and tell what was found in it."""
    receipts = plane.ingest_text(given.pop("text"), agent=author(agent), **_given(given))
    if not receipts:
        raise Refused("text: must not be empty")
    if all(one.state == "refused" for one in receipts):
        raise Refused(receipts[0].detail)
    stored = [one.id for one in receipts if one.state == "stored"]
    found = plane.found(stored[:MEMORIES]) if stored else Found()
    sections = {
        "open_items": [entries.item(item) for item in found.items],
        "edges": [entries.edge(edge) for edge in found.edges],
        "nodes": [entries.node(node) for node in found.nodes],
    }
    states = Counter(one.state for one in receipts)
    state = ", ".join(f"{count} {state}" for state, count in states.items())
    head = {"note": entries.NOTE, "state": state, "receipts": [entries.receipt(one) for one in receipts[:RECEIPTS]]}
    shown = page(sections, "", heads=10, room=ROOM - size(head))
    return {**head, **{name: shown[name] for name in sections}}


def resolve_item(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Close an open item for every agent."""
    item = whole_id(plane, given.pop("item"))
    return receipt_of(plane.resolve(item, agent=author(agent), **_given(given)))


def recall(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Search, or return the one entry whose id was given."""
    query = given.pop("query")
    if (record := _record(plane, query)) is not None:
        return entries.whole(record, given["cursor"])
    limit = max(1, min(given.pop("limit"), MAX_HITS))
    given["agent"] = given["agent"].strip().lower()
    since, until = (given.pop(name) or None for name in ("since", "until"))
    explain, tokens = bool(given.pop("explain")), given.pop("tokens")
    found = plane.recall(
        query, limit=limit, since=since, until=until, explain=explain, tokens=max(tokens, 0) or None, **_given(given)
    )
    head: dict[str, Any] = {"note": entries.NOTE, "hits": []}
    if found.cursor:
        head["next_cursor"] = found.cursor
    return {**head, "hits": level(_fitting([entries.hit(hit) for hit in found.hits]), ROOM - size(head))}


def _fitting(hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what stands around the last hits where all of it would not fit."""
    for hit in reversed(hits):
        if size(hits) < ROOM * 3 // 4:
            break
        hit.pop("beside", None)
    return hits


def ask(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Answer a question, with the entries that say so."""
    found = plane.ask(given["question"], as_of=given["as_of"] or None)
    head = {"note": entries.NOTE, "answer": shorten(found.text, ROOM // 2), "known": found.known, "evidence": []}
    told = [entries.finding(finding) for finding in found.findings]
    return {**head, "evidence": level(told, ROOM - size(head))}


def get_graph(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Return the part of the graph that an agent should look at, a page at a time."""
    own = agent if given["min_attention"] > 0 else None
    graph = plane.graph(
        agent=given["agent"].strip().lower() or own,
        min_attention=given["min_attention"],
        about=given["about"] or None,
        as_of=given["as_of"] or None,
        limit=max(1, min(given["limit"], 200)),
    )
    sections = {
        "attention": [entries.thought(thought) for thought in graph.attention],
        "edges": [entries.edge(edge) for edge in graph.edges],
        "nodes": [entries.node(node) for node in graph.nodes],
    }
    head = {"note": entries.NOTE}
    return {**head, **page(sections, given["cursor"], heads=40, room=ROOM - size(head))}


def sync_status(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Return the health of the memory and when each agent last wrote, or why it cannot be reached and what waits."""
    known = {"version": __version__, "you": agent or "", "home": str(plane.home)}
    try:
        status = plane.status()
    except (HubUnreachable, StoreError) as error:
        queued, _, dead = plane.queued()
        return {**known, "offline": shorten(str(error), 400), "queued": queued, "dead": dead}
    counts = ("operations", "thoughts", "open_items", "facts", "nodes", "edges", "waiting", "spooled", "queued", "dead")
    return {
        **known,
        "database": str(status.database),
        "revision": str(status.revision),
        **{name: getattr(status, name) for name in counts},
        "failures": [shorten(str(failure), 400) for failure in list(status.failures)[:5]],
        "agents": [
            entries.present({"agent": name, "last_write": entries.iso(at)}) for name, at in list(status.agents)[:40]
        ],
    }


_BEGINNING = re.compile(r"[0-9a-f]{8}[0-9a-f-]*(?:\.\d+)?")


def _given(arguments: Arguments) -> Arguments:
    return {name: value for name, value in arguments.items() if value != ""}


def _record(plane: Plane | Client, query: str) -> dict[str, Any] | None:
    """Return the entry whose id a query is, or begins; a word such as "facade" looks like none."""
    query = query.strip().lower()
    begins = _BEGINNING.fullmatch(query) is not None and any(map(str.isdecimal, query))
    try:
        id = id_of(whole_id(plane, query) if begins else query)
    except ValueError:
        return None
    record: dict[str, Any] | None = plane.get(id)
    return record


_CURSOR = text("next_cursor of the page before")
_ENTRY = ("id", "agent", "time", "source", "kind", "text")
_EDGE = {**dict.fromkeys(("source", "relation", "target", "method", "origin"), "string"), "probability": "number"}
_RECEIPT = object_("id", "state", id={"type": "string"}, state={"type": "string"}, detail={"type": "string"})


def _page_of(**sections: Any) -> dict[str, Any]:
    return object_("note", *sections, note={"type": "string"}, **sections, next_cursor={"type": "string"})


CORE: tuple[Spec, ...] = (
    Spec(
        name="memory_get_pulse",
        description="What the user's other agents are doing now: focus of each, open questions, commitments and "
        "handoffs, recent entries. Call it at the start of a session and before planning.",
        parameters={
            "section": text("For the user to judge: held back text, or who may be one", enum=["held", "reviews"]),
            "cursor": _CURSOR,
        },
        output=_page_of(
            agents=listing("agent", "time", "focus", "project", "status"),
            open_items=listing(*_ENTRY, "owner", "to", "due_at"),
            for_you=listing(*_ENTRY, "reason", attention="number"),
            recent=listing(*_ENTRY),
            graph=listing(**_EDGE),
            held=listing("id", "source", "text"),
            reviews=listing("one", "other", "text", probability="number"),
        )
        | {"required": ["note"]},
        call=get_pulse,
    ),
    Spec(
        name="memory_post_thought",
        description="Tell the user's other agents something worth knowing: a decision, a milestone, a question, a "
        "commitment or a handoff. Self-contained, one point a call, no transcripts, no secrets.",
        parameters={
            "text": text("With full names of people and projects"),
            "kind": text("question, commitment and handoff stay open until resolved", enum=[*KINDS], default="thought"),
            "project": text("Its project"),
            "to": text("Agent or person that it is for"),
            "due_at": text("ISO 8601 with zone"),
            "focus": text("What you work on now"),
            "origin": text("external = quoted from mail, chat or web", enum=[*ORIGINS], default="agent"),
            "source": text("Where it came from"),
            "id": text("Your UUID, so that a retry adds nothing"),
        },
        required=("text",),
        output=_RECEIPT,
        read_only=False,
        idempotent=False,
        call=post_thought,
    ),
    Spec(
        name="memory_upsert_fact",
        description="Record a durable truth as subject, key, value. A newer value replaces the current one; "
        "history is kept.",
        parameters={
            "subject": text("Who or what: a person or project"),
            "key": text("Such as role or deploy_target"),
            "value": text("What is true now"),
            "confidence": number("number", 1.0, "0 to 1"),
            "valid_from": text("ISO 8601 with zone"),
            "valid_until": text("ISO 8601 with zone"),
            "origin": text("external = quoted", enum=[*ORIGINS], default="agent"),
            "source": text("Where it came from"),
        },
        required=("subject", "key", "value"),
        output=_RECEIPT,
        read_only=False,
        call=upsert_fact,
    ),
    Spec(
        name="memory_ingest",
        description="Read notes, minutes, a mail or a page into the memory, each paragraph as an entry; answers what "
        "was found in it.",
        parameters={
            "text": text("As long as it is"),
            "project": text("Its project"),
            "origin": text("Whose words: user, agent (yours)", enum=[*ORIGINS], default="external"),
            "source": text("Address or file: read again, only what is new is stored"),
        },
        required=("text",),
        output=object_(
            "note",
            "state",
            note={"type": "string"},
            state={"type": "string"},
            receipts=listing("id", "state", "detail"),
            open_items=listing(*_ENTRY, "owner", "to", "due_at"),
            edges=listing(**_EDGE),
            nodes=listing("id", "slug", "type", "name", "origin"),
        ),
        read_only=False,
        idempotent=False,
        call=ingest,
    ),
    Spec(
        name="memory_recall",
        description="Search everything all agents wrote, best first. Use it before asking the user what they may have "
        "told another agent. With an entry's id as query it returns that entry in full.",
        parameters={
            "query": text("A few words, or an id"),
            "agent": text("Only what this agent wrote"),
            "kind": text("Only this kind", enum=[*KINDS, "fact"]),
            "project": text("Only this project"),
            "person": text("Only what names this person"),
            "since": text("ISO 8601 with zone, or a day"),
            "until": text("ISO 8601 with zone, or a day"),
            "limit": number("integer", 8, f"At most {MAX_HITS}"),
            "tokens": number("integer", 0, "Show what was said around hits, for that many"),
            "explain": text("yes = say what made each score", enum=["yes"]),
            "cursor": _CURSOR,
        },
        required=("query",),
        output=_page_of(hits=listing(*_ENTRY, score="number")),
        call=recall,
    ),
    Spec(
        name="memory_ask",
        description="Answer a question from what all agents wrote, with the entries that say so: Who works at Acme? "
        "What did I promise Ann? How is Bob connected to Redis?",
        parameters={
            "question": text("In plain English"),
            "as_of": text("ISO 8601 with zone, or a day"),
        },
        required=("question",),
        output=object_(
            "note",
            "answer",
            "known",
            "evidence",
            note={"type": "string"},
            answer={"type": "string"},
            known={"type": "boolean"},
            evidence=listing("id", "time", "source", "text", probability="number"),
        ),
        call=ask,
    ),
    Spec(
        name="memory_resolve_item",
        description="Close an open question, commitment or handoff, for all agents.",
        parameters={
            "item": text("Its id or first 8 characters; an entry's: all"),
            "status": text("How it ended", enum=[*OUTCOMES], default="done"),
            "note": text("The answer or outcome"),
        },
        required=("item",),
        output=_RECEIPT,
        read_only=False,
        call=resolve_item,
    ),
    Spec(
        name="memory_correct",
        description="Assign, snooze or pin an open item; take an entry or a correction back (retract) or replace it "
        "(supersede). For the user: forget what you wrote; release held text; merge, split, alias nodes, keep them "
        "distinct.",
        parameters={
            "action": text("What to do", enum=[*CORRECTIONS]),
            "target": text("Id, its first 8 characters, or a node's slug"),
            "to": text("assign: who; merge, distinct: node; split: ids; alias: name; forget: code; else text"),
            "until": text("snooze: ISO 8601 with zone"),
            "reason": text("retract: why"),
            "dry_run": text("yes = only tell", enum=["yes"]),
        },
        required=("action", "target"),
        output=_RECEIPT,
        read_only=False,
        destructive=True,
        call=correct,
    ),
    Spec(
        name="memory_get_graph",
        description="People, projects and commitments and how they are linked, with probability and the ids of the "
        "entries that say so; and what deserves an agent's attention.",
        parameters={
            "agent": text("Only what deserves this agent's attention"),
            "min_attention": number("number", 0.0, "0 to 1; 0.5 = worth a look. Yours, if agent is empty"),
            "about": text("Name, slug or id of a node to start from"),
            "as_of": text("ISO 8601 with zone, or a day: as it was known then"),
            "limit": number("integer", 40, "Edges at most"),
            "cursor": _CURSOR,
        },
        output=_page_of(
            attention=listing(*_ENTRY, "reason", attention="number"),
            edges=listing(**_EDGE),
            nodes=listing("id", "slug", "type", "name", "origin"),
        ),
        call=get_graph,
    ),
    Spec(
        name="memory_sync_status",
        description="Whether the memory is well, how much it holds, what waits, and when each agent last wrote.",
        output=object_("version", version={"type": "string"}, operations={"type": "integer"}),
        call=sync_status,
    ),
)


def by_name(specs: Iterable[Spec]) -> dict[str, Spec]:
    """Index tools by name, in order."""
    return {spec.name: spec for spec in specs}
