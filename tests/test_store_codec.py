"""Derivations as they are stored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from memory_plane.store.codec import Derivation, decode, encode
from memory_plane.types import (
    EPOCH,
    Attention,
    Claim,
    Classification,
    Extraction,
    Item,
    Link,
    Memory,
    Mention,
    Resolution,
    Routing,
    new_node_id,
)

if TYPE_CHECKING:
    from memory_plane.testing import MakeMemory

TEXT = "Zoë 北京 works at Acme. " * 3
MEMORY = Memory(id="9f0c203f-1df6-55ea-8218-da576443ee1f", agent="muse", kind="thought", text=TEXT, created_at=EPOCH)
shares = st.floats(0, 1)
moments = st.none() | st.datetimes().map(lambda at: at.replace(tzinfo=EPOCH.tzinfo))
words = st.text(st.characters(categories=("L", "N", "P")), min_size=1, max_size=8)


@st.composite
def mentions(draw: st.DrawFn) -> Mention:
    start = draw(st.integers(0, len(TEXT)))
    end = draw(st.integers(start, len(TEXT)))
    said = TEXT[start:end] or draw(words)
    return Mention(text=said, type=draw(words), start=start, end=end, confidence=draw(shares))


@st.composite
def derivations(draw: st.DrawFn) -> Derivation:
    named = draw(st.lists(mentions(), min_size=1, max_size=4, unique=True))
    one = st.sampled_from(named)
    claims = st.builds(
        Claim,
        subject=one,
        relation=words,
        object=one,
        start=st.integers(0, 9),
        end=st.integers(0, 9),
        confidence=shares,
        polarity=st.sampled_from(["positive", "past", "negative"]),
        valid_from=moments,
        valid_until=moments,
    )
    items = st.builds(
        Item, kind=st.just("commitment"), owner=st.none() | words, to=st.none() | words, object=words, due_at=moments
    )
    nodes = [new_node_id(MEMORY.id, mention) for mention in named]
    links = st.builds(
        Link,
        source=st.sampled_from(nodes),
        relation=words,
        target=st.sampled_from(nodes),
        probability=shares,
        valid_from=moments,
        valid_until=moments,
    )
    settled = [
        Resolution(mention=mention, node=draw(st.sampled_from(nodes)), probability=draw(shares)) for mention in named
    ]
    linked = [
        link for link in draw(st.lists(links, max_size=3)) if {link.source, link.target} <= {r.node for r in settled}
    ]
    scores = st.builds(Attention, agent=words, score=shares, reason=st.text(max_size=5))
    return Derivation(
        plugin="p",
        version="1",
        rank=draw(st.integers(0, 1)),
        extraction=draw(
            st.none()
            | st.builds(
                Extraction,
                mentions=st.just(tuple(named)),
                claims=st.lists(claims, max_size=3).map(tuple),
                items=st.lists(items, max_size=2).map(tuple),
            )
        ),
        classification=draw(st.none() | st.just(Classification(resolutions=tuple(settled), links=tuple(linked)))),
        routing=draw(st.none() | st.builds(Routing, attention=st.lists(scores, max_size=2).map(tuple))),
    )


@given(derivations())
def test_what_is_stored_comes_back(derivation: Derivation) -> None:
    stored = encode(MEMORY, derivation)
    assert decode(MEMORY, stored, plugin="p", version="1", rank=derivation.rank) == derivation


def test_nothing_to_say_is_not_the_same_as_not_asked(make_memory: MakeMemory) -> None:
    memory = make_memory("hello")
    empty = Derivation(plugin="p", version="1", extraction=Extraction())
    silent = Derivation(plugin="p", version="1")
    for derivation in (empty, silent):
        assert decode(memory, encode(memory, derivation), plugin="p", version="1", rank=0) == derivation


def test_names_are_kept_as_spans(make_memory: MakeMemory) -> None:
    memory = make_memory("Alice met Bob")
    alice = Mention(text="Alice", type="Person", start=0, end=5, confidence=0.9)
    stored = encode(memory, Derivation(plugin="p", version="1", extraction=Extraction(mentions=(alice,))))
    assert json.loads(stored) == {"m": [[0, 5, "Person", 0.9]], "e": 1}
