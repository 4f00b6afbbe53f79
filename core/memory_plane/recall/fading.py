"""What age leaves of a weight: half in half a year, but never less than a tenth. It lowers rank and nothing stored.

Only time lowers it, so what is asked for often fades no sooner.
"""

from __future__ import annotations

from datetime import timedelta

HALF_LIFE = timedelta(days=180)
LEAST = 0.1
_MICROSECOND = timedelta(microseconds=1)
_HALF = HALF_LIFE // _MICROSECOND


def left(age: timedelta) -> float:
    """Return the share of its weight that something has at this age: 1 if it is of now or of later."""
    return left_after(age // _MICROSECOND)


def left_after(microseconds: int) -> float:
    """Return the same for an age in microseconds."""
    faded: float = 0.5 ** max(microseconds / _HALF, 0.0)
    return max(LEAST, faded)
