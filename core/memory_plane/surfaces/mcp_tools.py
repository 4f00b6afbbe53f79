"""The tools that agents call over MCP: names, flat schemas, and what each does with the `Plane`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from memory_plane import __version__
from memory_plane.errors import HubUnreachable, Refused, StoreError
from memory_plane.surfaces import entries
from memory_plane.surfaces.fit import ROOM, level, page, shorten, size
from memory_plane.types import KINDS, ORIGINS

if TYPE_CHECKING:
    from memory_plane.client import Client
    from memory_plane.plane import Plane
    from memory_plane.types import Receipt

OUTCOMES = ("done", "dropped", "answered", "acknowledged")
MAX_HITS = 20

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One tool: `call` gets the plane, the calling agent and checked arguments, and returns the structured result."""

    name: str
    description: str
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    output: Mapping[str, Any] | None = None
    read_only: bool = True
    idempotent: bool = True
    open_world: bool = False
    checks_itself: bool = False
    call: Callable[[Plane | Client, str | None, Arguments], Any]

    @property
    def input_schema(self) -> dict[str, Any]:
        """The parameters as a flat JSON Schema: no unions and no references, which some models refuse."""
        return {
            "type": "object",
            "properties": {name: dict(schema) for name, schema in self.parameters.items()},
            **({"required": list(self.required)} if self.required else {}),
            "additionalProperties": False,
        }


