"""Chats of other programs: exports of claude.ai and ChatGPT of several years, and transcripts of Claude Code.

The files are made after the formats as people published them; the vendors describe none of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_plane import capture
from memory_plane.capture import Turn
from memory_plane.importers import chatgpt, claude_code, claude_export
from memory_plane.types import Operation

LaidOut = Callable[[Path, Mapping[str, Any]], Path]
Zipped = Callable[..., Path]
Read = Callable[..., dict[str, tuple[Operation, ...] | str]]

ROOT = "00000000-0000-4000-8000-000000000000"
ASKED, DECIDED = "Which database should the shop use?", "We decided to use PostgreSQL for the shop."


def told(operations: Sequence[Operation] | str) -> list[tuple[str, str]]:
    """Return (kind, text) of thoughts, ("fact", "subject key: value") of facts."""
    assert not isinstance(operations, str), operations
    return [
        (one.body["kind"], one.body["text"])
        if one.op == "thought"
        else ("fact", f"{one.body['subject']} {one.body['key']}: {one.body['value']}")
        for one in operations
    ]


# --- claude.ai ---------------------------------------------------------------------------------------------------


def of_2023(number: int = 1) -> dict[str, Any]:
    """A conversation as it was when messages had nothing but text, and a place."""
    at = "2023-12-25T13:33:3{}.959409+00:00"
    return {
        "uuid": f"11111111-0000-4000-8000-{number:012}",
        "name": "Database",
        "summary": "",
        "model": None,
        "created_at": at.format(3),
        "updated_at": at.format(9),
        "chat_messages": [
            {"uuid": "m1", "text": ASKED, "sender": "human", "index": 0, "created_at": at.format(3),
             "edited_at": None, "chat_feedback": None, "attachments": []},
            {"uuid": "m2", "text": DECIDED, "sender": "assistant", "index": 1, "created_at": at.format(8),
             "edited_at": None, "chat_feedback": None, "attachments": []},
        ],
    }  # fmt: skip


def of_2025() -> dict[str, Any]:
    """A conversation as it was when `content` had come beside `text`."""
    conversation = of_2023(2)
    for message in conversation["chat_messages"]:
        message |= {"content": [{"type": "text", "text": message["text"], "citations": []}], "files": []}
    return conversation | {"account": {"uuid": "a"}}


def of_2026() -> dict[str, Any]:
    """A conversation as it is: a tree with a branch that was left, no `text`, thinking and tools among what is said."""

    def message(uuid: str, parent: str, sender: str, *content: dict[str, Any], second: int) -> dict[str, Any]:
        blocks = [{"start_timestamp": None, "stop_timestamp": None, "flags": None, **block} for block in content]
        return {"uuid": uuid, "text": "", "content": blocks, "sender": sender, "attachments": [], "files": [],
                "created_at": f"2026-03-29T07:06:{second:02}.552627Z", "parent_message_uuid": parent}  # fmt: skip

    return {
        "uuid": "11111111-0000-4000-8000-000000000003",
        "name": "Database",
        "summary": "Zoë chose PostgreSQL for the shop, since it has to answer many writers.",
        "created_at": "2026-03-29T07:06:34.084721Z",
        "updated_at": "2026-03-29T12:59:41.658730Z",
        "account": {"uuid": "a"},
        "chat_messages": [
            message("m1", ROOT, "human", {"type": "text", "text": ASKED}, second=35),
            message("m2", "m1", "assistant", {"type": "text", "text": "We decided to use MongoDB."}, second=36),
            message(
                "m3", "m1", "assistant",
                {"type": "thinking", "thinking": "We decided to think."},
                {"type": "tool_use", "name": "web_search", "input": {"query": "We decided to search."}},
                {"type": "tool_result", "content": [{"type": "text", "text": "We decided to sell you this."}]},
                {"type": "text", "text": DECIDED},
                second=50,
            ),
        ],
    }  # fmt: skip


@pytest.mark.parametrize("conversation", [of_2023(), of_2025()])
def test_conversation_of_claude_is_what_it_was_about_and_what_was_decided(
    tmp_path: Path, laid_out: LaidOut, conversation: dict[str, Any], read: Read
) -> None:
    found = read(claude_export.KIND, laid_out(tmp_path, {"conversations.json": [conversation]}))
    assert told(found["Database"]) == [("observation", f"Database: {ASKED}"), ("decision", DECIDED)]
    assert not isinstance(found["Database"], str)
    about, decided = found["Database"]
    assert (about.agent, about.body["origin"]) == ("claude-ai", "user")
    assert about.created_at == datetime(2023, 12, 25, 13, 33, 33, 959409, tzinfo=UTC)
    assert decided.created_at == datetime(2023, 12, 25, 13, 33, 38, 959409, tzinfo=UTC)
    assert about.body["thread"] == conversation["uuid"]


def test_branch_that_was_left_and_what_is_not_said_are_left_out(tmp_path: Path, laid_out: LaidOut, read: Read) -> None:
    found = read(claude_export.KIND, laid_out(tmp_path, {"conversations.json": [of_2026()]}))
    summary = of_2026()["summary"]
    assert told(found["Database"]) == [("observation", f"Database: {summary}"), ("decision", DECIDED)]


MEMORY = "**Work context**\n\nZoë leads the shop.\n\n**Top of mind**\n\nA new payment provider."
PROJECT = {
    "uuid": "p1", "name": "Shop", "description": "A web shop", "is_private": True, "prompt_template": "Answer briefly",
    "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-02-01T00:00:00Z", "creator": {"uuid": "a"},
    "docs": [{"uuid": "d1", "filename": "plan.md", "content": "Ship in May.", "created_at": "2026-01-02T00:00:00Z"}],
}  # fmt: skip
EMPTY = {"uuid": "p2", "name": "How to use Claude", "description": "", "prompt_template": "", "docs": []}


def old_export() -> dict[str, Any]:
    """One zip, as it was until summer 2026."""
    memories = [
        {"conversations_memory": MEMORY, "project_memories": {"p1": "Is written in Rust."}, "account_uuid": "a"}
    ]
    return {"conversations.json": [of_2026()], "projects.json": [PROJECT, EMPTY], "memories.json": memories,
            "users.json": [{"uuid": "a", "full_name": "Zoë", "email_address": "zoe@example.org"}]}  # fmt: skip


def new_export(folder: Path, zipped: Zipped) -> Path:
    """A folder with a manifest and the zips that it lists, as it is since summer 2026."""
    folder.mkdir()
    memories = {
        "account_uuid": "a", "conversations_memory": MEMORY, "project_memories": {"p1": "Is written in Rust."},
        "memory_files": [{"path": "/preferences.md", "content": "# Units\n\nPrefers metric units."}],
    }  # fmt: skip
    zipped(folder / "conversations-000.zip", {"conversations.json": [of_2026()]})
    zipped(folder / "projects-000.zip", {"projects/p1.json": PROJECT, "projects/p2.json": EMPTY})
    zipped(folder / "memories-000.zip", {"memories/a.json": memories})
    zipped(folder / "light_metadata-000.zip", {"users.json": [{"email_address": "zoe@example.org"}]})
    (folder / "manifest-1.json").write_text(json.dumps({"version": "1.0", "data_files": []}), "utf-8")
    return folder


def test_what_claude_remembers_and_projects_become_facts(tmp_path: Path, zipped: Zipped, read: Read) -> None:
    known = [("fact", "user work context: Zoë leads the shop."), ("fact", "user top of mind: A new payment provider."),
             ("fact", "Shop memory: Is written in Rust.")]  # fmt: skip
    found = read(claude_export.KIND, zipped(tmp_path / "export.zip", old_export()))
    assert told(found["what Claude remembers"]) == known
    assert told(found["project Shop"]) == [
        ("fact", "Shop description: A web shop"),
        ("fact", "Shop instructions: Answer briefly"),
        ("observation", "plan.md:\n\nShip in May."),
    ]
    assert found["project How to use Claude"] == "it has no description, instructions or documents"
    newer = read(claude_export.KIND, new_export(tmp_path / "parts", zipped))
    assert newer["project Shop"] == found["project Shop"]
    assert newer["Database"] == found["Database"]
    preference = ("fact", "user preferences › units: Prefers metric units.")
    assert told(newer["what Claude remembers"]) == [*known, preference]


def test_document_of_a_project_may_be_anybodys_words(tmp_path: Path, zipped: Zipped, read: Read) -> None:
    found = read(claude_export.KIND, zipped(tmp_path / "export.zip", old_export()))["project Shop"]
    assert not isinstance(found, str)
    assert [one.body["origin"] for one in found] == ["user", "user", "external"]
    assert {one.body["project"] for one in found} == {"Shop"}


# --- ChatGPT -----------------------------------------------------------------------------------------------------


def node(
    id: str, parent: str | None, role: str, *parts: Any, children: Sequence[str] = (), at: float | None = 1.7e9,
    type_: str = "text", **rest: Any,
) -> dict[str, Any]:  # fmt: skip
    message: dict[str, Any] = {
        "id": id,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "update_time": None,
        "content": {"content_type": type_, "parts": list(parts)},
        "status": "finished_successfully",
        "end_turn": None,
        "weight": 1.0,
        "metadata": {},
        "recipient": "all",
    }
    return {"id": id, "message": message | rest, "parent": parent, "children": list(children)}


def tree(*nodes: dict[str, Any], last: str | None, **rest: Any) -> dict[str, Any]:
    root: dict[str, Any] = {"id": "root", "message": None, "parent": None, "children": [nodes[0]["id"]]}
    return {
        "title": "Database",
        "create_time": 1.7e9 - 1.5,
        "update_time": 1.7e9 + 60,
        "mapping": {one["id"]: one for one in (root, *nodes)},
        "moderation_results": [],
        "current_node": last,
        "id": "22222222-0000-4000-8000-000000000001",
    } | rest


def gpt_of_2023() -> dict[str, Any]:
    return tree(
        node("m1", "root", "user", ASKED, children=["m2"]),
        node("m2", "m1", "assistant", DECIDED, at=1.7e9 + 9.25),
        last="m2",
    )


def gpt_of_2026() -> dict[str, Any]:
    """A conversation with all that is not said: the profile, code, tools, thinking, a branch that was left."""
    hidden: dict[str, Any] = {"metadata": {"is_visually_hidden_from_conversation": True}}
    told = {"user_profile": "We decided to be brief.", "user_instructions": "Be brief"}
    profile: dict[str, Any] = {"content": {"content_type": "user_editable_context", **told}}
    return tree(
        node("s", "root", "system", "", children=["p"], at=None, **hidden),
        node("p", "s", "user", children=["m1"], at=None, **hidden, **profile),
        node(
            "m1", "p", "user", {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f"}, ASKED,
            children=["b", "c"], type_="multimodal_text",
        ),
        node("b", "m1", "assistant", "We decided to use MongoDB."),
        node("c", "m1", "assistant", "We decided to run code.", children=["t"], type_="code", recipient="python"),
        node("t", "c", "tool", "We decided to print.", children=["w"], type_="execution_output"),
        node("w", "t", "tool", "We decided to sell you this.", children=["h"], type_="tether_quote"),
        node("h", "w", "assistant", "We decided to think.", children=["a"], type_="thoughts"),
        node("a", "h", "assistant", "We decided to plan.", children=["m2"], channel="commentary"),
        node("m2", "a", "assistant", f"{DECIDED}\ue200cite\ue202turn0search0\ue201", at=1.7e9 + 9.25),
        last="m2", conversation_id="22222222-0000-4000-8000-000000000001", is_archived=False, gizmo_id="g-p-1",
        is_do_not_remember=False, memory_scope="global_enabled", default_model_slug="gpt-5",
    )  # fmt: skip


@pytest.mark.parametrize("conversation", [gpt_of_2023(), gpt_of_2026()])
def test_conversation_of_chatgpt_is_what_it_was_about_and_what_was_decided(
    tmp_path: Path, laid_out: LaidOut, conversation: dict[str, Any], read: Read
) -> None:
    found = read(chatgpt.KIND, laid_out(tmp_path, {"conversations.json": [conversation]}))["Database"]
    assert told(found) == [("observation", f"Database: {ASKED}"), ("decision", DECIDED)]
    assert not isinstance(found, str)
    assert [one.agent for one in found] == ["chatgpt", "chatgpt"]
    assert found[0].created_at == datetime(2023, 11, 14, 22, 13, 18, 500000, tzinfo=UTC)
    assert found[1].created_at == datetime(2023, 11, 14, 22, 13, 29, 250000, tzinfo=UTC)
    assert found[1].body["thread"] == conversation["id"]


def test_same_conversation_of_two_exports_has_the_same_ids(tmp_path: Path, laid_out: LaidOut, read: Read) -> None:
    old = read(chatgpt.KIND, laid_out(tmp_path / "old", {"conversations.json": [gpt_of_2023()]}))
    new = read(chatgpt.KIND, laid_out(tmp_path / "new", {"conversations-000.json": [gpt_of_2026()]}))
    assert old == new


def test_files_of_a_large_export_are_all_read(tmp_path: Path, zipped: Zipped, read: Read) -> None:
    parts = {f"conversations-{n:03}.json": [gpt_of_2023() | {"id": f"c{n}", "title": f"Talk {n}"}] for n in range(3)}
    found = read(chatgpt.KIND, zipped(tmp_path / "export.zip", parts | {"shared_conversations.json": [{"id": "x"}]}))
    assert list(found) == ["Talk 0", "Talk 1", "Talk 2"]


def test_conversation_that_chatgpt_was_told_not_to_remember_is_skipped(
    tmp_path: Path, laid_out: LaidOut, read: Read
) -> None:
    private = gpt_of_2026() | {"is_do_not_remember": True}
    found = read(chatgpt.KIND, laid_out(tmp_path, {"conversations.json": [private]}))
    assert found == {"Database": "it is marked as not to be remembered"}


def test_tree_without_a_last_node_ends_at_its_newest_leaf_and_a_circle_ends(
    tmp_path: Path, laid_out: LaidOut, read: Read
) -> None:
    lost = gpt_of_2023() | {"current_node": "gone"}
    circle = gpt_of_2023() | {"title": "Circle"}
    circle["mapping"]["root"]["parent"] = "m2"
    found = read(chatgpt.KIND, laid_out(tmp_path, {"conversations.json": [lost, circle]}))
    assert [kind for kind, _ in told(found["Database"])] == ["observation", "decision"]
    assert [kind for kind, _ in told(found["Circle"])] == ["observation", "decision"]


def test_broken_conversation_is_told_and_the_others_are_read(tmp_path: Path, laid_out: LaidOut, read: Read) -> None:
    broken: list[Any] = [None, 3, "text", [], {}, {"title": "No tree"}, gpt_of_2023() | {"mapping": {"m2": None}}]
    found = read(chatgpt.KIND, laid_out(tmp_path, {"conversations.json": [gpt_of_2023(), *broken]}))
    assert found["without a name"] == found["No tree"] == "it does not look as chatgpt has it"
    good = gpt_of_2023() | {"title": "Last"}
    assert isinstance(read(chatgpt.KIND, laid_out(tmp_path, {"conversations.json": [good, *broken]}))["Last"], tuple)


# --- what every conversation has in common -------------------------------------------------------------------------


def test_conversation_that_is_over_leaves_nothing_open_and_no_focus(
    tmp_path: Path, laid_out: LaidOut, read: Read
) -> None:
    chatty = of_2023()
    chatty["chat_messages"][1]["text"] = "I will write the migration tomorrow. Should we also move the images? @grok"
    (operations,) = read(claude_export.KIND, laid_out(tmp_path, {"conversations.json": [chatty]})).values()
    assert told(operations) == [("observation", f"Database: {ASKED}")]


@pytest.mark.parametrize(
    ("title", "text", "reason"),
    [("", "hi", "it is small talk"), ("", "", "nothing was said in it"), ("New chat", "", "nothing was said in it")],
)
def test_conversation_about_nothing_is_skipped(
    tmp_path: Path, laid_out: LaidOut, title: str, text: str, reason: str, read: Read
) -> None:
    empty = of_2023() | {"name": title}
    empty["chat_messages"] = [empty["chat_messages"][0] | {"text": text}]
    assert list(read(claude_export.KIND, laid_out(tmp_path, {"conversations.json": [empty]})).values()) == [reason]


def test_half_a_character_and_odd_times_cost_nothing(tmp_path: Path, laid_out: LaidOut, read: Read) -> None:
    odd = of_2023() | {"name": "Half \ud83d a character", "created_at": None}
    odd["chat_messages"][0] |= {"created_at": "yesterday"}
    path = laid_out(tmp_path, {"conversations.json": [odd]})
    (operations,) = read(claude_export.KIND, path).values()
    assert told(operations)[0][1].startswith("Half ? a character: ")
    assert not isinstance(operations, str)
    assert operations[0].created_at.timestamp() == pytest.approx((path / "conversations.json").stat().st_mtime)


# --- Claude Code -------------------------------------------------------------------------------------------------


def record(type_: str, text: Any, *, number: int, **rest: Any) -> dict[str, Any]:
    content = text if type_ == "user" else [{"type": "text", "text": text}]
    return {
        "parentUuid": f"u{number - 1}", "isSidechain": False, "userType": "external", "cwd": "/work space/shop",
        "sessionId": "s1", "version": "2.1.233", "gitBranch": "main", "type": type_,
        "message": {"role": type_, "content": content}, "uuid": f"u{number}",
        "timestamp": f"2026-11-20T09:00:{number:02}.000Z",
    } | rest  # fmt: skip


def session(*records: Any) -> str:
    return "\n".join(one if isinstance(one, str) else json.dumps(one) for one in records)


TURN = (
    record("user", "Fix the login of the shop", number=1),
    record("assistant", "I look at the code.", number=2),
    record("user", [{"type": "tool_result", "content": "We decided to print."}], number=3),
    record("assistant", "Fixed the login and deployed it to staging.", number=4),
)
DONE = ("milestone", "Fixed the login and deployed it to staging.")


def test_session_of_claude_code_is_of_its_project(tmp_path: Path, laid_out: LaidOut, read: Read) -> None:
    found = read(claude_code.KIND, laid_out(tmp_path, {"-work-space-shop/s1.jsonl": session(*TURN)}))
    operations = found["-work-space-shop/s1"]
    assert told(operations) == [("observation", "Fix the login of the shop"), DONE]
    assert not isinstance(operations, str)
    assert [one.body["project"] for one in operations] == ["shop", "shop"]
    assert operations[1].created_at == datetime(2026, 11, 20, 9, 0, 4, tzinfo=UTC)


def test_session_has_the_name_that_the_person_gave_it(tmp_path: Path, laid_out: LaidOut, read: Read) -> None:
    names = [
        {"type": "summary", "summary": "Login repair", "leafUuid": "u4"},
        {"type": "ai-title", "aiTitle": "Repair the login", "sessionId": "s1"},
        {"type": "custom-title", "customTitle": "Login!", "sessionId": "s1"},
    ]
    for count, name in ((1, "Login repair"), (2, "Repair the login"), (3, "Login!")):
        path = laid_out(tmp_path / name, {"s1.jsonl": session(*names[:count], *TURN)})
        assert told(read(claude_code.KIND, path)["s1"])[0][1] == f"{name}: Fix the login of the shop"


def test_what_the_program_put_in_and_what_is_torn_is_passed_over(tmp_path: Path, laid_out: LaidOut, read: Read) -> None:
    odd = [
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        record("user", "<command-name>/model</command-name>", number=1),
        record("user", "Caveat: The messages below were generated by the user", number=1, isMeta=True),
        record("user", "We decided to compact.", number=1, isCompactSummary=True),
        record("assistant", "Deployed the sidechain.", number=1, isSidechain=True),
        {"type": "user", "message": None}, {"type": "from the future", "sessionId": "s1"}, "null", "[]", "{torn",
    ]  # fmt: skip
    found = read(claude_code.KIND, laid_out(tmp_path, {"s1.jsonl": session(*odd, *TURN, '{"type": "assis')}))
    assert told(found["s1"]) == [("observation", "Fix the login of the shop"), DONE]


def test_session_without_a_word_is_skipped(tmp_path: Path, laid_out: LaidOut, read: Read) -> None:
    title = {"type": "ai-title", "aiTitle": "Design", "sessionId": "s1"}
    subagents = {"s1/subagents/agent-1.jsonl": session(*TURN), "agent-2.jsonl": session(*TURN)}
    found = read(claude_code.KIND, laid_out(tmp_path, {"s1.jsonl": session(title), "s2.jsonl": "", **subagents}))
    assert found == {"s1": "nothing was said in it", "s2": "nothing was said in it"}


def test_session_has_the_ids_that_its_hooks_gave_it(tmp_path: Path, laid_out: LaidOut, read: Read) -> None:
    said = Turn(agent="claude-code", session="s1", id="other", at=datetime(2026, 11, 20, tzinfo=UTC),
                prompt="Fix the login of the shop", answer=DONE[1], project="shop")  # fmt: skip
    live = {one.id for one in capture.operations(said) if one.op == "thought"}
    operations = read(claude_code.KIND, laid_out(tmp_path, {"s1.jsonl": session(*TURN)}))["s1"]
    assert not isinstance(operations, str)
    assert live == {operations[1].id}
