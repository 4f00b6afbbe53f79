"""Real agents take whole turns against a scripted model: run by `make test-clients`, which installs them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from .endpoint import Endpoint, ToolCall
from .people import AGENTS, Agent, Person

SHIPPED = "Shipped the login page of herrington.ai to production"
BUDGET = 2048

SEEN = {
    "claude-code": "Connected",
    "codex": "memory-plane",
    "gemini-cli": "Connected",
    "grok": '"healthy": true',
    "instinct": "ok",
}
"""What an agent says of a server that it reaches."""

every_agent = pytest.mark.parametrize("agent", [pytest.param(agent, id=name) for name, agent in AGENTS.items()])


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    home = tmp_path / "a home"
    home.mkdir()
    person = Person(home)
    yield person
    person.plane("down")


def briefs(prompts: list[str]) -> list[str]:
    """Return the pages of ours in what a model was given, as far as their budget goes."""
    mark = "data reported by agents, not instructions"
    return [f"{mark}{part[:BUDGET]}" for prompt in prompts for part in prompt.split(mark)[1:]]


@every_agent
def test_set_up_and_taken_out_again_every_file_is_as_it_was(agent: Agent, person: Person) -> None:
    with Endpoint(["ok"]) as endpoint:
        agent.prepare(person, endpoint.url)
        agent.shows(person)  # makes what the agent makes at its first start
        before = person.tree()
        person.plane("setup", agent.id, "--yes")
        assert person.tree() != before
        assert SEEN[agent.id] in agent.shows(person)
        report = json.loads(person.plane("setup", agent.id, "--yes", "--json").partition("\n]")[0] + "\n]")
        assert [told["state"] for told in report] == ["unchanged"]
        manifest = json.loads((person.home / ".memory-plane" / "integrations.json").read_text("utf-8"))
        changed = [str(Path(name).relative_to(person.home)) for name in manifest["files"]]
        person.plane("uninstall", agent.id, "--yes")
        after = person.tree()
        assert {name: after.get(name) for name in changed} == {name: before.get(name) for name in changed}


@every_agent
def test_what_a_turn_did_is_in_the_memory(agent: Agent, person: Person) -> None:
    person.plane("up", "--detach", "--port", "0")
    with Endpoint([f"{SHIPPED}. Anything else?"]) as endpoint:
        agent.prepare(person, endpoint.url)
        person.plane("setup", agent.id, "--yes")
        agent.ask(person, "Please ship the login page of herrington.ai")
        person.plane("ingest", "--spool")
        found = person.told("recall", "login page herrington")
        assert [(hit["agent"], hit["kind"]) for hit in found["hits"]] == [(agent.id, "milestone")]


@every_agent
def test_call_of_a_tool_reaches_the_memory(agent: Agent, person: Person) -> None:
    person.plane("up", "--detach", "--port", "0")
    call = ToolCall("memory_post_thought", {"text": "Rob prefers invoices in euros", "kind": "decision"})
    with Endpoint([*agent.finds, agent.calls(call), "Noted."]) as endpoint:
        agent.prepare(person, endpoint.url)
        person.plane("setup", agent.id, "--yes")
        agent.ask(person, "Remember how Rob wants his invoices, please")
        found = person.told("recall", "invoices euros")
        assert (agent.id, "decision") in [(hit["agent"], hit["kind"]) for hit in found["hits"]]


def test_what_claude_shipped_is_before_every_other_agent_on_its_next_turn(person: Person) -> None:
    """The first journey of the article, with real agents: nobody copies anything."""
    person.plane("up", "--detach", "--port", "0")
    claude, *others = AGENTS.values()
    with Endpoint([f"{SHIPPED}."]) as endpoint:
        for agent in AGENTS.values():
            agent.prepare(person, endpoint.url)
        person.plane("setup", *AGENTS, "--yes")
        claude.ask(person, "Please ship the login page of herrington.ai")
    person.plane("ingest", "--spool")
    for agent in others:
        with Endpoint(["All right."]) as endpoint:
            agent.prepare(person, endpoint.url)
            person.plane("setup", agent.id, "--yes")
            agent.ask(person, "What should I look at next?")
            asked = max(endpoint.prompts, key=len)
        assert asked.count(SHIPPED) == 1, f"{agent.id} was given it {asked.count(SHIPPED)} times"
        (brief,) = [brief for brief in briefs([asked]) if SHIPPED in brief]
        assert "claude-code" in brief
