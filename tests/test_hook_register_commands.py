from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from memory_plane import Plugin, hookimpl
from memory_plane.errors import PluginError
from memory_plane.plugins import PluginManager


class MusePlugin(Plugin):
    @hookimpl
    def register_commands(self) -> Iterator[click.Command]:
        yield click.Command("sync")
        yield click.Command("status")


class WrongPlugin(Plugin):
    @hookimpl
    def register_commands(self) -> list[object]:
        return [print]


def test_commands_are_grouped_by_plugin(plugin_manager: PluginManager) -> None:
    class QuietPlugin(Plugin):
        @hookimpl
        def register_commands(self) -> None:
            return None

    plugin_manager.register(QuietPlugin())
    plugin_manager.register(MusePlugin())
    found = plugin_manager.commands()
    assert {name: [command.name for command in commands] for name, commands in found.items()} == {
        "muse": ["sync", "status"]
    }


def test_something_else_than_a_command_is_a_failure(plugin_manager: PluginManager) -> None:
    plugin_manager.register(WrongPlugin())
    with pytest.raises(PluginError, match="gave builtin_function_or_method, expected Command"):
        plugin_manager.commands()


def test_failing_plugin_takes_no_command_from_the_others() -> None:
    manager = PluginManager()
    manager.register(WrongPlugin())
    manager.register(MusePlugin())
    assert list(manager.commands()) == ["muse"]
