from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_plane.gates import kept
from memory_plane.spellings import ALIKE, SLIP
from memory_plane.types import Candidate, Classification, Link, Memory, Mention, Node, Resolution, new_node_id

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
ANN = "0b5c6b0e-7d53-5c7e-9f2b-2f6f6f0e9a11"
OTHER = "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10"


def asked(name: str, type_: str, known: str, known_type: str, score: float) -> tuple[Memory, Mention, Candidate]:
    memory = Memory(
        id=OTHER, agent="muse", kind="thought", text=f"{name} came", created_at=AT, origin="agent", project=None
    )
    mention = Mention(text=name, type=type_, start=0, end=len(name), confidence=0.9)
    node = Node(id=ANN, type=known_type, name=known, origin="agent")
    candidate = Candidate(
        mention=mention, node=node, name_score=score, shared_neighbours=2, same_agent=True, last_seen=AT
    )
    return memory, mention, candidate


@pytest.mark.parametrize(
    ("name", "type_", "known", "known_type", "score", "joins"),
    [
        ("Margarethe Volmer", "Person", "Margarethe Vollmer", "Person", SLIP, False),
        ("GPT-5", "Tool", "GPT-4", "Tool", ALIKE, False),
        ("GPT 4", "Tool", "GPT-4", "Tool", ALIKE, True),
        ("Morgan", "Person", "Morgan", "Organization", 1.0, False),
        ("Morgan", "Team", "Morgan", "Organization", 1.0, True),
        ("Jose", "Person", "José", "Person", ALIKE, True),
        ("Lambda 2", "Project", "Lambda", "Project", 1.0, True),
    ],
)
def test_answer_joins_only_what_the_gates_let_through(
    name: str, type_: str, known: str, known_type: str, score: float, joins: bool
) -> None:
    memory, mention, candidate = asked(name, type_, known, known_type, score)
    taken = Resolution(mention=mention, node=ANN, probability=0.9)
    found = kept(memory, Classification(resolutions=(taken,)), [candidate])
    own = new_node_id(memory.id, mention)
    assert [one.node for one in found.resolutions] == [ANN if joins else own]
    assert found.doubts == (() if joins else (taken,))


def test_edges_go_with_the_name_that_comes_back_apart() -> None:
    memory, mention, candidate = asked("GPT-5", "Tool", "GPT-4", "Tool", ALIKE)
    came = Mention(text="came", type="Concept", start=6, end=10, confidence=0.9)
    new = new_node_id(memory.id, came)
    taken = tuple(Resolution(mention=one, node=id, probability=0.9) for one, id in ((mention, ANN), (came, new)))
    link = Link(source=ANN, relation="USES", target=new, probability=0.8)
    found = kept(memory, Classification(resolutions=taken, links=(link,)), [candidate])
    assert [(one.source, one.target) for one in found.links] == [(new_node_id(memory.id, mention), new)]
