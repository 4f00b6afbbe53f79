"""Tell the story that the plane was made for: print how sure its links are, whom it reaches, and which Rob is whose.

    python tests/benchmarks/story.py

Muse writes down an introduction that it read in messages. Grok, which is interested in FPGA hardware, then writes of a
Rob in that context, and others of a Rob elsewhere. Each text goes through the whole line of a write.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from identity import meant

from memory_plane.plane import Plane
from memory_plane.settings import Settings

INTERESTS = ("FPGA", "research", "investment", "startups", "AI models", "technical strategy")
INTRODUCTION = (
    "Rob introduced Daniel to The Zebra: Daniel <> Rob, about controllable AI models on FPGA hardware. "
    "The Zebra pilot depends on the FPGA hardware."
)
SAME = (
    ("grok", "Rob wants the FPGA benchmark for The Zebra."),
    ("grok", "Evaluating FPGA startups; Rob knows FPGA hardware."),
    ("grok", "Rob works on controllable AI models on FPGA hardware."),
)
OTHER = (
    ("instinct", "Rob teaches swimming at the Lakeside pool."),
    ("instinct", "Rob fixed the Camaro at the garage."),
    ("grok", "Rob sent the term sheet for the bakery."),
)
LEAST = {"INTRODUCED_TO": 0.85, "DEPENDS_ON": 0.75}


def main() -> None:
    """Print the table."""
    with told() as (plane, muse):
        print("| of the story | at least | found |\n|---|---|---|")
        for relation, least in LEAST.items():
            sure = [edge.probability for edge in plane.graph().edges if edge.relation == relation]
            print(f"| {relation} | {least} | {max(sure, default=0):.2f} |")
        noticed = [one.attention or 0 for one in plane.graph(agent="grok").attention if one.id == muse]
        print(f"| attention of Grok | 0.85 | {max(noticed, default=0):.2f} |")
    print(f"| Rob in that context is Muse's Rob | {len(SAME)} of {len(SAME)} | {sum(map(joined, SAME))} |")
    print(f"| Rob elsewhere is | 0 of {len(OTHER)} | {sum(map(joined, OTHER))} |")


@contextmanager
def told() -> Iterator[tuple[Plane, str]]:
    """Write the introduction into an empty memory; give the memory and the introduction's id."""
    agents = {"grok": {"interests": list(INTERESTS)}}
    with tempfile.TemporaryDirectory() as home:
        settings = Settings.load(home=home, plugins={"enabled": ["local"]}, agents=agents)
        with Plane(settings) as plane:
            written = plane.post(INTRODUCTION, agent="muse", kind="observation", origin="external", source="iMessage")
            yield plane, written.id


def joined(said: tuple[str, str]) -> bool:
    """Tell whether the Rob of what an agent says after the introduction is that of the introduction."""
    agent, text = said
    with told() as (plane, muse):
        return meant(plane, plane.post(text, agent=agent).id).get("Rob") == meant(plane, muse)["Rob"]


if __name__ == "__main__":
    main()
