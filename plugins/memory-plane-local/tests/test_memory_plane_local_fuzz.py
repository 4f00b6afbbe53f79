"""No text, however odd, costs a memory its knowledge: texts made of the words of the plugin's own tables.

python plugins/memory-plane-local/tests/test_memory_plane_local_fuzz.py SEED TEXTS
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

import pytest

from memory_plane.types import Memory
from memory_plane_local.extraction import extract
from memory_plane_local.resolve import classify

MARKS = (
    *".,;:!?-–—()[]{}\"'“”*_#|/\\@&%$+=<>~`…\n\t\x00\x0b\x1c\x85\u2028\u202e\u200b\u00a0😀İßſ",
    "\n- ",
    "\n> ",
    "```\n",
)
NAMES = (
    "Rob",
    "Zoë",
    "O'Neil",
    "TechCorp",
    "Falcon",
    "Rust",
    "herrington.ai",
    "東京",
    "Москва",
    "محمد",
    "서울",
    "S在X工作Project",
)
DAYS = (
    "2026-11-30",
    "11/30/2026",
    "9999-12-31",
    "0001-01-01",
    "tomorrow",
    "25:61",
    "9am",
    "31 June",
    "999999999 years",
    "½",
)


@cache
def table_words() -> Sequence[str]:
    tables = (table for table in files("memory_plane_local").joinpath("data").iterdir())
    texts = (table.read_text("utf-8") for table in tables if table.name.endswith((".tsv", ".txt")))
    return sorted({word for text in texts for word in text.replace("|", " ").split()})


def odd_text(draw: random.Random) -> str:
    kinds = draw.choices((table_words(), NAMES, DAYS, MARKS), (5, 2, 1, 2), k=draw.choice((1, 2, 5, 13, 40)))
    words = (draw.choice(kind) for kind in kinds)
    forms = (draw.choice((word, word, word, word.title(), word.upper())) for word in words)
    return "".join(form + draw.choice((" ", " ", " ", "", ". ")) for form in forms)


def read_texts(seed: int, texts: int) -> None:
    draw = random.Random(seed)
    for number in range(texts):
        text = odd_text(draw)
        written = datetime(2026, 11, 30, 12, tzinfo=UTC)
        memory = Memory(id="m", agent="muse", kind="thought", text=text, created_at=written, origin="user")
        try:
            found = extract(memory)
            classify(memory, found, ())
        except Exception as error:
            error.add_note(f"seed {seed}, text {number}: {text!a}")
            raise
        assert all(0 <= one.start <= one.end <= len(text) for one in found.mentions), (seed, number, text)


@pytest.mark.parametrize(
    "text", ["Use@", "feat(", "feat!", "fix:", "| Task | Owner |", "|", "Owner:", "two: Bo", "dont", "Lead: Ana /"]
)
def test_half_a_line_is_read_without_an_error(text: str) -> None:
    written = datetime(2026, 11, 30, 12, tzinfo=UTC)
    extract(Memory(id="m", agent="muse", kind="thought", text=text, created_at=written, origin="user"))


@pytest.mark.parametrize("seed", range(4))
def test_any_text_is_read_without_an_error(seed: int) -> None:
    read_texts(seed, 150)


if __name__ == "__main__":
    read_texts(int(sys.argv[1]), int(sys.argv[2]))
