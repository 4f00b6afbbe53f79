"""Fixtures for plugin authors, and for our own tests. Nothing heavy is imported before a fixture needs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from shutil import copy
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

if TYPE_CHECKING:
    from memory_plane.database import Database
    from memory_plane.plane import Plane
    from memory_plane.plugins import Plugin, PluginManager
    from memory_plane.testing.hub import HubProcess
    from memory_plane.types import Memory, Operation

    InstallPlugin = Callable[..., str]
    MakeMemory = Callable[..., Memory]
    MakeOperation = Callable[..., Operation]
    MakePlane = Callable[..., Plane]

pytest.register_assert_rewrite("memory_plane.testing.contract")

_FOREIGN = ("MEMORY_PLANE_", "MEMORY_HUB_", "XDG_")
_START = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty home, in a path with a space and non-Latin letters.

    The environment is clean, `~` is in the temporary folder too, and no installed plugin loads unless named.
    """
    person = tmp_path / "Zoë Жук"
    home = person / ".memory-plane"
    home.mkdir(parents=True, mode=0o700)
    _clean_environment(monkeypatch, person)
    monkeypatch.setenv("MEMORY_PLANE_HOME", str(home))
    return home


def _clean_environment(monkeypatch: pytest.MonkeyPatch, person: Path) -> None:
    for name in list(os.environ):
        if name.startswith(_FOREIGN):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("USERPROFILE", str(person))
    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", "[]")


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an empty database at the newest revision, once: a copy is made in no time, the tables are not."""
    from memory_plane.database import Database
    from memory_plane.schema import upgrade

    path = tmp_path_factory.mktemp("empty") / "memory.db"
    database = Database(f"sqlite:///{path}")
    upgrade(database)
    database.close()
    return path


@pytest.fixture
def engine(home: Path, empty_database: Path) -> Iterator[Database]:
    """Open an empty database at the newest revision."""
    from memory_plane.database import Database

    copy(empty_database, home / "memory.db")
    database = Database(f"sqlite:///{home / 'memory.db'}")
    yield database
    database.close()


@pytest.fixture
def plugin_manager() -> Iterator[PluginManager]:
    """Make a strict manager without plugins, for a test to `register` its own."""
    from memory_plane.plugins import PluginManager

    manager = PluginManager(strict=True)
    yield manager
    manager.close()


@pytest.fixture
def make_plane(home: Path, empty_database: Path) -> Iterator[MakePlane]:
    """Give `make_plane(*plugins, strict=True, **settings)`; the planes are closed after the test.

    A plugin is the name of an installed one or an instance; instances are called after the named ones.
    """
    from memory_plane.plane import Plane
    from memory_plane.plugins import PluginManager
    from memory_plane.settings import Settings

    with ExitStack() as opened:

        def make(*plugins: str | Plugin, strict: bool = True, **options: Any) -> Plane:
            named = [plugin for plugin in plugins if isinstance(plugin, str)]
            settings = Settings.load(**{"plugins": {"enabled": named}, "synchronous": "normal"} | options)
            file = settings.home / "memory.db"
            if settings.database is None and settings.home.is_dir() and not file.exists():
                copy(empty_database, file)
            manager = PluginManager.load(settings, strict=strict)
            for plugin in plugins:
                if not isinstance(plugin, str):
                    manager.register(plugin)
            return opened.enter_context(Plane(settings, plugins=manager))

        yield make


@pytest.fixture
def plane(make_plane: MakePlane) -> Plane:
    """Open a plane without plugins."""
    return make_plane()


@pytest.fixture
def hub(home: Path, tmp_path: Path, empty_database: Path) -> Iterator[HubProcess]:
    """Start a hub with a home of its own, which is not that of the test."""
    from memory_plane.testing.hub import HubProcess

    process = HubProcess(tmp_path / "the hub's home é", database=empty_database, forked=True)
    yield process
    process.stop()


@pytest.fixture(scope="module")
def shared_hub(tmp_path_factory: pytest.TempPathFactory, empty_database: Path) -> Iterator[HubProcess]:
    """Start a hub for all tests of a module: each writes as an agent of its own and counts nothing but its own words.

    It is never stopped; who stops or changes it takes `hub`, at the price of a start.
    """
    from memory_plane.testing.hub import HubProcess

    person = tmp_path_factory.mktemp("Zoë Жук")
    with pytest.MonkeyPatch.context() as monkeypatch:
        _clean_environment(monkeypatch, person)
        process = HubProcess(person / ".memory-plane", database=empty_database, forked=True)
    yield process
    process.stop()


@pytest.fixture
def install_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstallPlugin:
    """Give `install_plugin(name, source, distribution=None)`: lay out a distribution as pip would, until the test ends.

    The class in the source is called `ThePlugin`; the name of its module is returned.
    """

    def install(name: str, source: str, distribution: str | None = None) -> str:
        distribution = distribution or f"memory-plane-{name}"
        module = f"{distribution.replace('-', '_')}_in_{tmp_path.name}"
        folder = tmp_path / "site-packages" / distribution
        information = folder / f"{distribution.replace('-', '_')}-1.2.3.dist-info"
        information.mkdir(parents=True)
        (folder / f"{module}.py").write_text(source, "utf-8")
        metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2.3\n"
        (information / "METADATA").write_text(metadata, "utf-8")
        (information / "entry_points.txt").write_text(f"[memory_plane]\n{name} = {module}:ThePlugin\n", "utf-8")
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, module, raising=False)
        return module

    return install


@pytest.fixture
def operation() -> MakeOperation:
    """Give `operation(op="thought", *, agent="muse", created_at=None, id=None, **body)`, each a second later."""
    from memory_plane.operations import make_operation

    numbers = count()

    def make(
        op: str = "thought", *, agent: str = "muse", created_at: Any = None, id: Any = None, **body: Any
    ) -> Operation:
        number = next(numbers)
        if op == "thought":
            body.setdefault("text", f"thought {number}")
        return make_operation(op, body, agent=agent, created_at=created_at or _START + timedelta(seconds=number), id=id)

    return make


@pytest.fixture
def make_memory() -> MakeMemory:
    """Give `make_memory(text, **fields)`: a thought as the hooks see it."""
    from memory_plane.types import Memory

    def make(text: str, **fields: Any) -> Memory:
        usual: dict[str, Any] = {"id": str(uuid4()), "agent": "muse", "kind": "thought", "created_at": _START}
        return Memory(text=text, **usual | fields)

    return make


@pytest.fixture
def plugin_name(request: pytest.FixtureRequest) -> str:
    """Name the plugin that the contract suite tests: from `test_memory_plane_<name>.py`, unless overridden."""
    return request.path.stem.removeprefix("test_memory_plane_")
