from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from memory_plane import Plane, Plugin, hookimpl
from memory_plane.plugins import PluginManager
from memory_plane.types import (
    Candidate,
    Classification,
    Extraction,
    Link,
    Memory,
    Mention,
    Node,
    Resolution,
    new_node_id,
)

ANN = Mention(text="Ann", type="Person", start=0, end=3, confidence=0.9)
BOB = Mention(text="Bob", type="Person", start=10, end=13, confidence=0.9)
FOUND = Extraction(mentions=(ANN, BOB))


def classifier(name: str, answer: Callable[..., Any], **attributes: Any) -> Plugin:
    def classify(self: Plugin, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Any:
        return answer(memory, found, candidates)

    kind: type[Plugin] = type(f"{name}Plugin", (Plugin,), attributes | {"classify": hookimpl(classify)})
    return kind()


def founding(memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
    nodes = {mention: new_node_id(memory.id, mention) for mention in found.mentions}
    known = {candidate.mention: candidate.node.id for candidate in candidates}
    nodes |= known
    return Classification(
        resolutions=tuple(Resolution(mention=one, node=node, probability=0.9) for one, node in nodes.items()),
        links=tuple(
            Link(source=source, relation="KNOWS", target=target, probability=0.8)
            for source, target in zip(list(nodes.values())[:-1], list(nodes.values())[1:], strict=True)
        ),
    )


class NamesPlugin(Plugin):
    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        starts = [(name, memory.text.find(name)) for name in ("Ann", "Bob")]
        return Extraction(
            mentions=tuple(
                Mention(text=name, type="Person", start=start, end=start + 3, confidence=0.9)
                for name, start in starts
                if start >= 0
            )
        )


@pytest.fixture
def memory(make_memory: Callable[..., Memory]) -> Memory:
    return make_memory("Ann knows Bob")


def test_first_answer_counts_and_is_named(plugin_manager: PluginManager, memory: Memory) -> None:
    plugin_manager.register(classifier("Silent", lambda *_: None))
    plugin_manager.register(classifier("First", founding))
    plugin_manager.register(classifier("Second", lambda *_: Classification()))
    answer = plugin_manager.classify(memory, FOUND, ())
    assert answer
    assert (answer[0], len(answer[1].resolutions), len(answer[1].links)) == ("first", 2, 1)


def test_nobody_answers(plugin_manager: PluginManager, memory: Memory) -> None:
    plugin_manager.register(classifier("Silent", lambda *_: None))
    assert plugin_manager.classify(memory, FOUND, ()) is None


def test_answer_with_an_unknown_node_falls_to_the_next(memory: Memory) -> None:
    manager = PluginManager()
    stranger = Classification(resolutions=(Resolution(mention=ANN, node="node:person:ann", probability=1),))
    manager.register(classifier("Wrong", lambda *_: stranger))
    manager.register(classifier("Right", founding))
    answer = manager.classify(memory, FOUND, ())
    assert answer
    assert answer[0] == "right"
    assert manager.failures[0].error == "resolved a mention to an unknown node 'node:person:ann'"


def test_candidate_may_be_chosen(plugin_manager: PluginManager, memory: Memory) -> None:
    node = Node(id="11111111-1111-4111-8111-111111111111", type="Person", name="Ann")
    candidate = Candidate(mention=ANN, node=node, name_score=1, shared_neighbours=0, same_agent=True, last_seen=None)
    plugin_manager.register(classifier("First", founding))
    answer = plugin_manager.classify(memory, FOUND, (candidate,))
    assert answer
    assert answer[1].resolutions[0].node == node.id


def test_nodes_and_edges_of_a_write_are_in_the_graph(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane(NamesPlugin(), classifier("First", founding))
    plane.post("Ann knows Bob", agent="muse")
    (edge,) = plane.graph(about="Ann").edges
    assert (edge.source.name, edge.relation, edge.target.name) == ("Ann", "KNOWS", "Bob")


def test_deferred_answer_comes_with_the_next_ingest(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane(NamesPlugin(), classifier("Slow", founding, deferred=True))
    plane.post("Ann knows Bob", agent="muse")
    assert plane.graph(about="Ann").edges == ()
    assert plane.status().waiting == 1
    assert plane.ingest().enriched == 1
    assert len(plane.graph(about="Ann").edges) == 1
