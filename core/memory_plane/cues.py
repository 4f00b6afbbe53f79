"""By which words a sentence is worth keeping: the table capture_cues.toml, compiled."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from memory_plane.types import Kind

_APOSTROPHES = str.maketrans("’‘ʼ", "'''")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_LONGEST = 1_000
"""What is longer is no sentence."""
_CLOSING = {'"': '"', "“": "”", "„": "“”", "«": "»", "「": "」", "『": "』"}
_MARK = re.compile(f"[{''.join(_CLOSING)}]")
_QUOTE = 2_000
"""How far a quotation mark looks for its partner, in characters."""
_SAYING = 3
"""What has fewer words between quotation marks is a name."""
_STEM = 3
_POSSESSIVE = re.compile(r"'s\b")
_COMMAND = re.compile(r"/[\w:-]{1,40}")
_IDEOGRAPH = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Cue:
    """One way to say something worth keeping."""

    kind: Kind
    weight: int
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Found:
    """What a sentence is, how much it counts, and to whom it is addressed."""

    kind: Kind
    weight: int
    to: str | None = None


def read(sentence: str, *, said: str) -> Found | None:
    """Return what a sentence of the "prompt" or "answer" is worth keeping as, None for most."""
    if len(sentence) > _LONGEST:
        return None
    low = folded(masked(sentence))
    asked = low.endswith(("?", "？"))
    low = low.rstrip(".!…。！")
    for cue in _cues(said):
        if asked and not (cue.kind == "handoff" and said == "prompt"):
            continue
        found = cue.pattern.search(low)
        if found is None or against("before", low[max(0, found.start() - 240) : found.start()]):
            continue
        if against("anywhere", low) and not (cue.kind == "handoff" and said == "prompt"):
            return None
        return Found(cue.kind, cue.weight, _agent(found.groupdict().get("to"), sentence))
    return None


def doer(sentence: str) -> str | None:
    """Return the agent that a sentence names as who did what it tells, None where it is who says it, or nobody."""
    low = folded(masked(sentence[:_LONGEST]))
    if compiled("doer.own").search(low):
        return None
    for found in compiled("doer.other").finditer(low):
        who = str(found.lastgroup)
        name, start = found[who], found.start(who)
        written = sentence[start : start + 1] if len(low) == len(sentence) else "A"
        if name not in _words_too() or written.isupper() or sentence[max(0, start - 1) : start] == "@":
            return _names()[name]
    return None


def is_own(sentence: str) -> bool:
    """Whether a sentence says of itself that who speaks did it: "I shipped it", but not "It is shipped"."""
    return compiled("doer.first").search(folded(masked(sentence[:_LONGEST]))) is not None


def deed(sentence: str) -> frozenset[str]:
    """Return the words of a deed, whatever their order, form and voice, without those that say nothing."""
    words = _WORD.findall(_POSSESSIVE.sub("", folded(sentence)))
    return frozenset(_alike().get(word) or _stem(word) for word in words if word not in _plain())


def _stem(word: str) -> str:
    for end in ("ing", "ed", "es", "s"):
        if word.endswith(end) and len(word) - len(end) >= _STEM:
            return word[: -len(end)]
    return word


def quoted(text: str) -> Iterator[tuple[int, int]]:
    """Yield where something stands between quotation marks: the places of the two."""
    at = 0
    for mark in _MARK.finditer(text):
        start = mark.start()
        if start >= at and (end := text.find(_CLOSING[mark[0]], start + 1, start + _QUOTE)) > 0:
            yield start, end
            at = end + 1


def masked(sentence: str) -> str:
    """Return a sentence, as long as it was, in which no words between quotation marks can be read; a name can."""
    for start, end in quoted(sentence):
        if len(sentence[start:end].split()) >= _SAYING:
            said = "".join("x" if sign.isalnum() else sign for sign in sentence[start:end])
            sentence = sentence[:start] + said + sentence[end:]
    return sentence


def folded(text: str) -> str:
    """Return `text` as the cues see it."""
    return text.translate(_APOSTROPHES).lower()


def against(name: str, low: str) -> bool:
    """Whether the pattern of this name in [against] finds something in folded text."""
    return compiled(f"against.{name}").search(low) is not None


def content(low: str) -> int:
    """Count the words that say something, two characters of Chinese as one word."""
    plain = _IDEOGRAPH.sub(" ", low)
    said = sum(1 for word in _WORD.findall(plain) if word not in _talk() and len(word) > 1)
    return said + (len(low) - len(_IDEOGRAPH.sub("", low))) // 2


def small_talk(prompt: str) -> bool:
    """Whether a prompt says nothing of what the agent is to do."""
    low = folded(prompt).strip()
    return _COMMAND.fullmatch(low) is not None or content(low) == 0 or compiled("talk.opening").match(low) is not None


def to_the_point(sentence: str) -> str:
    """Return what somebody wants without "ok, can you please" before it."""
    filler = compiled("talk.filler").match(folded(sentence))
    return sentence[filler.end() :].rstrip("?") if filler else sentence


@cache
def table() -> Mapping[str, Any]:
    """Return the table as it is written."""
    return tomllib.loads(Path(__file__).with_name("capture_cues.toml").read_text("utf-8"))


@cache
def _cues(said: str) -> tuple[Cue, ...]:
    return tuple(
        Cue(cue["kind"], cue["weight"], re.compile(_filled(cue["pattern"])))
        for cue in table()["cue"]
        if cue.get("said", said) == said
    )


@cache
def compiled(place: str) -> re.Pattern[str]:
    """Return the pattern at a place of the table such as "talk.opening"."""
    section, _, name = place.partition(".")
    return re.compile(_filled(table()[section][name]))


def _filled(pattern: str) -> str:
    words = table()["words"] | {"agent": "|".join(sorted(_names(), key=len, reverse=True))}
    while (filled := re.sub(r"%([a-z_]+)%", lambda part: words[part[1]], pattern)) != pattern:
        pattern = filled
    return pattern


@cache
def _names() -> Mapping[str, str]:
    return {name: agent for agent, names in table()["agents"].items() for name in names.split("|")}


@cache
def _alike() -> Mapping[str, str]:
    groups = (group.split("|") for group in table()["doer"]["same"])
    return {word: group[0] for group in groups for word in group}


@cache
def _plain() -> frozenset[str]:
    return frozenset(table()["doer"]["plain"].split("|"))


@cache
def _words_too() -> frozenset[str]:
    return frozenset(table()["doer"]["words_too"].split("|"))


@cache
def _talk() -> frozenset[str]:
    return frozenset(table()["talk"]["words"].split("|"))


def _agent(name: str | None, sentence: str) -> str | None:
    """Return the id of the agent that is called so, or the name as it was written."""
    if name is None or name in _names():
        return _names().get(name or "")
    place = folded(sentence).find(name)
    return sentence[place : place + len(name)]
