"""The real OpenClaw, where it is told and asked in ways of its own: run by `make test-clients`, which installs it."""

from __future__ import annotations

import json

from .endpoint import Endpoint
from .people import AGENTS, Person

OPENCLAW = AGENTS["instinct"]
SHIPPED = "Shipped the login page of herrington.ai to production"

# As people write it, before any command of OpenClaw has seen it.
CONFIG = """\
// my OpenClaw
{
  agents: { defaults: { model: { primary: 'local/fake' } } },
  memory: { search: { extraPaths: ["/srv/mine", { path: "/srv/notes", pattern: "*.md" }] } }, // two of mine
}
"""


def test_configuration_with_comments_comes_back_as_it_was_and_what_is_mine_stays_meanwhile(person: Person) -> None:
    path = person.home / ".openclaw" / "openclaw.json"
    path.parent.mkdir()
    path.write_text(CONFIG, "utf-8")
    person.plane("setup", "instinct", "--yes")
    pages = person.home / ".openclaw" / "workspace" / "memory-plane"
    searched = json.loads(
        person.run("openclaw", "config", "get", "memory.search.extraPaths", "--json").split("\n\n")[0]
    )
    assert searched == ["/srv/mine", {"path": "/srv/notes", "pattern": "*.md"}, str(pages)]
    person.plane("uninstall", "instinct", "--yes")
    assert path.read_text("utf-8") == CONFIG
    assert "memory-plane" not in person.run("openclaw", "plugins", "list", "--json")


def test_each_turn_of_a_session_has_the_brief_once_and_nothing_of_it_stays(person: Person) -> None:
    with Endpoint(["Which one do you mean?", "All right."]) as endpoint:
        OPENCLAW.prepare(person, endpoint.url)
        person.plane("setup", "instinct", "--yes")
        person.plane("post", SHIPPED, "--agent", "claude-code", "--kind", "milestone")
        for prompt in ("What should I look at next?", "The login page, please"):
            OPENCLAW.ask(person, prompt)
        prompts = [prompt for prompt in endpoint.prompts if "<memory-plane>" in prompt]
    assert [prompt.count(SHIPPED) for prompt in prompts] == [1, 1]
    assert "What should I look at next?" in prompts[1], "both turns are of one session"
    assert "<name>memory-plane</name>" in prompts[0], "the skill is offered"
    assert (person.home / ".openclaw" / "workspace" / "BOOTSTRAP.md").exists(), "its first run is as ever"
    person.plane("ingest", "--spool")
    assert person.told("items") == []  # what it asked at first is answered


def test_search_of_its_own_memory_finds_what_the_others_did(person: Person) -> None:
    with Endpoint(["ok"]) as endpoint:
        OPENCLAW.prepare(person, endpoint.url)
        person.plane("setup", "instinct", "--yes")
        person.plane("post", SHIPPED, "--agent", "claude-code", "--kind", "milestone")
        person.run("openclaw", "memory", "index", "--force")
        assert "herrington.ai" in person.run("openclaw", "memory", "search", "herrington login page")
