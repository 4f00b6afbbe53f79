"""What a field of a file or payload says, whatever it turns out to hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from memory_plane.types import EPOCH

LONGEST = 200_000
"""The most characters that are taken from one field."""


def text(value: Any, most: int = LONGEST) -> str:
    """Return a string of at most `most` characters, without halves of any; "" for what is none."""
    return value[:most].encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def table(value: Any) -> Mapping[str, Any]:
    """Return an object, an empty one for what is none."""
    return value if isinstance(value, Mapping) else {}


def rows(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of an array, none for what is none."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def number(value: Any) -> int | None:
    """Return a whole number, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def moment(value: Any) -> datetime | None:
    """Return the time that a number of seconds or milliseconds since 1970 says, None for what is none."""
    count = number(value)
    if count is None:
        return None
    try:
        at = datetime.fromtimestamp(count / 1000 if count > 100_000_000_000 else count, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return at if at > EPOCH else None


def parsed(value: str | bytes) -> Any:
    """Read JSON, None for what is none."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None
