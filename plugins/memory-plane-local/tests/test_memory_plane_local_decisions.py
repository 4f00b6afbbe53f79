"""Resolution (noul), links (choice) and attention (score)."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory_plane.spellings import SLIP
from memory_plane.types import (
    AgentContext,
    Attention,
    Candidate,
    Claim,
    Classification,
    Extraction,
    Memory,
    Mention,
    Node,
    Origin,
    new_node_id,
)
from memory_plane_local import LocalPlugin
from memory_plane_local.attention import route
from memory_plane_local.resolve import classify

WRITTEN = datetime(2026, 11, 29, 12, tzinfo=UTC)


def memory(text: str = "Rob", **fields: Any) -> Memory:
    return Memory(**{"id": "m", "agent": "muse", "kind": "thought", "text": text, "created_at": WRITTEN, **fields})


def mention(text: str, type: str = "Person", start: int = 0) -> Mention:
    return Mention(text=text, type=type, start=start, end=start + len(text), confidence=0.9)


def candidate(found: Mention, name: str, type: str = "Person", **evidence: Any) -> Candidate:
    usual: dict[str, Any] = {"name_score": 1.0, "shared_neighbours": 0, "same_agent": False, "last_seen": None}
    return Candidate(mention=found, node=Node(id=f"node {name}", type=type, name=name), **{**usual, **evidence})


def joined(found: Mention, *candidates: Candidate, text: str = "Rob") -> bool:
    (resolution,) = classify(memory(text), Extraction(mentions=(found,)), candidates).resolutions
    return resolution.node != new_node_id("m", found)


def test_single_name_of_a_person_never_joins_by_itself() -> None:
    rob = mention("Rob")
    assert not joined(rob, candidate(rob, "Rob"))
    assert not joined(rob, candidate(rob, "Rob", last_seen=WRITTEN))
    assert joined(rob, candidate(rob, "Rob", shared_neighbours=1))
    assert joined(rob, candidate(rob, "Rob", same_agent=True))


@pytest.mark.parametrize(
    ("text", "alone", "same"),
    [
        ("Priyanka Rao works at Acme. Priyanka knows Rust.", "Priyanka", True),
        ("Met Gus Ferrer at the fair; Ferrer knows Rust.", "Ferrer", True),
        ("Priyanka knows Rust. Priyanka Rao works at Acme.", "Priyanka", False),
        ("Sam Okoro met Sam in Leeds.", "Sam", False),
        ("Sam Okoro: Sam is late.", "Sam", False),
        ("Sam Okoro called. His brother Sam called too.", "Sam", False),
        ("Sam Okoro called. Sam from Leeds called too.", "Sam", False),
        ("Sam Okoro and Sam Pettersen work at Acme. Sam knows Rust.", "Sam", False),
    ],
)
def test_first_or_last_name_alone_means_the_one_whom_an_earlier_sentence_names_in_full(
    text: str, alone: str, same: bool
) -> None:
    spans = re.finditer(r"(?:Priyanka|Gus|Sam)(?: (?:Rao|Ferrer|Okoro|Pettersen))?|Ferrer|Leeds", text)
    found = [mention(one[0], "Place" if one[0] == "Leeds" else "Person", one.start()) for one in spans]
    said = classify(memory(text), Extraction(mentions=tuple(found)), ())
    nodes = {one.mention.text: one.node for one in said.resolutions}
    whole = next(name for name in nodes if " " in name)
    assert (nodes[alone] == nodes[whole]) is same
    assert len(said.doubts) == (not same and text.index(whole) < text.rindex(alone))


def test_first_name_alone_is_another_where_the_text_relates_the_two_or_a_person_said_who_is_called_so() -> None:
    text = "Sam Okoro is here. He knows Sam."
    whole, sam = mention("Sam Okoro"), mention("Sam", start=text.rindex("Sam"))
    claim = Claim(subject=whole, relation="KNOWS", object=sam, start=0, end=len(text), confidence=0.9)
    both, apart = Extraction(mentions=(whole, sam)), Extraction(mentions=(whole, sam), claims=(claim,))

    def is_one(found: Extraction, *known: Candidate) -> bool:
        one, other = classify(memory(text), found, known).resolutions
        return one.node == other.node

    assert is_one(both)
    assert not is_one(apart)
    assert not is_one(both, candidate(sam, "Sam", given=True))


def test_two_equally_likely_people_are_left_apart() -> None:
    rob = mention("Rob")
    first = candidate(rob, "Rob", same_agent=True)
    other = Candidate(
        mention=rob,
        node=Node(id="another", type="Person", name="Rob"),
        name_score=1.0,
        shared_neighbours=0,
        same_agent=True,
        last_seen=None,
    )
    assert not joined(rob, first, other)


def test_of_two_of_one_first_name_the_one_that_was_spoken_of_today_is_meant() -> None:
    rob = mention("Rob")
    today = candidate(rob, "Rob", same_agent=True, last_seen=WRITTEN - timedelta(hours=1))
    week = replace(today, node=replace(today.node, id="another"), last_seen=WRITTEN - timedelta(days=7))
    assert joined(rob, today, week)
    assert not joined(rob, today, replace(week, last_seen=WRITTEN - timedelta(hours=5)))


def test_short_name_joins_where_both_are_said_to_lead_the_same() -> None:
    kate = mention("Kate Bell")
    assert not joined(kate, candidate(kate, "Katherine Bell", name_score=0.8, shared_neighbours=1))
    assert joined(kate, candidate(kate, "Katherine Bell", name_score=0.8, shared_neighbours=1, agrees=1))


def test_first_name_after_the_whole_one_is_the_same_person_for_a_month_unless_there_are_two() -> None:
    rob = mention("Rob")
    lately: dict[str, Any] = {"name_score": 0.6, "same_agent": True, "last_seen": WRITTEN - timedelta(hours=2)}
    smith, ford = (candidate(rob, name, **lately) for name in ("Rob Smith", "Rob Ford"))
    assert joined(rob, smith)
    assert joined(rob, replace(smith, last_seen=WRITTEN - timedelta(days=29)))
    assert not joined(rob, smith, ford)
    assert not joined(rob, replace(smith, last_seen=WRITTEN - timedelta(days=31)))
    assert not joined(rob, replace(smith, same_agent=False))


def test_two_of_one_surname_in_one_company_are_two_though_one_agent_names_both() -> None:
    tom = mention("Tom Gray")
    known = candidate(tom, "Thomas Gray", name_score=0.8, shared_neighbours=1, same_agent=True, last_seen=WRITTEN)
    assert not joined(tom, known)
    assert joined(tom, replace(known, shared_neighbours=2))


@pytest.mark.parametrize(
    ("text", "same"),
    [("Rob works at Globex", False), ("Rob now works at Globex", True), ("Rob joined Globex", True)],
)
def test_first_name_with_another_employer_is_another_person_unless_the_text_tells_of_a_change(
    text: str, same: bool
) -> None:
    rob = mention("Rob")
    known = candidate(rob, "Rob", same_agent=True, contradicts=True)
    assert joined(rob, known, text=text) is same
    (doubt,) = classify(memory(), Extraction(mentions=(rob,)), [known]).doubts
    assert doubt.node == known.node.id


def test_first_name_with_another_employer_days_later_has_changed_jobs() -> None:
    rob = mention("Rob")
    known = candidate(rob, "Rob", same_agent=True, contradicts=True, last_seen=WRITTEN - timedelta(days=2))
    assert joined(rob, known, text="Rob works at Globex")
    assert not joined(rob, replace(known, same_agent=False), text="Rob works at Globex")


@pytest.mark.parametrize(
    ("text", "type", "name", "node_type", "same"),
    [
        ("Rust", "Language", "Rust", "Language", True),
        ("TechCorp", "Organization", "TechCorp", "Organization", True),
        ("Mary Jane Watson", "Person", "Mary Jane Watson", "Person", True),
        ("Kafka", "Tool", "Kafka", "Project", True),
        ("Jordan", "Place", "Jordan", "Person", False),
        ("Orbit v2", "Project", "Orbit v3", "Project", False),
    ],
)
def test_exact_name_joins_when_type_and_digits_allow(
    text: str, type: str, name: str, node_type: str, same: bool
) -> None:
    found = mention(text, type)
    assert joined(found, candidate(found, name, node_type, name_score=1.0 if text == name else 0.95)) is same


def test_similar_name_needs_evidence() -> None:
    found = mention("JavaScript", "Language")
    assert not joined(found, candidate(found, "Java", "Language", name_score=0.6))
    alike = mention("Northwind Robotic", "Organization")
    assert not joined(alike, candidate(alike, "Northwind Robotics", "Organization", name_score=0.95))
    assert joined(alike, candidate(alike, "Northwind Robotics", "Organization", name_score=0.95, shared_neighbours=2))


@pytest.mark.parametrize(
    ("text", "name", "type", "node_type", "asked"),
    [
        ("Kubernets", "Kubernetes", "Tool", "Tool", True),
        ("Margarethe Volmer", "Margarethe Vollmer", "Person", "Person", True),
        ("Kubernets", "Kubernetes", "Tool", "Organization", False),
        ("Stephanie Ryder", "Stefphanie Ryder", "Person", "Person", True),
        ("Daniel Brook", "Daniela Brook", "Person", "Person", False),
    ],
)
def test_a_slip_never_joins_and_is_asked_about_where_more_speaks_for_it(
    text: str, name: str, type: str, node_type: str, asked: bool
) -> None:
    found = mention(text, type)
    known = candidate(found, name, node_type, name_score=SLIP, shared_neighbours=3, same_agent=True, agrees=2)
    answer = classify(memory(), Extraction(mentions=(found,)), [known])
    assert [one.node for one in answer.resolutions] == [new_node_id("m", found)]
    assert [one.node for one in answer.doubts] == [known.node.id] * asked
    bare = classify(memory(), Extraction(mentions=(found,)), [candidate(found, name, type, name_score=SLIP)])
    assert len(bare.doubts) == (asked and " " in text), "a second word that is the same speaks for it too"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Rob from Acme called", False),
        ("Rob of Acme called", False),
        ("Rob at Acme called", False),
        ("Rob, now at Acme, called", True),
        ("Rob works at Acme", True),
        ("Rob leads Acme", True),
    ],
)
def test_first_name_with_which_is_said_who_is_meant_is_another_person_unless_more_speaks_for_it(
    text: str, same: bool
) -> None:
    rob, acme = mention("Rob"), mention("Acme", "Organization", start=text.index("Acme"))
    found = Extraction(mentions=(rob, acme))

    def meant(**evidence: Any) -> Classification:
        return classify(memory(text), found, [candidate(rob, "Rob", same_agent=True, **evidence)])

    assert (meant().resolutions[0].node == "node Rob") is same
    assert meant(shared_neighbours=1).resolutions[0].node == "node Rob"
    assert [one.node for one in meant().doubts] == ["node Rob"] * (not same)


def test_whole_name_spelt_otherwise_joins_without_more_but_no_single_one() -> None:
    jose = mention("José García")
    assert joined(jose, candidate(jose, "Jose Garcia", name_score=0.9))
    assert not joined(jose, candidate(jose, "Jose Garcia", name_score=0.9, contradicts=True))
    wang = mention("王芳")
    assert not joined(wang, candidate(wang, "Wang Fang", name_score=0.9))


def test_same_name_twice_in_one_text_is_one_node() -> None:
    first, second = mention("Redis", "Tool"), mention("Redis", "Tool", start=20)
    resolutions = classify(memory(), Extraction(mentions=(first, second)), ()).resolutions
    assert len({resolution.node for resolution in resolutions}) == 1


@pytest.mark.parametrize(
    ("polarity", "links", "ended"),
    [
        ("positive", 1, False),
        ("past", 1, True),
        ("negative", 0, False),
        ("question", 0, False),
    ],
)
def test_only_what_holds_or_held_makes_an_edge(polarity: Any, links: int, ended: bool) -> None:
    bob, acme = mention("Bob"), mention("Acme", "Organization", start=10)
    claim = Claim(subject=bob, relation="WORKS_AT", object=acme, start=0, end=14, confidence=0.9, polarity=polarity)
    found = classify(memory(), Extraction(mentions=(bob, acme), claims=(claim,)), ()).links
    assert [link.valid_until for link in found] == [WRITTEN if ended else None] * links


def test_what_ended_closes_what_held() -> None:
    bob, hooli = mention("Bob"), mention("Hooli", "Organization", 10)
    left = Claim(
        subject=bob, relation="PREVIOUSLY_WORKED_AT", object=hooli, start=0, end=15, confidence=0.9, polarity="past"
    )
    links = classify(memory("Bob left  Hooli"), Extraction(mentions=(bob, hooli), claims=(left,)), ()).links
    assert {link.relation: link.valid_until for link in links} == {"PREVIOUSLY_WORKED_AT": None, "WORKS_AT": WRITTEN}


def test_guessed_type_gives_way_to_a_known_person_of_the_same_agent() -> None:
    guess = Mention(text="Babecodi", type="Project", start=0, end=8, confidence=0.7)
    assert joined(guess, candidate(guess, "Babecodi", same_agent=True))
    assert not joined(guess, candidate(guess, "Babecodi"))
    sure = Mention(text="Babecodi", type="Project", start=0, end=8, confidence=0.9)
    assert not joined(sure, candidate(sure, "Babecodi", same_agent=True))


def test_vague_relation_is_refused() -> None:
    bob, acme = mention("Bob"), mention("Acme", "Organization", start=10)
    claim = Claim(subject=bob, relation="RELATED_TO", object=acme, start=0, end=14, confidence=0.9)
    assert classify(memory(), Extraction(mentions=(bob, acme), claims=(claim,)), ()).links == ()


# --- attention ---------------------------------------------------------------------------------------------------


def attention(text: str, agent: AgentContext, *nodes: Node) -> Attention | None:
    found = route(memory(text), nodes, (agent,)).attention
    return found[0] if found else None


@pytest.mark.parametrize(
    ("agent", "least", "reason"),
    [
        (AgentContext(id="grok", interests=("FPGA",)), 0.75, "interest: FPGA"),
        (AgentContext(id="grok", focus="comparing FPGA boards"), 0.2, "close to its focus"),
        (
            AgentContext(id="grok", distances={"n": 1}, ways={"n": "linked to Orbit, in its focus"}),
            0.5,
            "FPGA: linked to Orbit, in its focus",
        ),
        (AgentContext(id="grok", written=frozenset({"n"})), 0.3, "FPGA: it wrote of it"),
        (AgentContext(id="claude-code"), 0.8, "addressed to claude-code"),
    ],
)
def test_reason_says_why_an_agent_should_care(agent: AgentContext, least: float, reason: str) -> None:
    found = attention("@claude-code look at the FPGA demo", agent, Node(id="n", type="Tool", name="FPGA"))
    assert found is not None
    assert (found.reason, found.score >= least) == (reason, True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("The kiln controller crashes at 900 degrees", True),
        ("The controller of the kettle is fine", False),
        ("See the next page", False),
    ],
)
def test_two_telling_words_of_a_focus_reach_its_agent(text: str, told: bool) -> None:
    agent = AgentContext(id="baker", focus="see to porting the kiln controller to the next page")
    found = attention(text, agent)
    assert (found is not None and found.score >= 0.5) is told


def test_agent_without_any_reason_and_the_author_are_left_out() -> None:
    assert attention("Alice uses Redis", AgentContext(id="grok", interests=("sports",))) is None
    assert attention("Alice uses Redis", AgentContext(id="muse", interests=("Redis",))) is None


@pytest.mark.parametrize(
    ("kind", "origin", "told"),
    [
        ("milestone", "agent", True),
        ("decision", "user", True),
        ("milestone", "external", False),
        ("thought", "agent", False),
        ("observation", "agent", False),
    ],
)
def test_what_was_done_or_decided_is_news_to_every_agent(kind: str, origin: Origin, told: bool) -> None:
    written = replace(memory("Alice uses Redis"), kind=kind, origin=origin)
    found = route(written, (), (AgentContext(id="grok", interests=("sports",)),)).attention
    assert [one.score >= 0.5 for one in found] == [True] * told


def test_name_of_a_node_counts_like_the_text() -> None:
    node = Node(id="n", type="Tool", name="FPGA hardware")
    assert attention("it works", AgentContext(id="grok", interests=("FPGA",)), node) is not None


def test_more_reasons_give_more_attention() -> None:
    one = attention("FPGA", AgentContext(id="grok", interests=("FPGA",)))
    two = attention("FPGA", AgentContext(id="grok", interests=("FPGA",), distances={"n": 0}))
    assert one is not None
    assert two is not None
    assert one.score < two.score <= 1


def test_recency_is_counted_from_the_memory() -> None:
    alike = mention("Northwind Robotic", "Organization")
    for days, same in ((3, True), (90, False)):
        seen = WRITTEN - timedelta(days=days)
        offer = candidate(
            alike, "Northwind Robotics", "Organization", name_score=0.9, shared_neighbours=1, last_seen=seen
        )
        assert joined(alike, offer) is same


@pytest.mark.parametrize(
    ("interest", "text", "reason"),
    [
        ("travel", "The flight leaves at nine.", "interest: travel (flight)"),
        ("introductions", "Rob introduced us.", "interest: introductions"),
        ("shipping", "They will ship it on Friday.", "interest: shipping"),
        ("news", "There is a new tracking page.", None),
        ("news", "The news is out.", "interest: news"),
        ("travel", "The router is slow.", None),
        ("FPGA", "Aisha uses PostgreSQL.", None),
    ],
)
def test_words_that_mean_the_same_as_an_interest_count_too(interest: str, text: str, reason: str | None) -> None:
    answer = LocalPlugin().route(memory(text), (), (AgentContext(id="grok", interests=(interest,)),))
    assert answer is not None
    assert [one.reason for one in answer.attention] == ([] if reason is None else [reason])


def test_word_that_means_an_interest_of_several_words_is_not_enough_by_itself() -> None:
    texts = {"market research": "Clara studies medicine.", "research": "Clara studies medicine."}
    scores = {}
    for interest, text in texts.items():
        answer = LocalPlugin().route(memory(text), (), (AgentContext(id="grok", interests=(interest,)),))
        assert answer is not None
        scores[interest] = answer.attention[0].score
    assert scores["market research"] < 0.5 <= scores["research"]
