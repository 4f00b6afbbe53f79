"""How long the tests are: short in `make test`, at full length in `make drill`, which sets DRILL=long."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import settings

Size = TypeVar("Size")

LONG = os.environ.get("DRILL") == "long"

# Of a property that takes long per example; the others say how many they want.
settings.register_profile("length", max_examples=100 if LONG else 20)


@pytest.fixture(scope="session")
def sized() -> Callable[[Size, Size], Size]:
    """Give `sized(short, long)`: the one of the two that this run is for."""
    return lambda short, long: long if LONG else short
