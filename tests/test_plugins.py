from __future__ import annotations

import logging
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_plane import Plugin, hookimpl
from memory_plane.errors import PluginError
from memory_plane.failures import REMEMBERED
from memory_plane.plugins import PluginManager
from memory_plane.settings import Settings
from memory_plane.types import Classification, Extraction, Memory, Mention, Routing, View


@pytest.fixture
def manager() -> Iterator[PluginManager]:
    """A manager as people run it: not strict."""
    manager = PluginManager()
    yield manager
    manager.close()


@pytest.fixture
def memory(make_memory: Callable[..., Memory]) -> Memory:
    return make_memory("Bob met Ann")


def extractor(answer: Any, *, name: str = "Birds", **options: Any) -> Plugin:
    """A plugin whose `extract` returns the answer, or what calling the answer gives."""

    def extract(self: Plugin, memory: Memory) -> Any:
        return answer() if callable(answer) else answer

    return made(name, extract=hookimpl(**options)(extract))


def made(name: str, **attributes: Any) -> Plugin:
    kind: type[Plugin] = type(f"{name}Plugin", (Plugin,), attributes)
    return kind()


def bob(confidence: float = 0.9) -> Extraction:
    return Extraction(mentions=(Mention(text="Bob", type="Person", start=0, end=3, confidence=confidence),))


def raising(error: BaseException) -> Any:
    def answer() -> None:
        raise error

    return answer


def failing(fail: Callable[[], Any]) -> Callable[[Plugin], Any]:
    return lambda self: fail()


def errors(manager: PluginManager) -> list[str]:
    return [failure.error for failure in manager.failures]


# --- order -------------------------------------------------------------------------------------------------------


def test_plugins_are_called_in_the_order_of_registration(plugin_manager: PluginManager, memory: Memory) -> None:
    called: list[str] = []
    for name in ("Zebra", "Birds", "Mice"):
        plugin_manager.register(extractor(lambda name=name: called.append(name), name=name))
    plugin_manager.extract(memory)
    assert called == ["Zebra", "Birds", "Mice"]


def test_fallback_is_called_last_wherever_it_stands(plugin_manager: PluginManager, memory: Memory) -> None:
    called: list[str] = []
    plugin_manager.register(extractor(lambda: called.append("local"), name="Local", trylast=True))
    plugin_manager.register(extractor(lambda: called.append("birds"), name="Birds"))
    plugin_manager.extract(memory)
    assert called == ["birds", "local"]
    assert [info.name for info in plugin_manager.infos()] == ["local", "birds"]


def test_hook_may_leave_out_parameters(plugin_manager: PluginManager, memory: Memory) -> None:
    class BirdsPlugin(Plugin):
        @hookimpl
        def extract(self, found: Extraction) -> Extraction:
            return found

    plugin_manager.register(BirdsPlugin())
    assert plugin_manager.extract(memory) == Extraction()


# --- one fails, the others go on ---------------------------------------------------------------------------------


def recurse() -> None:
    recurse()


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (raising(ValueError("no")), "ValueError: no"),
        (raising(SystemExit(1)), "SystemExit: 1"),
        (raising(CancelledError()), "CancelledError"),
        (raising(Mute()), "test_plugins.Mute"),
        (recurse, "RecursionError"),
        (raising(MemoryError()), "MemoryError"),
        ([], "gave list, expected Extraction"),
        ("Bob", "gave str, expected Extraction"),
        (lambda: (yield), "gave generator, expected Extraction"),
        (Routing(), "gave Routing, expected Extraction"),
        (bob(confidence=float("nan")), "confidence is nan, expected a number from 0 to 1"),
    ],
)
def test_failing_extractor_falls_to_the_next(manager: PluginManager, memory: Memory, answer: Any, error: str) -> None:
    manager.register(extractor(answer, name="Bad"))
    manager.register(extractor(bob(), name="Good"))
    assert manager.extract(memory) == bob()
    (failure,) = manager.failures
    assert (failure.plugin, failure.where) == ("bad", "extract")
    assert error in failure.error


