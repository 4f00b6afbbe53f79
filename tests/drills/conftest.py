"""How long the drills are: short in `make test`, at full length in `make drill`, which sets DRILL=long."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

import pytest

Size = TypeVar("Size")


@pytest.fixture(scope="session")
def sized() -> Callable[[Size, Size], Size]:
    """Give `sized(short, long)`: the one of the two that this run is for."""
    is_long = os.environ.get("DRILL") == "long"
    return lambda short, long: long if is_long else short
