"""The wire format of System One: three kinds of question about one state, and what their answers must look like.

Only what every server takes is sent: a state that is an object, plain ids, texts as strings. Of an answer only the
probabilities are used, since servers disagree on what confidence is; an answer that breaks the format is no answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_plane.redact import redact_value
from memory_plane.remote_model import RemoteModel, Unusable, tidy

PATH, MODELS = "/v1/systemone", "/v1/models"
LARGEST = 30_000
"""Bytes of one request: a token has at least one, and 32,768 tokens are what a model can take."""
MOST = 40
"""Questions in one request."""
OPTIONS = 48
"""Options of one choice: the format allows 255, some servers 50."""

_SLACK = 0.05
_ROUNDING, _EXACT = 0.005, 1e-7


@dataclass(frozen=True, slots=True)
class Noul:
    """Whether something is so; the answer is a probability."""

    instructions: str
    true: str
    false: str

    def wire(self) -> dict[str, Any]:
        """Return the question as it is sent."""
        return {
            "type": "noul",
            "instructions": self.instructions,
            "criteria": {"true": self.true, "false": self.false},
        }

    def read(self, answer: Mapping[str, Any]) -> dict[str, float]:
        """Return the probability of `true` and of `false`."""
        said = _probability(answer.get("noul"))
        return {"true": said, "false": 1 - said}


@dataclass(frozen=True, slots=True)
class Choice:
    """Which of several options; the answer is a distribution over them."""

    instructions: str
    options: Mapping[str, str]

    def wire(self) -> dict[str, Any]:
        """Return the question as it is sent."""
        return {"type": "choice", "instructions": self.instructions, "criteria": dict(self.options)}

    def read(self, answer: Mapping[str, Any]) -> dict[str, float]:
        """Return the probability of each option."""
        said = _distribution(answer.get("probabilities"), list(self.options))
        chosen = answer.get("choice")
        if chosen not in said or said[chosen] < max(said.values()) - 2 * _ROUNDING:
            raise Unusable("a choice is not the likeliest option")
        return said


@dataclass(frozen=True, slots=True)
class Score:
    """How much, on levels from the least to the most; the answer is a distribution over them."""

    instructions: str
    levels: Sequence[str]

    def wire(self) -> dict[str, Any]:
        """Return the question as it is sent."""
        return {"type": "score", "instructions": self.instructions, "criteria": list(self.levels)}

    def read(self, answer: Mapping[str, Any]) -> dict[str, float]:
        """Return the probability of each level; their order is that of the question."""
        numbers = [str(number) for number in range(len(self.levels))]
        legend = answer.get("legend")
        if isinstance(legend, Mapping) and set(legend) != set(numbers):
            raise Unusable("the levels of a score are numbered otherwise")
        said = _distribution(answer.get("probabilities"), numbers)
        return {level: said[number] for number, level in zip(numbers, self.levels, strict=True)}


Question = Noul | Choice | Score
Answers = dict[str, dict[str, float]]


def expected(said: Mapping[str, float]) -> float:
    """Return the expected level of a score, 0 for the least and 1 for the most."""
    if len(said) < 2:
        return 0.0
    return sum(number * share for number, share in enumerate(said.values())) / (len(said) - 1)


class SystemOne:
    """Asks one server; `answered_by` is the model that it named last."""

    def __init__(self, remote: RemoteModel, model: str) -> None:
        self.remote = remote
        self.model = model
        self.answered_by = ""

    def ask(self, state: Mapping[str, Any], questions: Mapping[str, Question]) -> Answers:
        """Return the distributions by question, in as few requests as they fit; one without an answer is left out.

        Raise `ModelUnavailable` when there is no usable answer at all.
        """
        found: Answers = {}
        safe: Mapping[str, Any] = redact_value(state)
        for part in _parts(safe, questions):
            names = dict(zip((f"q{number}" for number in range(1, len(part) + 1)), part, strict=True))
            body = {
                "model": self.model,
                "state": safe,
                "questions": {id: redact_value(questions[name].wire()) for id, name in names.items()},
            }

            def read(said: Any, names: Mapping[str, str] = names) -> tuple[str, Answers]:
                return _read(said, {id: (name, questions[name]) for id, name in names.items()})

            self.answered_by, answers = self.remote.ask(PATH, body, read)
            found |= answers
        return found

    def models(self) -> list[str]:
        """Return the names of the models that the server has; raise `ModelUnavailable` where it does not tell."""
        said = self.remote.fetch(MODELS)
        entries = said.get("models") if isinstance(said, dict) else None
        listed = entries if isinstance(entries, list) else []
        named = (entry.get("name") if isinstance(entry, dict) else None for entry in listed)
        return [name for name in map(tidy, named) if name]


def _parts(state: Mapping[str, Any], questions: Mapping[str, Question]) -> Iterator[list[str]]:
    """Share the questions out among requests; one that fits in none is not asked."""
    room = LARGEST - _size(state)
    part: list[str] = []
    taken = 0
    for name, question in questions.items():
        size = _size(question.wire())
        if size > room:
            continue
        if part and (taken + size > room or len(part) == MOST):
            yield part
            part, taken = [], 0
        part.append(name)
        taken += size
    if part:
        yield part


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())


def _read(said: Any, asked: Mapping[str, tuple[str, Question]]) -> tuple[str, Answers]:
    """Return the model and the answers that are such; raise `Unusable` where there is none."""
    answers = said.get("answers") if isinstance(said, dict) else None
    if not isinstance(answers, dict):
        raise Unusable("it has no answers")
    found: Answers = {}
    trouble = Unusable("it answers none of the questions")
    for id, (name, question) in asked.items():
        try:
            if id in answers:
                found[name] = _answer(answers[id], question)
        except Unusable as error:
            trouble = error
    if not found:
        raise trouble
    return tidy(said.get("model")), found


def _answer(answer: Any, question: Question) -> dict[str, float]:
    if not isinstance(answer, dict) or answer.get("type") != question.wire()["type"]:
        raise Unusable("an answer is of another type than its question")
    return question.read(answer)


def _probability(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:  # nan is not
        raise Unusable("a probability is not within 0 to 1")
    return float(value)


def _distribution(value: Any, keys: Sequence[str]) -> dict[str, float]:
    """Return probabilities that sum to 1; a server may have rounded them."""
    if not isinstance(value, dict) or set(value) != set(keys):
        raise Unusable("the probabilities are not those of the options")
    shares = {key: _probability(value[key]) for key in keys}
    total = sum(shares.values())
    rounded = all(abs(share - round(share, 2)) < _EXACT for share in shares.values())
    if abs(total - 1) > (max(_SLACK, _ROUNDING * len(keys)) if rounded else _SLACK):
        raise Unusable("the probabilities do not sum to 1")
    return {key: share / total for key, share in shares.items()}
