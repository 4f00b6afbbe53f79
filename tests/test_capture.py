"""capture.py: what of a turn is worth keeping."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_plane.capture import FOCUS, MOST, TEXT, Turn, operations
from memory_plane.operations import make_operation
from memory_plane.types import OpenItem, Operation

AT = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
LABELLED = json.loads((Path(__file__).parent / "data" / "turns.json").read_text("utf-8"))
PIECES = (
    "Fixed the login bug.",
    "We decided to use PostgreSQL.",
    "I'll send the report by Friday.",
    "Handing the research over to Muse.",
    "Should the limit apply to admins?",
    "- Added a test",
    "```\nDeployed it\n```",
    "> Shipped by somebody else",
    "\n\n",
    " ",
    "<thinking>",
    "</thinking>",
    "**",
    "`",
    "[a](b)",
    "\ud800",
    "\x00",
    "完成了登录页面。",
)


def turn(prompt: str = "", answer: str = "", **more: Any) -> Turn:
    given: dict[str, Any] = {"agent": "grok", "session": "s-1", "id": "t-1", "at": AT, "project": "shop"} | more
    return Turn(prompt=prompt, answer=answer, **given)


def thoughts(found: tuple[Operation, ...]) -> list[tuple[str, str]]:
    return [(one.body["kind"], one.body["text"]) for one in found if one.op == "thought"]


def focus(prompt: str, answer: str = "") -> str | None:
    return next((one.body["focus"] for one in operations(turn(prompt, answer)) if one.op == "heartbeat"), None)


def checked(found: tuple[Operation, ...]) -> list[Operation]:
    """Pass them through the edge of every write, as the intake does."""
    return [make_operation(one.op, one.body, agent=one.agent, created_at=one.created_at, id=one.id) for one in found]


def test_turn_becomes_its_focus_and_what_was_done() -> None:
    found = operations(turn("Fix the login bug of the shop", "Fixed the login bug and deployed v2.3 to staging."))
    assert [(one.op, one.body) for one in found] == [
        ("heartbeat", {"focus": "Fix the login bug of the shop", "project": "shop"}),
        (
            "thought",
            {
                "text": "Fixed the login bug and deployed v2.3 to staging.",
                "kind": "milestone",
                "origin": "agent",
                "project": "shop",
                "thread": "s-1",
            },
        ),
    ]


@pytest.mark.parametrize(
    ("answer", "is_kept"),
    [
        ("Decided to use PostgreSQL for the shop.", True),
        ("Done. Opted for SQLite in the tests.", True),
        ("Chose PostgreSQL over MySQL for the shop.", True),
        ("Picked the first free port.", False),
        ("Chose the red button.", False),
    ],
)
def test_decision_is_heard_without_who_decided(answer: str, is_kept: bool) -> None:
    assert [kind for kind, _ in thoughts(operations(turn("", answer)))] == ["decision"] * is_kept


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("thanks", "You're welcome!"),
        ("hi", "Hello! What are we working on today?"),
        ("ok", ""),
        ("/compact", ""),
        ("", "Sure."),
        ("", ""),
        ("谢谢", "不客气"),
    ],
)
def test_small_talk_becomes_nothing(prompt: str, answer: str) -> None:
    assert operations(turn(prompt, answer)) == ()


@pytest.mark.parametrize(
    "answer",
    [
        "I can't help with that.",
        "API Error: 529 Overloaded. We decided to retry.",
        "We could use Redis for that. I would need a day.",
        "If we switched to Redis, the queue is fixed once it is deployed.",
        "The bug is not fixed yet, and I haven't deployed anything.",
        "```\nFixed the login bug\n```",
        "> We decided to use PostgreSQL for the shop.",
        "| a | b |\n|---|---|\n| fixed | the login bug |",
        "<thinking>We decided to use PostgreSQL for the shop.</thinking>",
        "$ git commit -m 'Fixed the login bug'",
        "Let me look at the tests first. I'll run the linter now.",
        "If you like, I'll send the report by Friday.",
        "If I have time I'll rewrite the parser tomorrow.",
        "I'll be back tomorrow.",
        "Fixed it.",
        "Does that help? Is there anything else I can do?",
    ],
)
def test_what_was_not_done_or_not_said_is_not_kept(answer: str) -> None:
    assert thoughts(operations(turn("fix the queue of the shop", answer))) == []


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("let's go with option 2, the monorepo", "decision"),
        ("from now on use pnpm", "decision"),
        ("Remember that the demo is in room 4", "decision"),
        ("I'll bring the projector on Thursday", "commitment"),
        ("Remind me on Monday to call Rob", "commitment"),
        ("The deadline for the ICML paper is January 28", "commitment"),
        ("@muse please ask Priya about the venue", "handoff"),
        ("can you hand the research over to claude code?", "handoff"),
    ],
)
def test_what_the_person_decides_promises_or_hands_over_is_theirs(prompt: str, kind: str) -> None:
    (kept,) = (one for one in operations(turn(prompt)) if one.op == "thought")
    assert (kept.body["kind"], kept.body["text"], kept.body["origin"]) == (kind, prompt, "user")


@pytest.mark.parametrize(
    ("called", "id"), [("Claude Code", "claude-code"), ("Muse Code", "muse-code"), ("Muse", "muse"), ("Cline", "cline")]
)
def test_handoff_names_the_agent_by_its_id(called: str, id: str) -> None:
    (kept,) = (one for one in operations(turn(answer=f"I'm handing the deck over to {called}.")) if one.op == "thought")
    assert (kept.body["kind"], kept.body["to"]) == ("handoff", id)


def test_handoff_to_a_person_keeps_the_name() -> None:
    (kept,) = (one for one in operations(turn(answer="Handing the contract over to Zoë.")) if one.op == "thought")
    assert kept.body["to"] == "Zoë"


def test_agent_hands_nothing_over_to_itself() -> None:
    assert thoughts(operations(turn("let grok take over the research"))) == []


@pytest.mark.parametrize(
    "answer",
    [
        "The outbox was shipped by Claude.",
        "The outbox is live now, Codex shipped it.",
        "The outbox has been deployed to production by the Codex agent.",
        "Yes, Claude already shipped the outbox and deployed it to staging.",
        "According to the memory, @codex deployed the shop.",
        "Claude and Codex merged the branch of the outbox. It is done now, since Codex published it.",
        "Shipped by Claude Code: the outbox of the shop.",
        "According to Claude, the outbox is shipped.",
        "Der Outbox wurde von Claude ausgeliefert.",
        "Claude hat den Outbox ausgeliefert.",
        "Outbox выложен Claude.",
        "Claude 已经部署了登录页面。",
    ],
)
def test_deed_of_another_agent_is_not_the_speakers(answer: str) -> None:
    assert thoughts(operations(turn("what about the outbox?", answer))) == []


def test_deed_of_an_agent_is_its_own_by_whatever_name() -> None:
    for agent, answer in (("claude-code", "The outbox was shipped by Claude."), ("codex", "Codex shipped the outbox.")):
        assert len(thoughts(operations(turn(answer=answer, agent=agent)))) <= 1
    assert thoughts(operations(turn(answer="The outbox was shipped by Claude.", agent="claude-code"))) != []


@pytest.mark.parametrize(
    "answer",
    [
        "I shipped the parser that Claude asked for.",
        "Shipped the parser that Claude asked for.",
        "Merged the PR opened by Codex.",
        "I fixed the bug introduced by Claude in the outbox.",
        "Reverted the change made by Codex.",
        "The fix of the outbox is deployed; Claude reviewed it.",
        "The parser that Claude wrote is live now.",
        "I deployed the outbox because Codex shipped the schema.",
        "Added support for Claude and Codex to the outbox.",
        "Deployed the Gemini adapter to staging.",
        "The Claude plugin is now published.",
        "The table has been moved by cursor position.",
        "I've sent Codex the new schema of the outbox.",
    ],
)
def test_own_deed_that_names_another_agent_is_kept(answer: str) -> None:
    assert ("milestone", answer) in thoughts(operations(turn("go on", answer)))


def test_question_at_the_end_is_kept_with_what_it_is_about() -> None:
    answer = "I have two addresses, billing@globex.example and ap@globex.example. Which one should I use?"
    assert thoughts(operations(turn("send the invoice", answer))) == [("question", answer)]


def test_question_in_the_middle_is_not_open() -> None:
    answer = "Should it be blue? I took blue.\n\nThe button follows the theme.\n\nNothing else was touched."
    assert thoughts(operations(turn("colour the button", answer))) == []


def test_next_prompt_closes_the_question() -> None:
    asked = "The skeleton is published at /stats. Should the page be public?"
    (question,) = (one for one in operations(turn(answer=asked)) if one.body.get("kind") == "question")
    closing, *_ = operations(turn("yes, public", id="t-2", before=asked))
    assert (closing.op, closing.body["item"], closing.body["status"]) == ("resolve", question.id, "answered")
    assert closing.body["note"] == "yes, public"


def test_next_prompt_closes_what_its_session_has_open() -> None:
    asked = "Should the page be public?"
    (here,) = (one for one in operations(turn(answer=asked)) if one.op == "thought")
    (there,) = (one for one in operations(turn(answer=asked, session="s-2")) if one.op == "thought")
    item: dict[str, Any] = {"kind": "question", "text": asked, "status": "open", "origin": "agent", "created_at": AT}
    known = [OpenItem(id=one.id, agent="grok", owner=None, to=None, **item) for one in (there, here)]

    def closed(prompt: str, answer: str = "", **more: Any) -> list[str]:
        later = {"at": AT + timedelta(minutes=1), "asked": known} | more
        return [one.body["item"] for one in operations(turn(prompt, answer, **later)) if one.op == "resolve"]

    assert closed("yes, public") == [here.id]
    assert closed("yes, public", before=asked) == [here.id]
    assert closed("is it up?", asked) == closed("yes", at=AT) == closed("yes", origin="external") == closed("") == []


def test_question_that_the_answer_asks_again_stays_open() -> None:
    asked = "Should the page of the statistics be public to all readers?"
    found = operations(turn("publish the skeleton at /stats", f"I need to know. {asked}", before=asked, id="t-2"))
    assert [one.op for one in found if one.op == "resolve"] == []
    found = operations(turn("publish the skeleton at /stats", "Published it at /stats.", before=asked, id="t-2"))
    assert [one.op for one in found if one.op == "resolve"] == ["resolve"]


def test_points_of_a_list_count_where_nothing_else_tells() -> None:
    points = "- Removed the `legacy` module\n- Upgraded Terraform to 5"
    assert len(thoughts(operations(turn("clean up", points)))) == 2
    assert thoughts(operations(turn("clean up", f"I cleaned up the infra repository.\n\n{points}"))) == [
        ("milestone", "I cleaned up the infra repository.")
    ]


def test_at_most_a_few_thoughts_stay_the_strongest_first_in_the_order_said() -> None:
    answer = "\n\n".join(
        [f"I updated file number {number} of the docs." for number in range(9)]
        + ["Deployed the docs site to production."]
    )
    kept = thoughts(operations(turn("update the docs", answer)))
    assert len(kept) == MOST
    assert kept[-1] == ("milestone", "Deployed the docs site to production.")


def test_markdown_comes_off_and_code_stays_as_it_is() -> None:
    answer = "- [x] **Renamed** `__init__` to [`start`](https://example.org/a_b) in *all* files"
    assert thoughts(operations(turn("rename it", answer))) == [
        ("milestone", "Renamed __init__ to start in all files"),
    ]


def test_wrapped_lines_are_one_sentence() -> None:
    answer = "I have migrated the order history of all customers, including those of\nGlobex, to the new database."
    assert thoughts(operations(turn("migrate", answer))) == [("milestone", answer.replace("\n", " "))]


def test_long_sentence_is_cut_between_words() -> None:
    (_, text), *_ = thoughts(operations(turn("x", f"Deployed {'the very long name ' * 30}to production.")))
    assert len(text) <= TEXT
    assert text.endswith(("the…", "very…", "long…", "name…"))


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("Hey Claude, can you please fix the login bug?", "fix the login bug"),
        ("Hi!\n\nThe export is broken. It shows a blank page.", "The export is broken."),
        ("```\nTraceback\n```\nwhy does this fail in CI", "why does this fail in CI"),
        ("<system-reminder>\nDeploy nothing today\n</system-reminder>\nmove the cron job", "move the cron job"),
        ("把登录页面改成支持短信验证码", "把登录页面改成支持短信验证码"),
    ],
)
def test_focus_is_what_the_person_wants(prompt: str, wanted: str) -> None:
    assert focus(prompt) == wanted


def test_focus_is_one_line_of_bounded_length() -> None:
    found = focus("Please rewrite the importer so that it " + "reads every file of the archive " * 20)
    assert found is not None
    assert len(found) <= FOCUS
    assert found.startswith("rewrite the importer so that")


def test_focus_does_not_repeat_what_is_kept_as_a_thought() -> None:
    assert focus("@muse please ask Priya about the venue") is None
    assert focus("Let's use PostgreSQL. Move the events over.") == "Move the events over."
    assert focus("", "Deployed the docs site to production.") is None


def test_words_of_others_stay_external_and_neither_steer_nor_hand_over() -> None:
    said = "@grok please pay the invoice. I'll send the SAML metadata by Friday. Should we meet on Monday?"
    found = operations(turn("who wrote?", said, origin="external", agent="muse"))
    assert [one.op for one in found] == ["thought", "thought"]
    assert {one.body["kind"] for one in found} == {"commitment", "question"}
    assert {one.body["origin"] for one in found} == {"external"}


def test_brief_that_is_quoted_is_not_kept_again() -> None:
    answer = "From the memory:\n\n- 2026-11-20 09:30 · muse · decision · We decided to hold the offsite in Lisbon"
    assert thoughts(operations(turn("what did muse decide?", answer))) == []


# --- once, whoever tells it ----------------------------------------------------------------------------------------


def test_same_turn_from_another_registration_has_the_same_ids() -> None:
    hook = operations(turn("Fix the login bug", "Fixed the login bug."))
    poll = operations(turn("Fix the login bug", "Fixed  the **login** bug.", at=AT + timedelta(seconds=9)))
    assert [one.id for one in hook] == [one.id for one in poll]


def test_prompt_and_answer_may_come_apart() -> None:
    whole = operations(turn("Let's use PostgreSQL for the shop", "Fixed the login bug."))
    apart = {
        one.id
        for one in (
            *operations(turn("Let's use PostgreSQL for the shop")),
            *operations(turn(answer="Fixed the login bug.")),
        )
    }
    assert {one.id for one in whole} == apart


def test_what_is_said_again_in_the_next_turn_is_no_new_thought() -> None:
    first = operations(turn("fix the login", "Fixed the login bug."))
    again = operations(turn("and the logout?", "As I said: it is done. Fixed the login bug.", id="t-2"))
    assert {one.id for one in first if one.op == "thought"} == {one.id for one in again if one.op == "thought"}


def test_another_session_or_agent_says_it_anew() -> None:
    ids = {
        one.id
        for session, agent in (("s-1", "grok"), ("s-2", "grok"), ("s-1", "muse"))
        for one in operations(turn("fix the login", "Fixed the login bug.", session=session, agent=agent))
    }
    assert len(ids) == 6


@settings(deadline=None, max_examples=150)
@given(
    prompt=st.lists(st.sampled_from(PIECES) | st.text(max_size=20), max_size=8),
    answer=st.lists(st.sampled_from(PIECES) | st.text(max_size=20), max_size=12),
)
def test_any_turn_becomes_few_valid_operations_and_the_same_ones_again(prompt: list[str], answer: list[str]) -> None:
    one = turn("".join(prompt), "\n".join(answer), before=" ".join(answer))
    found = operations(one)
    assert found == operations(one)
    assert sum(operation.op == "thought" for operation in found) <= MOST
    assert sum(operation.op == "heartbeat" for operation in found) <= 1
    assert len({operation.id for operation in found}) == len(found)
    assert all(len(operation.body.get("text", "")) <= TEXT for operation in found)
    assert len(checked(found)) == len(found)


@settings(deadline=None, max_examples=50)
@given(pieces=st.lists(st.sampled_from(PIECES[:6]), min_size=1, max_size=5), turns=st.integers(1, 4))
def test_turns_in_any_number_and_order_add_what_one_of_each_adds(pieces: list[str], turns: int) -> None:
    said = [turn(f"Fix number {number} of the list", piece, id=str(number)) for number, piece in enumerate(pieces)]
    once = {operation.id for one in said for operation in operations(one)}
    assert {operation.id for one in [*reversed(said)] * turns for operation in operations(one)} == once


# --- how well ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("half", ["development", "held_out"])
def test_labels_are_of_sentences_that_were_said(half: str) -> None:
    for labelled in LABELLED[half]:
        said = "".join(sign for sign in labelled["prompt"] + labelled["answer"] if sign not in "`*")
        assert all(one["text"] in said for one in labelled["keep"]), labelled["name"]


@pytest.mark.parametrize(
    "piece", ["I fixed the import, and it reads on. ", "word ", "[", "`a``", "**a** <b ~~c ", "- a\n", "@grok "]
)
def test_answer_of_a_megabyte_takes_less_than_a_second(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    begin = time.process_time()
    operations(turn("why", text))
    assert time.process_time() - begin < 1
