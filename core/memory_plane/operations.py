"""The edge of every write: check the input, cut secrets, fix the id. All that follows may trust an `Operation`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

import rfc8785

from memory_plane.errors import Refused
from memory_plane.redact import redact_value
from memory_plane.types import EPOCH, NAMESPACE, Memory, Operation

MAX_TEXT = 1_000_000
"""The longest text of one operation, in bytes of UTF-8."""

_AGENT = re.compile(r"\w[\w.-]{0,63}")

FORGET = "forget"
FORGOTTEN = "forgotten"
"""What the log calls an operation whose text was taken out of it; nobody can write one."""

TEXT_FIELD = {"thought": "text", "fact": "value"}
"""The one long text of an operation; the store keeps it apart from the rest."""

TARGET_FIELD = {
    "resolve": "item",
    "assign": "item",
    "snooze": "item",
    "pin": "target",
    "retract": "target",
    "release": "target",
    "forget": "target",
}
"""The id of the operation that an operation is about."""

NODE_OPS = ("merge", "split", "distinct", "alias")
"""The operations that are about nodes of the graph; to take one back, retract it."""

OPS = (*TEXT_FIELD, "heartbeat", *TARGET_FIELD, *NODE_OPS)
"""The operations that this version can write."""


SUPERSEDED_BY = "superseded by "
"""What the reason of a retraction begins with that comes of other words, before the id of those."""


def giving_way(id: str) -> str:
    """Return the id of the retraction of what gave way to the words with this id: these lead to it."""
    return str(uuid5(NAMESPACE, SUPERSEDED_BY + id))


def agent_id(name: str) -> str | None:
    """Return the one spelling of an agent's id, None for what cannot be one."""
    folded = name.strip().lower()
    return folded if _AGENT.fullmatch(folded) else None


def readable(query: str) -> str:
    """Return a query without what no text holds: NUL and lone surrogates."""
    return query.encode(errors="replace").decode().replace("\x00", "\N{REPLACEMENT CHARACTER}")


def id_of(text: str) -> str:
    """Return the one spelling of the id of an operation, or of one of several items in it: `6c1d…d10.40`.

    Raise ValueError for what is neither.
    """
    id, dot, place = text.partition(".")
    if dot and not (place.isdecimal() and len(place) <= len(str(MAX_TEXT))):
        raise ValueError(f"{text!r} is no id")
    return f"{UUID(id)}{dot}{int(place)}" if dot else str(UUID(id))


def make_operation(
    op: str,
    body: Mapping[str, Any],
    *,
    agent: str,
    created_at: datetime | str | None = None,
    id: str | None = None,
    hold_external: bool = False,
) -> Operation:
    """Check and redact the parts of an operation and fix its id.

    `created_at` defaults to now, `id` to the UUIDv5 of the canonical JSON (RFC 8785) of the rest. With `hold_external`
    the words of other people are held back, unless the body says that they are not.
    Raise `Refused` with the field's name first.
    """
    from memory_plane import bodies  # brings pydantic, which no read needs

    if op not in OPS:
        raise Refused(f"op: unknown operation {op!r}; known are {', '.join(OPS)}")
    at = datetime.now(UTC) if created_at is None else created_at
    envelope = bodies.envelope_of({"agent": agent, "created_at": at, "id": id})
    checked = bodies.body_of(op, body)
    if hold_external and checked.get("origin") == "external":
        checked = {"held": True} | checked
    at = _in_range("created_at", envelope.created_at)
    plain = {name: _plain(name, value) for name, value in checked.items()}
    clean = redact_value(plain)
    if op == "fact":
        clean = _fact(clean)
    if clean != plain:  # what stands for a secret may be longer than it was, and every other machine checks again
        bodies.body_of(op, clean)
    return Operation(
        id=envelope.id or _derived_id(op, envelope.agent, at, clean),
        op=op,
        agent=envelope.agent,
        created_at=at,
        body=clean,
    )


def _fact(body: dict[str, Any]) -> dict[str, Any]:
    """Cut a value that only its key tells to be a secret, and refuse one that ends before it begins."""
    (value,) = redact_value({body["key"].replace(" ", "_"): body["value"]}).values()
    if body.get("valid_from", "") >= body.get("valid_until", "~"):
        raise Refused(f"valid_until: {body['valid_until']} is not after valid_from")
    return body | {"value": value}


def parse_operation(record: Mapping[str, Any]) -> Operation:
    """Read an operation from its exported or queued form; one with an op we do not know is kept as it is."""
    unknown = set(record) - {"id", "op", "agent", "created_at", "body"}
    if unknown:
        raise Refused(f"{sorted(unknown)[0]}: unknown field of an operation")
    op, body = record.get("op"), record.get("body")
    if not isinstance(op, str) or not op:
        raise Refused("op: missing")
    if op == FORGOTTEN:
        raise Refused(f"op: {FORGOTTEN!r} is what is left of an operation and cannot be written; see forget")
    if not isinstance(body, Mapping):
        raise Refused("body: must be an object")
    if record.get("created_at") is None:
        raise Refused("created_at: missing")
    if op in OPS:
        return make_operation(
            op, body, agent=record.get("agent", ""), created_at=record.get("created_at"), id=record.get("id")
        )
    from memory_plane import bodies

    envelope = bodies.envelope_of({name: record.get(name) for name in ("agent", "created_at", "id")})
    clean = redact_value(dict(body))
    at = _in_range("created_at", envelope.created_at)
    try:
        derived = _derived_id(op, envelope.agent, at, clean)
    except ValueError as error:  # not a number, half a character, or more digits than JSON carries
        raise Refused(f"body: cannot be written as JSON: {error}") from None
    return Operation(
        id=envelope.id or derived,
        op=op,
        agent=envelope.agent,
        created_at=at,
        body=clean,
    )


def memory_of(operation: Operation) -> Memory | None:
    """Return a thought or fact as the hooks see it, None for any other operation."""
    body = operation.body
    if operation.op == "thought":
        kind, words = body["kind"], body["text"]
    elif operation.op == "fact":
        kind, words = "fact", f"{body['subject']} {body['key'].replace('_', ' ')}: {body['value']}"
    else:
        return None
    return Memory(
        id=operation.id,
        agent=operation.agent,
        kind=kind,
        text=words,
        created_at=operation.created_at,
        origin=body["origin"],
        project=body.get("project"),
        owner=body.get("owner"),
    )


def record_of(operation: Operation) -> dict[str, Any]:
    """Return the operation as JSON holds it; `parse_operation` reads it back."""
    return {
        "id": operation.id,
        "op": operation.op,
        "agent": operation.agent,
        "created_at": iso(operation.created_at),
        "body": dict(operation.body),
    }


def iso(at: datetime) -> str:
    """Write a moment as ISO 8601 in UTC with microseconds, the one form that ids are made of."""
    return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def _derived_id(op: str, agent: str, at: datetime, body: Mapping[str, Any]) -> str:
    rest: dict[str, Any] = {"op": op, "agent": agent, "created_at": iso(at), "body": dict(body)}
    return str(uuid5(NAMESPACE, rfc8785.dumps(rest).decode()))


def _plain(name: str, value: Any) -> Any:
    return iso(_in_range(name, value)) if isinstance(value, datetime) else value


def _in_range(name: str, value: datetime) -> datetime:
    try:
        at = value.astimezone(UTC)
    except OverflowError:
        at = EPOCH
    if at <= EPOCH:
        raise Refused(f"{name}: {value.isoformat()} is out of range; give a time after 1970")
    return at
