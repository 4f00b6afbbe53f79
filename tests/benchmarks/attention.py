"""Count whom the scorer tells of what, beside telling all and beside matching the words of the interests.

    python tests/benchmarks/attention.py [--failures] [--threshold 0.5]
    python tests/benchmarks/attention.py --refocus

tests/data/attention.json has three worlds of five agents each: what they care about and do, what was written before,
and texts labelled with the agents that should be told. Each text is written through the whole line of a write. Of the
last part nobody reads the failures. With `--refocus` it is timed instead what a heartbeat costs that names another
focus, for which 200 memories are scored anew.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from memory_plane.plane import Plane
from memory_plane.settings import Settings

DATA = Path(__file__).parents[1] / "data" / "attention.json"
UNREAD = "three"
World = Mapping[str, Any]


class Judged(NamedTuple):
    """One text and one agent: whether it should be told, and by which scorer it was."""

    agent: str
    text: str
    wanted: bool
    told: Mapping[str, bool]
    score: float
    reason: str


def judge(world: World, home: Path, threshold: float) -> Iterator[Judged]:
    """Write a world into a memory of its own; yield each text with every agent but its author."""
    interests = {agent: {"interests": about["interests"]} for agent, about in world["agents"].items()}
    settings = Settings.load(home=home, plugins={"enabled": ["local"]}, agents=interests, synchronous="normal")
    with Plane(settings) as plane:
        for agent, about in world["agents"].items():
            plane.heartbeat(agent=agent, focus=about["focus"])
        for memory in world["before"]:
            plane.post(**memory)
        ids = [plane.post(one["text"], agent=one["agent"], kind="observation").id for one in world["texts"]]
        heard = {agent: _heard(plane, agent) for agent in world["agents"]}
    for id, one in zip(ids, world["texts"], strict=True):
        for agent in world["agents"].keys() - {one["agent"]}:
            score, reason = heard[agent].get(id, (0.0, ""))
            overlap = bool(_words(one["text"]) & _words(" ".join(world["agents"][agent]["interests"])))
            told = {"memory-plane-local": score >= threshold, "words of interests": overlap, "all to all": True}
            yield Judged(agent, one["text"], agent in one["for"], told, score, reason)


def _heard(plane: Plane, agent: str) -> dict[str, tuple[float, str]]:
    found = plane.graph(agent=agent, min_attention=0.0, limit=1_000).attention
    return {thought.id: (thought.attention or 0.0, thought.reason) for thought in found}


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def row(part: str, scorer: str, judged: Iterable[Judged]) -> str:
    """Return a line of the table."""
    pairs = [(one.wanted, one.told[scorer]) for one in judged]
    right = pairs.count((True, True))
    told, wanted = right + pairs.count((False, True)), right + pairs.count((True, False))
    precision, recall = right / max(told, 1), right / wanted
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return f"| {part} | {scorer} | {wanted} | {told} | {right} | {precision:.2f} / {recall:.2f} / {f1:.2f} |"


def refocus(world: World) -> None:
    """Print the milliseconds of the processor that a heartbeat takes, with the focus of before and with another one."""
    texts = [one["text"] for other in json.loads(DATA.read_text("utf-8"))["worlds"] for one in other["texts"]]
    focuses = [about["focus"] for about in world["agents"].values()]
    agent = next(iter(world["agents"]))
    home = Path(tempfile.mkdtemp())
    with Plane(Settings.load(home=home, plugins={"enabled": ["local"]}, synchronous="normal")) as plane:
        for number in range(300):
            plane.post(f"{texts[number % len(texts)]} ({number})", agent="other", kind="observation")
        for name, words in (("same focus", focuses[:1] * 10), ("another focus", focuses * 4)):
            plane.heartbeat(agent=agent, focus=words[-1])
            began = process_time()
            for focus in words:
                plane.heartbeat(agent=agent, focus=focus)
            print(f"{name}: {(process_time() - began) / len(words) * 1e3:.1f} ms")
    shutil.rmtree(home)


def main() -> None:
    """Read the options, write the worlds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--failures", action="store_true", help="list who was told wrongly, or not, of parts one and two"
    )
    parser.add_argument("--threshold", type=float, default=0.5, help="from which score on an agent is told")
    parser.add_argument("--refocus", action="store_true", help="time what a new focus costs")
    options = parser.parse_args()
    if options.refocus:
        refocus(json.loads(DATA.read_text("utf-8"))["worlds"][0])
        return
    print("| part | scorer | should be told | told | rightly | P / R / F1 |\n|---|---|---|---|---|---|")
    for world in json.loads(DATA.read_text("utf-8"))["worlds"]:
        home = Path(tempfile.mkdtemp())
        judged = list(judge(world, home, options.threshold))
        shutil.rmtree(home)
        for scorer in judged[0].told:
            print(row(world["part"], scorer, judged))
        for one in judged if options.failures and world["part"] != UNREAD else ():
            if one.wanted != one.told["memory-plane-local"]:
                print(f"{'missed' if one.wanted else 'noise'} {one.agent} {one.score} {one.reason!r}: {one.text}")


if __name__ == "__main__":
    main()
