"""Candidates: the known nodes that a mention may be, and the evidence for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection

from memory_plane.database import Database
from memory_plane.recall.candidates import PART_SCORE, PER_NAME, candidates
from memory_plane.spellings import SHORT_ALONE, SLIP
from memory_plane.store import derivations, log, operations
from memory_plane.store.codec import Derivation
from memory_plane.types import (
    Candidate,
    Claim,
    Classification,
    Link,
    Memory,
    Mention,
    Operation,
    Resolution,
    new_node_id,
)

MakeOperation = Callable[..., Operation]
Name = Callable[..., None]

AT = datetime(2026, 3, 14, 9, tzinfo=UTC)
IDS = [f"0b5c6b0e-7d53-4c7e-9f2b-0000000000{place:02}" for place in range(20)]
MEMORY = Memory(id=IDS[19], agent="muse", kind="thought", text="", created_at=AT)


@pytest.fixture
def connection(engine: Database) -> Iterator[Connection]:
    """A transaction that lasts for the test."""
    with engine.writing() as connection:
        yield connection


@pytest.fixture
def name(connection: Connection, operation: MakeOperation) -> Name:
    """Give `name({"Ann Lee": id, …}, linked=True)`: a thought that names these nodes."""

    def write(
        names: dict[str, str],
        *,
        agent: str = "muse",
        type_: str = "Person",
        linked: bool = False,
        hour: int = 0,
        relation: str = "KNOWS",
    ) -> None:
        thought = operation(text=", ".join(names), agent=agent, created_at=AT + timedelta(hours=hour))
        seq = operations.append(connection, thought, thought.created_at).seq
        memory = log.memory(connection, seq)
        assert memory is not None
        resolutions = [
            Resolution(mention=mention(one, type_, thought.body["text"]), node=id, probability=1)
            for one, id in names.items()
        ]
        ids = list(names.values())
        links = (Link(source=ids[0], relation=relation, target=ids[1], probability=1),) if linked else ()
        said = Classification(resolutions=tuple(resolutions), links=links)
        derivations.record(connection, seq, *memory, [Derivation(plugin="local", version="1", classification=said)])

    return write


def mention(name: str, type_: str = "Person", text: str | None = None) -> Mention:
    start = (text or name).index(name)
    return Mention(text=name, type=type_, start=start, end=start + len(name), confidence=1)


def found(connection: Connection, *mentions: Mention) -> list[Candidate]:
    return list(candidates(connection, MEMORY, mentions).found)


@pytest.mark.parametrize("spelling", ["Ann Lee", "ann lee", "ANN  LEE", "Ａｎｎ Ｌｅｅ"])
def test_whole_name_is_found_in_any_spelling(connection: Connection, name: Name, spelling: str) -> None:
    name({"Ann Lee": IDS[0]}, hour=2)
    (candidate,) = found(connection, mention(spelling))
    assert (candidate.node.id, candidate.node.name, candidate.node.type) == (IDS[0], "Ann Lee", "Person")
    assert (candidate.name_score, candidate.shared_neighbours, candidate.same_agent) == (1.0, 0, True)
    assert candidate.last_seen == AT + timedelta(hours=2)


def test_whole_name_is_nobody_who_has_another_whole_name(connection: Connection, name: Name) -> None:
    name({"Sam": IDS[0]})
    assert [one.node.id for one in found(connection, mention("Sam Pettersen"))] == [IDS[0]]
    name({"Sam Okoro": IDS[0]}, hour=1)
    assert found(connection, mention("Sam Pettersen")) == []
    assert [one.node.id for one in found(connection, mention("Samuel Okoro"))] == [IDS[0]]


def test_name_alone_is_but_a_part_of_whole_names_once_another_has_it_unless_a_person_gave_it(
    connection: Connection, name: Name, operation: MakeOperation
) -> None:
    def scores(text: str) -> list[float]:
        return [one.name_score for one in found(connection, mention(text))]

    name({"Sam Okoro": IDS[0]})
    name({"Sam": IDS[0]}, hour=1)
    assert scores("Sam") == [1]
    name({"Sam Pettersen": IDS[1]}, hour=2)
    assert scores("Sam") == [PART_SCORE, PART_SCORE]
    called = operation("alias", node=IDS[0], name="Sam", created_at=AT + timedelta(hours=3))
    operations.append(connection, called, called.created_at)
    assert scores("Sam") == [1, PART_SCORE]


def test_somebody_known_by_a_first_name_that_others_have_is_less_like_one_more(
    connection: Connection, name: Name
) -> None:
    name({"Sam": IDS[0]})
    assert [one.name_score for one in found(connection, mention("Sam Tully"))] == [PART_SCORE]
    name({"Sam Okoro": IDS[1]})
    assert [one.name_score for one in found(connection, mention("Sam Tully"))] == [SHORT_ALONE]


@pytest.mark.parametrize("part", ["Ann", "lee"])
def test_person_is_found_by_a_part_of_the_name(connection: Connection, name: Name, part: str) -> None:
    name({"Ann Lee": IDS[0]})
    (candidate,) = found(connection, mention(part))
    assert (candidate.node.id, candidate.name_score) == (IDS[0], PART_SCORE)


def test_longer_name_is_found_by_its_first(connection: Connection, name: Name) -> None:
    name({"Ann": IDS[0]})
    (candidate,) = found(connection, mention("Ann Lee"))
    assert (candidate.node.id, candidate.name_score) == (IDS[0], PART_SCORE)


@pytest.mark.parametrize("slip", ["Margarethe Volmer", "margarethe vollmre", "Margarete Vollmer"])
def test_name_that_is_a_letter_off_is_found_unless_its_own_is_known(
    connection: Connection, name: Name, slip: str
) -> None:
    name({"Margarethe Vollmer": IDS[0]})
    (candidate,) = found(connection, mention(slip))
    assert (candidate.node.id, candidate.name_score) == (IDS[0], SLIP)
    name({slip: IDS[1]})
    assert [one.node.id for one in found(connection, mention(slip))] == [IDS[1]]


@pytest.mark.parametrize("other", ["Margarethe Volmer", "M. Vollmer"])
def test_node_that_the_memory_itself_founded_hides_nobody_of_another_spelling_when_it_is_judged_again(
    connection: Connection, name: Name, other: str
) -> None:
    own = new_node_id(MEMORY.id, mention(other))
    name({"Margarethe Vollmer": IDS[0]})
    name({other: own}, hour=1)
    again = candidates(connection, MEMORY, [mention(other)], but=2).found
    assert {one.node.id for one in again} == {own, IDS[0]}


@pytest.mark.parametrize("other", ["An", "Anton", "Lee Ann Lee", "Java"])
def test_other_names_are_not_found(connection: Connection, name: Name, other: str) -> None:
    name({"Ann": IDS[0]})
    name({"JavaScript": IDS[1]}, type_="Language")
    assert [one.node.name for one in found(connection, mention(other))] == []


def test_part_of_what_is_no_person_is_not_found(connection: Connection, name: Name) -> None:
    name({"Acme Tools": IDS[0]}, type_="Organization")
    assert found(connection, mention("Acme", "Organization")) == []
    assert len(found(connection, mention("acme tools", "Organization"))) == 1


def test_all_of_one_name_are_found_the_youngest_first_and_whole_names_before_parts(
    connection: Connection, name: Name
) -> None:
    name({"Rob Roy": IDS[0]})
    name({"Rob": IDS[1]}, hour=2)
    name({"Rob": IDS[2]}, hour=1)
    assert [one.node.id for one in found(connection, mention("Rob"))] == [IDS[2], IDS[1], IDS[0]]


def test_candidates_of_one_name_are_bounded(connection: Connection, name: Name) -> None:
    for hour, id in enumerate(IDS[:12]):
        name({"Rob": id}, hour=hour)
    assert len(found(connection, mention("Rob"))) == PER_NAME


def test_agents_that_named_a_node_are_known(connection: Connection, name: Name) -> None:
    name({"Ann": IDS[0]}, agent="grok", hour=5)
    (candidate,) = found(connection, mention("Ann"))
    assert not candidate.same_agent
    name({"Ann": IDS[0]}, agent="muse")
    (candidate,) = found(connection, mention("Ann"))
    assert candidate.same_agent
    assert candidate.last_seen == AT + timedelta(hours=5)


@pytest.mark.parametrize("linked", [True, False])
def test_names_that_stood_together_before_are_shared_neighbours(
    connection: Connection, name: Name, linked: bool
) -> None:
    name({"Rob": IDS[0], "Ann": IDS[1]}, linked=linked)
    name({"Rob": IDS[2]})
    together = "Rob, Ann"
    shared = {one.node.id: one.shared_neighbours for one in
              found(connection, mention("Rob", text=together), mention("Ann", text=together))}  # fmt: skip
    assert shared == {IDS[0]: 1, IDS[1]: 1, IDS[2]: 0}


def test_each_mention_has_its_own_candidates(connection: Connection, name: Name) -> None:
    name({"Ann": IDS[0]})
    twice = [mention("Ann"), Mention(text="Ann", type="Person", start=9, end=12, confidence=1)]
    assert [one.mention for one in found(connection, *twice)] == twice


def test_nothing_is_known_of_nothing(connection: Connection) -> None:
    assert found(connection) == found(connection, mention("Ann")) == []


def claim(subject: Mention, relation: str, object_: Mention) -> Claim:
    return Claim(subject=subject, relation=relation, object=object_, start=0, end=1, confidence=1, polarity="positive")


def test_what_is_claimed_of_few_and_known_agrees(connection: Connection, name: Name) -> None:
    name({"Katherine Bell": IDS[0], "Orbit": IDS[1]}, linked=True, relation="LEADS")
    kate, orbit = mention("Kate Bell"), mention("Orbit")

    def agrees(relation: str) -> list[int]:
        said = candidates(connection, MEMORY, [kate, orbit], [claim(kate, relation, orbit)]).found
        return [one.agrees for one in said if one.mention is kate]

    assert agrees("LEADS") == [1]
    assert agrees("WORKS_AT") == agrees("MANAGES") == [0]


@pytest.mark.parametrize(("employer", "contradicts"), [("Acme", False), ("Globex", True), ("Nowhere", True)])
def test_another_employer_than_is_known_contradicts(
    connection: Connection, name: Name, employer: str, contradicts: bool
) -> None:
    name({"Rob": IDS[0], "Acme": IDS[1]}, linked=True, relation="WORKS_AT")
    name({"Globex": IDS[2]}, type_="Organization")
    rob, company = mention("Rob"), mention(employer, "Organization")
    said = candidates(connection, MEMORY, [rob, company], [claim(rob, "WORKS_AT", company)]).found
    assert [one.contradicts for one in said if one.mention is rob] == [contradicts]


@pytest.mark.parametrize(("office", "contradicts"), [("CFO_OF", False), ("COO_OF", True), ("FOUNDER_OF", False)])
def test_another_office_at_the_same_place_contradicts(
    connection: Connection, name: Name, office: str, contradicts: bool
) -> None:
    name({"Rob": IDS[0], "Acme": IDS[1]}, linked=True, relation="CFO_OF")
    rob, company = mention("Rob"), mention("Acme", "Organization")
    said = candidates(connection, MEMORY, [rob, company], [claim(rob, office, company)]).found
    assert [one.contradicts for one in said if one.mention is rob] == [contradicts]
