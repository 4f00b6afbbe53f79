"""Dialogues with questions whose evidence is known, in one shape: LoCoMo, LongMemEval's file format and BEAM.

The files are those of their authors; none is part of this project.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

MINUTE = timedelta(minutes=1)
START = datetime(2024, 1, 1, 9, tzinfo=UTC)
"""Where the clock of a dialogue without times begins."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said; `origin` is `user` for people, `agent` for an assistant."""

    id: str
    speaker: str
    at: datetime
    text: str
    origin: str = "user"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its kind, and the ids of the turns that answer it."""

    text: str
    kind: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """All that was said before some questions are asked."""

    name: str
    turns: Sequence[Turn]
    questions: Sequence[Question]


# --- LoCoMo ------------------------------------------------------------------------------------------------------

LOCOMO = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_LOCOMO_ID = re.compile(r"D:?(\d+):(\d+)")


def locomo(path: Path) -> Iterator[Dialogue]:
    """Read `locomo10.json`, or a part of it. A photo is in the text by its caption, as `[photo: …]`."""
    for sample in json.loads(path.read_text("utf-8")):
        said = sample["conversation"]
        turns: list[Turn] = []
        for number in range(1, 100):
            at = _locomo_time(said.get(f"session_{number}_date_time", ""))
            for place, turn in enumerate(said.get(f"session_{number}") or ()):
                photo = f" [photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
                turns.append(Turn(turn["dia_id"], turn["speaker"], at + place * MINUTE, turn["text"] + photo))
        ids = {turn.id for turn in turns}
        questions = []
        for one in sample["qa"]:
            named = (
                f"D{int(a)}:{int(b)}" for raw in one.get("evidence") or () for a, b in _LOCOMO_ID.findall(str(raw))
            )
            questions.append(Question(str(one["question"]), LOCOMO[one["category"]], frozenset(named) & ids))
        yield Dialogue(sample["sample_id"], turns, [one for one in questions if one.evidence])


def _locomo_time(said: str) -> datetime:
    """Read `1:56 pm on 8 May, 2023`."""
    return datetime.strptime(said, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC) if said else START


# --- LongMemEval -------------------------------------------------------------------------------------------------

_LONGMEMEVAL_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2})(?:.*?(\d{2}):(\d{2}))?")


def longmemeval(path: Path) -> Iterator[Dialogue]:
    """Read a file of LongMemEval: each question has a haystack of its own; those to abstain from have no evidence."""
    for sample in json.loads(path.read_text("utf-8")):
        turns: list[Turn] = []
        evidence: set[str] = set()
        names = sample.get("haystack_session_ids") or [str(n) for n, _ in enumerate(sample["haystack_sessions"])]
        dates = sample.get("haystack_dates") or [""] * len(names)
        for name, date, session in zip(names, dates, sample["haystack_sessions"], strict=True):
            at = _longmemeval_time(date)
            for place, turn in enumerate(session):
                origin = "user" if turn["role"] == "user" else "agent"
                turns.append(Turn(f"{name}:{place}", turn["role"], at + place * MINUTE, turn["content"], origin))
                evidence |= {f"{name}:{place}"} if turn.get("has_answer") else set()
        question = Question(sample["question"], sample["question_type"], frozenset(evidence))
        yield Dialogue(sample["question_id"], turns, [question] if evidence else [])


def _longmemeval_time(said: str) -> datetime:
    """Read `2023/05/20 (Sat) 02:21`."""
    found = _LONGMEMEVAL_DATE.search(said)
    return datetime(*(int(part or 0) for part in found.groups()), tzinfo=UTC) if found else START  # type: ignore[arg-type, misc]


# --- BEAM --------------------------------------------------------------------------------------------------------

_BEAM_ARROW = re.compile(r"->\s*->\s*[\d, N/A]+\s*$")


def beam(folder: Path) -> Iterator[Dialogue]:
    """Read `chats/100K` of BEAM: folders with `chat.json` and `probing_questions/probing_questions.json`."""
    for file in sorted(folder.glob("*/chat.json"), key=lambda path: path.parent.name.zfill(8)):
        turns: list[Turn] = []
        at = START
        for batch in json.loads(file.read_text("utf-8")):
            for said in (message for group in batch["turns"] for message in group):
                at = _beam_time(said.get("time_anchor")) or at + MINUTE
                origin = "user" if said["role"] == "user" else "agent"
                turns.append(Turn(str(said["id"]), said["role"], at, _BEAM_ARROW.sub("", said["content"]), origin))
        ids = {turn.id for turn in turns}
        asked = json.loads((file.parent / "probing_questions" / "probing_questions.json").read_text("utf-8"))
        questions = [
            Question(one["question"], kind, frozenset(map(str, _numbers(one.get("source_chat_ids")))) & ids)
            for kind, ones in asked.items()
            for one in ones
        ]
        yield Dialogue(file.parent.name, turns, [one for one in questions if one.evidence])


def _beam_time(said: str | None) -> datetime | None:
    """Read `March-15-2024`."""
    try:
        return datetime.strptime(said or "", "%B-%d-%Y").replace(tzinfo=UTC)
    except ValueError:
        return None


def _numbers(said: Any) -> Iterator[int]:
    if isinstance(said, bool) or said is None:
        return
    if isinstance(said, int):
        yield said
    elif isinstance(said, str):
        yield from map(int, re.findall(r"\d+", said))
    else:
        for one in said.values() if isinstance(said, dict) else said:
            yield from _numbers(one)


SETS: dict[str, Callable[[Path], Iterator[Dialogue]]] = {"locomo": locomo, "longmemeval": longmemeval, "beam": beam}
