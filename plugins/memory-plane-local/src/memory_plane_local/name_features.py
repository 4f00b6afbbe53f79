"""What the tagger of names sees of a word: its spelling, its shape, lists, classes, and those of its neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

FAR = (-2, 2)
NEAR = (-1, 1)
LONGEST = 3
"""The most words of a listed name."""

_RUNS = re.compile(r"(.)\1{2,}")
_SHAPES = str.maketrans(
    {char: "X" for char in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    | {char: "x" for char in "abcdefghijklmnopqrstuvwxyz"}
    | {char: "0" for char in "0123456789"}
)
Lexicon = Mapping[str, tuple[str, ...]]


def word_features(word: str, lexicon: Lexicon) -> list[str]:
    """Return what is seen of one word; the first three are all that is seen of it from afar."""
    low = word.lower()
    known = lexicon.get(low) or lexicon.get(low.strip("#@'.")) or ("-",)
    found = [f"w={low}", f"s={_shape(word)}", known[0], f"p={low[:3]}", f"u={low[-3:]}", f"v={low[-2:]}", *known[1:]]
    if word[:1].isupper():
        found += ["cap", f"C{known[0]}"]
    if word.isupper() and len(word) > 1:
        found.append("caps")
    return found


def seen_from(distance: int, features: Sequence[str]) -> Iterator[str]:
    """Yield the features of a word as they are seen from the word `distance` before or after it."""
    if distance == 0:
        yield from features
    else:
        for feature in features[:3] if distance in FAR else features:
            yield f"{distance}:{feature}"


def place_features(words: Sequence[str], lexicon: Lexicon) -> list[list[str]]:
    """Return what is seen at each place of a sentence besides its words: ends, shouting, listed names of many words."""
    found: list[list[str]] = [[] for _ in words]
    if not words:
        return found
    found[0].append("first")
    found[-1].append("last")
    letters = [word for word in words if word.isalpha()]
    if sum(word.isupper() for word in letters) > 0.7 * max(1, len(letters)):
        for seen in found:
            seen.append("shout")
    lows = [word.lower() for word in words]
    for at, low in enumerate(lows):
        if f"{low} " not in lexicon:
            continue
        for length in range(2, LONGEST + 1):
            for kind in lexicon.get(" ".join(lows[at : at + length]), ())[1:]:
                for place, seen in enumerate(found[at : at + length]):
                    seen.append(f"{kind}{min(place, 1)}")
    return found


def _shape(word: str) -> str:
    return _RUNS.sub(r"\1\1", word.translate(_SHAPES))
