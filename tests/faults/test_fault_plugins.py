"""A plugin that fails in any way: the write is stored, the next plugin answers, and `plugins` names the culprit."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]

# What each does wrong, and what `plugins` must say of it.
IN_A_HOOK = {
    "raises": ("raise RuntimeError('on purpose')", "on purpose"),
    "recurses": ("return self.extract(memory, found)", "recursion"),
    "wrong_type": ("return ['Extraction']", "gave list, expected Extraction"),
    "wrong_inside": ("return Extraction(mentions=('Quuxly',))", "mention"),
    "exits": ("sys.exit('on purpose')", "SystemExit"),
}
UNLOADABLE = {
    "import_fails": ("import a_module_that_is_not_there", "a_module_that_is_not_there"),
    "import_exits": ("raise SystemExit('on purpose')", "SystemExit"),
    "import_breaks": ("def broken(:", "SyntaxError"),
    "not_a_plugin": ("BadPlugin = object()", "expected a subclass"),
    "constructor_fails": (
        "from memory_plane import Plugin\n"
        "class BadPlugin(Plugin):\n"
        "    def __init__(self, settings):\n"
        "        raise RuntimeError('on purpose')\n",
        "on purpose",
    ),
}
PLUGIN = """
import sys
from memory_plane import Plugin, hookimpl
from memory_plane.types import Extraction, Mention

class BadPlugin(Plugin):
    @hookimpl
    def extract(self, memory, found):
        {body}
"""
GOOD = """
from memory_plane import Plugin, hookimpl
from memory_plane.types import Claim, Extraction, Mention

class BadPlugin(Plugin):
    @hookimpl
    def extract(self, memory, found):
        def mention(name, type):
            at = memory.text.find(name)
            return Mention(text=name, type=type, start=at, end=at + len(name), confidence=0.9)
        daniel, tool = mention("daniel", "Person"), mention("quuxly", "Tool")
        claim = Claim(subject=daniel, relation="USES", object=tool, start=0, end=len(memory.text), confidence=0.9)
        return Extraction(mentions=(daniel, tool), claims=(claim,))
"""
TEXT = "daniel quuxly"
"""Nothing in it that `local` would find."""


def install(folder: Path, name: str, source: str) -> None:
    """Lay out a distribution as pip would: a module and the record of its entry point."""
    (folder / f"{name}_module.py").write_text(source, "utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[memory_plane]\n{name} = {name}_module:BadPlugin\n", "utf-8")


@pytest.fixture
def installed(tmp_path: Path, environment: dict[str, str]) -> None:
    """Install every bad plugin to be called first, then a good one, and `local` last."""
    folder = tmp_path / "site"
    folder.mkdir()
    for name, (body, _) in IN_A_HOOK.items():
        install(folder, name, PLUGIN.format(body=body))
    for name, (source, _) in UNLOADABLE.items():
        install(folder, name, source)
    install(folder, "good", GOOD)
    environment["PYTHONPATH"] = str(folder)
    environment["MEMORY_PLANE_PLUGINS__ENABLED"] = json.dumps([*IN_A_HOOK, *UNLOADABLE, "good", "local"])


@pytest.mark.usefixtures("installed")
def test_write_outlives_every_bad_plugin_and_each_is_named(command: Command) -> None:
    done = command("post", TEXT, "--agent", "muse")
    assert done.returncode == 0, done
    told = done.stderr.splitlines()
    assert all(line.startswith("memory-plane: plugin ") for line in told), "a line for each, and no trace"
    assert all(any(f"plugin {name!r}" in line for line in told) for name in IN_A_HOOK | UNLOADABLE)
    (edge,) = json.loads(command("graph", "--json").stdout)["edges"]
    assert (edge["source"]["name"], edge["relation"], edge["target"]["name"]) == ("daniel", "USES", "quuxly")

    plugins = {plugin["name"]: plugin for plugin in json.loads(command("plugins", "--json").stdout)}
    assert {name for name, plugin in plugins.items() if plugin["state"] == "active"} == {*IN_A_HOOK, "good", "local"}
    for name, (_, said) in (IN_A_HOOK | UNLOADABLE).items():
        assert said in json.dumps(plugins[name]["failure"]), name
    assert not plugins["good"]["failure"]
    assert not plugins["local"]["failure"]
