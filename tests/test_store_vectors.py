from __future__ import annotations

import random
from math import sqrt

from hypothesis import given
from hypothesis import strategies as st

from memory_plane.store import vectors

numbers = st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=200)


@given(numbers)
def test_any_row_is_packed_in_a_byte_a_number(row: list[float]) -> None:
    assert len(vectors.packed(row)) == 8 + len(row)
    assert len(vectors.signs(row)) == (len(row) + 7) // 8


def test_likeness_of_packed_rows_is_the_cosine() -> None:
    some = random.Random(7)
    for _ in range(50):
        one, other = ([some.gauss(0, 1) for _ in range(128)] for _ in range(2))
        cosine = sum(a * b for a, b in zip(one, other, strict=True)) / sqrt(
            sum(a * a for a in one) * sum(b * b for b in other)
        )
        told = vectors.likeness(vectors.whole(vectors.unit(one)), vectors.packed(vectors.unit(other)))
        assert abs(told - cosine) < 0.01


def test_first_number_is_the_first_sign() -> None:
    assert vectors.signs([1.0, *[-1.0] * 8]) == b"\x80\x00"


def test_row_of_zeros_is_like_nothing() -> None:
    assert vectors.likeness(vectors.whole(vectors.unit([0.0, 0.0])), vectors.packed([0.0, 0.0])) == 0
