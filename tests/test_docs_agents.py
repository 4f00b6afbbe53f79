"""docs/agents: every agent has a page that says what becomes of it, and what was verified against which version."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

PAGES = {path.stem: path for path in (Path(__file__).parents[1] / "docs" / "agents").glob("*.md")}
AGENTS = {agent.id for one in entry_points(group="memory_plane") for agent in one.load().agents}


def test_every_agent_that_a_plugin_speaks_for_has_a_page() -> None:
    assert PAGES.keys() == AGENTS


@pytest.mark.parametrize("agent", PAGES)
def test_page_says_what_is_captured_injected_changed_and_undone(agent: str) -> None:
    page = PAGES[agent].read_text("utf-8")
    for word in ("**Captured**", "**Injected**", "\n## W"):
        assert word in page
    assert re.search(r"uninstall|[Uu]ndo|is off unless", page)


@pytest.mark.parametrize("agent", PAGES)
def test_page_says_what_was_verified_against_which_version(agent: str) -> None:
    _, _, verified = PAGES[agent].read_text("utf-8").partition("\n## What was verified\n")
    assert re.search(r"\b\d+\.\d+|[A-Z][a-z]+ 20\d\d\b", verified)  # the source of some is read as of a month
