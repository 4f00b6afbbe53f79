from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import click
import pytest

from memory_plane import answers
from memory_plane.errors import PluginError
from memory_plane.types import (
    AgentContext,
    Attention,
    Candidate,
    Claim,
    Classification,
    Extraction,
    Ingested,
    Item,
    Link,
    Memory,
    Mention,
    Node,
    Operation,
    Resolution,
    Routing,
    Tool,
    Vectors,
    View,
    new_node_id,
)

NOW = datetime(2026, 1, 5, tzinfo=UTC)
NAIVE = datetime(2026, 1, 5)  # noqa: DTZ001
BOB = Mention(text="Bob", type="Person", start=0, end=3, confidence=0.9)
GO = Mention(text="Go", type="Language", start=9, end=11, confidence=0.8)
USES = Claim(subject=BOB, relation="USES", object=GO, start=0, end=11, confidence=0.7)
PLAN = Item(kind="commitment", owner="Bob", to="Ann", object="the plan", due_at=NOW)


@pytest.fixture
def memory(make_memory: Callable[..., Memory]) -> Memory:
    return make_memory("Bob uses Go.")


def refusal(check: Callable[[], object]) -> str:
    with pytest.raises(PluginError) as caught:
        check()
    return str(caught.value)


# --- extraction --------------------------------------------------------------------------------------------------


def test_sound_extraction_passes_as_it_is(memory: Memory) -> None:
    implied = replace(BOB, text="Muse", start=12, end=12)
    found = Extraction(mentions=(BOB, GO, implied), claims=(USES,), items=(PLAN,))
    assert answers.extraction(found, memory) is found


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"start": -1}, "span -1..3 does not lie in the text of 12 characters"),
        ({"start": 4}, "span 4..3"),
        ({"end": 13}, "span 0..13"),
        ({"end": "3"}, "end: gave str, expected int"),
        ({"start": 1}, "mention at 1..3 is not what stands there"),
        ({"text": "Rob"}, "mention at 0..3 is not what stands there"),
        ({"text": ""}, "text is empty"),
        ({"text": None}, "text: gave NoneType, expected str"),
        ({"type": "\ud800"}, "type holds half a character"),
        ({"type": "Per\x00son"}, "type holds a NUL character"),
        ({"confidence": 1.5}, "confidence is 1.5, expected a number from 0 to 1"),
        ({"confidence": float("nan")}, "confidence is nan"),
        ({"confidence": "0.5"}, "confidence is '0.5'"),
    ],
)
def test_mention_that_would_mislead_the_store_is_refused(memory: Memory, changes: dict[str, Any], words: str) -> None:
    found = Extraction(mentions=(GO, replace(BOB, **changes)))
    assert words in refusal(lambda: answers.extraction(found, memory))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"subject": "Bob"}, "subject: gave str, expected Mention"),
        ({"object": replace(GO, end=12)}, "mention at 9..12 is not what stands there"),
        ({"relation": ""}, "relation is empty"),
        ({"end": 99}, "span 0..99"),
        ({"polarity": "maybe"}, "polarity is 'maybe', expected one of hypothetical, negative, past, positive"),
        ({"valid_from": NAIVE}, "valid_from has no time zone"),
        ({"valid_until": "2026"}, "valid_until: gave str, expected datetime"),
    ],
)
def test_claim_that_would_mislead_the_store_is_refused(memory: Memory, changes: dict[str, Any], words: str) -> None:
    found = Extraction(claims=(replace(USES, **changes),))
    assert words in refusal(lambda: answers.extraction(found, memory))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "thought"}, "kind of an item is 'thought', expected one of question, commitment, handoff"),
        ({"owner": 7}, "owner or to: gave int, expected str"),
        ({"object": ""}, "object is empty"),
        ({"due_at": NAIVE}, "due_at has no time zone"),
    ],
)
def test_item_that_would_mislead_the_store_is_refused(memory: Memory, changes: dict[str, Any], words: str) -> None:
    found = Extraction(items=(replace(PLAN, **changes),))
    assert words in refusal(lambda: answers.extraction(found, memory))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Extraction(mentions=[BOB]), "mentions: gave list, expected tuple"),  # type: ignore[arg-type]
        (Extraction(mentions=(USES,)), "mentions: gave Claim, expected Mention"),  # type: ignore[arg-type]
        (Extraction(mentions=(BOB,) * 10_001), "gave 10001 mentions; at most 10000 are taken"),
    ],
)
def test_collection_of_the_wrong_kind_is_refused(memory: Memory, found: Extraction, words: str) -> None:
    assert words in refusal(lambda: answers.extraction(found, memory))


