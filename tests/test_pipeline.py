"""The line of one write: plugins enrich what is stored, and nothing that they do or fail to do can undo it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from memory_plane import Plane, Plugin, hookimpl, pipeline
from memory_plane.errors import ModelUnavailable, PluginError
from memory_plane.failures import FailureLog
from memory_plane.pipeline import FIRST_RETRY, MAX_TRIES, PATIENCE
from memory_plane.types import (
    AgentContext,
    Candidate,
    Claim,
    Classification,
    Event,
    Extraction,
    Ingested,
    Link,
    Memory,
    Mention,
    Node,
    Poll,
    Resolution,
    Routing,
    new_node_id,
)

MakePlane = Callable[..., Plane]


class NamesPlugin(Plugin):
    """Takes every capitalised word for a new person, and joins neighbours by KNOWS."""

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        places = [(word, memory.text.index(word)) for word in memory.text.split() if word.istitle()]
        return Extraction(
            mentions=tuple(
                Mention(text=word, type="Person", start=start, end=start + len(word), confidence=1.0)
                for word, start in places
            )
        )

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
        ids = {one: new_node_id(memory.id, one) for one in found.mentions}
        resolutions = tuple(Resolution(mention=one, node=id, probability=1.0) for one, id in ids.items())
        links = tuple(Link(source=a, relation="KNOWS", target=b, probability=0.9) for a, b in pairwise(ids.values()))
        return Classification(resolutions=resolutions, links=links)


def snippets(plane: Plane, query: str) -> list[str]:
    return [hit.snippet for hit in plane.recall(query, limit=50).hits]


# --- failures -----------------------------------------------------------------------------------------------------


class BrokenPlugin(Plugin):
    """Fails in every hook of the pipeline."""

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        raise RuntimeError("no extract")

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
        raise RuntimeError("no classify")

    @hookimpl
    def route(self, memory: Memory, nodes: Sequence[Node], agents: Sequence[AgentContext]) -> Routing:
        raise RuntimeError("no route")

    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested:
        raise RuntimeError("no ingest")

    @hookimpl
    def render(self) -> Iterator[Any]:
        raise RuntimeError("no render")


def test_failing_plugin_never_breaks_a_write(make_plane: MakePlane) -> None:
    plane = make_plane(BrokenPlugin(), NamesPlugin(), strict=False)
    plane.heartbeat(agent="grok", focus="kites")
    assert plane.post("Ann met Bob", agent="muse").state == "stored"
    assert snippets(plane, "Ann") == ["Ann met Bob"]
    assert len(plane.graph().edges) == 1
    assert plane.ingest().stored == 0
    assert "Ann met Bob" in plane.page("PULSE.md")
    plane.render()
    assert "plugin 'broken' failed in 'render'" in plane.status().failures[0]
    told = "\n".join(str(failure) for failure in plane.plugins.failures)
    for hook in ("extract", "classify", "route", "ingest", "render"):
        assert f"plugin 'broken' failed in '{hook}'" in told


def test_failing_plugin_raises_where_that_is_wanted_after_the_write(make_plane: MakePlane) -> None:
    plane = make_plane(BrokenPlugin())
    with pytest.raises(PluginError, match="no extract"):
        plane.post("Ann met Bob", agent="muse")
    assert snippets(plane, "Ann") == ["Ann met Bob"]


# --- the queue ---------------------------------------------------------------------------------------------------


class SlowPlugin(NamesPlugin):
    """Answers from the queue, unless it is down."""

    deferred = True
    down = False
    asked = 0

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        self.asked += 1
        if self.down:
            raise ConnectionError("no route to host")
        found: Extraction = NamesPlugin.extract(self, memory)
        return found


def test_deferred_plugin_answers_after_the_write(make_plane: MakePlane) -> None:
    plane = make_plane(SlowPlugin())
    plane.post("Ann met Bob", agent="muse")
    assert plane.status().waiting == 1
    assert plane.graph().edges == ()
    assert plane.ingest().enriched == 1
    assert plane.status().waiting == 0
    assert len(plane.graph().edges) == 1
    assert plane.ingest().enriched == 0


def test_slow_plugin_is_left_alone_for_a_while_so_that_its_answers_are_shown(
    make_plane: MakePlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = SlowPlugin()
    plane = make_plane(plugin)
    for name in ("Ann", "Bob", "Cid"):
        plane.post(f"{name} is here", agent="muse")
    with monkeypatch.context() as slow:
        slow.setattr(pipeline, "monotonic", lambda: plugin.asked * 0.6 * pipeline.SHIFT)
        assert (plane.ingest().enriched, plane.status().waiting) == (2, 1)
    assert (plane.ingest().enriched, plane.status().waiting) == (1, 0)


def test_deferred_plugin_is_asked_again_later_and_later_and_then_no_more(make_plane: MakePlane) -> None:
    plugin = SlowPlugin()
    plane = make_plane(plugin, strict=False)
    plane.post("Ann met Bob", agent="muse")
    plugin.down = True
    now = datetime.now(UTC)
    for tries in range(PATIENCE):
        assert plugin.asked == tries
        assert plane.status().waiting == 1
        assert plane._pipeline.work(now) == 0
        assert plane._pipeline.work(now) == 0
        now += FIRST_RETRY * 2**tries
    assert plugin.asked == PATIENCE
    assert plane.status().waiting == 0


def test_deferred_plugin_that_is_back_answers(make_plane: MakePlane) -> None:
    plugin = SlowPlugin()
    plane = make_plane(plugin, strict=False)
    plane.post("Ann met Bob", agent="muse")
    plugin.down = True
    assert plane.ingest().enriched == 0
    plugin.down = False
    assert plane.ingest().enriched == 0
    assert plane._pipeline.work(datetime.now(UTC) + FIRST_RETRY) == 1
    assert len(plane.graph().edges) == 1


class Killed(KeyboardInterrupt):
    """What ends a process, which no guard catches."""


class LethalPlugin(SlowPlugin):
    """Ends the process between question and answer, so often."""

    deaths = 1

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        self.asked += 1
        if self.asked <= self.deaths:
            raise Killed
        found: Extraction = NamesPlugin.extract(self, memory)
        return found


def test_question_whose_process_died_is_asked_again(make_plane: MakePlane) -> None:
    plane = make_plane(LethalPlugin())
    plane.post("Ann met Bob", agent="muse")
    now = datetime.now(UTC)
    with pytest.raises(Killed):
        plane._pipeline.work(now)
    assert (plane.status().waiting, plane._pipeline.work(now)) == (1, 0)
    assert plane._pipeline.work(now + FIRST_RETRY) == 1
    assert plane.status().waiting == 0
    assert len(plane.graph().edges) == 1


def test_question_that_ends_every_process_is_not_asked_for_ever(make_plane: MakePlane) -> None:
    plugin = LethalPlugin()
    plugin.deaths = 10**6
    plane = make_plane(plugin)
    plane.post("Ann met Bob", agent="muse")
    now = datetime.now(UTC)
    for tries in range(PATIENCE):
        with pytest.raises(Killed):
            plane._pipeline.work(now)
        now += FIRST_RETRY * 2**tries
    assert plane._pipeline.work(now) == 0
    assert (plugin.asked, plane.status().waiting) == (PATIENCE, 0)


class WatchedPlugin(SlowPlugin):
    """Another process looks at the queue while it thinks."""

    other: Plane | None = None

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        if self.other is not None:
            assert self.other._pipeline.work(datetime.now(UTC)) == 0
        found: Extraction = SlowPlugin.extract(self, memory)
        return found


def test_two_processes_ask_a_question_once(make_plane: MakePlane) -> None:
    one, other = WatchedPlugin(), WatchedPlugin()
    plane, one.other = make_plane(one), make_plane(other)
    plane.post("Ann met Bob", agent="muse")
    assert plane.ingest().enriched == 1
    assert (one.asked, other.asked) == (1, 0)


def test_answer_about_a_retracted_memory_changes_nothing(make_plane: MakePlane) -> None:
    plane = make_plane(SlowPlugin())
    wrong = plane.post("Ann met Bob", agent="muse").id
    plane.retract(wrong, agent="muse")
    plane.ingest()
    assert plane.graph().edges == ()
    assert plane.graph(about="Ann").nodes == ()


def test_deferred_plugin_that_is_gone_is_given_up_in_the_end(make_plane: MakePlane) -> None:
    with make_plane(SlowPlugin()) as plane:
        plane.post("Ann met Bob", agent="muse")
    plane = make_plane()
    now = datetime.now(UTC)
    for tries in range(PATIENCE):
        assert plane.status().waiting == 1
        plane._pipeline.work(now)
        now += FIRST_RETRY * 2**tries
    assert plane.status().waiting == 0


class FatalPlugin(NamesPlugin):
    """Ends every process that asks it about a bomb."""

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        if "bomb" in memory.text:
            raise Killed
        found: Extraction = NamesPlugin.extract(self, memory)
        return found


def test_memory_that_ends_each_process_holds_up_neither_writes_nor_peers_for_ever(make_plane: MakePlane) -> None:
    with pytest.raises(Killed):
        make_plane(FatalPlugin()).post("Ann has a bomb", agent="muse")
    assert make_plane(FatalPlugin()).changes().operations == ()  # it might come to an end yet
    with pytest.raises(Killed):
        make_plane(FatalPlugin()).post("Ann met Bob", agent="muse")
    plane = make_plane(FatalPlugin())
    assert plane.post("Ann met Cid", agent="muse").state == "stored"
    plane.work_queue()
    assert len(plane.changes().operations) == 3
    assert len(plane.graph().edges) == 2
    now = datetime.now(UTC)
    for tries in range(1, MAX_TRIES - 1):
        with pytest.raises(Killed):
            plane._pipeline.work(now + FIRST_RETRY * 2 ** (tries + 1))
        now += FIRST_RETRY * 2 ** (tries + 1)
    plane._pipeline.work(now + FIRST_RETRY * 2**MAX_TRIES)
    assert plane.status().waiting == 0


def test_enrichment_that_a_crash_cut_short_is_made_good(make_plane: MakePlane) -> None:
    class DiesPlugin(NamesPlugin):
        dies = True

        @hookimpl
        def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
            if self.dies:
                raise KeyboardInterrupt
            answer: Classification = NamesPlugin.classify(self, memory, found, candidates)
            return answer

    plugin = DiesPlugin()
    plane = make_plane(plugin)
    with pytest.raises(KeyboardInterrupt):
        plane.post("Ann met Bob", agent="muse")
    assert snippets(plane, "Ann") == ["Ann met Bob"]
    assert plane.status().waiting == 1
    plugin.dies = False
    plane.ingest()
    assert len(plane.graph().edges) == 1
    assert plane.status().waiting == 0


class ExtractingPlugin(Plugin):
    """Finds a name after the write, and leaves to others what to make of it."""

    deferred = True

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        start = memory.text.index("Zanzibar")
        return Extraction(
            mentions=(Mention(text="Zanzibar", type="Place", start=start, end=start + 8, confidence=0.9),)
        )


class JoiningPlugin(Plugin):
    """Joins each mention to a known node of its name."""

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
        known = {one.mention: one.node.id for one in candidates}
        return Classification(
            resolutions=tuple(
                Resolution(mention=one, node=known.get(one, new_node_id(memory.id, one)), probability=1.0)
                for one in found.mentions
            )
        )


def test_inline_plugins_settle_what_a_deferred_one_only_finds(make_plane: MakePlane) -> None:
    plane = make_plane(ExtractingPlugin(), JoiningPlugin())
    plane.post("we sail to Zanzibar", agent="muse")
    assert plane.graph(about="Zanzibar").nodes == ()
    assert plane.ingest().enriched == 1
    assert [node.name for node in plane.graph(about="Zanzibar").nodes] == ["Zanzibar"]


def test_two_writers_that_meet_a_name_at_once_found_one_node(make_plane: MakePlane) -> None:
    class MeanwhilePlugin(JoiningPlugin):
        """Lets another process write the same name while this one is asked for the first time."""

        asked = 0

        @hookimpl
        def extract(self, memory: Memory) -> Extraction:
            mention = Mention(text=memory.text, type="Person", start=0, end=len(memory.text), confidence=1.0)
            return Extraction(mentions=(mention,))

        @hookimpl
        def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
            MeanwhilePlugin.asked += 1
            if MeanwhilePlugin.asked == 1:
                other.post("Zoe", agent="grok")
            return super().classify(memory, found, candidates)

    other, plane = make_plane(MeanwhilePlugin()), make_plane(MeanwhilePlugin())
    plane.post("Zoe", agent="muse")
    assert len(plane.graph(about="Zoe").nodes) == 1
    assert MeanwhilePlugin.asked > 2


def test_operation_of_another_machine_is_checked_and_redacted(make_plane: MakePlane, operation: Any) -> None:
    plane = make_plane()
    good = operation()
    secret = replace(
        good, id="9f0c203f-1df6-55ea-8218-da576443ee1f", body=dict(good.body) | {"text": "password: x9Kq2LmP8"}
    )
    empty = replace(good, id="1f0c203f-1df6-55ea-8218-da576443ee1f", body=dict(good.body) | {"text": ""})
    states = [receipt.state for receipt in plane.apply_all([empty, good, secret])]
    assert states == ["refused", "stored", "stored"]
    assert all("x9Kq2LmP8" not in line for line in plane.export())


def test_fact_whose_key_names_a_secret_is_cut(make_plane: MakePlane) -> None:
    plane = make_plane()
    plane.fact("github", "password", "hunter2xyz", agent="muse")
    plane.render()
    assert all(b"hunter2xyz" not in file.read_bytes() for file in plane.home.rglob("*") if file.is_file())


# --- models of others, asked later -------------------------------------------------------------------------------


class RemotePlugin(Plugin):
    """Asks a model that is not there for a while."""

    deferred = True
    model = "model-1"

    def __init__(self) -> None:
        super().__init__()
        self.until: datetime | None = None
        self.blames = False
        self.asked: list[str] = []
        self.shown: list[Candidate] = []

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification | None:
        self.asked.append(memory.text)
        self.shown += candidates
        if self.until is not None:
            raise ModelUnavailable("the model sleeps", until=self.until, blames=self.blames)
        return Classification(
            resolutions=tuple(Resolution(mention=one.mention, node=one.node.id, probability=1.0) for one in candidates)
        )


def test_model_that_is_away_is_left_alone_and_loses_nothing(make_plane: MakePlane) -> None:
    plugin = RemotePlugin()
    plane = make_plane(NamesPlugin(), plugin, strict=False)
    for name in ("Ann", "Bob", "Ann and Bob"):
        plane.post(f"{name} is here", agent="muse")
    now = datetime.now(UTC)
    for _ in range(MAX_TRIES + 1):
        plugin.until = now + FIRST_RETRY
        assert plane._pipeline.work(now) == 0
        assert plane._pipeline.work(now) == 0
        now = plugin.until + FIRST_RETRY
    assert plugin.asked == ["Ann is here"] * (MAX_TRIES + 1)
    assert plane.status().waiting == 3
    assert "plugin 'remote' failed in 'classify' and was skipped: the model sleeps" in plane.status().failures
    plugin.until = None
    assert plane._pipeline.work(now) == 3
    assert plane.status().waiting == 0


def test_question_that_a_model_cannot_take_makes_way_for_the_others(make_plane: MakePlane) -> None:
    plugin = RemotePlugin()
    plane = make_plane(NamesPlugin(), plugin, strict=False)
    for name in ("Ann", "Bob"):
        plane.post(f"{name} is here", agent="muse")
    now = datetime.now(UTC)
    plugin.until, plugin.blames = now + FIRST_RETRY / 2, True
    assert plane._pipeline.work(now) == 0
    plugin.until = None
    assert plane._pipeline.work(now + FIRST_RETRY / 2) == 1
    assert plugin.asked == ["Ann is here", "Bob is here"]


def test_failure_is_forgotten_once_a_deferred_plugin_answers_again(make_plane: MakePlane) -> None:
    plugin = SlowPlugin()
    plane = make_plane(plugin, strict=False)
    plugin.down = True
    plane.post("Ann met Bob", agent="muse")
    plane.ingest()
    assert plane.plugins.infos()[0].failure is not None
    plugin.down = False
    plane.post("Ann met Bob again", agent="muse")
    plane.ingest()
    assert plane.plugins.infos()[0].failure is None
    assert FailureLog(plane.home / "failures.jsonl").latest() == {}


class ChoosyPlugin(Plugin):
    """Asks nobody about a text that is simple; else nobody answers."""

    deferred = True

    @hookimpl
    def extract(self, memory: Memory) -> Extraction | None:
        if memory.text == "simple":
            return None
        raise ConnectionError("no route to host")


def test_failure_stands_while_nobody_is_asked(make_plane: MakePlane) -> None:
    plane = make_plane(ChoosyPlugin(), strict=False)
    for text in ("complex", "simple"):
        plane.post(text, agent="muse")
        plane.ingest()
    assert plane.status().waiting == 1
    assert plane.plugins.infos()[0].failure is not None


@pytest.mark.parametrize("op", ["retract", "forget"])
def test_deferred_plugin_never_sees_what_was_taken_back(make_plane: MakePlane, op: str) -> None:
    plugin = RemotePlugin()
    plane = make_plane(NamesPlugin(), plugin)
    wrong = plane.post("Ann met Bob", agent="muse").id
    getattr(plane, op)(wrong, agent="muse")
    plane.ingest()
    assert plugin.asked == []
    assert plane.status().waiting == 0


def test_deferred_plugin_sees_what_was_held_back_once_it_is_released(make_plane: MakePlane) -> None:
    plugin = RemotePlugin()
    plane = make_plane(NamesPlugin(), plugin, hold_external=True)
    held = plane.post("Ann met Bob", agent="muse", origin="external").id
    plane.ingest()
    assert (plugin.asked, plane.inquiries()) == ([], [])
    plane.release(held, agent="muse")
    plane.ingest()
    assert plugin.asked == ["Ann met Bob"]
    assert [one.memory.id for one in plane.inquiries()] == [held]


def test_model_is_kept_with_its_answer(make_plane: MakePlane) -> None:
    plane = make_plane(NamesPlugin(), RemotePlugin())
    plane.post("Ann met Bob", agent="muse")
    plane.ingest()
    versions = [json.loads(line).get("version") for line in plane.export()]
    assert versions == [None, "0", "0+model-1"]


def test_deferred_plugin_is_told_what_was_decided_and_what_others_say(make_plane: MakePlane) -> None:
    plugin = RemotePlugin()
    plane = make_plane(NamesPlugin(), plugin)
    plane.post("Ann met Bob", agent="grok")
    plane.ingest()
    assert [(one.taken, one.facts, one.same_agent, one.last_seen) for one in plugin.shown] == [
        (True, (), False, None)
    ] * 2
    plugin.shown.clear()
    plane.post("Ann met Bob", agent="muse")
    plane.ingest()
    known = {(one.node.name, one.taken, one.facts, one.same_agent) for one in plugin.shown}
    assert ("Ann", False, ("Ann KNOWS Bob",), False) in known
    assert ("Ann", True, (), False) in known


def test_deferred_plugin_that_came_later_is_asked_about_the_past_when_all_is_derived_anew(
    make_plane: MakePlane,
) -> None:
    with make_plane(NamesPlugin()) as plane:
        plane.post("Ann met Bob", agent="muse")
    plugin = RemotePlugin()
    plane = make_plane(NamesPlugin(), plugin)
    assert plane.ingest().enriched == 0
    for _ in range(2):
        plane.rebuild(rederive=True)
        plane.ingest()
    assert plugin.asked == ["Ann met Bob"]


class SecondReadingPlugin(Plugin):
    """Finds after the write that the first name leads the last, and says again what was found at once."""

    deferred = True

    @hookimpl
    def extract(self, memory: Memory, found: Extraction) -> Extraction:
        named = [one for one in found.mentions if one.start < one.end]
        claim = Claim(
            subject=named[0], relation="LEADS", object=named[-1], start=0, end=len(memory.text), confidence=0.7
        )
        return Extraction(mentions=found.mentions, claims=(claim, *found.claims))


def test_what_a_deferred_plugin_adds_is_its_own_and_the_rest_stays_as_it_was(make_plane: MakePlane) -> None:
    plane = make_plane("local", SecondReadingPlugin())
    plane.post("Maria manages Viktor", agent="muse")
    before = plane.graph(about="Maria")
    assert plane.ingest().enriched == 1
    found = {(one.source.name, one.relation, one.target.name, one.method) for one in plane.graph().edges}
    assert found == {("Maria", "MANAGES", "Viktor", "local"), ("Maria", "LEADS", "Viktor", "second_reading")}
    assert {node.id for node in plane.graph(about="Maria").nodes} == {node.id for node in before.nodes}
