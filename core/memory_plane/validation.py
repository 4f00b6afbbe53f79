"""What pydantic says of settings, told in one line with the key and the place it was read from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from memory_plane.errors import ConfigurationError
from memory_plane.settings import Places, Settings, suggestion


def checked(values: Mapping[str, Any], places: Places) -> Settings:
    """Return the settings that have these values, or raise `ConfigurationError` for the first that is wrong."""
    try:
        return _adapter().validate_python(values)
    except ValidationError as error:
        raise refused(error, Settings.known_keys(), places) from None


def refused(error: ValidationError, known: Iterable[str], places: Places) -> ConfigurationError:
    """Say the first thing wrong, where its value was read, and how many more there are."""
    first, *more = error.errors(include_url=False, include_input=False)
    key = tuple(str(part) for part in first["loc"])
    others = f" and {len(more)} more" if more else ""
    return ConfigurationError(f"{_explain(first, known, places)}  ({places.of(key)}){others}")


@cache
def _adapter() -> TypeAdapter[Settings]:
    return TypeAdapter(Settings)


def _explain(error: ErrorDetails, known: Iterable[str], places: Places) -> str:
    name = places.name(tuple(str(part) for part in error["loc"]))
    match error["type"]:
        case "extra_forbidden" | "unexpected_keyword_argument":
            return f"unknown key {name!r}{suggestion(name, (places.name((key,)) for key in known)) or '; remove it'}"
        case "missing":
            return f"{name!r} is missing; set it"
    message = error["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{name!r} {message[0].lower()}{message[1:]}".replace("\n", " ")
