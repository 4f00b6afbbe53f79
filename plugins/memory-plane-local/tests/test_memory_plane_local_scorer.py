"""Relations of two names, judged by a linear scorer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import memory_plane_local
from memory_plane_local.artefact import read, write
from memory_plane_local.names import find_names
from memory_plane_local.relation_features import Spot, pair_features, spots
from memory_plane_local.scorer import BUCKETS, MARGIN, Scored, model, pairs, rivals, score
from memory_plane_local.sentences import sentences
from memory_plane_local.tokens import tokenize

ROOT = Path(__file__).parents[1]
ARTEFACT = Path(memory_plane_local.__file__).with_name("data") / "relations.model"


def said(text: str) -> set[tuple[str, str, str]]:
    tokens = tokenize(text)
    names = [name for sentence in sentences(text, tokens) for name in find_names(sentence)]
    lows = [token.low for token in tokens]

    def words(spot: Spot) -> str:
        return text[tokens[spot.begin].start : tokens[spot.end - 1].end]

    return {(words(one.subject), one.relation, words(one.object)) for one in score(lows, spots(tokens, names))}


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Since 2004 he has been the chief executive officer of Barclays Corp.", ("he", "CEO_OF", "Barclays Corp")),
        ("The company was founded by Robert Miller.", ()),
        ("Quillworks Inc is headquartered in Boston.", ("Quillworks Inc", "LOCATED_IN", "Boston")),
    ],
)
def test_relations_are_read_with_pronouns_too(text: str, claim: tuple[str, str, str] | tuple[()]) -> None:
    assert claim in said(text) if claim else said(text) == set()


def test_second_subject_of_an_object_must_be_clearly_likely() -> None:
    one, other, place = Spot(0, 1, "ORG"), Spot(2, 3, "ORG"), Spot(4, 5, "LOC")
    found = [Scored(one, "LOCATED_IN", place, 0.9), Scored(other, "LOCATED_IN", place, 0.55)]
    assert list(rivals(found, 0.5)) == found[:1]
    assert list(rivals(found, 0.55 - MARGIN)) == found


def test_pairs_are_bounded_and_features_are_of_both_ways() -> None:
    many = [Spot(at, at + 1, "PER") for at in range(100)]
    assert len(list(pairs(many))) < 100 * 2 * 10
    forth = set(pair_features(["a", "b", "c"], many[:3], many[0], many[2], str.upper))
    back = set(pair_features(["a", "b", "c"], many[:3], many[2], many[0], str.upper))
    assert forth != back


def test_nothing_is_said_of_few_names() -> None:
    assert score([], []) == score(["he", "left"], [Spot(0, 1, "HE")]) == []


def test_artefact_is_small_and_says_what_it_is_made_of() -> None:
    about = json.loads(ARTEFACT.read_bytes().partition(b"\n\n")[0])
    assert ARTEFACT.stat().st_size < 2_500_000
    assert [source["licence"] for source in about["sources"]] == ["MIT"]
    assert f"`{about['rules']}`" in (ROOT / "README.md").read_text("utf-8")
    assert len(model().weights) == BUCKETS * len(model().relations)


def test_artefact_is_read_as_it_was_written(tmp_path: Path) -> None:
    write(tmp_path / "a", {"what": "a test"}, [["ä", "b"], []], [1, -2, 32767])
    write(tmp_path / "b", {"what": "a test"}, [["ä", "b"], []], [1, -2, 32767])
    about, lists, numbers = read(tmp_path / "a")
    assert (about["what"], lists, list(numbers)) == ("a test", [["ä", "b"], [""]], [1, -2, 32767])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
