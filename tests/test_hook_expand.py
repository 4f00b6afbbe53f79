from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from memory_plane import Plugin, hookimpl
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


@pytest.mark.parametrize(
    "alike", [["k8s"], {"k8s": ["kubernetes"]}, {"k8s": {"kubernetes": 2}}, {7: {}}, {"a": {"": 1}}]
)
def test_answer_that_is_no_list_of_words_is_a_failure(plugin_manager: PluginManager, alike: Any) -> None:
    plugin_manager.register(answering(alike))
    with pytest.raises(PluginError, match="'answering' failed in 'expand' and was skipped"):
        plugin_manager.expand(["k8s"])
