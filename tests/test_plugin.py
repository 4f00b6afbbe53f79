from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memory_plane.errors import MemoryPlaneError, PluginError
from memory_plane.plugin import Plugin, hookimpl, short_name, told
from memory_plane.plugins import PluginManager
from memory_plane.types import AgentInfo, Extraction, Memory


@pytest.fixture
def memory(make_memory: Callable[..., Memory]) -> Memory:
    return make_memory("Bob met Ann")


def plugin(**attributes: Any) -> Plugin:
    kind: type[Plugin] = type("BirdsPlugin", (Plugin,), attributes)
    return kind()


def refusal(manager: PluginManager, unfit: Any, name: str | None = None) -> str:
    with pytest.raises(PluginError) as caught:
        manager.register(unfit, name)
    assert all(info.name != "birds" or info.state == "active" for info in manager.infos())
    return str(caught.value)


# --- names -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "short"),
    [("MusePlugin", "muse"), ("MyThingPlugin", "my_thing"), ("Gpt5Plugin", "gpt5"), ("Birds", "birds")],
)
def test_short_name_follows_the_class(name: str, short: str) -> None:
    assert short_name(type(name, (Plugin,), {})) == short


def test_plugin_registered_by_hand_is_called_after_its_class(plugin_manager: PluginManager) -> None:
    plugin_manager.register(plugin())
    (info,) = plugin_manager.infos()
    assert (info.name, info.state, plugin_manager.version("birds")) == ("birds", "active", "0")


# --- what a plugin must be ---------------------------------------------------------------------------------------


def test_class_in_place_of_an_instance_gets_a_hint(plugin_manager: PluginManager) -> None:
    class BirdsPlugin(Plugin):
        pass

    assert refusal(plugin_manager, BirdsPlugin) == (
        "gave the class 'BirdsPlugin', expected an instance; register BirdsPlugin()"
    )


def test_anything_else_is_no_plugin(plugin_manager: PluginManager) -> None:
    assert "expected a subclass of memory_plane.Plugin" in refusal(plugin_manager, object())


def test_second_plugin_of_a_name_is_refused(plugin_manager: PluginManager) -> None:
    plugin_manager.register(plugin())
    assert refusal(plugin_manager, plugin()) == "there is a plugin 'birds' already"


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"agents": [AgentInfo(id="muse")]}, "expected a tuple of AgentInfo"),
        ({"agents": ("muse",)}, "expected a tuple of AgentInfo"),
        ({"agents": (AgentInfo(id="My Muse"),)}, "'My Muse' is no agent id"),
        ({"agents": (AgentInfo(id="muse", interests="people"),)}, "interests of agent 'muse'"),  # type: ignore[arg-type]
        ({"sends": True}, "sends is True"),
        ({"settings_model": object}, "expected a subclass of PluginSettings"),
    ],
)
def test_attributes_are_checked(plugin_manager: PluginManager, attributes: dict[str, Any], words: str) -> None:
    kind = type("BirdsPlugin", (Plugin,), attributes | {"__init__": lambda self: None})
    assert words in refusal(plugin_manager, kind())


# --- what a hook must be -----------------------------------------------------------------------------------------


def test_misspelt_hook_names_the_nearest(plugin_manager: PluginManager) -> None:
    unfit = plugin(extrakt=hookimpl(lambda self, memory: None))
    assert refusal(plugin_manager, unfit) == "there is no hook 'extrakt'; did you mean 'extract'?"


def test_hook_of_another_version_may_be_marked_optional(plugin_manager: PluginManager) -> None:
    plugin_manager.register(plugin(dream=hookimpl(optionalhook=True)(lambda self: None)))
    assert plugin_manager.infos()[0].hooks == ()


@pytest.mark.parametrize("option", ["tryfirst", "wrapper", "hookwrapper"])
def test_option_that_overrules_the_order_is_refused(plugin_manager: PluginManager, option: str) -> None:
    def extract(self: Any, memory: Any) -> Any:
        return (yield)

    unfit = plugin(extract=hookimpl(**{option: True})(extract))  # type: ignore[call-overload]
    assert f"'extract' is marked {option}, which would overrule the order" in refusal(plugin_manager, unfit)


@pytest.mark.parametrize(
    ("function", "parameter"),
    [
        (lambda self, memory, found=None: None, "found=None"),
        (lambda self, memory, *, found: None, "found"),
        (lambda self, *rest: None, "*rest"),
        (lambda self, **rest: None, "**rest"),
    ],
)
def test_parameter_that_would_not_be_filled_is_refused(
    plugin_manager: PluginManager, function: Any, parameter: str
) -> None:
    unfit = plugin(extract=hookimpl(function))
    assert refusal(plugin_manager, unfit) == (
        f"parameter '{parameter}' of 'extract' must be positional and have no default"
    )


def test_parameter_that_the_hook_does_not_have_is_refused(plugin_manager: PluginManager) -> None:
    assert "'sound'" in refusal(plugin_manager, plugin(extract=hookimpl(lambda self, sound: None)))


def test_coroutine_function_is_refused(plugin_manager: PluginManager) -> None:
    async def extract(self: Any, memory: Any) -> None: ...

    unfit = plugin(extract=hookimpl(extract))
    assert refusal(plugin_manager, unfit) == "'extract' is a coroutine function; hooks are plain functions"


def test_refused_plugin_leaves_no_trace(plugin_manager: PluginManager, memory: Memory) -> None:
    refusal(
        plugin_manager,
        plugin(
            extract=hookimpl(lambda self: 1 / 0), extrakt=hookimpl(lambda self: None), agents=(AgentInfo(id="muse"),)
        ),
    )
    assert plugin_manager.extract(memory) == Extraction()
    assert plugin_manager.agents == {}
    plugin_manager.register(plugin(extract=hookimpl(lambda self, memory: None)))


# --- what is said of an error ------------------------------------------------------------------------------------


def test_error_is_told_in_one_bounded_line() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert told(ValueError("a\n  b")) == "ValueError: a b"
    assert told(MemoryPlaneError("as it is  (here)")) == "as it is  (here)"
    assert "Mute" in told(Mute())
    assert len(told(ValueError("x" * 1000))) == 300
