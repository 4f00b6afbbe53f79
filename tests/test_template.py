"""The walk of docs/writing-plugins.md: render, install into a fresh environment, test, and see it at work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from cookiecutter.exceptions import FailedHookException  # type: ignore[import-untyped]
from cookiecutter.main import cookiecutter  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[1]
WALK = (ROOT / "docs" / "writing-plugins.md").read_text("utf-8")
FOR_AGENT, FOR_EXTRACTOR = re.findall(r"```python\n(.*?)```", WALK, re.DOTALL)
PLUGINS = sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml"))
KINDS = {"heron": "agent", "tickets": "extractor"}

Python = Callable[..., str]


def render(into: Path, name: str, kind: str = "agent") -> Path:
    return Path(cookiecutter(str(ROOT / "plugin-template"), no_input=True, output_dir=str(into),
                             extra_context={"name": name, "kind": kind}))  # fmt: skip


def files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def shape(distribution: str) -> set[str]:
    """Return the files that the template makes, and no more."""
    package = distribution.replace("-", "_")
    return {
        "README.md",
        "pyproject.toml",
        f"src/{package}/__init__.py",
        f"src/{package}/py.typed",
        f"tests/test_{package}.py",
    }


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Render one plugin of each kind."""
    into = tmp_path_factory.mktemp("rendered plugins")
    return {name: render(into, name, kind) for name, kind in KINDS.items()}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory, rendered: dict[str, Path]) -> Python:
    """Run the interpreter of an environment in which the plugins are installed, with a home of its own.

    The environment sees the packages of this one, so that nothing is downloaded.
    """
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder / "venv", symlinks=os.name != "nt")
    paths = sysconfig.get_paths(vars={"base": str(folder / "venv"), "platbase": str(folder / "venv")})
    outer = sysconfig.get_path("purelib")
    Path(paths["purelib"], "outer.pth").write_text(f"import site; site.addsitedir({outer!r})\n", "utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_", "PYTHON", "PIP_"))}
    quiet = {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_CONFIG_FILE": os.devnull}
    environment = kept | quiet | {"HOME": str(folder), "USERPROFILE": str(folder)}

    def run(*arguments: str, **changes: str) -> str:
        interpreter = Path(paths["scripts"], Path(sys.executable).name)
        command = [str(interpreter), *arguments]
        done = subprocess.run(
            command, cwd=folder, env=environment | changes, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    ours = (ROOT, ROOT / "plugins" / "memory-plane-local", *rendered.values())
    run("-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", *map(str, ours))
    return run


# --- what it makes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_template_makes_exactly_these_files(rendered: dict[str, Path], name: str) -> None:
    assert files(rendered[name]) == shape(f"memory-plane-{name}")


def test_files_are_those_that_the_walk_shows(rendered: dict[str, Path]) -> None:
    shown = re.findall(r"^[├└]── (\S+)$", WALK, re.MULTILINE)
    assert set(shown) == files(rendered["heron"])


def test_entry_point_is_the_one_that_the_walk_shows(rendered: dict[str, Path]) -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", WALK, re.DOTALL)
    assert shown in (rendered["heron"] / "pyproject.toml").read_text("utf-8")


def test_words_of_a_name_are_joined_as_each_place_wants(tmp_path: Path) -> None:
    folder = render(tmp_path, "my_3d_agent")
    assert files(folder) == shape("memory-plane-my-3d-agent")
    assert 'my_3d_agent = "memory_plane_my_3d_agent:My3dAgentPlugin"' in (folder / "pyproject.toml").read_text("utf-8")


@pytest.mark.parametrize("name", ["Heron", "my-agent", "my__agent", "_heron", "heron_", "3d", "цапля", "a b", ""])
def test_name_from_which_nothing_could_follow_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FailedHookException):
        render(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_what_it_makes_is_in_our_own_style(rendered: dict[str, Path]) -> None:
    for command, folder in product((["format", "--check"], ["check"]), rendered.values()):
        ruff = [sys.executable, "-m", "ruff", *command, "--no-cache", "--config", str(ROOT / "pyproject.toml")]
        own = f"src = ['{folder / 'src'}']"  # there the core is a stranger, and the plugin itself is not
        done = subprocess.run([*ruff, "--config", own, str(folder)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


# --- what it does ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_its_own_tests_pass(rendered: dict[str, Path], python: Python, name: str) -> None:
    without = ("-p", "no:cacheprovider", "-p", "no:schemathesis")  # the second takes longer to load than the tests
    passed = python("-W", "error", "-m", "pytest", "-q", *without, str(rendered[name]))
    assert re.search(r"^2[0-9] passed in ", passed, re.MULTILINE), passed


def test_plugins_are_listed_as_active(python: Python) -> None:
    listed = python("-m", "memory_plane", "plugins")
    for name, hook in (("heron", "ingest"), ("tickets", "extract")):
        assert re.search(rf"^{name}\s+0\.1\.0\s+active\s+{hook}\b", listed, re.MULTILINE), listed


def test_message_of_the_agent_is_remembered(python: Python) -> None:
    assert python("-c", FOR_AGENT) == "An otter is in the river\n"


def test_ticket_in_a_memory_is_found(python: Python) -> None:
    assert python("-c", FOR_EXTRACTOR) == "AB-12\n"
    assert '"plugin":"tickets"' in python("-m", "memory_plane", "export")


def test_setting_of_the_plugin_is_read(python: Python) -> None:
    listed = python("-m", "memory_plane", "plugins", MEMORY_PLANE_TICKETS_CONFIDENCE="2")
    assert re.search(r"^tickets\s+0\.1\.0\s+failed\b.*MEMORY_PLANE_TICKETS_CONFIDENCE", listed, re.MULTILINE), listed


# --- our own plugins ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", PLUGINS, ids=lambda folder: folder.name)
def test_first_party_plugin_has_the_shape_of_the_template(folder: Path) -> None:
    package = folder.name.replace("-", "_")
    wanted, found = shape(folder.name), files(folder)
    assert wanted <= found
    assert [name for name in found - wanted if not name.startswith((f"src/{package}/", "tests/", "training/"))] == []


@pytest.mark.parametrize("folder", PLUGINS, ids=lambda folder: folder.name)
def test_first_party_plugin_keeps_the_contract(folder: Path) -> None:
    tests = folder / "tests" / f"test_{folder.name.replace('-', '_')}.py"
    assert "from memory_plane.testing.contract import *" in tests.read_text("utf-8")
