"""Whatever a model writes, what is taken of it is in the text and in the vocabulary."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_plane import answers
from memory_plane.types import OPEN_KINDS, Extraction, Memory
from memory_plane.vocabulary.catalogue import relations, types
from memory_plane_llm.reading import Reading

TEXT = "Maria (CTO, Acme) asked Viktor: send 王伟 the deck by Friday? ME\n\ud7ff I will\u0000 İ ß"
MEMORY = Memory(id="x", agent="muse", kind="thought", text=TEXT, created_at=datetime(2026, 11, 30, tzinfo=UTC))

name = st.one_of(
    st.sampled_from(["Maria", "acme", "viktor", "王伟", "deck", "ME", "I", "by  Friday", "the deck", "", "i̇", "SS"]),
    st.text(max_size=4),
    st.none(),
    st.integers(),
    st.lists(st.text(max_size=2), max_size=2),
)
kind = st.one_of(st.sampled_from([*types(), "Commitment", *OPEN_KINDS]), name)
day = st.one_of(st.dates().map(str), st.sampled_from(["9999-12-31", "0001-01-01"]), name)
entity = st.one_of(st.fixed_dictionaries({"name": name, "type": kind}), name)
relation = st.one_of(
    st.fixed_dictionaries(
        {"source": name, "relation": st.one_of(st.sampled_from(sorted(relations())), name), "target": name},
        optional={"holds": st.one_of(st.sampled_from(["now", "over", "no"]), name)},
    ),
    name,
)
item = st.one_of(
    st.fixed_dictionaries({"kind": kind, "what": name}, optional={"owner": name, "to": name, "when": name, "day": day}),
    name,
)
written = st.fixed_dictionaries(
    {},
    optional={
        "entities": st.one_of(st.lists(entity, max_size=5), name),
        "relations": st.one_of(st.lists(relation, max_size=5), name),
        "items": st.one_of(st.lists(item, max_size=5), name),
    },
)


@settings(max_examples=300, deadline=None)
@given(written)
def test_what_is_taken_is_in_the_text_and_in_the_vocabulary(written: Any) -> None:
    found = answers.extraction(Reading(MEMORY, Extraction(), 0.75).extraction(written), MEMORY)
    for mention in found.mentions:
        assert mention.start == mention.end or mention.text == TEXT[mention.start : mention.end]
        assert mention.type in {*types(), "Commitment"}
    assert {claim.relation for claim in found.claims} <= set(relations())
    for one in found.items:
        assert one.object in TEXT
        assert all(part is None or part in TEXT or part == "muse" for part in (one.owner, one.to))
        assert one.due_at is None or MEMORY.created_at < one.due_at < datetime(2037, 1, 1, tzinfo=UTC)
