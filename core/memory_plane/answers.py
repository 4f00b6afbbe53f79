"""What plugins answer, checked before anything trusts it: each function returns the answer or raises `PluginError`.

An answer that passes cannot hurt the store: every span lies in the text, every number in its range, every time has
its zone, every id is known, every text can be encoded. The errors quote no memory: they outlive it in a log.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from math import isfinite
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar, get_args
from uuid import UUID

from memory_plane import gates
from memory_plane.errors import PluginError
from memory_plane.types import (
    OPEN_KINDS,
    AgentContext,
    AgentInfo,
    Attention,
    Candidate,
    Claim,
    Classification,
    Expansion,
    Extraction,
    Ingested,
    Item,
    Link,
    Memory,
    Mention,
    Operation,
    Polarity,
    Resolution,
    Routing,
    Tool,
    Vectors,
    View,
    new_node_id,
)
from memory_plane.views import SUFFIXES

if TYPE_CHECKING:
    import click

    from memory_plane.integration import Integration

T = TypeVar("T")

LIMIT = 10_000
"""The most values of one kind in one answer; a generator that goes on is broken."""

_RESERVED = frozenset({"pulse.md", "shared_memory.md", "brief", "local-cache.json"})
_POLARITIES = frozenset(get_args(Polarity))
_TOOL = re.compile(r"[a-z][a-z0-9_]*")


def ingested(answer: object) -> Ingested:
    """Check operations as far as their types go; the write path checks what they say."""
    found = _expect(answer, Ingested)
    for operation in _each(found.operations, Operation, "operations", limit=None):
        _text(operation.id, "id", empty=True)  # the write path makes one of the content
        _text(operation.op, "op")
        _text(operation.agent, "agent")
        _time(operation.created_at, "created_at")
        if not isinstance(operation.body, Mapping):
            raise PluginError(f"body: gave {type(operation.body).__name__}, expected Mapping")
    if found.cursor is not None:
        _text(found.cursor, "cursor", empty=True)
    return found


def extraction(answer: object, memory: Memory) -> Extraction:
    """Check what an extractor found against the text that it read."""
    found = _expect(answer, Extraction)
    for mention in _each(found.mentions, Mention, "mentions"):
        _mention(mention, memory.text)
    for claim in _each(found.claims, Claim, "claims"):
        _claim(claim, memory.text)
    for item in _each(found.items, Item, "items"):
        _item(item, memory.text)
    return found


def classification(answer: object, memory: Memory, candidates: Sequence[Candidate]) -> Classification:
    """Check that every node is a candidate or one that a mention founds, and every link joins two of these.

    What the gates do not let be joined comes back apart.
    """
    found = _expect(answer, Classification)
    known = {candidate.node.id for candidate in candidates}
    for resolution in _each(found.resolutions, Resolution, "resolutions"):
        _mention(_expect(resolution.mention, Mention, "mention"), memory.text)
        _unit(resolution.probability, "probability")
        if resolution.node not in known:
            if resolution.node != new_node_id(memory.id, resolution.mention):
                raise PluginError(f"resolved a mention to an unknown node {resolution.node!r}")
            known.add(resolution.node)
    for link in _each(found.links, Link, "links"):
        _link(link)
        for node in (link.source, link.target):
            if node not in known:
                raise PluginError(f"linked an unknown node {node!r} by {link.relation!r}")
    return gates.kept(memory, found, candidates)


def routing(answer: object, agents: Sequence[AgentContext]) -> Routing:
    """Check that each agent scored is one that was asked about, and scored once."""
    found = _expect(answer, Routing)
    left = {agent.id for agent in agents}
    for attention in _each(found.attention, Attention, "attention"):
        if attention.agent not in left:
            raise PluginError(f"scored agent {attention.agent!r}, which is unknown or was scored before")
        left.remove(attention.agent)
        _unit(attention.score, "score")
        _text(attention.reason, "reason", empty=True)
    return found


def received(
    found: Extraction | None, classified: Classification | None, routed: Routing | None, memory: Memory
) -> None:
    """Check what a plugin of another machine said of a memory, whose nodes and agents need not be known here."""
    if found is not None:
        extraction(found, memory)
    for resolution in classified.resolutions if classified is not None else ():
        _mention(_expect(resolution.mention, Mention, "mention"), memory.text)
        _unit(resolution.probability, "probability")
        UUID(resolution.node)
    for link in classified.links if classified is not None else ():
        _link(link)
        UUID(link.source), UUID(link.target)
    for attention in routed.attention if routed is not None else ():
        _text(attention.agent, "agent")
        _unit(attention.score, "score")
        _text(attention.reason, "reason", empty=True)


def vectors(answer: object, texts: Sequence[str]) -> Vectors:
    """Check that each text has its row, and all rows one length."""
    found = _expect(answer, Vectors)
    _text(found.model, "model")
    rows = _each(found.rows, tuple, "rows", limit=None)
    if len(rows) != len(texts) or len({len(row) for row in rows}) > 1:
        raise PluginError(f"gave {len(rows)} rows for {len(texts)} texts, or rows of several lengths")
    if not all(row and all(map(isfinite, row)) for row in rows):
        raise PluginError("gave a row that is empty or holds a number that is not finite")
    return found


def expansion(answer: object) -> Expansion:
    """Check that each word has words of its own, with numbers that fit."""
    found = _expect(answer, Expansion)
    for word, others in _expect(found.alike, dict, "alike").items():
        _text(word, "word", empty=True)
        for other, likeness in _expect(others, dict, "alike").items():
            _text(other, "word")
            _unit(likeness, "likeness")
    return found


def views(answer: object, taken: Collection[PurePath] = ()) -> tuple[View, ...]:
    """Check that pages lie below the home, are files of a known kind, and are nobody else's."""
    found = _drained(answer, View)
    seen = set(taken)
    for view in found:
        path = _expect(view.path, PurePath, "path")
        _text(str(path), "path")
        _text(view.text, "text", empty=True)
        if path.is_absolute() or path.drive or ".." in path.parts:
            raise PluginError(f"page {str(path)!r} does not lie below the home; give a relative path")
        if path.suffix not in SUFFIXES or path.parts[0].lower() in _RESERVED:
            raise PluginError(
                f"page {str(path)!r} is the core's or of no known kind; known are {', '.join(sorted(SUFFIXES))}"
            )
        if path in seen:
            raise PluginError(f"page {str(path)!r} is written twice, or by another plugin too")
        seen.add(path)
    return found


