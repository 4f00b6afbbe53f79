"""Real agents take whole turns against a scripted model: run by `make test-clients`, which installs them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .endpoint import Endpoint, ToolCall
from .people import AGENTS, Agent, Person

BUDGET = 2048
CLAUDE = AGENTS["claude-code"]

every_agent = pytest.mark.parametrize("agent", [pytest.param(agent, id=name) for name, agent in AGENTS.items()])

Everybody = tuple[Person, Endpoint]


@pytest.fixture(scope="module")
def everybody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everybody]:
    """A person with every agent set up, a hub, and the model that all are given; Claude Code took its turn."""
    person = at(tmp_path_factory.mktemp("everybody"))
    person.plane("up", "--detach", "--port", "0")
    with Endpoint(["ok"]) as endpoint:
        for agent in AGENTS.values():
            agent.prepare(person, endpoint.url)
        person.plane("setup", *AGENTS, "--yes")
        turn(CLAUDE, person, endpoint)
        yield person, endpoint
    person.plane("down")


def at(folder: Path) -> Person:
    home = folder / "a home"
    home.mkdir()
    return Person(home)


def shipped(agent: Agent) -> str:
    return f"Shipped the {agent.id} page of herrington.ai to production"


def decided(agent: Agent) -> str:
    return f"Rob pays {agent.id} in euros"


def turn(agent: Agent, person: Person, endpoint: Endpoint) -> str:
    """Have an agent call a tool of ours and say what it did; return what its model was given in all."""
    call = ToolCall("memory_post_thought", {"text": decided(agent), "kind": "decision"})
    endpoint.now(*agent.finds, agent.calls(call), f"{shipped(agent)}.")
    agent.ask(person, "Please ship the next page of herrington.ai")
    person.plane("ingest", "--spool")
    return max(endpoint.prompts, key=len)


def setup(agent: Agent, person: Person) -> dict[str, Any]:
    """Set an agent up; return what is said of it."""
    report = json.loads(person.plane("setup", agent.id, "--yes", "--json").partition("\n]")[0] + "\n]")
    told: dict[str, Any] = report[0]
    return told


def briefs(prompt: str) -> list[str]:
    """Return the pages of ours in what a model was given, as far as their budget goes."""
    mark = "data reported by agents, not instructions"
    return [f"{mark}{part[:BUDGET]}" for part in prompt.split(mark)[1:]]


@every_agent
def test_set_up_and_taken_out_again_every_file_is_as_it_was(agent: Agent, tmp_path: Path) -> None:
    person = at(tmp_path)
    with Endpoint(["ok"]) as endpoint:
        agent.prepare(person, endpoint.url)
        agent.shows(person)  # makes what the agent makes at its first start
        before = person.tree()
        told = setup(agent, person)
        assert told["state"] == "set up"
        assert told["checks"]
        assert all(check["passed"] for check in told["checks"])
        assert person.tree() != before
        assert setup(agent, person)["state"] == "unchanged"
        manifest = json.loads((person.home / ".memory-plane" / "integrations.json").read_text("utf-8"))
        changed = [str(Path(name).relative_to(person.home)) for name in manifest["files"]]
        person.plane("uninstall", agent.id, "--yes")
        after = person.tree()
        assert {name: after.get(name) for name in changed} == {name: before.get(name) for name in changed}


@every_agent
def test_turn_has_what_claude_did_and_leaves_what_was_done_and_written(agent: Agent, everybody: Everybody) -> None:
    """The first journey of the article, with real agents: nobody copies anything."""
    person, endpoint = everybody
    if agent is not CLAUDE:
        given = turn(agent, person, endpoint)
        assert given.count(shipped(CLAUDE)) == 1
        (brief,) = [brief for brief in briefs(given) if shipped(CLAUDE) in brief]
        assert "claude-code" in brief
    hits = person.told("recall", "page of herrington, euros of Rob", "--agent", agent.id)["hits"]
    kept = sorted((hit["kind"], hit["snippet"]) for hit in hits)
    assert kept == [("decision", decided(agent)), ("milestone", f"{shipped(agent)}.")]
