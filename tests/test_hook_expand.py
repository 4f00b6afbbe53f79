from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Event
from time import monotonic
from typing import Any

import pytest

from memory_plane import Plane, Plugin, hookimpl, plugins
from memory_plane.errors import PluginError
from memory_plane.plugins import PluginManager
from memory_plane.types import Expansion


class GlossaryPlugin(Plugin):
    @hookimpl
    def expand(self, words: Sequence[str]) -> Expansion:
        return Expansion(alike={word: {"kubernetes": 0.9} for word in words if word == "k8s"})


class SilentPlugin(Plugin):
    @hookimpl
    def expand(self) -> None:
        return None


class SlowPlugin(Plugin):
    deferred = True

    @hookimpl
    def expand(self, words: Sequence[str]) -> Expansion:
        return Expansion(alike={word: {"slow": 1.0} for word in words})


class HangingPlugin(Plugin):
    """Answers no question until it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = Event()
        self.calls = 0

    @hookimpl
    def expand(self, words: Sequence[str]) -> Expansion:
        self.calls += 1
        self.go_on.wait()
        return Expansion(alike={word: {"infusion": 1.0} for word in words})


def answering(alike: Any) -> Plugin:
    class AnsweringPlugin(Plugin):
        @hookimpl
        def expand(self) -> Expansion:
            return Expansion(alike=alike)

    return AnsweringPlugin()


def test_first_that_knows_other_words_answers(plugin_manager: PluginManager) -> None:
    for plugin in (SilentPlugin(), GlossaryPlugin(), answering({"k8s": {"later": 1.0}})):
        plugin_manager.register(plugin)
    assert plugin_manager.expand(["k8s", "tea"]) == Expansion(alike={"k8s": {"kubernetes": 0.9}})


def test_nobody_knows_other_words(plugin_manager: PluginManager) -> None:
    plugin_manager.register(SilentPlugin())
    assert plugin_manager.expand(["k8s"]) is None


def test_question_does_not_wait_for_a_deferred_plugin(plugin_manager: PluginManager) -> None:
    plugin_manager.register(SlowPlugin())
    assert plugin_manager.expand(["k8s"]) is None


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[HangingPlugin]:
    monkeypatch.setattr(plugins, "QUESTION_EXPAND", 0.2)
    plugin = HangingPlugin()
    yield plugin
    plugin.go_on.set()


def test_plugin_that_hangs_is_given_up_and_the_next_one_answers(hanging: HangingPlugin) -> None:
    manager = PluginManager()
    for plugin in (hanging, GlossaryPlugin()):
        manager.register(plugin)
    assert manager.expand(["k8s"]) == Expansion(alike={"k8s": {"kubernetes": 0.9}})
    assert "'hanging' failed in 'expand' and was skipped: TimeoutError: did not answer within 0.2 s" in str(
        manager.failures[0]
    )
    manager.close()


def test_plugin_that_hangs_is_asked_again_once_it_has_come_back(hanging: HangingPlugin) -> None:
    manager = PluginManager()
    manager.register(hanging)
    assert [manager.expand(["tea"]) for _ in range(3)] == [None] * 3
    assert hanging.calls == 1
    hanging.go_on.set()
    deadline = monotonic() + 10
    while (answer := manager.expand(["tea"])) is None and monotonic() < deadline:
        pass
    assert answer == Expansion(alike={"tea": {"infusion": 1.0}})
    manager.close()


def test_question_is_answered_while_plugins_hang(make_plane: Callable[..., Plane], hanging: HangingPlugin) -> None:
    plane = make_plane(hanging, strict=False)
    plane.post("tea at five", agent="muse")
    assert [hit.snippet for hit in plane.recall("tea").hits] == ["tea at five"]


@pytest.mark.parametrize(
    "alike", [["k8s"], {"k8s": ["kubernetes"]}, {"k8s": {"kubernetes": 2}}, {7: {}}, {"a": {"": 1}}]
)
def test_answer_that_is_no_list_of_words_is_a_failure(plugin_manager: PluginManager, alike: Any) -> None:
    plugin_manager.register(answering(alike))
    with pytest.raises(PluginError, match="'answering' failed in 'expand' and was skipped"):
        plugin_manager.expand(["k8s"])