def integrations(answer: object, agents: Collection[AgentInfo]) -> tuple[Integration, ...]:
    """Check that what is declared is for the plugin's own agents, once each, of the known kinds, by absolute paths."""
    from memory_plane.integration import Integration

    found = _drained(answer, Integration)
    own = {agent.id for agent in agents}
    seen: set[str] = set()
    for one in found:
        _text(one.name, "name")
        if one.agent not in own or one.agent in seen:
            raise PluginError(f"integration of agent {one.agent!r}, which is not the plugin's or is declared twice")
        seen.add(one.agent)
        for edit in (*one.edits, *one.checks):
            _edit(edit)
    return found


def _edit(edit: object) -> None:
    from memory_plane.integration import Access, Block, Call, Check, Copy, Element, Entry, OwnFile

    if isinstance(edit, Call):
        paths: tuple[object, ...] = (*edit.touches, *(one.path for one in edit.sets))
        commands: tuple[object, ...] = (*edit.do, *edit.undo, *(() if edit.sets else (edit.asks,)))
    elif isinstance(edit, Check):
        paths, commands = (), (edit.command,)
    elif isinstance(edit, Entry | Element | Block | OwnFile | Copy | Access):
        paths, commands = (edit.path,), ()
    else:
        raise PluginError(f"edits: gave {type(edit).__name__}, which is no edit and no check")
    for path in paths:
        if not _expect(path, PurePath, "path").is_absolute():
            raise PluginError(f"path {str(path)!r} is not absolute")
    for command in commands:
        if not isinstance(command, tuple) or not command or not all(isinstance(word, str) for word in command):
            raise PluginError(f"command {command!r} is not a tuple of words")


def tools(answer: object, plugin: str, taken: Collection[str] = ()) -> tuple[Tool, ...]:
    """Check tools and return them with the plugin's name before their own."""
    seen = set(taken)
    named = []
    for tool in _drained(answer, Tool):
        if not isinstance(tool.name, str) or not _TOOL.fullmatch(tool.name):
            raise PluginError(f"{tool.name!r} is no name for a tool; use lower-case letters, digits and '_'")
        _text(tool.description, "description")
        name = f"{plugin}_{tool.name}"
        if not callable(tool.function) or name in seen or len(name) > 64:
            raise PluginError(f"tool {name!r} cannot be called, is offered twice, or has more than 64 letters")
        seen.add(name)
        named.append(replace(tool, name=name))
    return tuple(named)


def commands(answer: object) -> tuple[click.Command, ...]:
    """Check that commands are named, each differently."""
    import click

    found = _drained(answer, click.Command)
    names = [command.name for command in found]
    if None in names or len(set(names)) != len(names):
        raise PluginError(f"commands need names, each its own; got {names}")
    return found


