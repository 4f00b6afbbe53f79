"""Promise 3: words on nodes hold whatever else is said, are taken back without a trace, and do what a dry run tells."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from memory_plane import Plane, Plugin, hookimpl, previews
from memory_plane.importers import log as exports
from memory_plane.recall import graph
from memory_plane.store import verdicts
from memory_plane.sync import exchange
from memory_plane.types import (
    Candidate,
    Classification,
    Extraction,
    Link,
    Memory,
    Mention,
    Receipt,
    Resolution,
    new_node_id,
)

OpenPlane = Callable[..., Plane]
Emptied = Callable[[Plane], Plane]

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
SENTENCES = (
    "Rob met Ann",
    "Rob Smith met Ann",
    "Robert met Bob",
    "Ann met Rob",
    "Ann Lee met Bob",
    "Rob met Rob Smith",
)
STATE = (
    "SELECT hex(id), type, name, slug, origin, founded_at FROM graph_nodes",
    "SELECT a.name, hex(n.id), a.part, a.uses FROM aliases a JOIN graph_nodes n ON n.key = a.node",
    "SELECT hex(o.id), m.start, m.end, hex(n.id) FROM mentions m JOIN operations o USING (seq)"
    " JOIN graph_nodes n ON n.key = m.node",
    "SELECT hex(s.id), e.relation, hex(t.id), e.probability, e.known_since FROM graph_edges e"
    " JOIN graph_nodes s ON s.key = e.source JOIN graph_nodes t ON t.key = e.target",
    "SELECT hex(s.id), e.relation, hex(t.id), hex(o.id), v.probability FROM graph_evidence v"
    " JOIN graph_edges e ON e.key = v.edge JOIN operations o USING (seq)"
    " JOIN graph_nodes s ON s.key = e.source JOIN graph_nodes t ON t.key = e.target",
    "SELECT hex(o.id), hex(d.one), hex(d.other), d.probability FROM doubts d JOIN operations o USING (seq)",
    "SELECT hex(node), hex(representative) FROM same_nodes",
    "SELECT hex(one), hex(other) FROM kept_apart",
    "SELECT hex(memory), hex(node), hex(founded) FROM parted_nodes",
    "SELECT hex(node), name, denied FROM node_names",
)


PAIR = re.compile(r" and .* (?:are two|may be one, for review)$")


class CapitalsPlugin(Plugin):
    """Takes capitals for persons, known by their very name by every other sentence, and doubts all else."""

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        found = re.finditer(r"\b[A-Z]\w+(?: [A-Z]\w+)*", memory.text)
        mentions = [
            Mention(text=one[0], type="Person", start=one.start(), end=one.end(), confidence=1) for one in found
        ]
        return Extraction(mentions=tuple(mentions))

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
        exact = [one for one in candidates if one.name_score == 1 and int(memory.id[0], 16) % 2]
        known = {one.mention: one.node.id for one in exact}
        ids = [known.get(mention, new_node_id(memory.id, mention)) for mention in found.mentions]
        resolutions = [
            Resolution(mention=one, node=id, probability=0.9) for one, id in zip(found.mentions, ids, strict=True)
        ]
        doubts = [Resolution(mention=one.mention, node=one.node.id, probability=0.5) for one in candidates]
        links = [Link(source=one, relation="KNOWS", target=other, probability=0.8) for one, other in pairwise(ids)]
        return Classification(resolutions=tuple(resolutions), links=tuple(links), doubts=tuple(doubts))


class LaterPlugin(Plugin):
    """Takes a name, when it is asked later, for the oldest node that it may be."""

    deferred = True

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
        known = {one.mention: one.node.id for one in candidates if int(memory.id[1], 16) % 2}
        return Classification(
            resolutions=tuple(Resolution(mention=one, node=id, probability=0.9) for one, id in known.items())
        )


@pytest.fixture(scope="module")
def planes(open_plane: OpenPlane) -> tuple[Plane, Plane]:
    """Two memories with the same plugins."""
    return open_plane(CapitalsPlugin(), LaterPlugin()), open_plane(CapitalsPlugin(), LaterPlugin())


Step = tuple[str, int, int, int]
number = st.integers(0, 40)
step = st.tuples(
    st.sampled_from(
        ["say", "say", "merge", "merge", "merge", "distinct", "split", "alias", "deny", "retract", "later"]
    ),
    number,
    number,
    number,
)
steps = st.lists(step, min_size=3, max_size=14)
property_test = settings(
    settings.get_profile("length"), deadline=None, derandomize=True, database=None, phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)  # fmt: skip


def rows(plane: Plane, query: str) -> list[tuple[Any, ...]]:
    with plane.database.reading() as connection:
        return sorted((tuple(row) for row in connection.execute(text(query)).all()), key=repr)


def state(plane: Plane) -> list[list[tuple[Any, ...]]]:
    return [rows(plane, query) for query in STATE]


def word(plane: Plane, step: Step, said: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """The operation that a step means here, None where it makes no sense."""
    op, one, other, third = step
    nodes = [node for (node,) in rows(plane, "SELECT hex(id) FROM graph_nodes")]
    if op == "retract" and said:
        return op, {"target": said[one % len(said)]}
    if op in ("say", "later", "retract") or len(nodes) < 2:
        return None
    first = nodes[one % len(nodes)]
    second = [id for id in nodes if id != first][other % (len(nodes) - 1)]
    if op == "merge":
        return op, {"node": first, "into": second}
    if op == "distinct":
        return op, {"nodes": [first, second]}
    if op == "split":
        naming = [memory for memory, _, _, node in rows(plane, STATE[2]) if node == first]
        return op, {"node": first, "memories": [naming[third % len(naming)]]}
    return "alias", {"node": first, "name": ("Rob", "Bobby")[third % 2], "remove": op == "deny"}


def write(plane: Plane, op: str, body: dict[str, Any]) -> Receipt:
    """Write it a second later than all else here, so that every run has the same ids."""
    (count,) = rows(plane, "SELECT count(*) FROM operations")
    return plane.write(op, body, agent="user", created_at=START + timedelta(seconds=count[0]))


def do(plane: Plane, step: Step, said: list[str]) -> tuple[str, dict[str, Any]] | None:
    """Say something or have it asked about; return the word on nodes or the retraction that the step means instead."""
    if step[0] == "say":
        said.append(write(plane, "thought", {"text": f"{SENTENCES[step[1] % len(SENTENCES)]} {step[2]}"}).id)
    elif step[0] == "later":
        plane.ingest()
    else:
        return word(plane, step, said)
    return None


def answered(plane: Plane) -> None:
    """No pair is to be reviewed of which the last word was said."""
    with plane.database.reading() as connection:
        last = {frozenset((one.one, one.other)) for one in verdicts.all_of(connection)}
    assert not last & {frozenset((one.one.id, one.other.id)) for one in plane.reviews(limit=200)}


@property_test
@given(steps)
def test_a_word_that_is_taken_back_leaves_no_trace(
    emptied: Emptied, planes: tuple[Plane, Plane], history: list[Step]
) -> None:
    plane, said = emptied(planes[0]), list[str]()
    for one in history:
        asked = do(plane, one, said)
        if asked is None or asked[0] == "retract":
            continue
        before = state(plane), plane.graph(limit=200), plane.reviews(limit=200)
        receipt = write(plane, *asked)
        if receipt.state == "stored":
            answered(plane)
            write(plane, "retract", {"target": receipt.id})
            assert (state(plane), plane.graph(limit=200), plane.reviews(limit=200)) == before, asked
            write(plane, *asked)


def world(plane: Plane) -> list[str]:
    """All that a dry run may speak of, line by line; the node that a split founds has another id each time."""
    now = datetime.now(UTC)
    with plane.database.reading() as connection:
        keys = [key for (key,) in connection.execute(text("SELECT key FROM graph_nodes"))]
        nodes = graph.nodes(connection, keys)
        lines = [previews._node(node, graph.mentions(connection, key)) for key, node in nodes.items()]
        lines += [previews._edge(edge) for edge in graph.around(connection, keys, now, 500).edges]
    return lines + [f"{one.kind} {one.id}: {one.text}" for one in plane.thoughts(limit=100)]


def anonymous(lines: Sequence[str], known: Sequence[str]) -> list[str]:
    ids = "|".join(known)
    return sorted(re.sub(rf"(?!{ids})[0-9a-f]{{8}}-[0-9a-f-]{{27}}", "new", line) for line in lines)


@property_test
@given(steps)
def test_a_dry_run_tells_exactly_what_then_happens(
    emptied: Emptied, planes: tuple[Plane, Plane], history: list[Step]
) -> None:
    plane, said = emptied(planes[0]), list[str]()
    for one in history:
        asked = do(plane, one, said)
        if asked is None:
            continue
        told, before = plane.preview(*asked), world(plane)
        reviewed = plane.reviews(limit=200)
        assert world(plane) == before
        receipt = write(plane, *asked)
        assert (receipt.state == "refused") == bool(told.refusal), (receipt, told)
        if receipt.state == "stored":
            after = world(plane)
            ids = re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", "\n".join(before))
            gone, new = Counter(before) - Counter(after), Counter(after) - Counter(before)
            now_gone, now_new = ([line for line in lines if not PAIR.search(line)] for lines in (told.gone, told.new))
            assert anonymous(now_gone, ids) == anonymous(list(gone.elements()), ids), asked
            assert anonymous(now_new, ids) == anonymous(list(new.elements()), ids), asked
            if asked[0] == "distinct":
                judged = {(one.one.id, one.other.id) for one in reviewed} - {
                    (one.one.id, one.other.id) for one in plane.reviews(limit=200)
                }
                assert len([line for line in told.gone if line.endswith("for review")]) == len(judged)


def shuffled(data: st.DataObject, export: Sequence[str]) -> list[str]:
    """An export with its words anywhere among the memories, which stay in the order of what is derived of them."""
    operations = [line for line in export if '"op":' in line]
    memories = iter([line for line in operations if '"op":"thought"' in line])
    mixed = data.draw(st.permutations(operations))
    mixed = [next(memories) if '"op":"thought"' in line else line for line in mixed]
    return [*mixed, *(line for line in export if '"op":' not in line)]


@property_test
@given(steps, st.data())
def test_words_on_nodes_are_the_same_here_there_in_a_copy_and_when_all_is_folded_anew(
    emptied: Emptied, planes: tuple[Plane, Plane], history: list[Step], data: st.DataObject
) -> None:
    one, two = (emptied(plane) for plane in planes)
    vars(one).pop("store_id", None), vars(two).pop("store_id", None)
    said = {one: list[str](), two: list[str]()}
    for step_ in history:
        plane = data.draw(st.sampled_from([one, two]))
        if (asked := do(plane, step_, said[plane])) is not None and write(plane, *asked).state == "stored":
            answered(plane)
        match data.draw(st.integers(0, 6)):
            case 0:
                exchange(one, two)
            case 1:
                plane.rebuild()
    for _ in range(2):
        exchange(one, two)
        one.ingest(), two.ingest()
    exchange(one, two)
    assert state(one) == state(two)
    assert one.reviews(limit=200) == two.reviews(limit=200)
    answered(one)
    lines = list(one.export())
    assert lines == list(two.export())
    one.rebuild()
    assert (state(one), list(one.export())) == (state(two), lines)
    before, reviews = state(one), one.reviews(limit=200)
    copy = emptied(two)
    stream = io.BytesIO("".join(f"{line}\n" for line in shuffled(data, lines)).encode())
    exports.take_in(copy, stream, io.BytesIO(stream.getvalue()), exports.check(stream), lambda *_: None)
    assert (state(copy), list(copy.export())) == (before, lines)
    assert copy.reviews(limit=200) == reviews
