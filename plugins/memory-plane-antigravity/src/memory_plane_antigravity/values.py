"""What a field of Antigravity's files or payloads says, whatever it turns out to hold."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from memory_plane.types import EPOCH

_GO = re.compile(r" ?([+-]\d{2}):?(\d{2})(?: (?:[A-Z]{2,5}|[+-]\d{2,4}))?$")
_AHEAD = timedelta(days=1)


def text(value: Any, most: int = 100_000) -> str:
    """Return a string of at most `most` characters, without halves of any; "" for what is none."""
    return value[:most].encode("utf-8", "replace").decode().strip() if isinstance(value, str) else ""


def number(value: Any) -> int | None:
    """Return a whole number, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def truth(value: Any) -> bool:
    """Return whether a field of a database holds some spelling of true."""
    return value.strip().lower() in ("1", "true", "t", "yes") if isinstance(value, str) else bool(value)


def moment(value: Any) -> datetime | None:
    """Read a time: ISO 8601 or as Go prints it, UTC if it names no zone, or seconds up to microseconds since 1970.

    None for what is none, Go's zero time, and what lies more than a day ahead.
    """
    try:
        at = _counted(float(value)) if _is_number(value) else _written(text(value, 64))
        return at if EPOCH < at <= datetime.now(UTC) + _AHEAD else None
    except (ValueError, OverflowError, OSError):
        return None


def parsed(value: str) -> Any:
    """Read JSON, None for what is none."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _is_number(value: Any) -> bool:
    return (isinstance(value, int | float) and not isinstance(value, bool)) or text(value, 64).isdecimal()


def _counted(value: float) -> datetime:
    scale = 1e6 if value > 1e14 else 1e3 if value > 1e11 else 1
    return datetime.fromtimestamp(value / scale, UTC)


def _written(value: str) -> datetime:
    at = datetime.fromisoformat(_GO.sub(r"\1:\2", value))
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
