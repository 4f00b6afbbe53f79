"""Names that no rule knows."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

import memory_plane_local
from memory_plane.types import Memory
from memory_plane_local.extraction import extract
from memory_plane_local.tagger import model, tag

ARTEFACT = Path(memory_plane_local.__file__).with_name("data") / "names.model"


def types(text: str) -> dict[str, str]:
    memory = Memory(id="m", agent="muse", kind="thought", text=text, created_at=datetime(2026, 1, 1, tzinfo=UTC))
    return {mention.text: mention.type for mention in extract(memory).mentions}


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("had lunch with Okonkwo in Ljubljana", "Ljubljana", "Place"),
        ("Stratford was full of tourists", "Stratford", "Place"),
        ("Thelonious Grabowski gave the talk", "Thelonious Grabowski", "Person"),
    ],
)
def test_type_of_an_unknown_name_is_told_by_its_sentence(text: str, name: str, kind: str) -> None:
    assert types(text)[name] == kind


def test_names_have_words_type_and_probability() -> None:
    found = tag(["yesterday", "Maria", "Lopez", "flew", "from", "Berlin", "to", "New", "York"])
    assert [(one.begin, one.end, one.type) for one in found] == [(1, 3, "PER"), (5, 6, "LOC"), (7, 9, "LOC")]
    assert all(0.5 < one.probability <= 1 for one in found)


@pytest.mark.parametrize("words", [[], ["."], ["I"], ["the"] * 500, ["\u0000", "", "\U0001f600"], ["A" * 10_000]])
def test_any_words_can_be_tagged(words: list[str]) -> None:
    assert all(0 <= one.begin < one.end <= len(words) for one in tag(words))


def test_claims_keep_the_type_that_their_words_tell() -> None:
    assert types("Stratford works at Brightwater.")["Stratford"] == "Person"


def test_artefact_is_small_and_says_what_it_is_made_of() -> None:
    about = json.loads(ARTEFACT.read_bytes().partition(b"\n\n")[0])
    assert ARTEFACT.stat().st_size < 3_000_000
    assert {"CC BY 4.0", "Apache-2.0"} <= {source["licence"] for source in about["sources"]}
    assert all(len(source["sha256"]) == 64 for source in about["sources"])
    assert len(model().weights) == len(model().rows) * len(about["labels"])


def test_vague_taste_without_a_name_is_read_without_failing() -> None:
    assert types("I love the , and Rob") is not None


@pytest.mark.parametrize("text", ["Mark Young works at Acme.", "Mark works at Acme.", "Mark Bell works at Acme."])
def test_ordinary_word_that_works_somewhere_is_a_person(text: str) -> None:
    assert types(text)[text.partition(" works")[0]] == "Person"


@pytest.mark.parametrize("text", ["Bruce Doyle works at Wayne.", "Wayne looks at Bruce."])
def test_what_one_works_at_is_no_person(text: str) -> None:
    assert types(text)["Wayne"] == ("Organization" if "works" in text else "Person")
