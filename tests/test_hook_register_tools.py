from __future__ import annotations

from collections.abc import Callable, Iterator

from memory_plane import Plane, Plugin, hookimpl
from memory_plane.types import Tool


class MusePlugin(Plugin):
    @hookimpl
    def register_tools(self, plane: Plane) -> Iterator[Tool]:
        def dossier(name: str) -> list[str]:
            return [fact.value for fact in plane.facts(subject=name)]

        yield Tool(name="dossier", description="What is known about a person", function=dossier)


def test_tool_has_the_name_of_its_plugin_and_reaches_the_plane(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane(MusePlugin())
    plane.fact("Ann", "city", "Kyiv", agent="muse")
    (tool,) = plane.plugins.tools(plane)
    assert (tool.name, tool.function(name="Ann")) == ("muse_dossier", ["Kyiv"])


def test_plugin_with_one_bad_tool_offers_none(make_plane: Callable[..., Plane]) -> None:
    class BadPlugin(Plugin):
        @hookimpl
        def register_tools(self) -> list[Tool]:
            return [
                Tool(name="good", description="Fine", function=print),
                Tool(name="Bad Name", description="Not fine", function=print),
            ]

    plane = make_plane(BadPlugin(), MusePlugin(), strict=False)
    assert [tool.name for tool in plane.plugins.tools(plane)] == ["muse_dossier"]
    assert plane.plugins.failures[0].where == "register_tools"


def test_name_that_two_plugins_arrive_at_belongs_to_the_first(make_plane: Callable[..., Plane]) -> None:
    class APlugin(Plugin):
        @hookimpl
        def register_tools(self) -> list[Tool]:
            return [Tool(name="b_c", description="One", function=print)]

    class ABPlugin(Plugin):
        @hookimpl
        def register_tools(self) -> list[Tool]:
            return [Tool(name="c", description="Other", function=print)]

    plane = make_plane(strict=False)
    plane.plugins.register(APlugin(), "a")
    plane.plugins.register(ABPlugin(), "a_b")
    assert [tool.description for tool in plane.plugins.tools(plane)] == ["One"]
    assert plane.plugins.failures[0].plugin == "a_b"


def test_none_is_no_tool(make_plane: Callable[..., Plane]) -> None:
    class PlainPlugin(Plugin):
        @hookimpl
        def register_tools(self) -> None:
            return None

    plane = make_plane(PlainPlugin())
    assert plane.plugins.tools(plane) == []
