"""What of an agent's turn is worth keeping: its focus and at most a few thoughts, found without any model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid5

from memory_plane import cues, prose
from memory_plane.cues import Found
from memory_plane.echoes import without_ours
from memory_plane.projects import project_of
from memory_plane.prose import Sentence
from memory_plane.types import NAMESPACE, OpenItem, Operation, Origin

__all__ = ["Turn", "operations", "project_of", "without_ours"]

FOCUS = 120
"""The longest focus, in characters."""
TEXT = 300
"""The longest thought, in characters."""
MOST = 4
"""How many thoughts one turn may become."""

_LEAST = 2
"""Words that say something: "Fixed it" tells nobody anything."""
_VAGUE = 4
"""A question of fewer such words is kept together with the sentence before it."""
_BEGINNING, _ENDING = 200, 400
"""How many sentences of a very long text are looked at."""
_PASTED = 2_000
"""Of a longer prompt only the first and the last paragraph are the person's own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of one agent, as its plugin read it.

    `session` is the agent's own id of the conversation and `id` its own id of the turn, "" if it gives none; `at` is
    aware; `prompt` is what the person asked and `answer` what the agent said last, `before` what it had said last
    before the prompt, all "" if unknown. With `before`, the question that the prompt answers is closed. `asked` are the
    agent's open questions: a prompt that comes without its answer closes those of its session.
    """

    agent: str
    session: str
    id: str
    at: datetime
    prompt: str = ""
    answer: str = ""
    before: str = ""
    project: str | None = None
    origin: Origin = "agent"
    asked: Sequence[OpenItem] = ()


@dataclass(frozen=True, slots=True)
class _Kept:
    text: str
    found: Found
    origin: Origin
    listed: bool = False


def operations(turn: Turn) -> tuple[Operation, ...]:
    """Return what the turn becomes: its focus and at most `MOST` thoughts, nothing for small talk.

    The ids follow from agent, session and what was said, so a turn that is read again adds nothing.
    """
    asked, answered = _sentences(turn.prompt, pasted=True), _sentences(turn.answer)
    kept = _most_telling([*_of_prompt(turn, asked), *_of_answer(turn, answered)])
    return (*_closing(turn, answered), *_heartbeat(turn, asked, kept), *(_thought(turn, one) for one in kept))


def _sentences(text: str, *, pasted: bool = False) -> list[Sentence]:
    found = list(prose.sentences(without_ours(_whole(text)), pasted=pasted)) if text else []
    return found if len(found) <= _BEGINNING + _ENDING else [*found[:_BEGINNING], *found[-_ENDING:]]


# --- thoughts ----------------------------------------------------------------------------------------------------


def _of_prompt(turn: Turn, asked: Sequence[Sentence]) -> Iterator[_Kept]:
    """Yield what the person decided, promised or handed over; the words of others hand nothing over."""
    origin: Origin = "external" if turn.origin == "external" else "user"
    pasted = len(turn.prompt) > _PASTED
    for one in asked:
        if pasted and one.paragraph not in (asked[0].paragraph, asked[-1].paragraph):
            continue
        found = cues.read(one.text, said="prompt")
        if found and _tells(turn, one.text, found):
            yield _Kept(one.text, found, origin)


def _of_answer(turn: Turn, answered: Sequence[Sentence]) -> Iterator[_Kept]:
    if answered and cues.against("trouble", cues.folded(answered[0].text)):
        return
    for one in answered:
        found = cues.read(one.text, said="answer")
        if found and _tells(turn, one.text, found):
            yield _Kept(one.text, found, turn.origin, one.listed)
    if question := _question(turn, answered):
        yield _Kept(question, Found("question", 3), turn.origin)


def _tells(turn: Turn, text: str, found: Found) -> bool:
    if found.kind == "handoff" and (found.to == turn.agent or turn.origin == "external"):
        return False
    if found.kind == "milestone" and (doer := cues.doer(text)) and _family(doer) != _family(turn.agent):
        return False
    return cues.content(cues.folded(text)) >= _LEAST


def _family(agent: str) -> str:
    """Return what the ids of one maker's agents have in common: Claude may be any of them."""
    return agent.partition("-")[0]