# --- unite -------------------------------------------------------------------------------------------------------


def test_of_one_span_the_more_confident_mention_is_kept() -> None:
    unsure = replace(BOB, type="Project", confidence=0.4)
    for one, other in ((BOB, unsure), (unsure, BOB)):
        assert answers.unite(Extraction(mentions=(one,)), Extraction(mentions=(other,))).mentions == (BOB,)


def test_of_equals_the_first_is_kept() -> None:
    other = replace(BOB, type="Project")
    assert answers.unite(Extraction(mentions=(BOB,)), Extraction(mentions=(other,))).mentions == (BOB,)


def test_mentions_come_in_the_order_of_the_text() -> None:
    assert answers.unite(Extraction(mentions=(GO,)), Extraction(mentions=(BOB,))).mentions == (BOB, GO)


def test_implied_names_of_one_place_are_two() -> None:
    ann, ben = (replace(BOB, text=name, start=0, end=0) for name in ("Ann", "Ben"))
    assert answers.unite(Extraction(mentions=(ann, ben))).mentions == (ann, ben)


def test_same_claim_is_kept_once_and_speaks_of_the_mentions_that_were_kept() -> None:
    unsure = replace(BOB, type="Project", confidence=0.4)
    first = Extraction(mentions=(unsure,), claims=(replace(USES, subject=unsure, confidence=0.9),))
    second = Extraction(mentions=(BOB, GO), claims=(USES,))
    assert answers.unite(first, second).claims == (replace(USES, confidence=0.9),)


def test_claims_that_differ_in_polarity_or_validity_are_two() -> None:
    past = replace(USES, polarity="past")
    dated = replace(USES, valid_from=NOW)
    assert answers.unite(Extraction(claims=(USES, past)), Extraction(claims=(dated,))).claims == (USES, past, dated)


def test_items_are_kept_once() -> None:
    assert answers.unite(Extraction(items=(PLAN,)), Extraction(items=(PLAN,))).items == (PLAN,)


# --- classification ----------------------------------------------------------------------------------------------

KNOWN = Node(id="11111111-1111-4111-8111-111111111111", type="Person", name="Bob")
CANDIDATE = Candidate(
    mention=BOB, node=KNOWN, name_score=1.0, shared_neighbours=0, same_agent=True, last_seen=None
)  # fmt: skip


def test_known_and_founded_nodes_may_be_resolved_and_linked(memory: Memory) -> None:
    founded = new_node_id(memory.id, GO)
    said = Classification(
        resolutions=(
            Resolution(mention=BOB, node=KNOWN.id, probability=0.9),
            Resolution(mention=GO, node=founded, probability=1.0),
        ),
        links=(Link(source=KNOWN.id, relation="USES", target=founded, probability=0.7),),
    )
    assert answers.classification(said, memory, [CANDIDATE]) is said


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (Classification(resolutions=(Resolution(mention=GO, node=KNOWN.id[:-1], probability=1.0),)),
         "resolved a mention to an unknown node"),
        (Classification(resolutions=(Resolution(mention=BOB, node=KNOWN.id, probability=2.0),)),
         "probability is 2.0"),
        (Classification(links=(Link(source=KNOWN.id, relation="USES", target="nobody", probability=0.5),)),
         "linked an unknown node 'nobody' by 'USES'"),
        (Classification(links=(Link(source=KNOWN.id, relation="USES", target=KNOWN.id, probability=0.5,
                                    valid_from=NAIVE),)), "valid_from has no time zone"),
    ],
)  # fmt: skip
def test_classification_that_would_mislead_the_store_is_refused(
    memory: Memory, said: Classification, words: str
) -> None:
    assert words in refusal(lambda: answers.classification(said, memory, [CANDIDATE]))