def unite(*found: Extraction) -> Extraction:
    """Unite what extractors found: of one span and of one claim the most confident, the first of equals; items once."""
    mentions: dict[object, Mention] = {}
    claims: dict[object, Claim] = {}
    for extraction in found:
        for mention in extraction.mentions:
            _keep(mentions, _span(mention), mention)
    for claim in (claim for extraction in found for claim in extraction.claims):
        subject = mentions.get(_span(claim.subject), claim.subject)
        target = mentions.get(_span(claim.object), claim.object)
        same = (_span(subject), claim.relation, _span(target), claim.polarity, claim.valid_from, claim.valid_until)
        _keep(claims, same, replace(claim, subject=subject, object=target))
    return Extraction(
        mentions=tuple(sorted(mentions.values(), key=_span)),
        claims=tuple(claims.values()),
        items=tuple(dict.fromkeys(item for extraction in found for item in extraction.items)),
    )


def _span(mention: Mention) -> tuple[int, int, str]:
    """Implied names all have the empty span, so the name belongs to the key."""
    return (mention.start, mention.end, mention.text)


def _keep(best: dict[object, Any], key: object, found: Mention | Claim) -> None:
    if key not in best or found.confidence > best[key].confidence:
        best[key] = found


def _mention(mention: Mention, text: str) -> None:
    _text(mention.text, "text")
    _text(mention.type, "type")
    _span_in(mention, text)
    _unit(mention.confidence, "confidence")
    if mention.start < mention.end and text[mention.start : mention.end] != mention.text:
        raise PluginError(f"text of the mention at {mention.start}..{mention.end} is not what stands there")


def _claim(claim: Claim, text: str) -> None:
    _mention(_expect(claim.subject, Mention, "subject"), text)
    _mention(_expect(claim.object, Mention, "object"), text)
    _text(claim.relation, "relation")
    _span_in(claim, text)
    _unit(claim.confidence, "confidence")
    _time(claim.valid_from, "valid_from", optional=True)
    _time(claim.valid_until, "valid_until", optional=True)
    if claim.polarity not in _POLARITIES:
        raise PluginError(f"polarity is {claim.polarity!r}, expected one of {', '.join(sorted(_POLARITIES))}")


def _item(item: Item, text: str) -> None:
    if item.kind not in OPEN_KINDS:
        raise PluginError(f"kind of an item is {item.kind!r}, expected one of {', '.join(OPEN_KINDS)}")
    for part in (item.owner, item.to):
        if part is not None:
            _text(part, "owner or to")
    _text(item.object, "object")
    _time(item.due_at, "due_at", optional=True)
    if not 0 <= _expect(item.start, int, "start") <= len(text):
        raise PluginError(f"start of an item is {item.start}, which is not in the text of {len(text)} characters")


def _link(link: Link) -> None:
    _text(link.relation, "relation")
    _unit(link.probability, "probability")
    _time(link.valid_from, "valid_from", optional=True)
    _time(link.valid_until, "valid_until", optional=True)


def _span_in(part: Mention | Claim, text: str) -> None:
    start, end = _expect(part.start, int, "start"), _expect(part.end, int, "end")
    if not 0 <= start <= end <= len(text):
        raise PluginError(f"span {start}..{end} does not lie in the text of {len(text)} characters")


def _unit(value: object, name: str) -> None:
    if not isinstance(value, int | float) or not 0 <= value <= 1:  # nan is not
        raise PluginError(f"{name} is {value!r}, expected a number from 0 to 1")


def _time(value: object, name: str, *, optional: bool = False) -> None:
    if optional and value is None:
        return
    if _expect(value, datetime, name).utcoffset() is None:
        raise PluginError(f"{name} has no time zone")


def _text(value: object, name: str, *, empty: bool = False) -> None:
    text = _expect(value, str, name)
    if "\x00" in text:
        raise PluginError(f"{name} holds a NUL character")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise PluginError(f"{name} holds half a character (a lone surrogate)") from None
    if not empty and not text:
        raise PluginError(f"{name} is empty")


def _each(values: object, kind: type[T], name: str, limit: int | None = LIMIT) -> tuple[T, ...]:
    each = _expect(values, tuple, name)
    if limit is not None and len(each) > limit:
        raise PluginError(f"gave {len(each)} {name}; at most {limit} are taken")
    for value in each:
        _expect(value, kind, name)
    return each


def _drained(answer: object, kind: type[T]) -> tuple[T, ...]:
    if not isinstance(answer, Iterable):
        raise PluginError(f"gave {type(answer).__name__}, expected {kind.__name__} values")
    return _each(tuple(islice(answer, LIMIT + 1)), kind, f"{kind.__name__} values")


def _expect(value: object, kind: type[T], name: str = "") -> T:
    if not isinstance(value, kind):
        raise PluginError(f"{name}{': ' if name else ''}gave {type(value).__name__}, expected {kind.__name__}")
    return value
