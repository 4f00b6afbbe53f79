"""Chinese and Japanese have no spaces: cut a run at its function words and where the script changes.

Korean has, but its particles hang on the words before them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from memory_plane_local.tables import words

_HAN = "\u3400"
_REPEATED = "々〇"
"""Signs that stand for ideographs: 佐々木."""
_HANGUL = "\uac00", "\ud7a3"
_PARTICLES = (
    "입니다",
    "이에요",
    "에서",
    "에게",
    "한테",
    "으로",
    "이고",
    "예요",
    "이다",
    *"은는이가을를의에와과도로님씨",
)


def segment(run: str) -> Iterator[tuple[int, str]]:
    """Yield (offset, part) of a word; anything but ideographs and kana stays whole."""
    if max(run) < _HAN and not any("\u3040" <= char <= "\u30ff" for char in run):
        yield 0, run
        return
    if _HANGUL[0] <= run[-1] <= _HANGUL[1]:
        yield from _korean(run)
        return
    start = at = 0
    while at < len(run):
        cue = _cue_at(run, at)
        if cue or (at > start and _script(run[at]) != _script(run[at - 1])):
            if at > start:
                yield start, run[start:at]
            start = at
        if cue:
            yield at, cue
            at += len(cue)
            start = at
        else:
            at += 1
    if start < len(run):
        yield start, run[start:]


def _korean(run: str) -> Iterator[tuple[int, str]]:
    """Cut Latin letters and a particle off: Google에서, 김민준은."""
    begin = next(at for at, char in enumerate(run) if char >= _HANGUL[0])
    if begin:
        yield 0, run[:begin]
    word = run[begin:]
    particle = "" if word in words("scripts.txt") else next(filter(word.endswith, _PARTICLES), "")
    stem = word[: len(word) - len(particle)]
    if stem and (len(stem) > 1 or not particle or stem in words("scripts.txt")):
        yield begin, stem
        if particle:
            yield begin + len(stem), particle
    else:
        yield begin, word


@cache
def _cues() -> dict[str, tuple[str, ...]]:
    """The function words by first character, the longest first."""
    found: dict[str, list[str]] = {}
    for cue in sorted(words("ideographs.txt"), key=len, reverse=True):
        found.setdefault(cue[0], []).append(cue)
    return {first: tuple(cues) for first, cues in found.items()}


def _cue_at(run: str, at: int) -> str:
    return next((cue for cue in _cues().get(run[at], ()) if run.startswith(cue, at)), "")


def _script(char: str) -> str:
    if "\u3040" <= char <= "\u309f":
        return "hiragana"
    if "\u30a0" <= char <= "\u30ff":
        return "katakana"
    return "han" if char >= _HAN or char in _REPEATED else "other"
