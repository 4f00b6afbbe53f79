"""The sentences of a Markdown text that its author says: no code, table, quote, heading, log or thinking."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from memory_plane.cues import table
from memory_plane.quotes import own_lines, own_words

_BLANKS = re.compile(r"\s+")
_FENCE = re.compile(r"(?:[-*+]\s+)?(`{3,}|~{3,})")
_ITEM = re.compile(r"(?:[-*+•‣–]|\d{1,3}[.)])\s+")
_CHECKBOX = re.compile(r"\[([ xX-])\]\s+")
_RULE = re.compile(r"[-*_=\s|:+]+")
_LOG = re.compile(
    r"[$%❯>]\s|\+\S|@@|diff --git|index [0-9a-f]{7}|Traceback \(|File \"|at [\w.<$]{1,200} ?[\[(]"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d"
    r"|\[?\d\d:\d\d:\d\d|\w{0,40}(?:Error|Exception): |[\w./~-]{1,80}[:@][\w./~-]{0,80}[$#] |[{}\[\]();<>/\\=|]{3}"
)
_IMAGE = re.compile(r"!\[[^\[\]]{0,300}\]\([^()]{0,1000}\)")
_LINK = re.compile(r"\[([^\[\]]{0,300})\](?:\([^()]{0,1000}\)|\[[^\[\]]{0,100}\])")
_STRUCK = re.compile(r"~~[^~]{1,300}~~")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)")
_END = re.compile(r"[.!?…]+[\"')\]”’»]*(?=\s|$)|[。！？]+[」』”’）]*")
_BEGINNING, _ENDING = 200, 400
"""How many paragraphs of a very long text are looked at: what was done stands at either end."""
_WRAPPED = 60
"""A line of so many characters without a full stop goes on in the next one."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence on one line, and where it stood: in an item of a list, in which paragraph."""

    text: str
    listed: bool
    paragraph: int


def sentences(text: str, *, pasted: bool = False) -> Iterator[Sentence]:
    """Yield the sentences in order, of a very long text those of its beginning and its end.

    `pasted`: people paste into it what others wrote; see `quotes`.
    """
    paragraphs = list(_paragraphs(text, pasted=pasted))
    for number, (paragraph, listed) in enumerate(paragraphs):
        if number < _BEGINNING or number >= len(paragraphs) - _ENDING:
            for sentence in _split(own_words(_plain(paragraph))):
                yield Sentence(sentence, listed, number)


def without(text: str, begin: str, end: str) -> str:
    """Return `text` without what stands between two marks, each pair of them; a mark without its partner stays."""
    parts, done = [], 0
    while (start := text.find(begin, done)) >= 0 and (stop := text.find(end, start + len(begin))) >= 0:
        parts.append(text[done:start])
        done = stop + len(end)
    return "".join([*parts, text[done:]]) if parts else text


def unwrapped(text: str) -> str:
    """Return `text` without what an agent's program put between tags of its own."""
    if "<" in text:
        for tag in _hidden():
            text = without(text, f"<{tag}>", f"</{tag}>")
    return text


@cache
def _hidden() -> tuple[str, ...]:
    return tuple(str(table()["hidden"]["tags"]).split("|"))


def _paragraphs(text: str, *, pasted: bool) -> Iterator[tuple[str, bool]]:
    """Yield (text, whether it is an item of a list); hard-wrapped lines are joined again."""
    held: list[str] = []
    listed = False
    for line, kind in _lines(own_lines(unwrapped(text).splitlines(), pasted=pasted)):
        goes_on = kind == "text" and held and (len(held[-1]) >= _WRAPPED or line[:1].islower())
        if held and not (goes_on and not _END.search(held[-1][-4:])):
            yield " ".join(held), listed
            held = []
        if kind != "gap":
            listed = kind == "item" or (listed and bool(held))
            held.append(line)
    if held:
        yield " ".join(held), listed


def _lines(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield what counts as (line, "text" | "item"), and ("", "gap") for all that only divides."""
    fence, gap, in_list = "", True, False
    for raw in lines:
        line = raw.strip()
        if found := _FENCE.match(line):
            fence = _fence(fence, found[1], line)
        elif not fence and line:
            item = _ITEM.match(line)
            in_list = bool(item) or (in_list and not (gap and raw[:1].strip()))
            code = gap and not in_list and raw.startswith(("    ", "\t"))
            said = "" if code else _said(line[item.end() :] if item else line)
            yield (said, "item" if item else "text") if said else ("", "gap")
            gap = not said
            continue
        gap = True
        yield "", "gap"


def _fence(open_: str, marks: str, line: str) -> str:
    """Return the fence that is open after this line, "" for none."""
    if not open_:
        return marks
    closes = marks[0] == open_[0] and len(marks) >= len(open_) and line.strip(marks[0]) == ""
    return "" if closes else open_


def _said(line: str) -> str:
    """Return what a line says, "" for a quote, table, heading, rule, log or a point that is not done."""
    if line.startswith((">", "|", "#")) or line.count(" | ") > 1 or _RULE.fullmatch(line) or _LOG.match(line):
        return ""
    if box := _CHECKBOX.match(line):
        return line[box.end() :] if box[1] in "xX" else ""
    signs = table()["hidden"]
    if line[0] in signs["undone"]:
        return ""
    return line.lstrip(signs["done"] + "\ufe0f ") if line[0] in signs["done"] else line


def _plain(text: str) -> str:
    """Take the Markdown off; code between backticks stays as it is."""
    if "](" in text or "][" in text:
        text = _LINK.sub(r"\1", _IMAGE.sub("", text))
    parts = text.split("`")
    parts[::2] = [_EMPHASIS.sub("", _TAG.sub("", _STRUCK.sub("", part))) for part in parts[::2]]
    return _BLANKS.sub(" ", "".join(parts)).strip()


def _split(text: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(text):
        if text[end.start()] == "." and _abbreviated(text[max(start, end.start() - 12) : end.start()]):
            continue
        if sentence := text[start : end.end()].strip():
            yield sentence
        start = end.end()
    if sentence := text[start:].strip():
        yield sentence


def _abbreviated(before: str) -> bool:
    word = before.rpartition(" ")[2].lower().lstrip("([\"'“„")
    return (len(word) == 1 and word.isalpha()) or word in _abbreviations()


@cache
def _abbreviations() -> frozenset[str]:
    return frozenset(str(table()["hidden"]["abbreviations"]).split("|"))