def _question(turn: Turn, answered: Sequence[Sentence]) -> str | None:
    """Return what the answer asks the person at its end, with the sentence before where it says little by itself.

    What is kept as a thought of its own is not told twice.
    """
    for place in range(len(answered) - 1, max(len(answered) - 3, -1), -1):
        text = answered[place].text
        low = cues.folded(text)
        if not low.endswith(("?", "？")) or cues.against("courtesy", low) or cues.content(low) < _LEAST:
            continue
        before = answered[place - 1].text if place else ""
        short = cues.content(low) < _VAGUE and 0 < len(before) < TEXT - len(text)
        asked = before.endswith(("?", "？"))
        return f"{before} {text}" if short and not asked and not cues.read(before, said="answer") else text
    return None


def _most_telling(kept: Sequence[_Kept]) -> list[_Kept]:
    """Return at most `MOST` in the order in which they were said; points of a list count where nothing else tells."""
    told = any(one.found.kind == "milestone" and not one.listed for one in kept)
    left = [one for one in kept if not (told and one.listed and one.found.kind == "milestone")]
    once = list({cues.folded(one.text): one for one in reversed(left)}.values())[::-1]
    best = sorted(range(len(once)), key=lambda place: (-once[place].found.weight, place))[:MOST]
    return [once[place] for place in sorted(best)]


def _thought(turn: Turn, kept: _Kept) -> Operation:
    body = {
        "text": _short(kept.text, TEXT),
        "kind": kept.found.kind,
        "origin": kept.origin,
        "project": turn.project,
        "to": kept.found.to,
        "thread": _whole(turn.session[:512]) or None,
    }
    return _operation(turn, "thought", _key(kept.text), body)


# --- what the agent works on, and what the prompt answered ---------------------------------------------------------


def _heartbeat(turn: Turn, asked: Sequence[Sentence], kept: Sequence[_Kept]) -> Iterator[Operation]:
    """Yield the focus, unless nothing says it but what is kept as a thought: no page shall tell a thing twice."""
    told = {one.text for one in kept}
    focus = _focus([one.text for one in asked if one.text not in told])
    if focus and turn.origin != "external":
        body = {"focus": _short(focus, FOCUS), "project": turn.project}
        yield _operation(turn, "heartbeat", turn.id or _key(focus), body)


def _focus(asked: Sequence[str]) -> str:
    """Return what the person wants: the first sentence that says enough, "" for small talk."""
    if not asked or cues.small_talk(" ".join(asked[:5])):
        return ""
    points = [cues.to_the_point(one) for one in asked]
    return max(points, key=lambda point: min(cues.content(cues.folded(point)), _LEAST))


def _closing(turn: Turn, answered: Sequence[Sentence]) -> Iterator[Operation]:
    """Yield the end of the questions that the prompt answers, whatever it says: the conversation went on."""
    if not turn.prompt.strip() or turn.origin == "external":
        return
    asked_again = _question(turn, answered)
    for item in dict.fromkeys(_answered(turn)):
        if asked_again and item == _id(turn, "thought", _key(asked_again)):
            continue
        body = {"item": item, "status": "answered", "note": _short(" ".join(_whole(turn.prompt).split()), TEXT)}
        yield _operation(turn, "resolve", item, body)


def _answered(turn: Turn) -> Iterator[str]:
    """Yield the ids of the questions; that they follow from the session tells them from those of others."""
    if turn.before and (question := _question(turn, _sentences(turn.before))):
        yield _id(turn, "thought", _key(question))
    for one in turn.asked if not turn.answer else ():
        if one.created_at < turn.at and one.id == _id(turn, "thought", _key(one.text)):
            yield one.id


def _key(text: str) -> str:
    return " ".join(cues.folded(text).split())


def _id(turn: Turn, op: str, key: str) -> str:
    return str(uuid5(NAMESPACE, _whole("\n".join(("turn", turn.agent, turn.session, op, key)))))


def _whole(text: str) -> str:
    """Replace half characters, which JSON can hold and nothing can store."""
    return text.encode("utf-8", "replace").decode()


def _operation(turn: Turn, op: str, key: str, body: dict[str, Any]) -> Operation:
    known = {name: value for name, value in body.items() if value is not None}
    return Operation(id=_id(turn, op, key), op=op, agent=turn.agent, created_at=turn.at, body=known)


def _short(text: str, limit: int) -> str:
    """Cut between two words; Chinese has none."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    words = head.rpartition(" ")[0]
    return f"{words if len(words) > limit // 2 else head}…".replace(",…", "…")
