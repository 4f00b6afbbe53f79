"""Derivations as they are stored: one plugin's answer about one memory, as compact JSON.

Mentions are kept as spans, since the text stands in the log; the rest points to mentions by position.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory_plane.operations import iso
from memory_plane.types import (
    Attention,
    Claim,
    Classification,
    Extraction,
    Item,
    Link,
    Memory,
    Mention,
    Resolution,
    Routing,
    new_node_id,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """What one plugin answered about one memory; None where it had nothing to say. `rank`: 0 inline, 1 deferred."""

    plugin: str
    version: str
    rank: int = 0
    extraction: Extraction | None = None
    classification: Classification | None = None
    routing: Routing | None = None


def encode(memory: Memory, derivation: Derivation) -> str:
    """Write a derivation without its plugin, version and rank."""
    positions: dict[Mention, int] = {}
    answer: dict[str, Any] = {}
    if derivation.extraction is not None:
        answer |= _extraction(derivation.extraction, positions)
    if derivation.classification is not None:
        answer |= _classification(memory, derivation.classification, positions)
    if derivation.routing is not None:
        answer["a"] = [[one.agent, one.score, one.reason] for one in derivation.routing.attention]
    mentions = [_mention(memory, mention) for mention in positions]
    return json.dumps({"m": mentions, **answer}, ensure_ascii=False, separators=(",", ":"))


def decode(memory: Memory, text: str, *, plugin: str, version: str, rank: int) -> Derivation:
    """Read back what `encode` wrote."""
    answer = json.loads(text)
    mentions = [_read_mention(memory, row) for row in answer["m"]]
    return Derivation(
        plugin=plugin,
        version=version,
        rank=rank,
        extraction=_read_extraction(answer, mentions) if "e" in answer else None,
        classification=_read_classification(memory, answer, mentions) if "n" in answer else None,
        routing=_read_routing(answer) if "a" in answer else None,
    )


def decode_attention(text: str, *, plugin: str, version: str, rank: int) -> Derivation:
    """Read back the attention alone of what `encode` wrote, for a tenth of the price."""
    answer = json.loads(text)
    routing = _read_routing(answer) if "a" in answer else None
    return Derivation(plugin=plugin, version=version, rank=rank, routing=routing)


def _mention(memory: Memory, mention: Mention) -> list[Any]:
    row = [mention.start, mention.end, mention.type, mention.confidence]
    return row if memory.text[mention.start : mention.end] == mention.text else [*row, mention.text]


def _read_mention(memory: Memory, row: list[Any]) -> Mention:
    start, end, type_, confidence, *text = row
    words = text[0] if text else memory.text[start:end]
    return Mention(text=words, type=type_, start=start, end=end, confidence=confidence)


def _place(mention: Mention, positions: dict[Mention, int]) -> int:
    return positions.setdefault(mention, len(positions))


def _extraction(found: Extraction, positions: dict[Mention, int]) -> dict[str, Any]:
    for mention in found.mentions:
        _place(mention, positions)
    count = len(positions)  # claims may be about mentions that are not among these
    claims = [
        _trim(
            _place(claim.subject, positions),
            claim.relation,
            _place(claim.object, positions),
            claim.start,
            claim.end,
            claim.confidence,
            None if claim.polarity == "positive" else claim.polarity,
            _time(claim.valid_from),
            _time(claim.valid_until),
        )
        for claim in found.claims
    ]
    items = [
        _trim(item.kind, item.owner, item.to, item.object, _time(item.due_at), item.start or None)
        for item in found.items
    ]
    return {"e": count} | ({"c": claims} if claims else {}) | ({"i": items} if items else {})


def _read_extraction(answer: dict[str, Any], mentions: list[Mention]) -> Extraction:
    claims = []
    for subject, relation, object_, start, end, confidence, *rest in answer.get("c", ()):
        polarity, valid_from, valid_until = (*rest, None, None, None)[:3]
        claims.append(
            Claim(
                subject=mentions[subject],
                relation=relation,
                object=mentions[object_],
                start=start,
                end=end,
                confidence=confidence,
                polarity=polarity or "positive",
                valid_from=_read_time(valid_from),
                valid_until=_read_time(valid_until),
            )
        )
    items = []
    for row in answer.get("i", ()):
        kind, owner, to, words, due_at, start = (*row, None, None, None, None, None)[:6]
        due_at = _read_time(due_at)
        items.append(Item(kind=kind, owner=owner, to=to, object=words or "", due_at=due_at, start=start or 0))
    return Extraction(mentions=tuple(mentions[: answer["e"]]), claims=tuple(claims), items=tuple(items))


def _classification(memory: Memory, classification: Classification, positions: dict[Mention, int]) -> dict[str, Any]:
    ends: dict[str, int] = {}
    resolutions = []
    for place, one in enumerate(classification.resolutions):
        ends.setdefault(one.node, place)
        new = one.node == new_node_id(memory.id, one.mention)
        at = _place(one.mention, positions)
        known = [] if new and one.probability == 1 else ["" if new else _short(one.node), one.probability]
        resolutions.append(at if not known else [at, *known])
    links = [
        _trim(
            ends.get(link.source, link.source),
            link.relation,
            ends.get(link.target, link.target),
            link.probability,
            _time(link.valid_from),
            _time(link.valid_until),
        )
        for link in classification.links
    ]
    doubts = [[_place(one.mention, positions), _short(one.node), one.probability] for one in classification.doubts]
    return {"n": resolutions} | ({"l": links} if links else {}) | ({"d": doubts} if doubts else {})


def _read_classification(memory: Memory, answer: dict[str, Any], mentions: list[Mention]) -> Classification:
    resolutions = []
    for row in answer["n"]:
        place, node, probability = row if isinstance(row, list) else (row, "", 1.0)
        mention = mentions[place]
        id = _long(node) if node else new_node_id(memory.id, mention)
        resolutions.append(Resolution(mention=mention, node=id, probability=probability))
    links = []
    for source, relation, target, probability, *rest in answer.get("l", ()):
        valid_from, valid_until = (*rest, None, None)[:2]
        links.append(
            Link(
                source=source if isinstance(source, str) else resolutions[source].node,
                relation=relation,
                target=target if isinstance(target, str) else resolutions[target].node,
                probability=probability,
                valid_from=_read_time(valid_from),
                valid_until=_read_time(valid_until),
            )
        )
    doubts = tuple(
        Resolution(mention=mentions[place], node=_long(node), probability=probability)
        for place, node, probability in answer.get("d", ())
    )
    return Classification(resolutions=tuple(resolutions), links=tuple(links), doubts=doubts)


def _read_routing(answer: dict[str, Any]) -> Routing:
    return Routing(
        attention=tuple(Attention(agent=agent, score=score, reason=reason) for agent, score, reason in answer["a"])
    )


def _short(id: str) -> str:
    """Write a UUID with 22 letters instead of 36."""
    return urlsafe_b64encode(UUID(id).bytes).decode().rstrip("=")


def _long(short: str) -> str:
    return str(UUID(bytes=urlsafe_b64decode(f"{short}==")))


def _time(at: datetime | None) -> str | None:
    return None if at is None else iso(at)


def _read_time(at: str | None) -> datetime | None:
    return None if at is None else datetime.fromisoformat(at)


def _trim(*row: Any) -> list[Any]:
    """Return the row without its empty end."""
    cells = list(row)
    while cells and cells[-1] is None:
        cells.pop()
    return cells
