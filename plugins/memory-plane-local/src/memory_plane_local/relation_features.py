"""What the scorer of relations sees of two names or pronouns in a sentence: what is between, before and after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from memory_plane_local.name import Name
from memory_plane_local.tables import rows
from memory_plane_local.tokens import Token

_FARTHEST, _CLOSE, _PATTERN = 25, 5, 8
_KINDS = {"Person": "PER", "Agent": "PER", "Organization": "ORG", "Team": "ORG", "Place": "LOC"}
Classes = Callable[[str], str]


class Spot(NamedTuple):
    """A name or pronoun: its first token, the token after its last, its kind, and what the tagger calls it."""

    begin: int
    end: int
    kind: str
    label: str = ""


def spots(tokens: Sequence[Token], names: Sequence[Name]) -> list[Spot]:
    """Return the names and pronouns among the tokens in order; `names` are found by their characters."""
    places = {token.start: at for at, token in enumerate(tokens)}
    found = []
    for name in names:
        begin = places.get(name.start)
        if begin is not None:
            # Where nothing stands between words, a name may have been read of other tokens than these.
            end = min(begin + name.span[1] - name.span[0], len(tokens))
            found.append(Spot(begin, end, _KINDS.get(name.type, "NAME"), name.label))
    taken = {at for spot in found for at in range(spot.begin, spot.end)}
    pronouns = _pronouns()
    found += [
        Spot(at, at + 1, pronouns[token.low])
        for at, token in enumerate(tokens)
        if token.low in pronouns and at not in taken
    ]
    return sorted(found)


@cache
def _pronouns() -> dict[str, str]:
    return {word: kind for kind, text in rows("pronouns.tsv") for word in text.split()}


def pair_features(
    lows: Sequence[str], all_spots: Sequence[Spot], one: Spot, other: Spot, classes: Classes
) -> Iterator[str]:
    """Yield what is seen of `one` as subject and `other` as object; `lows` are the words of the sentence."""
    first, second = sorted((one, other))
    way = "F" if first is one else "R"
    kinds = f"{one.kind}>{other.kind}{way}"
    middle = lows[first.end : second.begin]
    between = [spot for spot in all_spots if first.end <= spot.begin and spot.end <= second.begin]
    yield from ("bias", kinds, f"n{way}{min(len(middle), 12) // 2}", f"{kinds}n{min(len(middle), 12) // 3}")
    labels = f"{one.label}|{other.label}{way}"
    yield from (f"l{labels}", *(f"l{labels}{word}" for word in dict.fromkeys(middle[:_FARTHEST])))
    yield from (f"k{way}{min(len(between), 4)}", f"{kinds}k{min(len(between), 3)}")
    if len(middle) <= _FARTHEST:
        yield from _between(middle, way, kinds, classes)
    if len(middle) <= _CLOSE:
        yield f"M{kinds}{'_'.join(middle)}"
    pattern = _pattern(lows, between, first.end, second.begin)
    if len(pattern) <= _PATTERN:
        yield f"P{kinds}{'_'.join(pattern)}"
    yield from _around(lows[max(0, first.begin - 4) : first.begin], lows[second.end : second.end + 4], way, kinds)
    yield from (f"x{kinds}{word}" for word in dict.fromkeys([*lows[: first.begin][-12:], *lows[second.end :][:12]]))
    for side, spot in (("A", one), ("B", other)):
        last = lows[spot.end - 1]
        yield from (f"{side}l{last}", f"{side}f{lows[spot.begin]}", f"{side}c{classes(last)}")


def _between(middle: Sequence[str], way: str, kinds: str, classes: Classes) -> Iterator[str]:
    for word in dict.fromkeys(middle):
        yield from (f"m{way}{word}", f"{kinds}m{word}")
    for group in dict.fromkeys(map(classes, middle)):
        yield from (f"c{way}{group}", f"{kinds}c{group}")
    yield from (f"m2{way}{one}_{other}" for one, other in pairwise(middle))
    yield from (f"m3{way}{'_'.join(middle[at : at + 3])}" for at in range(len(middle) - 2))
    if middle:
        yield from (f"e{kinds}{middle[0]}", f"z{kinds}{middle[-1]}")


def _around(before: Sequence[str], after: Sequence[str], way: str, kinds: str) -> Iterator[str]:
    yield from (f"b{way}{word}" for word in before)
    yield from (f"a{way}{word}" for word in after)
    if before:
        yield from (f"b1{kinds}{before[-1]}", f"b2{way}{'_'.join(before[-2:])}")
    if after:
        yield from (f"a1{kinds}{after[0]}", f"a2{way}{'_'.join(after[:2])}")


def _pattern(lows: Sequence[str], between: Sequence[Spot], begin: int, end: int) -> list[str]:
    """The words between, each name among them as its kind."""
    kinds = {at: spot.kind for spot in between for at in range(spot.begin, spot.end)}
    found: list[str] = []
    for at in range(begin, end):
        word = kinds.get(at, lows[at])
        if not found or found[-1] != word:
            found.append(word)
    return found
