from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid5

import pytest

from memory_plane import Plane, Plugin, hookimpl
from memory_plane.capture import Turn, operations
from memory_plane.errors import PluginError
from memory_plane.operations import make_operation
from memory_plane.plugins import PluginManager
from memory_plane.types import NAMESPACE, AgentInfo, Event, Ingested, Operation, Poll

Operations = Callable[..., Operation]


class HeronPlugin(Plugin):
    agents = (AgentInfo(id="heron"), AgentInfo(id="egret"))

    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested | None:
        if isinstance(cue, Poll):
            return Ingested(cursor=f"{cue.cursor or ''}.")
        id = str(uuid5(NAMESPACE, str(cue.payload["id"])))
        return Ingested(operations=(make_operation("thought", {"text": cue.payload["text"]}, agent=cue.agent, id=id),))


class NosyPlugin(Plugin):
    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested:
        return Ingested(cursor="nosy")


def heard(agent: str, **payload: object) -> Event:
    return Event(agent=agent, name="message", payload=payload)


def test_event_goes_to_the_owner_of_its_agent_alone(plugin_manager: PluginManager) -> None:
    plugin_manager.register(NosyPlugin())
    plugin_manager.register(HeronPlugin())
    ((name, answer),) = plugin_manager.ingest(heard("egret", id=1, text="hello"))
    assert name == "heron"
    assert answer.operations[0].agent == "egret"


def test_event_of_an_agent_that_nobody_speaks_for_is_nobodys(plugin_manager: PluginManager) -> None:
    plugin_manager.register(NosyPlugin())
    assert plugin_manager.ingest(heard("stranger")) == []


def test_poll_goes_to_everybody_or_to_the_one_that_is_named(plugin_manager: PluginManager) -> None:
    plugin_manager.register(NosyPlugin())
    plugin_manager.register(HeronPlugin())
    assert [name for name, _ in plugin_manager.ingest(Poll())] == ["nosy", "heron"]
    assert plugin_manager.ingest(Poll(cursor="7"), plugin="heron") == [("heron", Ingested(cursor="7."))]


def test_none_is_not_an_answer(plugin_manager: PluginManager) -> None:
    class DeafPlugin(Plugin):
        @hookimpl
        def ingest(self) -> None:
            return None

    plugin_manager.register(DeafPlugin())
    assert plugin_manager.ingest(Poll()) == []


def test_answer_of_another_kind_is_a_failure(plugin_manager: PluginManager, operation: Operations) -> None:
    class HastyPlugin(Plugin):
        @hookimpl
        def ingest(self) -> tuple[Operation, ...]:
            return (operation(),)

    plugin_manager.register(HastyPlugin())
    with pytest.raises(PluginError, match="'hasty' failed in 'ingest' and was skipped: gave tuple, expected Ingested"):
        plugin_manager.ingest(Poll())


def test_spooled_event_is_stored_once_however_often_it_comes(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane(HeronPlugin())
    for _ in range(3):
        plane.spool(heard("heron", id=7, text="the otter is back"))
    report = plane.ingest()
    assert (report.events, report.stored) == (3, 1)
    assert [thought.text for thought in plane.thoughts()] == ["the otter is back"]


def test_event_tells_which_questions_of_its_agent_are_open(make_plane: Callable[..., Plane]) -> None:
    heard_of: list[list[str]] = []

    class EgretPlugin(Plugin):
        agents = (AgentInfo(id="egret"),)

        @hookimpl
        def ingest(self, cue: Poll | Event) -> None:
            if isinstance(cue, Event):
                heard_of.append([item.text for item in cue.asked])

    plane = make_plane(EgretPlugin())
    plane.post("Shall I dive?", agent="egret", kind="question")
    plane.post("I'll dive at noon", agent="egret", kind="commitment")
    answered = plane.post("Shall I fly?", agent="egret", kind="question")
    plane.post("Shall I stand?", agent="heron", kind="question")
    plane.resolve(answered.id, agent="egret")
    plane.spool(heard("egret"))
    plane.ingest()
    assert heard_of == [["Shall I dive?"]]


def test_prompt_that_is_sent_again_answers_no_question_that_came_of_it(make_plane: Callable[..., Plane]) -> None:
    class TalkPlugin(Plugin):
        agents = (AgentInfo(id="egret"),)

        @hookimpl
        def ingest(self, cue: Poll | Event) -> Ingested | None:
            if isinstance(cue, Poll) or cue.at is None:
                return None
            turn = Turn(agent=cue.agent, at=cue.at, asked=cue.asked, **cue.payload)
            return Ingested(operations=operations(turn))

    plane = make_plane(TalkPlugin())
    at = datetime(2026, 11, 20, 9, tzinfo=UTC)

    def say(minute: int, **payload: str) -> list[str]:
        turn = {"session": "s", "id": f"t-{minute}", **payload}
        plane.spool(Event(agent="egret", name="said", payload=turn, at=at + timedelta(minutes=minute)))
        plane.ingest()
        return [item.text for item in plane.items()]

    deploy, colour = "Should I deploy to production, too?", "Should the button of the login be blue?"
    assert say(0, prompt="Fix the login page of the shop") == []
    assert say(1, answer=deploy) == [deploy]
    assert say(2, prompt="Fix the login page of the shop") == [deploy]
    assert say(3, answer="API Error: 529 Overloaded") == [deploy]
    assert say(4, prompt="Fix the login page of the shop", answer=deploy, before=deploy) == [deploy]
    assert say(5, prompt="Yes, deploy the login page to production") == []
    assert say(6, answer=colour) == [colour]
    assert say(7, prompt="yes") == []


def test_cursor_comes_back_at_the_next_poll(make_plane: Callable[..., Plane]) -> None:
    seen: list[str | None] = []

    class TailPlugin(Plugin):
        @hookimpl
        def ingest(self, cue: Poll) -> Ingested:
            seen.append(cue.cursor)
            return Ingested(cursor=str(len(seen)))

    plane = make_plane(TailPlugin())
    for _ in range(3):
        plane.ingest()
    assert seen == [None, "1", "2"]


def test_event_whose_plugin_failed_waits_for_the_next_try(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane(HeronPlugin(), strict=False)
    plane.spool(heard("heron", id=7))
    assert plane.ingest().failures == ("plugin 'heron' failed in 'ingest' and was skipped: KeyError: 'text'",)
    assert plane.status().spooled == 1
