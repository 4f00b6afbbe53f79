"""The real Grok Build in turns that only it takes: run by `make test-clients`, which installs it."""

from __future__ import annotations

import json
import sys

from memory_plane import hook

from .endpoint import Endpoint, ToolCall
from .people import AGENTS, COMMAND, Person

GROK = AGENTS["grok"]
SHIPPED = "Shipped the login page of herrington.ai to production"
PAID = "Paid the invoice of The Zebra"


def also_in_the_settings_of_cursor(person: Person) -> None:
    """Have Grok run our hook a third time, as for a person who uses Cursor too."""
    command = f"'{sys.executable}' -S '{hook.__file__}' cursor %s '{person.home / '.memory-plane'}'"
    events = ("sessionStart", "beforeSubmitPrompt", "stop", "afterAgentResponse")
    hooks = {event: [{"hooks": [{"type": "command", "command": command % event}]}] for event in events}
    path = person.home / ".cursor" / "hooks.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"version": 1, "hooks": hooks}), "utf-8")


def test_turn_in_three_registrations_is_one_turn_of_grok(person: Person) -> None:
    person.plane("setup", "claude-code", "--yes")
    also_in_the_settings_of_cursor(person)
    with Endpoint([f"{SHIPPED}."]) as endpoint:
        GROK.prepare(person, endpoint.url)
        person.plane("setup", "grok", "--yes")
        loaded = person.run("grok", "inspect", "--json")
        assert [loaded.count(f"{agent} ") > 0 for agent in ("grok Stop", "claude-code Stop", "cursor stop")] == [
            True
        ] * 3
        GROK.ask(person, "Please ship the login page of herrington.ai")
    person.plane("ingest", "--spool")
    found = person.told("recall", "login page herrington")
    assert [(hit["agent"], hit["kind"]) for hit in found["hits"]] == [("grok", "milestone")]
    assert {beat["agent"] for beat in person.told("pulse")["heartbeats"]} <= {"grok"}


def test_session_is_told_at_its_start_and_of_what_is_new_after_a_tool_each_once(person: Person) -> None:
    post = f"'{COMMAND}' post --agent muse --to grok --kind milestone 'Paid the ''invoice of The Zebra'"
    calls = [ToolCall("run_terminal_command", {"command": line, "description": "work"}) for line in (post, "pwd")]
    with Endpoint([*calls, "All right."]) as endpoint:
        GROK.prepare(person, endpoint.url)
        person.plane("setup", "grok", "--yes")
        person.plane("post", SHIPPED, "--agent", "claude-code", "--kind", "milestone", "--to", "grok")
        GROK.ask(person, "What should I look at next?")
        first, *_, last = [prompt for prompt in endpoint.prompts if "<user_info>" in prompt]
    assert [(said.count(SHIPPED), said.count(PAID)) for said in (first, last)] == [(1, 0), (1, 1)]