def test_failure_reads_as_one_sentence_and_its_trace_is_logged(
    manager: PluginManager, memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    manager.register(extractor([]))
    with caplog.at_level(logging.WARNING):
        manager.extract(memory)
    (record,) = caplog.records
    assert record.message == "plugin 'birds' failed in 'extract' and was skipped: gave list, expected Extraction"
    assert record.exc_info


def test_strict_manager_raises_the_failure(plugin_manager: PluginManager, memory: Memory) -> None:
    plugin_manager.register(extractor(raising(ValueError("no"))))
    with pytest.raises(
        PluginError, match="plugin 'birds' failed in 'extract' and was skipped: ValueError: no"
    ) as caught:
        plugin_manager.extract(memory)
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize("strict", [True, False])
def test_interrupt_in_a_hook_is_the_users(memory: Memory, strict: bool) -> None:
    manager = PluginManager(strict=strict)
    manager.register(extractor(raising(KeyboardInterrupt())))
    with pytest.raises(KeyboardInterrupt):
        manager.extract(memory)
    assert manager.failures == []


def test_generator_that_breaks_gives_none_of_its_pages(manager: PluginManager) -> None:
    class BirdsPlugin(Plugin):
        @hookimpl
        def render(self) -> Iterator[View]:
            yield View(path=Path("birds.md"), text="tweet")
            raise ValueError("no")

    manager.register(BirdsPlugin())
    assert manager.render(object()) == []  # type: ignore[arg-type]
    assert errors(manager) == ["ValueError: no"]


def test_generator_without_end_is_broken_off(manager: PluginManager) -> None:
    class BirdsPlugin(Plugin):
        @hookimpl
        def render(self) -> Iterator[View]:
            while True:
                yield View(path=Path("birds.md"), text="tweet")

    manager.register(BirdsPlugin())
    assert manager.render(object()) == []  # type: ignore[arg-type]
    assert errors(manager) == ["gave 10001 View values; at most 10000 are taken"]


def test_twenty_broken_plugins_leave_every_answer_of_the_good_one(manager: PluginManager, memory: Memory) -> None:
    class GoodPlugin(Plugin):
        @hookimpl
        def extract(self) -> Extraction:
            return bob()

        @hookimpl
        def classify(self) -> Classification:
            return Classification()

        @hookimpl
        def route(self) -> Routing:
            return Routing()

    broken: list[Callable[[], Any]] = [raising(ValueError("no")), raising(SystemExit(1)), recurse, list, object]
    for number in range(20):
        hook = hookimpl(failing(broken[number % 5]))
        hooks = dict.fromkeys(("extract", "classify", "route", "embed"), hook)
        manager.register(made(f"Bad{number}", **hooks))
    manager.register(GoodPlugin())
    assert manager.extract(memory) == bob()
    assert manager.classify(memory, bob(), ()) == ("good", Classification())
    assert manager.route(memory, (), ()) == ("good", Routing())
    assert manager.embed(()) is None
    assert len(manager.failures) == 61  # of those that embed, nobody stands in for the first


# --- failures are kept -------------------------------------------------------------------------------------------


def test_failures_kept_are_bounded(manager: PluginManager, memory: Memory) -> None:
    manager.register(extractor([]))
    for _ in range(5 * REMEMBERED):
        before = len(manager.failures)
        manager.extract(memory)
        assert len(manager.failures) != before
    assert REMEMBERED <= len(manager.failures) <= 2 * REMEMBERED


def test_failure_is_listed_by_other_processes_too(home: Path, memory: Memory) -> None:
    seen = PluginManager.load(Settings.load())
    seen.register(extractor([]))
    seen.extract(memory)
    other = PluginManager.load(Settings.load())
    other.register(extractor(bob()))
    info, *_ = other.infos()
    assert (info.name, info.state) == ("birds", "active")
    assert info.failure and info.failure.error == "gave list, expected Extraction"


def test_plugin_that_cannot_be_closed_is_listed(home: Path) -> None:
    seen = PluginManager.load(Settings.load())
    seen.register(made("Birds", close=failing(raising(ValueError("no")))))
    seen.close()
    other = PluginManager.load(Settings.load())
    other.register(made("Birds"))
    info, *_ = other.infos()
    assert info.failure and (info.failure.where, info.failure.error) == ("close", "ValueError: no")


# --- deferred ----------------------------------------------------------------------------------------------------


class SlowPlugin(Plugin):
    deferred = True

    @hookimpl
    def extract(self, found: Extraction) -> Extraction:
        assert found == bob(0.5)
        return bob(0.8)

    @hookimpl
    def classify(self, found: Extraction) -> Classification:
        assert found == bob(0.8)
        return Classification()


def test_deferred_plugin_is_not_asked_inline(plugin_manager: PluginManager, memory: Memory) -> None:
    plugin_manager.register(SlowPlugin())
    assert plugin_manager.deferred == ("slow",)
    assert plugin_manager.extract(memory) == Extraction()
    assert plugin_manager.classify(memory, Extraction(), ()) is None


def test_deferred_plugin_answers_all_it_can_and_builds_on_its_own_answer(
    plugin_manager: PluginManager, memory: Memory
) -> None:
    plugin_manager.register(SlowPlugin())
    said = plugin_manager.run_deferred("slow", memory, bob(0.5), (), (), ())
    assert (said.extraction, said.classification, said.routing) == (bob(0.8), Classification(), None)


def test_deferred_plugin_that_fails_is_raised_even_when_not_strict(manager: PluginManager, memory: Memory) -> None:
    failing = extractor(raising(TimeoutError("no answer")))
    type(failing).deferred = True
    manager.register(failing)
    with pytest.raises(PluginError, match="TimeoutError: no answer"):
        manager.run_deferred("birds", memory, Extraction(), (), (), ())
    assert len(manager.failures) == 1


def test_deferred_plugin_that_is_gone_says_so(manager: PluginManager, memory: Memory) -> None:
    with pytest.raises(PluginError, match="plugin 'slow' is not running; enable it again"):
        manager.run_deferred("slow", memory, Extraction(), (), (), ())


# --- close -------------------------------------------------------------------------------------------------------


def test_each_plugin_is_closed_once_in_order_though_one_fails(manager: PluginManager) -> None:
    closed: list[str] = []

    def closing(name: str) -> Plugin:
        def close(self: Plugin) -> None:
            closed.append(name)
            if name == "Birds":
                raise CancelledError

        return made(name, close=close)

    for name in ("Zebra", "Birds", "Mice"):
        manager.register(closing(name))
    manager.close()
    manager.close()
    assert closed == ["Zebra", "Birds", "Mice"]
    assert [(failure.plugin, failure.where) for failure in manager.failures] == [("birds", "close")]


# --- cost --------------------------------------------------------------------------------------------------------


def test_guards_cost_microseconds(plugin_manager: PluginManager, memory: Memory) -> None:
    for name in ("Zebra", "Birds", "Mice"):
        plugin_manager.register(extractor(None, name=name))
    best = min(_seconds(lambda: plugin_manager.extract(memory)) for _ in range(200))
    assert best < 0.000_2


def _seconds(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
