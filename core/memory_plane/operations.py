"""The edge of every write: check the input, cut secrets, fix the id. All that follows may trust an `Operation`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Literal
from uuid import UUID, uuid5

import rfc8785
from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import PydanticCustomError

from memory_plane.errors import Refused
from memory_plane.redact import redact_value
from memory_plane.types import EPOCH, NAMESPACE, Kind, Memory, Operation, Origin

MAX_TEXT = 1_000_000
"""The longest text of one operation, in bytes of UTF-8."""

_AGENT = re.compile(r"\w[\w.-]{0,63}")
_NUMBER = re.compile(r"\s*[-+]?[0-9.]+(e[-+]?[0-9]+)?\s*", re.IGNORECASE)


def _text(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise PydanticCustomError("unicode", "holds half a character (a lone surrogate)") from None
    if size > MAX_TEXT:
        raise PydanticCustomError("too_long", f"is {size:,} bytes long; at most {MAX_TEXT:,} are taken") from None
    return value.replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _uuid(value: Any) -> Any:
    try:
        return str(UUID(value)) if isinstance(value, str) else value
    except ValueError:
        raise PydanticCustomError("uuid", f"is no id (a UUID): {value!r}") from None


def agent_id(name: str) -> str | None:
    """Return the one spelling of an agent's id, None for what cannot be one."""
    folded = name.strip().lower()
    return folded if _AGENT.fullmatch(folded) else None


def _agent(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    folded = agent_id(value)
    if folded is None:
        raise PydanticCustomError(
            "agent", f"is no agent id: {value!r}; give letters, digits, '.', '_' or '-', at most 64"
        )
    return folded


def _time(value: Any) -> Any:
    if isinstance(value, int | float) or (isinstance(value, str) and _NUMBER.fullmatch(value)):
        raise PydanticCustomError("time", "must be an ISO 8601 time with its zone, not a number")
    return value


# The constraints stand first: what stands last runs first.
_NOT_EMPTY = StringConstraints(strict=True, strip_whitespace=True, min_length=1)
Text = Annotated[str, _NOT_EMPTY, BeforeValidator(_text)]
Short = Annotated[str, _NOT_EMPTY, StringConstraints(max_length=512), BeforeValidator(_text)]
Agent = Annotated[str, StringConstraints(strict=True), BeforeValidator(_agent)]
Uuid = Annotated[str, StringConstraints(strict=True), BeforeValidator(_uuid)]
Time = Annotated[AwareDatetime, BeforeValidator(_time)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)


class _Thought(_Body):
    text: Text
    kind: Kind = "thought"
    origin: Origin = "agent"
    project: Short | None = None
    to: Short | None = None
    due_at: Time | None = None
    source: Short | None = None
    thread: Short | None = None
    held: bool | None = None


class _Fact(_Body):
    subject: Short
    key: Short
    value: Text
    confidence: float = Field(default=1.0, ge=0, le=1)
    origin: Origin = "agent"
    project: Short | None = None
    valid_from: Time | None = None
    valid_until: Time | None = None
    source: Short | None = None


class _Heartbeat(_Body):
    focus: Short
    project: Short | None = None
    status: Short = "active"


class _Resolve(_Body):
    item: Uuid
    status: Literal["done", "dropped", "answered", "acknowledged"] = "done"
    note: Text | None = None


class _Assign(_Body):
    item: Uuid
    to: Short


class _Snooze(_Body):
    item: Uuid
    until: Time


class _Pin(_Body):
    target: Uuid
    pinned: bool = True


class _Retract(_Body):
    target: Uuid
    reason: Text | None = None


class _Release(_Body):
    target: Uuid


class _Forget(_Body):
    target: Uuid  # and no reason, which might repeat what is to be forgotten


class _Envelope(_Body):
    agent: Agent
    created_at: Time
    id: Uuid | None = None


BODIES: dict[str, type[_Body]] = {
    "thought": _Thought,
    "fact": _Fact,
    "heartbeat": _Heartbeat,
    "resolve": _Resolve,
    "assign": _Assign,
    "snooze": _Snooze,
    "pin": _Pin,
    "retract": _Retract,
    "release": _Release,
    "forget": _Forget,
}
"""The operations that this version can write, and what each body may hold."""

FORGET = "forget"
FORGOTTEN = "forgotten"
"""What the log calls an operation whose text was taken out of it; nobody can write one."""

TEXT_FIELD = {"thought": "text", "fact": "value"}
"""The one long text of an operation; the store keeps it apart from the rest."""


def make_operation(
    op: str, body: Mapping[str, Any], *, agent: str, created_at: datetime | str | None = None, id: str | None = None
) -> Operation:
    """Check and redact the parts of an operation and fix its id.

    `created_at` defaults to now, `id` to the UUIDv5 of the canonical JSON (RFC 8785) of the rest.
    Raise `Refused` with the field's name first.
    """
    model = BODIES.get(op)
    if model is None:
        raise Refused(f"op: unknown operation {op!r}; known are {', '.join(BODIES)}")
    try:
        at = datetime.now(UTC) if created_at is None else created_at
        envelope = _Envelope.model_validate({"agent": agent, "created_at": at, "id": id})
        checked = model.model_validate({name: value for name, value in body.items() if value is not None})
    except ValidationError as error:
        raise Refused(_first(error, model)) from None
    at = _in_range("created_at", envelope.created_at)
    clean = {name: _plain(name, value) for name, value in checked if value is not None}
    clean = redact_value(clean)
    if op == "fact":
        clean = _fact(clean)
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
    if op in BODIES:
        return make_operation(
            op, body, agent=record.get("agent", ""), created_at=record.get("created_at"), id=record.get("id")
        )
    try:
        envelope = _Envelope.model_validate({name: record.get(name) for name in ("agent", "created_at", "id")})
    except ValidationError as error:
        raise Refused(_first(error, _Envelope)) from None
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


def _first(error: ValidationError, model: type[_Body]) -> str:
    """Say the first thing wrong as `field: what is wrong`."""
    first = error.errors(include_url=False, include_context=True)[0]
    field = str(first["loc"][0]) if first["loc"] else "body"
    match first["type"]:
        case "extra_forbidden":
            return f"{field}: unknown field; known are {', '.join(_fields(model))}"
        case "missing":
            return f"{field}: missing"
        case "string_too_short" | "too_short":
            return f"{field}: must not be empty"
        case "timezone_aware":
            return f"{field}: has no time zone; write it as 2026-10-31T12:00:00Z or with an offset"
        case "literal_error":
            return f"{field}: {first['input']!r} is unknown; give {first['ctx']['expected']}"
    return f"{field}: {first['msg'][0].lower()}{first['msg'][1:]}"


@cache
def _fields(model: type[_Body]) -> tuple[str, ...]:
    return tuple(model.model_fields)
