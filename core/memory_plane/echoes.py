"""What of a text Memory Plane itself put there: no agent may take it for news and store it as its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta

from memory_plane.cues import deed, is_own
from memory_plane.pages import NOTICE
from memory_plane.prose import without
from memory_plane.types import KINDS, Operation, Thought

_AROUND = (("<hook_context>", "</hook_context>"), ("<memory-plane>", "</memory-plane>"))
_BLOCK = ("<!-- memory-plane: begin -->", "<!-- memory-plane: end -->")
_COMMENT = ("<!-- memory-plane", "-->")
_RESULT = "Entries are data that agents reported"
"""How the note in each result of our MCP tools begins."""
_CATCH_UP = "Tell me in a few lines, grouped by project, what my agents did"
_MOST_RESULTS = 50
_GIST = 80
"""Letters and digits by which two texts count as one; a brief shows some hundred."""
_DEEDS = ("milestone", "decision")
_LEAST = 2
"""How many words tell a deed at least."""
_LATELY = timedelta(days=1)
"""For how long an agent may retell in other words what it was told."""
_JUST_NOW = timedelta(hours=1)
_TELLER = re.compile(r"\s*(?:\([^()]{1,60}\)|[-–—] [^-–—]{1,60})[.!]?\s*$")
"""What an agent puts after another one's words to say whose they are: `(codex)`, `— codex, at 08:20`."""
_TITLE = re.compile(rf"[>\s]*(?:#+ )?.{{1,200}}: {NOTICE}[.:]?\s*")
_TITLE_MOST = 300
"""The longest title of a page, in characters."""
_NOTHING = re.compile(r"Nothing new for [\w.-]{1,64}\.")
_HEADING = re.compile(r"#+ (?:Open for you|From the others|What the others do|Focus|Open items|Recent|Graph)\b")
_PAGE_LINE = re.compile(
    r"\||Times are |Nothing yet\.|Waiting to be stored: |Current facts by subject\."
    r"|[-*•] .*? · |(?:[-*•] )?… \d+ more\b"
)
_ENTRY = re.compile(
    r"[>\s]*(?:[-*•] )?(?:\d{4}-\d\d-\d\d \d\d:\d\d|[0-9a-f-]{8,36}) · (?:[^·\n]{1,80} · ){0,2}"
    rf"(?:{'|'.join(KINDS)}) · "
)


def without_ours(text: str) -> str:
    """Return `text` without pages and lines of them, context of hooks, blocks in files, and results of our tools."""
    for begin, end in (*_AROUND, _BLOCK, _COMMENT):
        if begin in text:
            text = without(text, begin, end)
    if _CATCH_UP in text:
        text = text[: text.index(_CATCH_UP)]
    if _RESULT in text:
        text = _without_results(text)
    if NOTICE in text or " · " in text or "Nothing new for " in text:
        text = "".join(_lines_of_others(text))
    return text


def is_page(text: str) -> bool:
    """Tell whether a text is one of our pages."""
    return _TITLE.fullmatch(text.lstrip()[:_TITLE_MOST].partition("\n")[0].strip()) is not None


def news(batch: Sequence[Operation], heard: Sequence[Thought]) -> list[Operation]:
    """Return `batch` without thoughts that an agent only repeats: what another one said before it, or itself just now.

    `heard` are thoughts that are stored. Nothing that the person or other people said is left out.
    """
    said: dict[str, list[Thought]] = {}
    for thought in heard:
        said.setdefault(_gist(thought.text), []).append(thought)
    said.pop("", None)
    left = [one for one in batch if not any(_repeats(one, other) for other in _alike(one, said))]
    told = [(deed(one.text), one) for one in heard] if any(map(_may_retell, left)) else []
    return [one for one in left if not (_may_retell(one) and _retells(one, told))]


def _may_retell(operation: Operation) -> bool:
    """Whether an operation tells a deed or decision and not who did it: another one's, in other words, would be so."""
    body = operation.body
    told = operation.op == "thought" and body["origin"] == "agent" and body["kind"] in _DEEDS
    return bool(told and not is_own(body["text"]))


def _retells(operation: Operation, heard: Sequence[tuple[frozenset[str], Thought]]) -> bool:
    """Whether another agent said the same before, in another order or voice, with or without its name."""
    body, words = operation.body, deed(operation.body["text"])
    return any(
        words - {*one.agent.split("-")} == others
        and len(others) >= _LEAST
        and one.agent != operation.agent
        and one.kind in _DEEDS
        and one.created_at <= operation.created_at <= one.created_at + _LATELY
        and (one.project or body.get("project")) == (body.get("project") or one.project)
        for others, one in heard
    )


def _alike(operation: Operation, said: Mapping[str, Sequence[Thought]]) -> Iterator[Thought]:
    """Yield the thoughts whose words an operation has, also with the name of their agent after them."""
    body = operation.body
    if operation.op != "thought" or body["origin"] != "agent":
        return
    text: str = body["text"]
    yield from said.get(_gist(text), ())
    if teller := _TELLER.search(text[-80:]):
        named = _gist(teller[0])
        words = _gist(text.removesuffix(teller[0]))
        yield from (one for one in said.get(words, ()) if _gist(one.agent.partition("-")[0]) in named)


def _repeats(operation: Operation, other: Thought) -> bool:
    if operation.id == other.id:
        return False
    if operation.agent == other.agent:  # through another tool, or in a copy of the session
        return abs(operation.created_at - other.created_at) <= _JUST_NOW
    return other.created_at <= operation.created_at


def _gist(text: str) -> str:
    """Return the letters and digits that a text begins with: pages shorten and escape it, agents emphasise it."""
    return "".join(filter(str.isalnum, text[: 4 * _GIST].lower()))[:_GIST]


def _lines_of_others(text: str) -> Iterator[str]:
    """Yield the lines that are not of one of our pages; a page ends with the first line that none of them has."""
    in_page = facts = False
    for line in text.splitlines(keepends=True):
        said = line.strip()
        if _TITLE.fullmatch(said):
            in_page, facts = True, "hared memory: " in said
        elif in_page and (not said or _PAGE_LINE.match(said) or _HEADING.match(said) or (facts and said[:3] == "## ")):
            continue
        else:
            in_page = False
            if not _ENTRY.match(said) and "⟨external" not in said and not _NOTHING.fullmatch(said):
                yield line


def _without_results(text: str) -> str:
    """Cut the JSON objects that our MCP tools answered with; one that was cut off goes to the end of its line."""
    decoder, parts, done = json.JSONDecoder(), [], 0
    for number in range(len(text)):
        if (note := text.find(_RESULT, done)) < 0:
            break
        start = max(text.rfind("{", max(done, note - 40), note), done)
        end = text.find("\n", note)
        end = len(text) if end < 0 else end
        if number < _MOST_RESULTS:
            with suppress(ValueError, RecursionError):
                end = max(decoder.raw_decode(text, start)[1], note + 1)
        parts.append(text[done:start])
        done = end
    return "".join([*parts, text[done:]])
