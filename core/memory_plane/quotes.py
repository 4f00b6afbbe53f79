"""Whose words a text is made of: what its author only pastes or quotes of other people is no word of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from memory_plane.cues import compiled, folded, quoted, table

_INSIDE = re.compile(r"[.!?…]\s")
_FENCE = re.compile(r"\s*(?:[-*+]\s+)?(?:`{3,}|~{3,})")
_RULE = re.compile(r"\s*(?:-{3,}|={3,}|_{3,}|\*{3,})\s*")
_TIME = r"\d{1,2}:\d\d(?::\d\d)?(?:\s?[AaPp]\.?[Mm]\.?)?"
_DAY = r"(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|[Tt]oday|[Yy]esterday)"
_STAMP = rf"(?:{_DAY}(?:,| at)?\s+)?{_TIME}(?:,?\s+{_DAY})?"
_NAME = r"(?P<name>@?[^\W\d_][\w.'’-]{0,30}(?: [\w.'’()-]{1,30}){0,2})"
_STAMPED = (
    re.compile(rf"[\[(]{_STAMP}[\])]\s*[-–—]?\s*{_NAME}(?:\s?:|>)"),
    re.compile(rf"{_STAMP}\s*[-–—|]?\s*{_NAME}\s?:(?!\S)"),
    re.compile(rf"{_NAME},?\s*[\[(]{_STAMP}[\])]"),
    re.compile(rf"{_NAME}(?:\s{{2,}}|\s[-–—]\s){_STAMP}$"),
)
_MARKS = ('"""', "'''")
_TAG = re.compile(r"<(?P<close>/?)(?P<name>[a-z][\w.-]{0,40})(?: [^<>]{0,200})?>")
_SIGNED = " signed"
_ALONE = 300
"""What is longer is no line of marks."""
_GREETING = 4
"""Of how many words a greeting is at most that stands alone."""
_LABELLED = re.compile(rf"{_NAME}\s?: (?=\S)")


def own_lines(lines: Sequence[str], *, pasted: bool = False) -> Iterator[str]:
    """Yield the lines, "" in the place of each that is of a mail, of a chat, or of what follows "Sarah writes:".

    `pasted`: a single line "Sarah: I'll do it" is of a chat as well, as in what a person asks.
    """
    until, fence = "", False
    enclosed, letters = _pasted(lines) if pasted else ((), ())
    for number, raw in enumerate(lines):
        if number in letters and until != "mail":
            until = "mail"
        elif number in enclosed and not until:
            yield ""
            continue
        fence ^= ("```" in raw or "~~~" in raw) and _FENCE.match(raw) is not None
        if not until and (fence or not (":" in raw or "：" in raw or "--" in raw)):
            yield raw
            continue
        line = raw.strip()
        until = _until(until, line, lines[number + 1].strip() if number + 1 < len(lines) else "", pasted=pasted)
        yield raw if until in ("", "next") else ""


def _pasted(lines: Sequence[str]) -> tuple[set[int], set[int]]:
    """Return which lines stand between marks or tags that stand alone, and which begin a letter that is signed."""
    ends: dict[str, int] = {}
    enclosed: set[int] = set()
    letters: set[int] = set()
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    for number in range(len(lines) - 1, -1, -1):
        low = folded(lines[number].strip()[:_ALONE])
        tag = _TAG.fullmatch(low)
        name = tag["name"] if tag else low
        if name in ends and not (tag and tag["close"]):
            enclosed |= {*range(number, ends.pop(name) + 1)}
        elif low in _MARKS or (tag and tag["close"] and name in _tags()):
            ends[name] = number
        elif compiled("quotes.signed").fullmatch(low):
            ends[_SIGNED] = number
        elif number > first and _SIGNED in ends and _greets(low):
            letters.add(number)
            del ends[_SIGNED]
    return enclosed, letters


def _greets(low: str) -> bool:
    words = low.split()
    return 0 < len(words) <= _GREETING and compiled("quotes.greeting").fullmatch(low) is not None


def own_words(paragraph: str) -> str:
    """Return a paragraph without what stands in it between quotation marks or after "Sarah writes:"."""
    parts, done = [], 0
    for start, end in quoted(paragraph):
        if _INSIDE.search(paragraph, start + 1, end):
            parts += [paragraph[done : start + 1], "…"]
            done = end
    paragraph = "".join([*parts, paragraph[done:]])
    said = compiled("quotes.said").search(folded(paragraph))
    return paragraph[: said.end()] if said else paragraph


def _until(until: str, line: str, after: str, *, pasted: bool) -> str:
    """Return what the words of others go on to: the end of a "mail", a "gap", or "" where they are the author's.

    "next": this line says that they follow; "name": below a mail stands who wrote it.
    """
    low = folded(line)
    if _is_header(low) and _is_header(folded(after)):
        return "mail"
    if compiled("quotes.forwarded").match(low):
        return "mail"
    if until == "mail":
        return "name" if compiled("quotes.signed").fullmatch(low) else "" if _RULE.fullmatch(line) else "mail"
    if until == "name":
        return "name" if line else ""
    if _is_chat(line, after, pasted=pasted):
        return "gap"
    if until == "gap":
        return "gap" if line else ""
    if until == "next" and (not line or compiled("quotes.greeting").fullmatch(low)):
        return "mail" if line else "next"
    if until == "next":
        return "" if line.startswith((">", "`")) else "gap"
    return "next" if compiled("quotes.says").fullmatch(low) else ""


def _is_header(low: str) -> bool:
    return compiled("quotes.header").match(low) is not None


def _is_chat(line: str, after: str, *, pasted: bool) -> bool:
    for form in _STAMPED:
        if (found := form.match(line)) and not found["name"][0].islower():
            return True
    if not (name := _label(line)):
        return False
    first = compiled("quotes.first").match(folded(line[len(name) + 1 :]).strip())
    other = _label(after)
    return (bool(first) and (pasted or bool(other))) or bool(name == other and first)


def _label(line: str) -> str:
    """Return who says a line "Sarah: hello", "" where what stands before the colon names no person."""
    found = _LABELLED.match(line)
    if found is None or found["name"][0].islower() or found["name"].isupper():
        return ""
    return "" if _labels() & set(folded(found["name"]).split()) else found["name"]


@cache
def _labels() -> frozenset[str]:
    return frozenset(str(table()["quotes"]["labels"]).split("|"))


@cache
def _tags() -> frozenset[str]:
    return frozenset(str(table()["quotes"]["tags"]).split("|"))
