"""What a person says of nodes: merged, split, kept apart, named; and that every word of it can be taken back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from memory_plane import Plane, Plugin, hookimpl
from memory_plane.sync import exchange
from memory_plane.types import (
    Candidate,
    Classification,
    Extraction,
    Link,
    Memory,
    Mention,
    Resolution,
    new_node_id,
)

OpenPlane = Callable[..., Plane]
NOWHERE = "0b5c6b0e-7d53-4c7e-9f2b-2f6f6f0e9a11"


class CapitalsPlugin(Plugin):
    """Takes every capitalised word for a person, known by that word or by another case of it, and links neighbours."""

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        found = re.finditer(r"\b[A-Z]\w+(?: [A-Z]\w+)*", memory.text)
        return Extraction(
            mentions=tuple(
                Mention(text=one[0], type="Person", start=one.start(), end=one.end(), confidence=1) for one in found
            )
        )

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
        known = {one.mention: one.node.id for one in candidates if one.name_score == 1}
        doubts = [Resolution(mention=one.mention, node=one.node.id, probability=0.5) for one in candidates]
        ids = [known.get(mention, new_node_id(memory.id, mention)) for mention in found.mentions]
        return Classification(
            resolutions=tuple(
                Resolution(mention=one, node=id, probability=0.9) for one, id in zip(found.mentions, ids, strict=True)
            ),
            links=tuple(
                Link(source=one, relation="KNOWS", target=other, probability=0.8) for one, other in pairwise(ids)
            ),
            doubts=tuple(one for one in doubts if one.mention not in known),
        )


class GuessingPlugin(Plugin):
    """Is asked later, and takes each name for the first that it may be."""

    deferred = True

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
        known = {one.mention: one.node.id for one in reversed(candidates) if not one.taken}
        resolutions = tuple(Resolution(mention=one, node=id, probability=0.9) for one, id in known.items())
        return Classification(resolutions=resolutions)


@pytest.fixture
def plane(open_plane: OpenPlane) -> Plane:
    """A memory with that plugin alone."""
    return open_plane(CapitalsPlugin())


def said(plane: Plane, text: str) -> str:
    receipt = plane.post(text, agent="muse")
    assert receipt.state == "stored"
    return receipt.id


def node(plane: Plane, name: str) -> str:
    (found,) = plane.nodes(name)
    return found.id


def edges(plane: Plane) -> list[str]:
    return sorted(f"{edge.source.name} {edge.relation} {edge.target.name}" for edge in plane.graph().edges)


def stored(receipt: Any) -> str:
    assert receipt.state == "stored", receipt
    return str(receipt.id)


def test_merged_nodes_are_one_in_graph_and_search_until_the_merge_is_taken_back(plane: Plane) -> None:
    said(plane, "José met Ann"), said(plane, "Jose met Bob")
    before, names = edges(plane), {name: plane.nodes(name) for name in ("José", "Jose")}
    merge = stored(plane.merge_nodes(node(plane, "Jose"), node(plane, "José"), agent="user"))
    (one,) = plane.nodes("Jose")
    assert (one.name, one.aliases) == ("José", ("jose",))
    assert plane.nodes("José") == [one] == plane.nodes(names["Jose"][0].id)
    assert edges(plane) == ["José KNOWS Ann", "José KNOWS Bob"]
    stored(plane.retract(merge, agent="user"))
    assert {name: plane.nodes(name) for name in ("José", "Jose")} == names
    assert edges(plane) == before


def test_what_was_written_while_nodes_were_one_stays_with_the_one_that_stood_for_both(plane: Plane) -> None:
    said(plane, "José met Ann"), said(plane, "Jose met Bob")
    merge = stored(plane.merge_nodes(node(plane, "Jose"), node(plane, "José"), agent="user"))
    said(plane, "Jose met Carl")
    stored(plane.retract(merge, agent="user"))
    assert edges(plane) == ["Jose KNOWS Bob", "José KNOWS Ann", "José KNOWS Carl"]


def test_an_edge_between_two_that_are_one_goes_and_comes_back(plane: Plane) -> None:
    said(plane, "Rob met Robert")
    merge = stored(plane.merge_nodes(node(plane, "Rob"), node(plane, "Robert"), agent="user"))
    assert edges(plane) == []
    stored(plane.retract(merge, agent="user"))
    assert edges(plane) == ["Rob KNOWS Robert"]


def test_split_takes_memories_to_a_node_of_their_own_and_is_remembered_when_they_are_asked_about_again(
    plane: Plane,
) -> None:
    said(plane, "Rob met Ann")
    other = said(plane, "Rob met Bob")
    split = stored(plane.split(node(plane, "Rob"), [other], agent="user"))
    assert edges(plane) == ["Rob KNOWS Ann", "Rob KNOWS Bob"]
    assert len(plane.nodes("Rob")) == 2
    plane.rebuild(rederive=True)
    assert len(plane.nodes("Rob")) == 2
    first, second = (one.id for one in plane.nodes("Rob"))
    assert plane.merge_nodes(first, second, agent="user").state == "stored"
    assert len(plane.nodes("Rob")) == 1
    stored(plane.retract(split, agent="user"))
    assert len(plane.nodes("Rob")) == 1


def test_distinct_nodes_cannot_come_together_over_a_third(plane: Plane) -> None:
    said(plane, "Ann"), said(plane, "Bob"), said(plane, "Carl")
    ann, bob, carl = (node(plane, name) for name in ("Ann", "Bob", "Carl"))
    word = stored(plane.distinct([ann, carl], agent="user"))
    stored(plane.merge_nodes(ann, bob, agent="user"))
    for one, other in ((bob, carl), (carl, bob)):
        refused = plane.merge_nodes(one, other, agent="user").detail
        assert refused == f"node: {one} and {other} stand for nodes that were said not to be one; retract that first"
    stored(plane.retract(word, agent="user"))
    stored(plane.merge_nodes(bob, carl, agent="user"))
    assert len({one.id for name in ("Ann", "Bob", "Carl") for one in plane.nodes(name)}) == 1


def test_the_last_word_on_a_pair_counts(plane: Plane) -> None:
    said(plane, "Ann"), said(plane, "Bob")
    pair = node(plane, "Ann"), node(plane, "Bob")
    stored(plane.merge_nodes(*pair, agent="user"))
    stored(plane.distinct(pair, agent="user"))
    assert node(plane, "Ann") != node(plane, "Bob")
    stored(plane.merge_nodes(*pair, agent="user"))
    assert node(plane, "Ann") == node(plane, "Bob")


def test_a_given_name_is_an_exact_one_and_outlives_the_memories(plane: Plane) -> None:
    first = said(plane, "Robert met Ann")
    said(plane, "Robert left")
    alias = stored(plane.alias(node(plane, "Robert"), "Bobby", agent="user"))
    plane.forget(first, agent="user")
    assert node(plane, "bobby") == node(plane, "Robert")
    said(plane, "Bobby met Carl")
    assert edges(plane) == ["Robert KNOWS Carl"]
    stored(plane.retract(alias, agent="user"))
    assert node(plane, "bobby") == node(plane, "Robert"), "a memory calls him so"


def test_a_denied_name_finds_the_node_no_more_and_comes_back(plane: Plane) -> None:
    said(plane, "Robert Smith met Ann")
    robert = node(plane, "Robert Smith")
    word = stored(plane.alias(robert, "robert", agent="user", remove=True))
    assert plane.nodes("Robert") == []
    said(plane, "Robert Smith met Bob")
    assert plane.nodes("Robert") == []
    stored(plane.retract(word, agent="user"))
    assert node(plane, "Robert") == robert


def test_words_that_make_no_sense_here_are_refused(plane: Plane) -> None:
    memory = said(plane, "Ann")
    other, ann = said(plane, "Bob"), node(plane, "Ann")
    assert plane.merge_nodes(NOWHERE, ann, agent="user").detail == f"node: no node here has the id {NOWHERE}"
    assert plane.merge_nodes(ann, NOWHERE, agent="user").detail == f"into: no node here has the id {NOWHERE}"
    assert plane.merge_nodes(ann, ann, agent="user").detail == "body: names one node twice; give different ones"
    assert plane.distinct([ann], agent="user").detail.startswith("nodes: ")
    assert plane.split(ann, [other], agent="user").detail == f"memories: {other} does not name {ann}"
    assert plane.split(ann, [], agent="user").detail.startswith("memories: ")
    assert plane.alias(ann, " ", agent="user").detail == "name: must not be empty"
    assert plane.pin(stored(plane.split(ann, [memory], agent="user")), agent="user").state == "refused"


def test_pairs_in_doubt_are_reviewed_until_they_are_judged(plane: Plane) -> None:
    said(plane, "Rob Smith met Ann")
    memory = said(plane, "Rob met Carl")
    (review,) = plane.reviews()
    assert {review.one.name, review.other.name} == {"Rob", "Rob Smith"}
    assert (review.probability, review.evidence) == (0.5, (memory,))
    assert sorted(review.known) == [("Rob KNOWS Carl",), ("Rob Smith KNOWS Ann",)]
    word = stored(plane.distinct([review.one.id, review.other.id], agent="user"))
    assert plane.reviews() == []
    stored(plane.retract(word, agent="user"))
    assert plane.reviews() == [review]
    merge = stored(plane.merge_nodes(review.one.id, review.other.id, agent="user"))
    assert plane.reviews() == []
    stored(plane.retract(merge, agent="user"))
    plane.rebuild()
    assert plane.reviews() == [review]
    plane.forget(memory, agent="user")
    assert plane.reviews() == []


def test_a_preview_says_what_the_write_does_and_changes_nothing(plane: Plane) -> None:
    said(plane, "José met Ann"), said(plane, "Jose met Bob")
    pair = {"node": node(plane, "Jose"), "into": node(plane, "José")}
    lines = list(plane.export())
    preview = plane.preview("merge", pair)
    assert "Jose KNOWS Bob (0.80)" in preview.gone
    assert "José KNOWS Bob (0.80)" in preview.new
    assert any("also jose; named 2 times" in line for line in preview.new)
    assert list(plane.export()) == lines
    assert edges(plane) == ["Jose KNOWS Bob", "José KNOWS Ann"]
    assert plane.preview("merge", pair | {"into": NOWHERE}).refusal == f"into: no node here has the id {NOWHERE}"


def test_a_preview_of_a_retraction_shows_what_is_true_then(plane: Plane) -> None:
    plane.fact("Ann", "city", "Rome", agent="muse")
    wrong = plane.fact("Ann", "city", "Oslo", agent="muse").id
    preview = plane.preview("retract", {"target": wrong})
    assert "ann city is Oslo" in [line.casefold().replace("oslo", "Oslo") for line in preview.gone]
    assert any(line.endswith("city is Rome") for line in preview.new)
    assert [fact.value for fact in plane.facts(subject="Ann")] == ["Oslo"]


def test_a_superseded_memory_gives_way_to_its_new_words(plane: Plane) -> None:
    fact = plane.fact("Ann", "city", "Oslo", agent="muse").id
    thought = plane.post("Ann met Bob", agent="muse", kind="decision", project="tea").id
    assert plane.supersede(fact, "Rome", agent="user").state == "stored"
    assert [(one.value, one.origin) for one in plane.facts(subject="Ann")] == [("Rome", "user")]
    new = plane.supersede(thought, "Ann met Carl", agent="user").id
    assert [(one.id, one.kind, one.project) for one in plane.thoughts()] == [(new, "decision", "tea")]
    assert edges(plane) == ["Ann KNOWS Carl", "Ann KNOWS Rome"]
    assert plane.supersede(NOWHERE, "x", agent="user").detail == f"target: {NOWHERE} is no thought or fact here"


def test_item_that_is_superseded_stays_whose_it_was_and_as_it_was(plane: Plane) -> None:
    handed = plane.post("Ask Bob for the keys", agent="muse", kind="handoff", to="grok").id
    plane.assign(handed, "instinct", agent="grok")
    plane.pin(handed, agent="grok")
    plane.snooze(handed, "2030-01-01T00:00:00Z", agent="grok")
    promised = plane.post("Send Ann the plan", agent="muse", kind="commitment").id
    plane.resolve(promised, agent="muse", status="dropped")
    for id in (handed, promised):
        new = plane.get(plane.supersede(id, "Ask Carl for it", agent="user").id)
        old = plane.get(id)
        assert new is not None
        assert old is not None
        assert {**new["state"], "visible": False, "retracted": True, "addressee": old["state"]["addressee"]} == {
            **old["state"],
            "owner": "muse",
        }
    with plane.database.reading() as connection:
        (item,) = connection.exec_driver_sql(
            "SELECT addressee FROM items WHERE status = 'open' AND snoozed_until > 0 LIMIT 1"
        )
    assert item.addressee == "instinct"


def test_merged_node_keeps_its_name_whoever_was_named_first(plane: Plane) -> None:
    said(plane, "Bobby met Ann"), said(plane, "Robert met Ann")
    bobby, into = node(plane, "Bobby"), node(plane, "Robert")
    merge = plane.merge_nodes(bobby, into, agent="user")
    assert [one.name for one in plane.nodes(into)] == ["Robert"]
    said(plane, "Bobby met Carl")
    assert [(one.name, one.aliases) for one in plane.nodes("Bobby")] == [("Robert", ("bobby",))]
    plane.retract(merge.id, agent="user")
    assert [one.name for id in (bobby, into) for one in plane.nodes(id)] == ["Bobby", "Robert"]


def test_merged_node_that_nothing_names_any_more_is_called_as_what_was_merged_into_it(plane: Plane) -> None:
    said(plane, "Bobby met Ann")
    own = said(plane, "Robert met Ann")
    plane.merge_nodes(node(plane, "Bobby"), node(plane, "Robert"), agent="user")
    plane.retract(own, agent="user")
    assert [one.name for one in plane.nodes("Bobby")] == ["Bobby"]


def test_distinct_undoes_a_join_that_only_a_plugin_made_and_no_merge(open_plane: OpenPlane) -> None:
    here, there = open_plane(CapitalsPlugin()), open_plane(CapitalsPlugin(), GuessingPlugin())
    said(here, "Rob Smith met Ann"), said(here, "Rob met Carl")
    exchange(here, there)
    there.ingest()
    assert edges(there) == ["Rob Smith KNOWS Ann", "Rob Smith KNOWS Carl"], "joined by the plugin"
    (pair,) = [[one.one.id, one.other.id] for one in here.reviews()]
    word = stored(here.distinct(pair, agent="user"))
    exchange(here, there)
    apart = ["Rob KNOWS Carl", "Rob Smith KNOWS Ann"]
    assert edges(here) == edges(there) == apart
    there.rebuild()
    assert edges(there) == apart
    merge = stored(here.merge_nodes(*pair, agent="user"))
    exchange(here, there)
    assert len(here.nodes("Rob")) == len(there.nodes("Rob")) == 1
    stored(here.retract(merge, agent="user")), stored(here.retract(word, agent="user"))
    exchange(here, there)
    assert edges(here) == edges(there) == ["Rob Smith KNOWS Ann", "Rob Smith KNOWS Carl"]


def test_distinct_holds_when_a_plugin_that_has_changed_reads_all_anew(open_plane: OpenPlane) -> None:
    class ChangingPlugin(CapitalsPlugin):
        careless = False

        @hookimpl
        def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
            exact = [replace(one, name_score=1) for one in candidates] if self.careless else candidates
            return super().classify(memory, found, exact)

    plugin = ChangingPlugin()
    plane = open_plane(plugin)
    said(plane, "Rob Smith met Ann"), said(plane, "Rob met Carl")
    before = edges(plane)
    plugin.careless = True
    plane.rebuild(rederive=True)
    assert edges(plane) == ["Rob Smith KNOWS Ann", "Rob Smith KNOWS Carl"]
    plugin.careless = False
    plane.rebuild(rederive=True)
    (pair,) = [[one.one.id, one.other.id] for one in plane.reviews()]
    stored(plane.distinct(pair, agent="user"))
    plugin.careless = True
    plane.rebuild(rederive=True)
    assert edges(plane) == before
