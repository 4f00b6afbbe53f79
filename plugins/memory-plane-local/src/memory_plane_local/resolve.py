"""noul and choice: which known node each mention is, and the edges that the claims make between nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache

from memory_plane.gates import GUESS, GUESSED, same_digits, same_kind
from memory_plane.spellings import SLIP
from memory_plane.types import (
    EPOCH,
    Candidate,
    Claim,
    Classification,
    Extraction,
    Link,
    Memory,
    Mention,
    Node,
    Resolution,
    new_node_id,
)
from memory_plane.vocabulary.meanings import former
from memory_plane_local.tables import words

_OF = re.compile(r"\s+(?:from|of|at)\s+(?:the\s+)?")
_SENTENCE = re.compile(r"[.!?;]\s|[\n。！？]")
_SOMEBODY_ELSE = re.compile(
    r"\b(?:another|other|different|second|(?:my|our|your|his|her|their|\w+['’]s)\s+\w+)\s+$", re.I
)
_VAGUE = frozenset({"RELATED_TO", "ASSOCIATED_WITH", "CONNECTED_TO", "INVOLVES", "MENTIONS"})
_RECENT = timedelta(days=30)
_LATELY = timedelta(days=1)
_CHANGE = re.compile(
    r"\b(?:now|new|join(?:s|ed|ing)|mov(?:es|ed|ing)|start(?:s|ed)|switched|hired|left)\b", re.IGNORECASE
)
_OTHER_TYPE = 0.9
_ALIKE, _PART = 0.9, 0.6
"""The likeness of two spellings, and of a name to one of which it is a word. Between them lie Dan Park and Daniel Park,
who may well be two in one company; below that is what is but short for a word."""
_GUESSED_TYPE = 0.97
_WITNESS = 0.2
"""What each name shared, the same agent or a claim that agrees counts."""
_SHORTENED = 0.95
"""How probably a first name means whoever the same text named in full before."""
_RIVALS = 0.05
_IN_DOUBT = 0.35
"""How probable it must be that two nodes are one for a person to be asked."""


def classify(
    memory: Memory, found: Extraction, candidates: Sequence[Candidate], threshold: float = 0.75
) -> Classification:
    """Join each mention to the likeliest node above the threshold, or found a new one; link the nodes of the claims."""
    offers: dict[Mention, list[Candidate]] = {}
    for candidate in candidates:
        offers.setdefault(candidate.mention, []).append(candidate)
    resolutions: dict[Mention, Resolution] = {}
    doubts: list[Resolution] = []
    said: dict[tuple[str, str], Resolution] = {}
    placed = _placed(memory.text, found)
    for mention, whole in _with_whole_names(found):
        key = (_plain(mention.text), mention.type)
        first = said.get(key)
        if first is None:
            offered, apart = offers.get(mention, ()), key[0] in placed
            first, doubt = _resolve(memory, mention, offered, threshold, apart)
            if whole and not any(one.given for one in offered):
                meant = replace(said[_plain(whole[0].text), "Person"], mention=mention)
                if len(whole) == 1 and not apart and _goes_on(memory.text, found, whole[0], mention):
                    first, doubt = replace(meant, probability=round(_SHORTENED * meant.probability, 3)), None
                elif doubt is None:
                    doubt = replace(meant, probability=_IN_DOUBT)
            said[key] = first
            doubts += [doubt] if doubt is not None else []
        resolutions[mention] = Resolution(mention=mention, node=first.node, probability=first.probability)
    links: dict[tuple[str, str, str], Link] = {}
    for link in (link for claim in found.claims for link in _links(memory, claim, resolutions)):
        edge = link.source, link.relation, link.target
        links[edge] = _both(links[edge], link) if edge in links else link
    return Classification(resolutions=tuple(resolutions.values()), links=tuple(links.values()), doubts=tuple(doubts))


def _mentions(found: Extraction) -> Iterable[Mention]:
    """All mentions, those that stand only in claims included."""
    yield from found.mentions
    for claim in found.claims:
        yield claim.subject
        yield claim.object


def _with_whole_names(found: Extraction) -> Iterator[tuple[Mention, Sequence[Mention]]]:
    """Yield the mentions as they stand, and with a first or last name alone the people named in full before it."""
    whole: dict[str, Mention] = {}
    for one in sorted(_mentions(found), key=lambda one: one.start):
        name, named = _plain(one.text), list[Mention]()
        if one.type == "Person" and " " in name:
            whole.setdefault(name, one)
        elif one.type == "Person" and whole and not _writer(one):
            named = [other for said, other in whole.items() if name in (said.split()[0], said.split()[-1])]
        yield one, named


def _goes_on(text: str, found: Extraction, whole: Mention, alone: Mention) -> bool:
    """Whether a later sentence speaks of whoever was named in full, and not of somebody else of that name."""
    names = {whole.text, alone.text}
    if any({claim.subject.text, claim.object.text} == names for claim in found.claims):
        return False
    between = text[whole.end : alone.start]
    return _SENTENCE.search(between) is not None and _SOMEBODY_ELSE.search(between) is None


def _placed(text: str, found: Extraction) -> frozenset[str]:
    """The names with which it is said which one is meant: "Rob from Globex", unlike "Rob works at Globex"."""
    starts = {one.start for one in found.mentions}
    placed = (one for one in found.mentions if (of := _OF.match(text, one.end)) and of.end() in starts)
    return frozenset(_plain(one.text) for one in placed)


def _resolve(
    memory: Memory, mention: Mention, candidates: Sequence[Candidate], threshold: float, placed: bool
) -> tuple[Resolution, Resolution | None]:
    """Return what a mention is, and what it may be besides where that is in doubt."""
    new = Resolution(mention=mention, node=new_node_id(memory.id, mention), probability=1.0)
    if not candidates or mention.type == "Commitment":
        return new, None
    alone = sum(one.name_score > SLIP for one in candidates) == 1
    ranked = sorted(
        ((_probability(memory, one, alone=alone, placed=placed), _last(one), one.node.id) for one in candidates),
        reverse=True,
    )
    best, last, node = ranked[0]
    if mention.type == "Person" and len(ranked) > 1 and best - ranked[1][0] < _RIVALS:
        spoken_of = _is_lately(memory, last) and not _is_lately(memory, ranked[1][1])
        best *= 1 if spoken_of else 0.8
    likeliest = Resolution(mention=mention, node=node, probability=round(best, 3))
    if best >= threshold:
        return likeliest, None
    return new, likeliest if best >= _IN_DOUBT else None


def _last(candidate: Candidate) -> datetime:
    """When a node was named last: of two that are as likely, the one that is spoken of is meant."""
    return candidate.last_seen or EPOCH


def _probability(memory: Memory, candidate: Candidate, *, alone: bool, placed: bool) -> float:
    """The probability that mention and node are the same thing: 0 when type or digits forbid it."""
    mention, node = candidate.mention, candidate.node
    gate, exact = _type_gate(mention, node), candidate.name_score > 0.99
    if not gate or (not exact and not same_digits(mention, node)):
        return 0.0
    evidence = (
        _WITNESS * min(candidate.shared_neighbours, 2)
        + _WITNESS * candidate.same_agent
        + _WITNESS * bool(candidate.agrees)
        + 0.05 * _is_recent(memory, candidate)
    )
    if candidate.name_score == SLIP:
        return _slip(mention, node, evidence) if gate == 1 else 0.0
    if candidate.given:
        return 0.97 * gate
    if _writer(mention):
        return 0.97 if exact else 0.0
    if "Person" in (mention.type, node.type):
        return gate * _person(memory, candidate, exact, evidence, alone=alone, placed=placed)
    if exact:
        return min(0.99, gate * (0.95 + 0.1 * evidence))
    return min(0.97, gate * (0.68 * candidate.name_score + 0.6 * evidence))


def _slip(mention: Mention, node: Node, evidence: float) -> float:
    """A letter off: a person is asked where more speaks for it, if only a second word of the name."""
    mine, theirs = mention.text.lower().split(), node.name.lower().split()
    names = words("first_names.txt") | words("first_names_ambiguous.txt")
    if len(mine) == 1 and (evidence < _WITNESS or {mine[0], theirs[0]} <= names):
        return 0.0
    shorter, longer = sorted((mine[0], theirs[0]), key=len)
    ends = shorter.endswith("a") != longer.endswith("a")
    if mention.type == "Person" and ends and longer.startswith(shorter[:-2]):
        return 0.0  # Daniel and Daniela, Christian and Christina
    return min(0.7, max(0.3 + evidence, _IN_DOUBT))


def _person(memory: Memory, candidate: Candidate, exact: bool, evidence: float, *, alone: bool, placed: bool) -> float:
    """People are never joined by a single name alone: somebody they share, or the same agent, must speak for it.

    `alone`: nobody else can be meant. `placed`: the text says where the one that it means belongs, so that the agent
    may well mean another one than before.
    """
    several = len(candidate.mention.text.split()) > 1
    witnesses = candidate.shared_neighbours + bool(candidate.agrees)
    if exact and several:
        return min(0.99, 0.9 + 0.15 * evidence)
    if candidate.contradicts and not _changes(memory, candidate):
        return min(0.6, 0.45 * candidate.name_score + evidence)
    if candidate.name_score == _ALIKE and several and " " in candidate.node.name:
        return min(0.97, 0.8 + 0.15 * evidence)
    stranger = placed and not candidate.contradicts and _CHANGE.search(memory.text) is None
    if not witnesses and (stranger or not candidate.same_agent):
        return min(0.6, 0.6 * candidate.name_score)
    if exact:
        return min(0.97, 0.58 + evidence)
    if candidate.name_score == _PART and alone and candidate.same_agent and _is_recent(memory, candidate):
        return 0.8
    if witnesses < (1 if candidate.name_score in (_PART, _ALIKE) else 2):
        return min(0.7, 0.45 * candidate.name_score + evidence)
    likeness = max(candidate.name_score, 0.8) if candidate.name_score >= _PART else candidate.name_score
    return min(0.95, 0.55 * likeness + evidence + 0.12)


def _just_now(memory: Memory, candidate: Candidate) -> bool:
    return _is_lately(memory, _last(candidate))


def _is_lately(memory: Memory, at: datetime) -> bool:
    return abs(memory.created_at - at) <= _LATELY


def _changes(memory: Memory, candidate: Candidate) -> bool:
    """Whether another employer may be a new one: the text says so, or the agent that knew the old one, days later."""
    later = candidate.last_seen is not None and not _just_now(memory, candidate)
    return (candidate.same_agent and later) or _CHANGE.search(memory.text) is not None


def _writer(mention: Mention) -> bool:
    return mention.start == mention.end


def _type_gate(mention: Mention, node: Node) -> float:
    if mention.type == node.type:
        return 1.0
    if not same_kind(mention, node):
        return 0.0
    return _GUESSED_TYPE if mention.confidence <= GUESS and {mention.type, node.type} <= GUESSED else _OTHER_TYPE


def _plain(name: str) -> str:
    return " ".join(name.casefold().removeprefix("the ").split())


def _is_recent(memory: Memory, candidate: Candidate) -> bool:
    return candidate.last_seen is not None and abs(memory.created_at - candidate.last_seen) <= _RECENT


def _links(memory: Memory, claim: Claim, resolutions: dict[Mention, Resolution]) -> Iterator[Link]:
    """The edges of a claim: none if it is denied, asked or only thought of, and two if it ends what held before."""
    if claim.polarity not in ("positive", "past") or claim.relation in _VAGUE:
        return
    source, target = resolutions[claim.subject].node, resolutions[claim.object].node
    if source == target:
        return
    ended = claim.valid_until or (memory.created_at if claim.polarity == "past" else None)
    before = _ended().get(claim.relation)
    edge = Link(
        source=source,
        relation=claim.relation,
        target=target,
        probability=claim.confidence,
        valid_from=claim.valid_from,
        valid_until=ended,
    )
    if before is None:
        yield edge
        return
    yield replace(edge, valid_from=claim.valid_until, valid_until=None)
    yield replace(edge, relation=before, valid_until=ended or memory.created_at)


@cache
def _ended() -> dict[str, str]:
    return {over: relation for relation, over in former().items()}


def _both(one: Link, other: Link) -> Link:
    """One edge that a memory speaks of twice: "joined in 2015 and left in 2020"."""
    return replace(
        one,
        probability=max(one.probability, other.probability),
        valid_from=one.valid_from or other.valid_from,
        valid_until=one.valid_until or other.valid_until,
    )
