from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_plane import Plugin, hookimpl
from memory_plane.errors import PluginError
from memory_plane.integration import Call, Entry, Integration, Machine
from memory_plane.plugins import PluginManager
from memory_plane.testing.machines import bare_machine
from memory_plane.types import AgentInfo


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(
        home=tmp_path, platform="linux", environment={}, plane=tmp_path / "a plane", command=("/bin/mp",), python="/py"
    )


class HeronPlugin(Plugin):
    agents = (AgentInfo(id="heron"),)

    @hookimpl
    def integrate(self, machine: Machine) -> Iterator[Integration]:
        entry = Entry(path=machine.home / "heron.json", pointer=("server",), value=list(machine.mcp("heron")))
        yield Integration(agent="heron", name="Heron", found="heron", edits=(entry,))


def test_what_is_declared_comes_with_its_plugin(plugin_manager: PluginManager, machine: Machine) -> None:
    plugin_manager.register(HeronPlugin())
    ((plugin, integration),) = plugin_manager.integrate(machine)
    assert plugin == "heron"
    (entry,) = integration.edits
    assert isinstance(entry, Entry)
    assert entry.value == ["/bin/mp", "mcp", "--agent", "heron"]


@pytest.mark.parametrize(
    "wrong",
    [
        Integration(agent="crow", name="Crow", found=""),
        Integration(agent="heron", name="", found=""),
        Integration(agent="heron", name="Heron", found="", edits=("a file",)),  # type: ignore[arg-type]
        Integration(agent="heron", name="Heron", found="", edits=(Entry(path=Path("here.json"), pointer=(), value=1),)),
        Integration(
            agent="heron",
            name="Heron",
            found="",
            edits=(Call(what="", do=((),), undo=(), asks=("heron",), shows=""),),
        ),
    ],
    ids=["of another plugin's agent", "without a name", "no edit", "a relative path", "an empty command"],
)
def test_wrong_declarations_are_refused(plugin_manager: PluginManager, machine: Machine, wrong: Any) -> None:
    class WrongPlugin(Plugin):
        agents = (AgentInfo(id="heron"),)

        @hookimpl
        def integrate(self) -> tuple[Integration, ...]:
            return (wrong,)

    plugin_manager.register(WrongPlugin())
    with pytest.raises(PluginError, match="'wrong' failed in 'integrate'"):
        plugin_manager.integrate(machine)


def test_commands_are_absolute_and_quoted(machine: Machine) -> None:
    line = machine.hook("heron", "Stop")
    assert line.startswith("/py -S /")
    assert line.endswith(f"hook.py heron Stop '{machine.plane}'")


def test_folder_that_the_environment_names_is_taken(tmp_path: Path) -> None:
    environment = {"HERON_HOME": "~/nest", "CROW_HOME": str(tmp_path / "crow")}
    machine = bare_machine(tmp_path, **environment)
    assert machine.folder("HERON_HOME", ".heron") == tmp_path / "nest"
    assert machine.folder("CROW_HOME", ".crow") == tmp_path / "crow"
    assert machine.folder("OWL_HOME", ".owl") == tmp_path / ".owl"
