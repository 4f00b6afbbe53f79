"""What several test files share: how long they are, and a hub that is only attacked.

The tests are short in `make test` and at full length in `make drill`, which sets DRILL=long.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copy
from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from memory_plane import Plane

Size = TypeVar("Size")

LONG = os.environ.get("DRILL") == "long"

# Of a property that takes long per example; the others say how many they want.
settings.register_profile("length", max_examples=100 if LONG else 20)


@pytest.fixture(scope="session")
def sized() -> Callable[[Size, Size], Size]:
    """Give `sized(short, long)`: the one of the two that this run is for."""
    return lambda short, long: long if LONG else short


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory, empty_database: Path) -> Iterator[Plane]:
    """A memory that none of the attacks may change, one for all of them: they are asked sooner than it is made."""
    from memory_plane import Plane
    from memory_plane.plugins import PluginManager
    from memory_plane.settings import PluginChoice, Settings

    home = tmp_path_factory.mktemp("home")
    copy(empty_database, home / "memory.db")
    with Plane(Settings(home=home, plugins=PluginChoice(enabled=[])), plugins=PluginManager()) as plane:
        yield plane
        assert plane.status().operations == 0


@pytest.fixture(scope="module")
def gate(untouched: Plane) -> Iterator[TestClient]:
    """The hub of that memory, at port 8788 with a token of 43 times `t`."""
    from starlette.testclient import TestClient

    from memory_plane.surfaces.api import create_app

    app = create_app(untouched, token="t" * 43, port=8788)
    with TestClient(app, base_url="http://127.0.0.1:8788", raise_server_exceptions=False) as client:
        yield client