# --- routing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attention", "words"),
    [
        (Attention(agent="stranger", score=0.5, reason=""), "scored agent 'stranger', which is unknown"),
        (Attention(agent="muse", score=0.5, reason=""), "scored agent 'muse', which is unknown or was scored before"),
        (Attention(agent="grok", score=-0.1, reason=""), "score is -0.1"),
        (Attention(agent="grok", score=0.5, reason=None), "reason: gave NoneType"),  # type: ignore[arg-type]
    ],
)
def test_routing_scores_each_agent_that_was_asked_about_once(attention: Attention, words: str) -> None:
    agents = [AgentContext(id="muse"), AgentContext(id="grok")]
    said = Routing(attention=(Attention(agent="muse", score=1, reason="hers"), attention))
    assert words in refusal(lambda: answers.routing(said, agents))


# --- ingest ------------------------------------------------------------------------------------------------------

OPERATION = Operation(id="1", op="thought", agent="muse", created_at=NOW, body={"text": "hello"})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"id": None}, "id: gave NoneType, expected str"),
        ({"created_at": NAIVE}, "created_at has no time zone"),
        ({"body": "hello"}, "body: gave str, expected Mapping"),
        ({"agent": ""}, "agent is empty"),
    ],
)
def test_operations_are_checked_as_far_as_types_go(changes: dict[str, Any], words: str) -> None:
    found = Ingested(operations=(replace(OPERATION, **changes),))
    assert words in refusal(lambda: answers.ingested(found))


def test_cursor_is_text() -> None:
    assert "cursor: gave int" in refusal(lambda: answers.ingested(Ingested(cursor=7)))  # type: ignore[arg-type]


# --- vectors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (((1.0,),), "gave 1 rows for 2 texts"),
        (((1.0,), (1.0, 2.0)), "rows of several lengths"),
        (((), ()), "a row that is empty"),
        (((1.0,), (float("inf"),)), "not finite"),
        ([(1.0,), (1.0,)], "rows: gave list"),
    ],
)
def test_each_text_has_a_row_of_one_length(rows: Any, words: str) -> None:
    assert words in refusal(lambda: answers.vectors(Vectors(model="m", rows=rows), ["a", "b"]))


def test_no_texts_have_no_rows() -> None:
    assert answers.vectors(Vectors(model="m", rows=()), []).rows == ()


# --- pages, tools, commands --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (Path("/etc/motd.md"), "does not lie below the home"),
        (Path("../birds.md"), "does not lie below the home"),
        (Path("birds") / ".." / ".." / "x.md", "does not lie below the home"),
        (Path(), "of no known kind"),
        (Path("memory.db"), "is the core's or of no known kind"),
        (Path("config.toml"), "is the core's"),
        (Path("PULSE.md"), "is the core's"),
        (Path("shared_memory.MD"), "is the core's"),
        (Path("brief") / "muse.md", "is the core's"),
        (Path("taken.md"), "is written twice, or by another plugin too"),
        ("birds.md", "path: gave str, expected PurePath"),
    ],
)
def test_page_in_a_place_that_is_not_the_plugins_is_refused(path: Any, words: str) -> None:
    assert words in refusal(lambda: answers.views([View(path=path, text="")], {PurePosixPath("taken.md")}))


def test_pages_may_come_from_a_generator() -> None:
    pages = (View(path=Path("dossiers") / f"{name}.md", text="# x") for name in ("ann", "bob"))
    assert [page.path.name for page in answers.views(pages)] == ["ann.md", "bob.md"]


@pytest.mark.parametrize("answer", ["text", View(path=Path("a.md"), text=""), 7])
def test_something_else_than_pages_is_refused(answer: Any) -> None:
    assert "expected View" in refusal(lambda: answers.views(answer))


def test_tool_gets_the_name_of_its_plugin() -> None:
    (tool,) = answers.tools([Tool(name="dossier", description="d", function=print)], "muse")
    assert tool.name == "muse_dossier"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "Dossier"}, "'Dossier' is no name for a tool"),
        ({"name": "x" * 60}, "has more than 64 letters"),
        ({"name": "taken"}, "is offered twice"),
        ({"function": None}, "cannot be called"),
        ({"description": ""}, "description is empty"),
    ],
)
def test_tool_that_no_client_could_call_is_refused(changes: dict[str, Any], words: str) -> None:
    tool = replace(Tool(name="dossier", description="d", function=print), **changes)
    assert words in refusal(lambda: answers.tools([tool], "muse", {"muse_taken"}))


def test_commands_have_names_of_their_own() -> None:
    assert "commands need names" in refusal(lambda: answers.commands([click.Command("a"), click.Command("a")]))
    assert "commands need names" in refusal(lambda: answers.commands([click.Command(None)]))
