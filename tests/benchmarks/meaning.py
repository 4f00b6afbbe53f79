"""Print how alike the meanings of some texts are, and how far up a question finds what it means.

    python tests/benchmarks/meaning.py

The likeness is the cosine of their vectors by `memory-plane-local`. Each question is asked of a memory that holds what
it should find and sixteen texts that look or sound like it, through the whole line of a write.
"""

from __future__ import annotations

import tempfile
from math import hypot

from memory_plane.plane import Plane
from memory_plane.settings import Settings
from memory_plane_local import embedding

PAIRS = (
    ("Bitcoin", "Ethereum"),
    ("Bitcoin", "apple fruit"),
    ("doctor", "physician"),
    ("physician", "physics"),
    ("AI agent memory", "agent memory"),
)
ASKED = {"doctor": "physician", "AI agent memory": "agent memory"}
OTHERS = (
    "physics lesson", "document", "dock worker", "patent office", "memory stick", "travel agent", "AI startup", "car",
    "banana", "database", "agenda", "director", "medicine cabinet", "hospital parking", "agent fee", "Bitcoin wallet",
)  # fmt: skip


def main() -> None:
    """Print both tables."""
    print("| texts | likeness |\n|---|---|")
    for one, other in PAIRS:
        print(f"| {one}, {other} | {likeness(one, other):.2f} |")
    print("\n| question | should find | finds it as number |\n|---|---|---|")
    with (
        tempfile.TemporaryDirectory() as home,
        Plane(Settings.load(home=home, plugins={"enabled": ["local"]})) as plane,
    ):
        for number, text in enumerate((*OTHERS, *ASKED.values())):
            plane.post(text, agent="notes", origin="user", thread=str(number))
        for question, wanted in ASKED.items():
            found = [hit.snippet for hit in plane.recall(question, limit=20).hits]
            print(f"| {question} | {wanted} | {found.index(wanted) + 1 if wanted in found else 'not'} |")


def likeness(one: str, other: str) -> float:
    """Return the cosine of what two texts mean."""
    first, second = embedding.embed([one, other]).rows
    return sum((a * b for a, b in zip(first, second, strict=True)), 0.0) / (hypot(*first) * hypot(*second))


if __name__ == "__main__":
    main()
