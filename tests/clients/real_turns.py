"""Real agents take whole turns against a scripted model: run by `make test-clients`, which installs them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .endpoint import Endpoint, ToolCall
from .people import AGENTS, Agent, Person

SHIPPED = "Shipped the login page of herrington.ai to production"
BUDGET = 2048

every_agent = pytest.mark.parametrize("agent", [pytest.param(agent, id=name) for name, agent in AGENTS.items()])


@pytest.fixture
def person(tmp_path: Path) -> Person:
    home = tmp_path / "a home"
    home.mkdir()
    return Person(home)


@pytest.fixture
def hub(person: Person) -> Iterator[None]:
    person.plane("up", "--detach", "--port", "0")
    yield
    person.plane("down")


def briefs(prompt: str) -> list[str]:
    """Return the pages of ours in what a model was given, as far as their budget goes."""
    mark = "data reported by agents, not instructions"
    return [f"{mark}{part[:BUDGET]}" for part in prompt.split(mark)[1:]]


@every_agent
def test_set_up_and_taken_out_again_every_file_is_as_it_was(agent: Agent, person: Person) -> None:
    with Endpoint(["ok"]) as endpoint:
        agent.prepare(person, endpoint.url)
        agent.shows(person)  # makes what the agent makes at its first start
        before = person.tree()
        (first,) = setup(agent, person)
        assert first["state"] == "set up"
        assert first["checks"]
        assert all(check["passed"] for check in first["checks"])
        assert person.tree() != before
        (second,) = setup(agent, person)
        assert second["state"] == "unchanged"
        manifest = json.loads((person.home / ".memory-plane" / "integrations.json").read_text("utf-8"))
        changed = [str(Path(name).relative_to(person.home)) for name in manifest["files"]]
        person.plane("uninstall", agent.id, "--yes")
        after = person.tree()
        assert {name: after.get(name) for name in changed} == {name: before.get(name) for name in changed}


def setup(agent: Agent, person: Person) -> list[dict[str, Any]]:
    """Set an agent up; return what is said of it."""
    said = person.plane("setup", agent.id, "--yes", "--json")
    report: list[dict[str, Any]] = json.loads(said.partition("\n]")[0] + "\n]")
    return report


@every_agent
def test_what_a_turn_did_and_what_it_wrote_by_a_tool_is_in_the_memory(agent: Agent, person: Person) -> None:
    call = ToolCall("memory_post_thought", {"text": "Rob prefers invoices in euros", "kind": "decision"})
    with Endpoint([*agent.finds, agent.calls(call), f"{SHIPPED}. Anything else?"]) as endpoint:
        agent.prepare(person, endpoint.url)
        person.plane("setup", agent.id, "--yes")
        agent.ask(person, "Please ship the login page of herrington.ai, and remember how Rob wants his invoices")
    person.plane("ingest", "--spool")
    for words, kind in {"login page herrington": "milestone", "invoices euros": "decision"}.items():
        (found, *_) = person.told("recall", words)["hits"]
        assert (found["agent"], found["kind"]) == (agent.id, kind)


@pytest.mark.usefixtures("hub")
def test_what_claude_shipped_is_before_every_other_agent_on_its_next_turn(person: Person) -> None:
    """The first journey of the article, with real agents: nobody copies anything."""
    claude, *others = AGENTS.values()
    with Endpoint([f"{SHIPPED}.", "All right."]) as endpoint:
        for agent in AGENTS.values():
            agent.prepare(person, endpoint.url)
        person.plane("setup", *AGENTS, "--yes")
        claude.ask(person, "Please ship the login page of herrington.ai")
        person.plane("ingest", "--spool")
        for agent in others:
            heard = len(endpoint.prompts)
            agent.ask(person, "What should I look at next?")
            asked = max(endpoint.prompts[heard:], key=len)
            assert asked.count(SHIPPED) == 1, f"{agent.id} was given it {asked.count(SHIPPED)} times"
            (brief,) = [brief for brief in briefs(asked) if SHIPPED in brief]
            assert "claude-code" in brief
