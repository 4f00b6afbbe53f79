"""Moments as other programs write them: ISO 8601 with or without a zone, days, and numbers of any unit since 1970."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from memory_plane.types import EPOCH

_NUMBER = re.compile(r"\d{9,19}(\.\d+)?")
_UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (math.inf, 1e9))
"""Below each number, how many of its units make a second: seconds, milliseconds, microseconds, nanoseconds."""


def moment(value: Any, zone: tzinfo | None = UTC) -> datetime | None:
    """Return a moment as UTC, None for what is none; one without a zone is in `zone`, the machine's if that is None."""
    try:
        if isinstance(value, str):
            text = value.strip()
            return _in_range(_number(float(text)) if _NUMBER.fullmatch(text) else _text(text, zone))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _in_range(_number(float(value)))
    except (ValueError, OverflowError, OSError):
        pass
    return None


def _number(value: float) -> datetime:
    unit = next((unit for limit, unit in _UNITS if abs(value) < limit), 1.0)
    return EPOCH + timedelta(seconds=value / unit)


def _text(text: str, zone: tzinfo | None) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None and zone is not None:
        at = at.replace(tzinfo=zone)
    return at.astimezone(UTC)


def _in_range(at: datetime) -> datetime | None:
    return at if at > EPOCH else None
