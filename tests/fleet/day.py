"""The day as data: who takes which turn, what is said in it, and what shall come of it. It follows from its seed."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

_DATA = json.loads(Path(__file__).with_name("day.json").read_text("utf-8"))
SORTS: Mapping[str, Mapping[str, Any]] = _DATA["sorts"]
FLEET: Mapping[str, Mapping[str, Any]] = {
    name: agent
    for name, agent in _DATA["agents"].items()
    if entry_points(group="memory_plane", name=agent["plugin"])  # one that is not installed here stays at home
}
MESSAGES = "muse"
"""Brings the messages of other people, and takes no turns."""
SECRET, CUT = "sk-ant-api03-" + "Ab3dE6gH9j" * 9 + "AA", "[redacted:token]"

AWAY = "codex"
AGENT_AWAY, HUB_AWAY, KILLED = (0.4, 0.8), (0.55, 0.7), 0.3
"""In which part of the day an agent and the hub are away, and when the hub is killed."""
REST = 20
"""After so many turns the fleet waits until all that was said is on the pages, if the hub is there."""
_HANDED_OVER = (0.45, 0.6)
"""When the agent that is away is handed something: beside the hub, and without it."""
_SESSION = 8
"""How many turns of its agent a session has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn. `source` tells how its session begins, "" where it goes on.

    `kept` is what the memory shall hold of it, "" for nothing, and `about` who cares for that, "" for nobody. `closes`
    is the turn whose open item is over then. It is delivered so many `times` at once, after `again` once more.
    """

    number: int
    agent: str
    sort: str
    session: str
    about: str
    source: str
    times: int
    prompt: str = ""
    answer: str = ""
    kept: str = ""
    closes: Turn | None = None
    again: Turn | None = None

    @property
    def to(self) -> str:
        """Who shall be told of it: nobody is told its own words."""
        return self.about if self.kept and self.about != self.agent else ""


def events(turns: int) -> dict[int, str]:
    """Return what happens at which turn of a day of so many: the hub's end or start, or a rest."""
    gone, back = (int(turns * part) for part in HUB_AWAY)
    happens = {number: "rest" for number in range(0, turns, REST) if not gone <= number < back + REST}
    happens |= {int(turns * AGENT_AWAY[1]): "rest", turns - len(FLEET): "rest"}
    return happens | {int(turns * KILLED) + 1: "kill", gone: "stop", back: "start"}


def write(turns: int, seed: int) -> list[Turn]:
    """Return a day of so many turns; in its last ones every agent begins a new session."""
    script = _Script(turns, random.Random(seed))
    while len(script.written) < turns:
        script.written.append(script.next())
    return script.written


class _Script:
    def __init__(self, turns: int, chance: random.Random) -> None:
        self.turns, self.chance = turns, chance
        self.written: list[Turn] = []

    def next(self) -> Turn:
        left = self.turns - len(self.written)
        if left <= len(FLEET):
            return self._turn(list(FLEET)[left - 1], "small talk", last=None)
        sort = self.chance.choices(list(SORTS), [one.get("weight", 0) for one in SORTS.values()])[0]
        hands_over = len(self.written) in [int(self.turns * part) for part in _HANDED_OVER]
        if "prompt" not in SORTS[sort] and not hands_over:
            return self._turn(MESSAGES, sort, last=None)
        asking = [name for name in FLEET if (last := self._last(name)) and last.sort == "question"]
        agent = self.chance.choice([name for name in self._present() if not hands_over or name not in asking])
        last, handed = self._last(agent), self._handed_to(agent)
        if hands_over:
            return self._turn(agent, "handoff", last=last, about=AWAY)
        if last and last.sort == "question" and self._source(agent, last) == "":
            return self._turn(agent, "yes", last=last, closes=last)
        if handed and not self._is_in(HUB_AWAY):
            return self._turn(agent, "done", last=last, closes=handed)
        return self._turn(agent, sort, last=last)

    def _turn(self, agent: str, sort: str, *, last: Turn | None, about: str = "", closes: Turn | None = None) -> Turn:
        said, number = SORTS[sort], len(self.written)
        if not about and "{topic}" in said.get("kept", ""):
            present = [name for name in self._present() if name != agent or sort != "handoff"]
            about = closes.about if closes else self.chance.choice(present)
        source = self._source(agent, last)
        words = {
            "n": closes.number if closes else number,
            "topic": FLEET[about]["cares for"] if about else "",
            "to": FLEET[about]["called"] if about else "",
            "heard": self._heard(agent),
        }
        return Turn(
            number=number,
            agent=agent,
            sort=sort,
            session=last.session if last and source != "startup" else f"{agent}-{number:08}",
            about=about,
            source=source,
            times=self.chance.choice((1, 1, 1, 2)),
            prompt=said.get("prompt", "").format(**words, secret=SECRET),
            answer=said["answer"].format(**words, secret=SECRET),
            kept=said.get("kept", "").format(**words, secret=CUT),
            closes=closes,
            again=last if source == "resume" else None,
        )

    def _source(self, agent: str, last: Turn | None) -> str:
        """Return how a session begins now; a question is answered where it was asked."""
        if last is None or (agent == AWAY and last.number < self.turns * AGENT_AWAY[0] <= len(self.written)):
            return "startup"
        so_far = sum(one.agent == agent for one in self.written)
        return "" if so_far % _SESSION or last.sort == "question" else self.chance.choice(("startup", "resume"))

    def _last(self, agent: str) -> Turn | None:
        return next((one for one in reversed(self.written) if one.agent == agent), None)

    def _present(self) -> list[str]:
        return [name for name in FLEET if name != AWAY or not self._is_in(AGENT_AWAY)]

    def _is_in(self, part: tuple[float, float]) -> bool:
        begin, end = (int(self.turns * one) for one in part)
        return begin <= len(self.written) < end

    def _handed_to(self, agent: str) -> Turn | None:
        """Return what was handed to an agent in an earlier session or turn of its own, and is open still."""
        done = [one.closes for one in self.written]
        seen = max((one.number for one in self.written if one.agent == agent), default=0)
        handed = (one for one in self.written[:seen] if one.sort == "handoff" and one.about == agent)
        return next((one for one in handed if one not in done), None)

    def _heard(self, agent: str) -> str:
        """Return what another agent said lately."""
        told = [one.kept for one in self.written if one.sort == "work" and one.about == agent and one.agent != agent]
        return told[-1] if told else "Nothing."
