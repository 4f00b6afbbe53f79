"""Tools of plugins as MCP tools: schemas made flat, answers made JSON, and each guarded on its own."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from memory_plane.errors import Refused
from memory_plane.surfaces.entries import NOTE
from memory_plane.surfaces.fit import ROOM, encode, shorten, size
from memory_plane.surfaces.spec import Arguments, Spec

if TYPE_CHECKING:
    from memory_plane.client import Client
    from memory_plane.plane import Plane
    from memory_plane.types import Tool

logger = logging.getLogger(__name__)

UNIONS = ("anyOf", "oneOf", "allOf")
NOISE = ("title", "$defs", "additionalProperties")


def plugin_specs(plane: Plane) -> list[Spec]:
    """Return the plugins' tools; one whose signature cannot be offered is left out and logged."""
    specs = []
    for tool in plane.plugins.tools(plane):
        try:
            specs.append(_spec(tool))
        except Exception as error:  # noqa: BLE001 - a bad tool must not stop the server
            logger.warning("tool %r is not offered: %s", tool.name, error)
    return specs


def flat(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return `schema` without references and unions: `X | None` becomes X; raise `ValueError` for others."""
    if "$ref" in schema:
        return flat(definitions[schema["$ref"].removeprefix("#/$defs/")], definitions)
    for union in UNIONS:
        if union in schema:
            choices = [choice for choice in schema[union] if choice.get("type") != "null"]
            if len(choices) != 1:
                raise ValueError(f"a parameter takes {len(choices)} types; MCP clients want one")
            rest = {name: value for name, value in schema.items() if name != union}
            return {**flat(choices[0], definitions), **flat(rest, definitions)}
    kept = {name: value for name, value in schema.items() if name not in NOISE and value is not None}
    if "items" in kept:
        kept["items"] = flat(kept["items"], definitions)
    if "properties" in kept:
        kept["properties"] = {name: flat(value, definitions) for name, value in kept["properties"].items()}
    return kept


def _spec(tool: Tool) -> Spec:
    from mcp.server.mcpserver.utilities.func_metadata import func_metadata

    if inspect.iscoroutinefunction(tool.function):
        raise TypeError("its function is a coroutine; give a plain function")
    arguments = func_metadata(tool.function, structured_output=False).arg_model
    raw = arguments.model_json_schema(by_alias=True)
    schema = flat(raw, raw.get("$defs", {}))

    def call(plane: Plane | Client, agent: str | None, given: Arguments) -> Any:
        try:
            checked = arguments.model_validate(given)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise Refused(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        return _bounded(_called(tool, {name: getattr(checked, name) for name in type(checked).model_fields}))

    return Spec(
        name=tool.name,
        description=tool.description,
        parameters=schema.get("properties", {}),
        required=tuple(schema.get("required", ())),
        read_only=False,
        idempotent=False,
        open_world=True,
        checks_itself=True,
        call=call,
    )


def _called(tool: Tool, values: Mapping[str, Any]) -> Any:
    """Call the function; one that would end the process, or the task that it runs in, fails like any other."""
    try:
        return tool.function(**values)
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise RuntimeError(f"{tool.name} raised {type(error).__name__}") from error


def _bounded(answer: Any) -> Any:
    """Return an object that fits, or text that was cut to fit, marked as data like every other answer."""
    value = to_jsonable_python(answer, fallback=str)
    if isinstance(value, dict) and size(fenced := {"note": NOTE, **value}) <= ROOM:
        return fenced
    text = value if isinstance(value, str) else encode(value)
    return f"{NOTE}\n{shorten(text, ROOM - len(NOTE) - 1)}"
