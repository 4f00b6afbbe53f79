"""What means the same is near, whatever its letters; and the table is read by nobody who does not need it."""

from __future__ import annotations

import subprocess
import sys
from math import sqrt
from pathlib import Path

import pytest

from memory_plane import Plane
from memory_plane.plugins import PluginManager
from memory_plane.settings import Settings
from memory_plane.store import vectors
from memory_plane_local import LocalPlugin, LocalSettings, embedding, hashing


def likeness(one: str, other: str) -> float:
    rows = map(vectors.unit, embedding.embed([one, other]).rows)
    return sum((a * b for a, b in zip(*rows, strict=True)), 0.0)


def test_bitcoin_is_near_ethereum_and_far_from_fruit() -> None:
    assert likeness("Bitcoin", "Ethereum") > likeness("Bitcoin", "apple fruit") + 0.25


@pytest.mark.parametrize(
    ("one", "other", "stranger"),
    [
        ("doctor", "physician", "gardener"),
        ("deploy the website", "release the web page", "water the plants"),
        ("AI agent memory", "agent memory", "travel agency"),
        ("DOCTOR", "doctor", "lawyer"),
    ],
)
def test_what_means_the_same_is_nearer_than_what_does_not(one: str, other: str, stranger: str) -> None:
    assert likeness(one, other) > likeness(one, stranger) + 0.1


def test_text_that_says_little_has_a_short_row() -> None:
    little, much = embedding.embed(["ok", "The invoice for the kitchen renovation was paid on Tuesday"]).rows
    assert sqrt(sum(value * value for value in little)) < sqrt(sum(value * value for value in much)) < 1


@pytest.mark.parametrize("text", ["", " ", "!?", "東京", "ёж", "\x00", "a" * 100_000, "word " * 20_000, "naïve 😀"])
def test_any_text_has_a_row(text: str) -> None:
    (row,) = embedding.embed([text]).rows
    assert len(row) == 128
    assert all(abs(value) <= 1 for value in row)


def test_sum_of_many_words_does_not_overflow_its_lanes() -> None:
    word = max(embedding.table().words()[2000:3000], key=embedding.table().length)
    once, often = embedding.embed([word, f"{word} " * embedding.MOST]).rows
    assert sum(a * b for a, b in zip(vectors.unit(once), vectors.unit(often), strict=True)) > 0.999


def test_accents_and_case_change_nothing() -> None:
    assert embedding.embed(["Café Zürich"]).rows == embedding.embed(["cafe zurich"]).rows


def test_letters_are_hashed_when_chosen() -> None:
    found = LocalPlugin(LocalSettings(embedding="letters")).embed(["the same", "the same", "else"])
    assert found is not None
    assert found.model == hashing.MODEL
    assert found.rows[0] == found.rows[1] != found.rows[2]


def test_no_vectors_when_none_are_wanted() -> None:
    assert LocalPlugin(LocalSettings(embedding="none")).embed(["text"]) is None


def plane_of(settings: Settings) -> Plane:
    manager = PluginManager(strict=True)
    manager.register(LocalPlugin(LocalSettings()), "local")
    return Plane(settings, plugins=manager)


NOTES = (
    "The physician called about the results", "The gardener comes on Monday", "Pay the plumber", "agent memory",
    "memory foam mattress", "travel agent", "Buy apples and pears", "The car needs new tyres",
)  # fmt: skip


@pytest.mark.parametrize(("query", "wanted", "within"), [("doctor", NOTES[0], 3), ("AI agent memory", NOTES[3], 1)])
def test_recall_finds_what_is_meant(home: Path, query: str, wanted: str, within: int) -> None:
    with plane_of(Settings(home=home)) as plane:
        for note in NOTES:
            plane.post(note, agent="muse")
        assert wanted in [hit.snippet for hit in plane.recall(query).hits[:within]]


def test_importing_the_plugin_reads_no_table() -> None:
    code = (
        "import memory_plane_local; from memory_plane_local.embedding import table; print(table.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"