def get_pulse(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Return the live state of the fleet, a page at a time."""
    pulse = plane.pulse()
    items = pulse.items if pulse.items_total <= len(pulse.items) else plane.items(limit=200)
    sections = {
        "agents": [entries.heartbeat(beat) for beat in pulse.heartbeats],
        "open_items": [entries.item(item) for item in items],
        "recent": [entries.thought(thought) for thought in pulse.thoughts],
        "graph": [entries.edge(edge) for edge in pulse.edges],
    }
    head = {"note": entries.NOTE, "time": entries.iso(pulse.at), "items_total": pulse.items_total}
    return {**head, **page(sections, given["cursor"], heads=7, room=ROOM - size(head))}


def post_thought(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Write a thought, and the agent's focus when it names one."""
    author = _author(agent)
    focus = given.pop("focus")
    receipt = plane.post(given.pop("text"), agent=author, **_given(given))
    answer = _receipt(receipt)
    if focus:
        beat = plane.heartbeat(agent=author, focus=focus, project=given["project"] or None)
        if beat.state == "refused":
            answer["detail"] = "; ".join(filter(None, (receipt.detail, f"focus not updated: {beat.detail}")))
    return answer


def upsert_fact(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Write one value of (subject, key)."""
    words = [given.pop(name) for name in ("subject", "key", "value")]
    return _receipt(plane.fact(*words, agent=_author(agent), **_given(given)))


def resolve_item(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Close an open item for every agent."""
    author, item = _author(agent), given.pop("item")
    found = plane.find(item) if 6 <= len(item) < 36 else []  # pages show the beginning of an id
    return _receipt(plane.resolve(found[0] if len(found) == 1 else item, agent=author, **_given(given)))


def recall(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Search, or return the one entry whose id was given."""
    query = given.pop("query")
    if (record := _record(plane, query)) is not None:
        return entries.whole(record, given["cursor"])
    limit = max(1, min(given.pop("limit"), MAX_HITS))
    given["agent"] = given["agent"].strip().lower()
    since, until = (_moment(name, given.pop(name)) for name in ("since", "until"))
    found = plane.recall(query, limit=limit, since=since, until=until, **_given(given))
    head: dict[str, Any] = {"note": entries.NOTE, "hits": []}
    if found.cursor:
        head["next_cursor"] = found.cursor
    return {**head, "hits": level([entries.hit(hit) for hit in found.hits], ROOM - size(head))}


def get_graph(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Return the part of the graph that an agent should look at, a page at a time."""
    own = agent if given["min_attention"] > 0 else None
    graph = plane.graph(
        agent=given["agent"].strip().lower() or own,
        min_attention=given["min_attention"],
        about=given["about"] or None,
        as_of=_moment("as_of", given["as_of"]),
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


def check(spec: Spec, given: Mapping[str, Any]) -> Arguments:
    """Return every parameter of the tool with its value or default; raise `Refused` with the field's name first."""
    for name in given:
        if name not in spec.parameters:
            takes = f"it takes {', '.join(spec.parameters)}" if spec.parameters else "it takes none"
            raise Refused(f"{name}: not a parameter of {spec.name}; {takes}")
    checked: Arguments = {}
    for name, schema in spec.parameters.items():
        value = given.get(name)
        if value is None:
            if name in spec.required:
                raise Refused(f"{name}: missing")
            value = schema.get("default", "")
        checked[name] = _convert(name, value, schema)
    return checked


def _convert(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    """Take what models really send: a number as text, text as a number."""
    if schema["type"] == "string":
        text = _string(name, value)
        if text and (choices := schema.get("enum")) and text not in choices:
            raise Refused(f"{name}: {text!r} is unknown; give {', '.join(choices)}")
        return text
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else None
        if number is not None:
            return int(number) if schema["type"] == "integer" else number
    except (ValueError, OverflowError):
        pass
    raise Refused(f"{name}: expected a number, got {shorten(str(value), 60)!r}")


def _string(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    raise Refused(f"{name}: expected text, got {type(value).__name__}")


def _author(agent: str | None) -> str:
    if agent is None:
        raise Refused("agent: this connection names no agent, so it can only read; see docs/mcp.md to name one")
    return agent


def _moment(name: str, text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Refused(f"{name}: {shorten(text, 60)!r} is no ISO 8601 time; write it as 2026-10-31T12:00:00Z") from None
    if moment.tzinfo is None:
        raise Refused(f"{name}: has no time zone; write it as 2026-10-31T12:00:00Z or with an offset")
    return moment


def _given(arguments: Arguments) -> Arguments:
    return {name: value for name, value in arguments.items() if value != ""}


def _receipt(receipt: Receipt) -> dict[str, Any]:
    if receipt.state == "refused":
        raise Refused(receipt.detail)
    return entries.present({"id": receipt.id, "state": receipt.state, "detail": receipt.detail})


def _record(plane: Plane | Client, query: str) -> dict[str, Any] | None:
    try:
        id = str(UUID(query.strip()))
    except ValueError:
        return None
    record: dict[str, Any] | None = plane.get(id)
    return record


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def _number(kind: str, default: float, description: str) -> dict[str, Any]:
    return {"type": kind, "default": default, "description": description}


def _object(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


def _list(*texts: str, **others: str) -> dict[str, Any]:
    named = {name: {"type": "string"} for name in texts} | {name: {"type": kind} for name, kind in others.items()}
    return {"type": "array", "items": _object(**named)}


_CURSOR = _text("next_cursor of the page before")
_ENTRY = ("id", "agent", "time", "source", "kind", "text")
_EDGE = {**dict.fromkeys(("source", "relation", "target", "method"), "string"), "probability": "number"}
_RECEIPT = _object("id", "state", id={"type": "string"}, state={"type": "string"}, detail={"type": "string"})


def _page_of(**sections: Any) -> dict[str, Any]:
    return _object("note", *sections, note={"type": "string"}, **sections, next_cursor={"type": "string"})


CORE: tuple[Spec, ...] = (
    Spec(
        name="memory_get_pulse",
        description="What the user's other agents are doing now: focus of each, open questions, commitments and "
        "handoffs, recent entries. Call it at the start of a session and before planning.",
        parameters={"cursor": _CURSOR},
        output=_page_of(
            agents=_list("agent", "time", "focus", "project", "status"),
            open_items=_list(*_ENTRY, "owner", "to", "due_at"),
            recent=_list(*_ENTRY),
            graph=_list(**_EDGE),
        ),
        call=get_pulse,
    ),
    Spec(
        name="memory_post_thought",
        description="Tell the user's other agents something worth knowing: a decision, a milestone, a question, a "
        "commitment or a handoff. Self-contained, one point a call, no transcripts and no secrets.",
        parameters={
            "text": _text("With full names of people and projects"),
            "kind": _text(
                "question, commitment and handoff stay open until resolved", enum=[*KINDS], default="thought"
            ),
            "project": _text("Its project"),
            "to": _text("Agent or person that it is for"),
            "due_at": _text("ISO 8601 with zone"),
            "focus": _text("What you work on now, for the focus table"),
            "origin": _text("external = quoted from mail, chat or web", enum=[*ORIGINS], default="agent"),
            "source": _text("Where it came from"),
            "id": _text("UUID of your own, so that a retry adds nothing"),
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
            "subject": _text("Who or what, such as a person or project"),
            "key": _text("Such as role or deploy_target"),
            "value": _text("What is true now"),
            "confidence": _number("number", 1.0, "0 to 1"),
            "valid_from": _text("ISO 8601 with zone"),
            "valid_until": _text("ISO 8601 with zone"),
            "origin": _text("external = quoted", enum=[*ORIGINS], default="agent"),
            "source": _text("Where it came from"),
        },
        required=("subject", "key", "value"),
        output=_RECEIPT,
        read_only=False,
        call=upsert_fact,
    ),
    Spec(
        name="memory_recall",
        description="Search everything all agents wrote, best first. Use it before asking the user what they may have "
        "told another agent. With an entry's id as query it returns that entry in full.",
        parameters={
            "query": _text("A few words, or an id"),
            "agent": _text("Only what this agent wrote"),
            "kind": _text("Only this kind", enum=[*KINDS, "fact"]),
            "project": _text("Only this project"),
            "person": _text("Only entries that name this person"),
            "since": _text("ISO 8601 with zone"),
            "until": _text("ISO 8601 with zone"),
            "limit": _number("integer", 8, f"At most {MAX_HITS}"),
            "cursor": _CURSOR,
        },
        required=("query",),
        output=_page_of(hits=_list(*_ENTRY, score="number")),
        call=recall,
    ),
    Spec(
        name="memory_resolve_item",
        description="Close an open question, commitment or handoff, for all agents.",
        parameters={
            "item": _text("Id of the item, or its first 8 characters"),
            "status": _text("How it ended", enum=[*OUTCOMES], default="done"),
            "note": _text("The answer or outcome"),
        },
        required=("item",),
        output=_RECEIPT,
        read_only=False,
        call=resolve_item,
    ),
    Spec(
        name="memory_get_graph",
        description="People, projects and commitments and how they are linked, with probability and the ids of the "
        "entries that say so; and the entries that deserve an agent's attention.",
        parameters={
            "agent": _text("Only what deserves this agent's attention"),
            "min_attention": _number("number", 0.0, "0 to 1; 0.5 = worth a look. Yours, if agent is empty"),
            "about": _text("Name, slug or id of a node to start from"),
            "as_of": _text("ISO 8601 with zone: as it was known then"),
            "limit": _number("integer", 40, "Edges at most"),
            "cursor": _CURSOR,
        },
        output=_page_of(
            attention=_list(*_ENTRY, "reason", attention="number"),
            edges=_list(**_EDGE),
            nodes=_list("id", "slug", "type", "name"),
        ),
        call=get_graph,
    ),
    Spec(
        name="memory_sync_status",
        description="Whether the memory is healthy, how much it holds, what waits, and when each agent last wrote.",
        output=_object("version", version={"type": "string"}, operations={"type": "integer"}),
        call=sync_status,
    ),
)


def by_name(specs: Iterable[Spec]) -> dict[str, Spec]:
    """Index tools by name, in order."""
    return {spec.name: spec for spec in specs}
