"""What an MCP tool is: its name, flat schemas and what it does; and its arguments, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory_plane.errors import Refused
from memory_plane.surfaces.fit import shorten

if TYPE_CHECKING:
    from memory_plane.client import Client
    from memory_plane.plane import Plane

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
    destructive: bool = False
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


def check(spec: Spec, given: Mapping[str, Any]) -> Arguments:
    """Return every parameter of the tool with its value or default; raise `Refused` with the field's name first."""
    for name in given:
        if name not in spec.parameters:
            takes = f"it takes {', '.join(spec.parameters)}" if spec.parameters else "it takes none"
            raise Refused(f"{name}: not a parameter of {spec.name}; {takes}")
    checked: Arguments = {}
    for name, schema in spec.parameters.items():
        value = given.get(name)
        if value is None or (value == "" and "enum" in schema):
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
    raise Refused(f"{name}: expected a number, got {shorten(repr(value), 60)}")


def _string(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    raise Refused(f"{name}: expected text, got {type(value).__name__}")


def moment(name: str, text: str) -> datetime | None:
    """Read an ISO 8601 time with its zone, None for ""; raise `Refused` with the field's name first."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Refused(
            f"{name}: {shorten(repr(text), 60)} is no ISO 8601 time; write it as 2026-10-31T12:00:00Z"
        ) from None
    if moment.tzinfo is None:
        raise Refused(f"{name}: has no time zone; write it as 2026-10-31T12:00:00Z or with an offset")
    return moment


def text(description: str, **more: Any) -> dict[str, Any]:
    """Describe a parameter that is a text."""
    return {"type": "string", "description": description, **more}


def number(kind: str, default: float, description: str) -> dict[str, Any]:
    """Describe a parameter that is a number or integer."""
    return {"type": kind, "default": default, "description": description}


def object_(*required: str, **properties: Any) -> dict[str, Any]:
    """Describe an object."""
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


def listing(*texts: str, **others: str) -> dict[str, Any]:
    """Describe a list of objects, whose fields are texts but for `others`."""
    named = {name: {"type": "string"} for name in texts} | {name: {"type": kind} for name, kind in others.items()}
    return {"type": "array", "items": object_(**named)}
