"""Whom this plugin speaks for, and how much of a turn it keeps; it stands alone, so that loading imports little."""

from __future__ import annotations

from typing import Literal

INSTINCT = "instinct"
Mode = Literal["off", "distilled", "all"]
