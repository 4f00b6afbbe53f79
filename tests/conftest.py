"""What several test files share: how long they are, and a hub that is only attacked.

The tests are short in `make test` and at full length in `make drill`, which sets DRILL=long.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from shutil import copy
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from datetime import tzinfo

    from click.testing import Result
    from starlette.testclient import TestClient

    from memory_plane import Plane, Plugin
    from memory_plane.importers.item import Kind
    from memory_plane.types import Operation

Size = TypeVar("Size")

LONG = os.environ.get("DRILL") == "long"

# Of a property that takes long per example; the others say how many they want.
settings.register_profile("length", max_examples=100 if LONG else 20)


@pytest.fixture(scope="session")
def sized() -> Callable[[Size, Size], Size]:
    """Give `sized(short, long)`: the one of the two that this run is for."""
    return lambda short, long: long if LONG else short


@pytest.fixture(scope="session")
def tree() -> Callable[[Path], dict[str, bytes]]:
    """Give `tree(folder)`: the content of each file below a folder, and its empty folders too."""

    def read(folder: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"(a folder)"
            for path in folder.rglob("*")
        }

    return read


@pytest.fixture
def commands(home: Path) -> Callable[[Plugin], Callable[..., Result]]:
    """Give `commands(plugin)`: what runs a command in the home, or `at` another, with that plugin alone."""
    from click.testing import CliRunner

    from memory_plane.plugins import PluginManager
    from memory_plane.surfaces.cli import main
    from memory_plane.surfaces.cli.session import Session

    def running(plugin: Plugin) -> Callable[..., Result]:
        def run(*arguments: str, at: Path = home, **options: Any) -> Result:
            session, plugins = Session(str(at)), PluginManager()
            plugins.register(plugin)
            session.__dict__["plugins"] = plugins
            return CliRunner().invoke(main, arguments, obj=session, **options)

        return run

    return running


@pytest.fixture
def agent() -> str:
    """Name an agent that no other test has, for a memory that several share."""
    return f"muse-{uuid4().hex[:8]}"


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


@pytest.fixture
def signed_in() -> Iterator[Callable[[Plane], TestClient]]:
    """Give `signed_in(plane)`: a browser that is signed in to the pages of a hub; it sends what forms send.

    The pages alone, behind their gate: to describe the rest of the hub takes most of a test's time.
    """
    from fastapi import FastAPI
    from starlette.testclient import TestClient

    from memory_plane.access import session
    from memory_plane.surfaces.events import Feed
    from memory_plane.surfaces.gate import Gate
    from memory_plane.surfaces.rest.wire import add_handlers
    from memory_plane.surfaces.web import web

    url, token = "http://127.0.0.1:8788", "t" * 43
    with ExitStack() as opened:

        def enter(plane: Plane) -> TestClient:
            door, pages = web(plane, Feed(plane), lambda: token)
            app = FastAPI(routes=pages, openapi_url=None)
            add_handlers(app)
            app.add_middleware(Gate, master=lambda: token, port=8788, door=door)
            client = opened.enter_context(TestClient(app, base_url=url, headers={"origin": url}))
            client.cookies.set("memory_plane_8788", session(token, 2**39), "127.0.0.1", "/")
            return client

        yield enter


@pytest.fixture(scope="module")
def open_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Plane]]:
    """Give `open_plane(*plugins)`: a memory for all examples of a property; its pages are made at the end alone."""
    from memory_plane import Plane, rendering
    from memory_plane.plugins import PluginManager
    from memory_plane.settings import Settings

    with ExitStack() as opened:
        opened.enter_context(pytest.MonkeyPatch.context()).setattr(rendering, "DELAY", 3600)

        def open_(*plugins: Plugin) -> Plane:
            manager = PluginManager(strict=True)
            for plugin in plugins:
                manager.register(plugin)
            home = tmp_path_factory.mktemp("home")
            return opened.enter_context(Plane(Settings(home=home, synchronous="normal"), plugins=manager))

        yield open_


@pytest.fixture(scope="session")
def emptied() -> Callable[[Plane], Plane]:
    """Give `emptied(plane)`: the memory with all taken out, which is faster than a new one for every example."""
    from sqlalchemy import delete

    from memory_plane import models
    from memory_plane.store import index

    def empty(plane: Plane) -> Plane:
        with plane.database.writing() as connection:
            for table in reversed(models.metadata.sorted_tables):
                connection.execute(delete(table))
            index.clear(connection)
        return plane

    return empty


@pytest.fixture(scope="session")
def laid_out() -> Callable[[Path, Mapping[str, Any]], Path]:
    """Give `laid_out(folder, files)`: write files by their names, bytes and text as they are, all else as JSON."""

    def write(folder: Path, files: Mapping[str, Any]) -> Path:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_bytes(content))
        return folder

    return write


@pytest.fixture(scope="session")
def read() -> Callable[..., dict[str, tuple[Operation, ...] | str]]:
    """Give `read(kind, path, zone=None)`: what each entry of a source becomes, or why it does not."""
    from memory_plane.errors import MemoryPlaneError
    from memory_plane.importers.driver import Source
    from memory_plane.importers.files import Files
    from memory_plane.importers.item import Skipped

    def entries(kind: Kind, path: Path, zone: tzinfo | None = None) -> dict[str, tuple[Operation, ...] | str]:
        found: dict[str, tuple[Operation, ...] | str] = {}
        with Files(path) as files:
            source = Source(kind=kind, files=files, zone=zone)
            for entry in source.entries():
                try:
                    found[entry.label] = source.operations(entry)
                except (Skipped, MemoryPlaneError) as reason:
                    found[entry.label] = str(reason)
        return found

    return entries


@pytest.fixture(scope="session")
def zipped() -> Callable[..., Path]:
    """Give `zipped(path, files, **options)`: write the same into a zip, with the options of `ZipFile`."""

    def write(path: Path, files: Mapping[str, Any], **options: Any) -> Path:
        with zipfile.ZipFile(path, "w", **{"compression": zipfile.ZIP_DEFLATED} | options) as archive:
            for name, content in files.items():
                archive.writestr(name, _bytes(content))
        return path

    return write


def _bytes(content: Any) -> bytes:
    if isinstance(content, bytes):
        return content
    return (content if isinstance(content, str) else json.dumps(content)).encode()
