from __future__ import annotations

from collections.abc import Sequence
from threading import Event

import pytest

from memory_plane import Plugin, hookimpl, plugins
from memory_plane.errors import PluginError
from memory_plane.plugins import PluginManager
from memory_plane.types import Vectors


class LengthPlugin(Plugin):
    @hookimpl
    def embed(self, texts: Sequence[str]) -> Vectors | None:
        return Vectors(model="length-1", rows=tuple((float(len(text)), 1.0) for text in texts))


class AbsentPlugin(Plugin):
    @hookimpl
    def embed(self) -> None:
        return None


class ForgetfulPlugin(Plugin):
    @hookimpl
    def embed(self, texts: Sequence[str]) -> Vectors:
        return Vectors(model="length-2", rows=((1.0, 2.0),))


def test_first_model_that_is_there_answers(plugin_manager: PluginManager) -> None:
    plugin_manager.register(AbsentPlugin())
    plugin_manager.register(LengthPlugin())
    plugin_manager.register(ForgetfulPlugin())
    assert plugin_manager.embed(["a", "bcd"]) == Vectors(model="length-1", rows=((1.0, 1.0), (3.0, 1.0)))


def test_nobody_has_a_model(plugin_manager: PluginManager) -> None:
    plugin_manager.register(AbsentPlugin())
    assert plugin_manager.embed(["a"]) is None


def test_text_without_a_row_is_a_failure(plugin_manager: PluginManager) -> None:
    plugin_manager.register(ForgetfulPlugin())
    with pytest.raises(PluginError, match="'forgetful' failed in 'embed' and was skipped: gave 1 rows for 2 texts"):
        plugin_manager.embed(["a", "bcd"])


def test_question_does_without_a_model_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "QUESTION_EMBED", 0.05)
    go_on = Event()

    class HangingPlugin(Plugin):
        @hookimpl
        def embed(self, texts: Sequence[str]) -> Vectors:
            go_on.wait()
            return Vectors(model="hanging-1", rows=((1.0,),) * len(texts))

    manager = PluginManager()
    manager.register(HangingPlugin())
    assert manager.embed(["tea"], question=True) is None
    go_on.set()
    assert manager.embed(["tea"]) == Vectors(model="hanging-1", rows=((1.0,),))
    manager.close()


def test_failing_model_is_not_replaced_since_vectors_of_two_models_tell_nothing_of_each_other() -> None:
    manager = PluginManager()
    manager.register(ForgetfulPlugin())
    manager.register(LengthPlugin())
    assert manager.embed(["a", "bcd"]) is None
    assert "'forgetful' failed in 'embed'" in str(manager.failures[0])
