"""Whatever a server answers, it is either an answer within bounds or none."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_plane.endpoint import Endpoint
from memory_plane.errors import ModelUnavailable
from memory_plane.remote_model import RemoteModel, Unusable
from memory_plane.spending import Spending
from memory_plane_jev.systemone import LARGEST, MOST, Choice, Noul, Question, Score, SystemOne, _parts, _read, expected

QUESTIONS: dict[str, Question] = {
    "durable": Noul("Is it?", "yes", "no"),
    "kind": Choice("What?", {"fact": "so it is", "task": "to be done"}),
    "salience": Score("How much?", ("trivial", "useful", "critical")),
}
ASKED = {f"q{number}": entry for number, entry in enumerate(QUESTIONS.items(), 1)}

number = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True), st.integers(-3, 3), st.booleans(), st.none(), st.just(10**400)
)
key = st.sampled_from(["fact", "task", "Fact", "0", "1", "2", "3", "x"])
shares = st.one_of(st.dictionaries(key, number, max_size=4), number, st.lists(number, max_size=2), st.text(max_size=3))
answer = st.one_of(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["noul", "choice", "score", "boolean", None])},
        optional={"noul": number, "choice": st.one_of(key, number), "probabilities": shares, "score": number,
                  "confidence": number, "legend": shares},
    ),
    number,
    st.text(max_size=3),
)  # fmt: skip
said = st.one_of(
    st.fixed_dictionaries(
        {"answers": st.one_of(st.dictionaries(st.sampled_from(["q1", "q2", "q3", "q4"]), answer), number)},
        optional={"model": st.one_of(st.text(max_size=200), number), "usage": shares},
    ),
    number,
    st.lists(answer, max_size=2),
)


@settings(max_examples=300, deadline=None)
@given(said)
def test_answer_is_within_bounds_or_none(said: Any) -> None:
    try:
        model, found = _read(said, ASKED)
    except Unusable:
        return
    assert len(model) <= 80
    assert found
    for name, distribution in found.items():
        assert set(distribution) == {
            "durable": {"true", "false"}, "kind": {"fact", "task"}, "salience": {"trivial", "useful", "critical"}
        }[name]  # fmt: skip
        assert sum(distribution.values()) == pytest.approx(1)
        assert all(0 <= share <= 1 for share in distribution.values())
        assert 0 <= expected(distribution) <= 1


@pytest.mark.parametrize("rounded", [[0.33, 0.33, 0.33], [0.34, 0.34, 0.34], [1.0, 0.0, 0.0]])
def test_probabilities_that_were_rounded_are_taken(rounded: list[float]) -> None:
    answers = {"q3": {"type": "score", "probabilities": {str(at): share for at, share in enumerate(rounded)}}}
    _, found = _read({"answers": answers}, ASKED)
    assert sum(found["salience"].values()) == pytest.approx(1)


@given(st.lists(st.integers(1, 9_000), max_size=120), st.integers(0, LARGEST))
@settings(max_examples=100, deadline=None)
def test_requests_are_bounded_and_lose_no_question_that_fits(sizes: list[int], state: int) -> None:
    questions: dict[str, Question] = {f"{at}": Noul("x" * size, "yes", "no") for at, size in enumerate(sizes)}
    parts = list(_parts({"text": "y" * state}, questions))
    asked = [name for part in parts for name in part]
    assert asked == sorted(set(asked), key=int)
    assert all(len(part) <= MOST for part in parts)
    room = LARGEST - state - 12
    assert {name for name, size in questions.items() if len(str(size.wire())) + 200 < room} <= set(asked)


def test_ids_that_nobody_asked_are_left_alone_and_of_two_the_last_counts_as_for_the_sdk() -> None:
    noul = '{"type": "noul", "noul": %s}'
    answers = ", ".join(f'"{id}": {noul % said}' for id, said in (("q1", 0.2), ("q9", 0.5), ("", 0.5), ("q1", 0.9)))
    body = f'{{"model": "m", "answers": {{{answers}}}}}'
    model = RemoteModel(
        Endpoint(url="http://127.0.0.1:1"),
        Spending(None, 10_000),
        transport=httpx.MockTransport(lambda _: httpx.Response(200, text=body)),
    )
    assert SystemOne(model, "m").ask({"text": "x"}, QUESTIONS) == {"durable": {"true": 0.9, "false": 1 - 0.9}}
    model.close()


@pytest.mark.parametrize("said", ["NaN", "Infinity", "-0.1", "1.1", "1e400", "1" * 400, "true", '"0.5"', "null"])
def test_number_that_is_no_probability_is_no_answer(said: str) -> None:
    body = f'{{"answers": {{"q1": {{"type": "noul", "noul": {said}}}}}}}'
    model = RemoteModel(
        Endpoint(url="http://127.0.0.1:1"),
        Spending(None, 10_000),
        transport=httpx.MockTransport(lambda _: httpx.Response(200, text=body)),
    )
    with pytest.raises(ModelUnavailable, match="a probability is not within 0 to 1"):
        SystemOne(model, "m").ask({"text": "x"}, QUESTIONS)
    model.close()


def test_server_without_an_answer_to_one_question_answers_the_others() -> None:
    body = {"answers": {"q1": {"type": "noul", "noul": 0.9}, "q2": {"type": "choice"}}}
    model = RemoteModel(
        Endpoint(url="http://127.0.0.1:1"),
        Spending(None, 10_000),
        transport=httpx.MockTransport(lambda _: httpx.Response(200, json=body)),
    )
    assert set(SystemOne(model, "m").ask({"text": "x"}, QUESTIONS)) == {"durable"}
    model.close()
