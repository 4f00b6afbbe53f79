"""What an operation may hold: pydantic checks it where it comes in. No read needs this, so none loads it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from memory_plane.errors import Refused
from memory_plane.operations import MAX_TEXT, agent_id, id_of
from memory_plane.types import Kind, Origin

_NUMBER = re.compile(r"\s*[-+]?[0-9.]+(e[-+]?[0-9]+)?\s*", re.IGNORECASE)


def _text(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    value = value.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise PydanticCustomError("unicode", "holds half a character (a lone surrogate)") from None
    if size > MAX_TEXT:
        raise PydanticCustomError("too_long", f"is {size:,} bytes long; at most {MAX_TEXT:,} are taken") from None
    return value


def _uuid(value: Any) -> Any:
    found = _id(value)
    if isinstance(found, str) and "." in found:
        memory = found.partition(".")[0]
        raise PydanticCustomError("uuid", f"is one of several open items; give the id of their memory: {memory}")
    return found


def _id(value: Any) -> Any:
    try:
        return id_of(value) if isinstance(value, str) else value
    except ValueError:
        raise PydanticCustomError("uuid", f"is no id (a UUID): {value!r}") from None


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
ItemId = Annotated[str, StringConstraints(strict=True), BeforeValidator(_id)]
Time = Annotated[AwareDatetime, BeforeValidator(_time)]


class Body(BaseModel):
    """What every operation's body keeps to."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)


class _Thought(Body):
    text: Text
    kind: Kind = "thought"
    origin: Origin = "agent"
    project: Short | None = None
    owner: Short | None = None
    to: Short | None = None
    due_at: Time | None = None
    source: Short | None = None
    thread: Short | None = None
    held: bool | None = None


class _Fact(Body):
    subject: Short
    key: Short
    value: Text
    confidence: float = Field(default=1.0, ge=0, le=1)
    origin: Origin = "agent"
    project: Short | None = None
    valid_from: Time | None = None
    valid_until: Time | None = None
    source: Short | None = None
    held: bool | None = None


class _Heartbeat(Body):
    focus: Short
    project: Short | None = None
    status: Short = "active"


class _Resolve(Body):
    item: ItemId
    status: Literal["done", "dropped", "answered", "acknowledged"] = "done"
    note: Text | None = None


class _Assign(Body):
    item: ItemId
    to: Short


class _Snooze(Body):
    item: ItemId
    until: Time


class _Pin(Body):
    target: ItemId
    pinned: bool = True


class _Retract(Body):
    target: Uuid
    reason: Text | None = None


class _Release(Body):
    target: Uuid


class _Forget(Body):
    target: Uuid  # and no reason, which might repeat what is to be forgotten


class _Merge(Body):
    node: Uuid
    into: Uuid

    @model_validator(mode="after")
    def _two(self) -> Self:
        return _several(self, self.node, self.into)


class _Split(Body):
    node: Uuid
    memories: list[Uuid] = Field(min_length=1, max_length=1000)


class _Distinct(Body):
    nodes: list[Uuid] = Field(min_length=2, max_length=10)

    @model_validator(mode="after")
    def _two(self) -> Self:
        return _several(self, *self.nodes)


class _Alias(Body):
    node: Uuid
    name: Short
    remove: bool = False


class TextToIngest(Body):
    """A text of any length, and what is said of it, which goes for each of its paragraphs."""

    text: str
    origin: Origin = "external"
    project: Short | None = None
    source: Short | None = None
    agent: Agent | None = None
    created_at: Time | None = None


class NewWords(Body):
    """The words that come in the place of a thought's, or the value in the place of a fact's."""

    target: Uuid
    text: str
    agent: Agent | None = None
    created_at: Time | None = None
    id: Uuid | None = None


class Envelope(Body):
    """What every operation has beside its body."""

    agent: Agent
    created_at: Time
    id: Uuid | None = None


Checked = TypeVar("Checked", bound=Body)

BODIES: dict[str, type[Body]] = {
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
    "merge": _Merge,
    "split": _Split,
    "distinct": _Distinct,
    "alias": _Alias,
}
"""What the body of each operation may hold that this version can write."""


def envelope_of(values: Mapping[str, Any]) -> Envelope:
    """Check who wrote when and under which id, or raise `Refused`."""
    return checked(Envelope, values)


def body_of(op: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Check the body of an operation that this version knows, or raise `Refused`; what is None counts as not said."""
    said = {name: value for name, value in values.items() if value is not None}
    return {name: value for name, value in checked(BODIES[op], said) if value is not None}


def checked(model: type[Checked], values: Mapping[str, Any]) -> Checked:
    """Check values by a model, or raise `Refused`."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise Refused(_first(error, model)) from None


def _several(body: Checked, *nodes: str) -> Checked:
    if len(set(nodes)) < len(nodes):
        raise PydanticCustomError("nodes", "names one node twice; give different ones")
    return body


def _first(error: ValidationError, model: type[Body]) -> str:
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
        case "datetime_parsing" | "datetime_from_date_parsing":
            return f"{field}: {str(first['input'])[:60]!r} is no ISO 8601 time; write it as 2026-10-31T12:00:00Z"
        case "timezone_aware":
            return f"{field}: has no time zone; write it as 2026-10-31T12:00:00Z or with an offset"
        case "literal_error":
            return f"{field}: {first['input']!r} is unknown; give {first['ctx']['expected']}"
    return f"{field}: {first['msg'][0].lower()}{first['msg'][1:]}"


@cache
def _fields(model: type[Body]) -> tuple[str, ...]:
    return tuple(model.model_fields)
