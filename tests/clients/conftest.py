"""Fixtures of the tests with real agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from .people import Person


@pytest.fixture
def person(tmp_path: Path) -> Person:
    """A home without a hub: who writes has the pages ready when it ends."""
    home = tmp_path / "a home"
    home.mkdir()
    return Person(home)
