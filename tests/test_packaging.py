"""What is shipped: one version, extras that match the plugins on disk, wheels with all that they need inside."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memory_plane

ROOT = Path(__file__).parents[1]
PLUGINS = sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml"))
SHIPPED = ("core", "migrations", "plugins", "plugin-template", "tests", "docs", ".ci")
# In pieces, so that this file passes its own test.
REGISTRIES = re.compile(r"(pypi|npmjs)" + r"\.(org|com)|python" + r"hosted|files\.python" + r"|registry\." + "npm")


def project(folder: Path) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    return table


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\s<>=!~\[;]", requirement, maxsplit=1)[0].lower() for requirement in requirements}


def sources(folder: Path) -> set[str]:
    """Every file below a folder that a wheel of it must hold, by its path inside."""
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix() for path in files}


def text_files() -> Iterator[Path]:
    """Every file of ours that is text."""
    folders = [path for name in SHIPPED for path in (ROOT / name).rglob("*")]
    for path in [*folders, *ROOT.glob("*.*"), ROOT / "Makefile"]:
        hidden = {"__pycache__", ".git"} & set(path.parts)
        if path.is_file() and not hidden and b"\0" not in path.read_bytes():
            yield path


def build(folder: Path, kind: str, into: Path) -> Path:
    """Build a distribution as pip would, without the network; return it."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(into)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = into.iterdir()
    return built


@pytest.mark.parametrize("folder", [ROOT, *PLUGINS], ids=lambda folder: folder.name)
def test_one_version_everywhere(folder: Path) -> None:
    assert project(folder)["version"] == memory_plane.__version__


def test_extras_are_the_plugins_on_disk() -> None:
    extras: dict[str, list[str]] = dict(project(ROOT)["optional-dependencies"])
    everything = extras.pop("all")
    found = {path.name.removeprefix("memory-plane-") for path in PLUGINS}
    assert set(extras) == found
    assert {extra: wanted for extra, (wanted,) in extras.items()} == {
        name: f"memory-plane-{name}=={memory_plane.__version__}" for name in found
    }
    assert set(everything[0].removeprefix("memory-plane[").removesuffix("]").split(",")) == found - {"minilm"}  # large


@pytest.mark.parametrize("folder", PLUGINS, ids=lambda folder: folder.name)
def test_plugin_asks_for_this_core_and_is_named_by_one_word(folder: Path) -> None:
    table = project(folder)
    name = folder.name.removeprefix("memory-plane-").replace("-", "_")
    major, minor, _ = memory_plane.__version__.split(".")
    assert table["name"] == folder.name
    assert f"memory-plane>={major}.{minor},<{major}.{int(minor) + 1}" in table["dependencies"]
    assert list(table["entry-points"]["memory_plane"]) == [name]


def test_core_wheel_holds_the_package_with_its_data_and_migrations(tmp_path: Path) -> None:
    with zipfile.ZipFile(build(ROOT, "wheel", tmp_path)) as wheel:
        held = set(wheel.namelist())
    assert {"memory_plane/py.typed", "memory_plane/redact_rules.toml", "memory_plane/migrations/env.py"} <= held
    assert sources(ROOT / "core") <= held
    assert {f"memory_plane/migrations/{name}" for name in sources(ROOT / "migrations")} <= held
    assert all(name.startswith(("memory_plane/", "memory_plane-")) for name in held)


@pytest.mark.parametrize("folder", PLUGINS, ids=lambda folder: folder.name)
def test_plugin_wheel_holds_the_package_with_its_data(folder: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(build(folder, "wheel", tmp_path)) as wheel:
        held = set(wheel.namelist())
    package = folder.name.replace("-", "_")
    assert f"{package}/py.typed" in held
    assert sources(folder / "src") <= held
    assert all(name.startswith((f"{package}/", f"{package}-")) for name in held)


def test_source_distribution_can_be_tested(tmp_path: Path) -> None:
    with tarfile.open(build(ROOT, "sdist", tmp_path)) as archive:
        held = {name.split("/", 1)[1] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "pyproject.toml", "tests/test_packaging.py", "migrations/env.py"} <= held
    assert {f"core/{name}" for name in sources(ROOT / "core")} <= held
    assert not any(name.startswith((".venv", ".clients")) for name in held)


def test_constraints_are_names_and_versions_of_all_that_is_asked_for() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.!+]+", line)] == []
    pinned = {re.sub(r"[-_.]+", "-", name) for name in names(lines)}
    everything = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = names(everything["project"]["dependencies"]) | names(everything["dependency-groups"]["dev"])
    for folder in PLUGINS:
        asked |= names(project(folder)["dependencies"])
    assert {name for name in asked if not name.startswith("memory-plane")} <= pinned
    assert not {name for name in pinned if name.startswith("memory-plane")}


def test_no_lock_file_and_no_address_of_a_registry() -> None:
    assert not list(ROOT.glob("*.lock"))
    assert [path for path in text_files() if REGISTRIES.search(path.read_text("utf-8"))] == []


def test_no_path_of_the_machine_it_was_written_on() -> None:
    here = (f"{ROOT}/", f"{Path.home()}/")
    assert [path for path in text_files() if any(place in path.read_text("utf-8") for place in here)] == []


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) < 150


def test_continuous_integration_can_be_started() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
