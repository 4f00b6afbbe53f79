"""Chinese and Japanese have no spaces: cut a run at its function words and where the script changes."""

from __future__ import annotations

from collections.abc import Iterator

from memory_plane_local.tables import words

_HAN = "\u3400"
_LONGEST = 6


def segment(run: str) -> Iterator[tuple[int, str]]:
    """Yield (offset, part) of a word; anything but ideographs and kana stays whole."""
    if max(run) < _HAN and not any("\u3040" <= char <= "\u30ff" for char in run):
        yield 0, run
        return
    cues = words("ideographs.txt")
    start = at = 0
    while at < len(run):
        cue = _cue_at(run, at, cues)
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


def _cue_at(run: str, at: int, cues: frozenset[str]) -> str:
    for length in range(_LONGEST, 0, -1):
        piece = run[at : at + length]
        if piece in cues:
            return piece
    return ""


def _script(char: str) -> str:
    if "\u3040" <= char <= "\u309f":
        return "hiragana"
    if "\u30a0" <= char <= "\u30ff":
        return "katakana"
    return "han" if char >= _HAN else "other"
