"""cues.py: by which words a sentence is worth keeping."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_plane import cues
from memory_plane.types import KINDS


@pytest.mark.parametrize("cue", cues.table()["cue"], ids=lambda cue: f"{cue['kind']} {cue['pattern'][:40]}")
def test_every_cue_of_the_table_is_well_made(cue: dict[str, object]) -> None:
    assert set(cue) <= {"kind", "said", "weight", "pattern"}
    assert cue["kind"] in KINDS
    assert cue.get("said", "answer") in ("answer", "prompt")
    assert cue["weight"] in range(1, 5)


@pytest.mark.parametrize("said", ["answer", "prompt"])
@given(st.text())
def test_any_sentence_can_be_read(said: str, sentence: str) -> None:
    found = cues.read(sentence, said=said)
    assert found is None or found.kind in KINDS


def test_what_is_too_long_is_no_sentence() -> None:
    assert cues.read(f"Deployed {'x' * 2_000}", said="answer") is None


@pytest.mark.parametrize(
    ("name", "agent"),
    [("Claude", "claude-code"), ("OpenClaw", "instinct"), ("Gemini CLI", "gemini-cli"), ("Grok Bot", "grokbot")],
)
def test_agents_are_known_by_the_names_that_people_use(name: str, agent: str) -> None:
    found = cues.read(f"I'm handing the research over to {name}.", said="answer")
    assert found is not None
    assert (found.kind, found.to) == ("handoff", agent)


@pytest.mark.parametrize(
    ("prompt", "small"),
    [
        ("Thanks a lot!", True),
        ("ok, go ahead please", True),
        ("/compact", True),
        ("👍", True),
        ("?", True),
        ("danke, weiter so", True),
        ("yes, but use PostgreSQL", False),
        ("/review the pull request", False),
    ],
)
def test_small_talk_is_what_says_nothing(prompt: str, small: bool) -> None:
    assert cues.small_talk(prompt) is small


@pytest.mark.parametrize(
    ("low", "count"), [("", 0), ("ok thanks", 0), ("fixed the login bug", 3), ("修复支付回调", 3), ("i'll do it", 0)]
)
def test_content_counts_words_that_say_something(low: str, count: int) -> None:
    assert cues.content(low) == count
