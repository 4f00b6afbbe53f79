"""Which nodes fulfil what a question says, and the edges that make it so."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from memory_plane.ask.grammar import MADE
from memory_plane.ask.questions import Condition, Kinds, Named, OfSort, Sought, Term
from memory_plane.ask.times import Period
from memory_plane.recall import knowledge
from memory_plane.recall.denials import Denial, denials
from memory_plane.recall.knowledge import Tie, micros
from memory_plane.store.names import folded
from memory_plane.vocabulary.meanings import Way, former, including, is_office

Found = dict[int, tuple[Tie, ...]]
"""Nodes by their rows, each with the edges that make it an answer."""

ROLE: Kinds = frozenset({"Role"})
WRITER = "me"
"""How whoever writes is called in the graph."""
WORKS, _USES = "WORKS_AT", "USES"
_VERSION = re.compile(r"( v?\d[\w.]*)+$")


@dataclass(frozen=True, slots=True)
class Solver:
    """Reads the graph as it was at a moment; `period` is the one that the question speaks of, if any.

    With `known` nothing counts that was told after that time.
    """

    connection: Connection
    moment: datetime
    known: datetime | None = None
    period: Period | None = None
    least: float = 0.0

    @property
    def at(self) -> int:
        """The time as the store counts it."""
        return micros(self.moment)

    def term(self, term: Term) -> Found:
        """Return what a term stands for."""
        if isinstance(term, Named):
            return {node.key: () for node in term.nodes}
        if not term.conditions:
            found = knowledge.of_type(self.connection, term.kinds, self.known) if term.kinds else []
            return {node.key: () for node in found if node.name != WRITER}
        return self.sought(term)

    def sought(self, sought: Sought) -> Found:
        """Return the nodes of the kinds that fulfil every condition."""
        if len(sought.conditions) == 1 and sought.conditions[0].sort is None:
            one = sought.conditions[0]
            tries = (replace(sought, conditions=(replace(one, ways=(group,)),)) for group in one.ways)
            return next((found for found in map(self._all_of, tries) if found), {})
        return self._all_of(sought)

    def _all_of(self, sought: Sought) -> Found:
        found: Found | None = None
        sorts = [one.sort for one in sought.conditions if one.sort is not None]
        joined = [one for one in sought.conditions if one.sort is None]
        if sorts and not joined:  # "what databases do we have": those that something uses
            joined = [Condition((including(Way(_USES, forward=False)),), None)]
        for condition in joined:
            more = self.fulfilling(condition)
            found = more if found is None else {key: (*found[key], *more[key]) for key in found if key in more}
            if not found:
                return {}
        if sought.but is not None and found:
            found = {key: ties for key, ties in found.items() if key not in self.term(sought.but)}
        if sought.at is not None and found:
            found = self._had_at(found, sought.conditions[0].other, sought.at)
        for sort in sorts:
            found = self._of_sort(found or {}, sort)
        return self._of_kinds(found or {}, (sought.kinds, *(one.kinds for one in sought.conditions)))

    def _of_kinds(self, found: Found, wanted: Iterable[Kinds]) -> Found:
        """Return what is of all the kinds; an office at a company stands for the role."""
        asked = [kinds for kinds in wanted if kinds]
        return {key: ties for key, ties in found.items() if all(_is_of(key, ties, kinds) for kinds in asked)}

    def _had_at(self, found: Found, owner: Term | None, at: Term) -> Found:
        """Return what somebody has at a place: an office there, or a role where the owner works there."""
        places = self.term(at)
        offices = {key: ties for key, ties in found.items() if key in places}
        working = Condition((including(Way(WORKS, forward=True)),), at)
        works = not offices and owner is not None and self.fulfilling(working, among=list(self.term(owner)))
        return found if works else offices

    def _of_sort(self, found: Found, sort: OfSort) -> Found:
        """Return what is of a sort by its name, or else what a memory that tells of it calls so."""
        names = {key: node.name for key, node in knowledge.nodes(self.connection, found).items()}
        known = {key: ties for key, ties in found.items() if _VERSION.sub("", folded(names[key])) in sort.names}
        return known or {key: ties for key, ties in found.items() if self._is_called(names[key], sort.word, ties)}

    def _is_called(self, name: str, word: str, ties: Sequence[Tie]) -> bool:
        """Whether the word stands beside the name, or for what it is used, in a memory that an edge rests on."""
        called = re.compile(
            rf"\b{re.escape(name)} ({word}\b|(as|for) (\w+ ){{0,2}}{word}\b)|\b{word} (is )?{re.escape(name)}\b",
            re.IGNORECASE,
        )
        texts = knowledge.told(self.connection, [tie.key for tie in ties], self.known)
        return any(called.search(text) for text in texts)

    def _is_made(self, tie: Tie) -> bool:
        """Whether a thing is made of what it uses: a language, or what a memory says that it was built with."""
        if tie.relation != "USES" or tie.target_type == "Language":
            return True
        name = re.escape(knowledge.nodes(self.connection, [tie.target])[tie.target].name)
        called = re.compile(rf"\b(?:{'|'.join(sorted(MADE))})\b[^.;\n]*\b{name}\b", re.IGNORECASE)
        return any(called.search(text) for text in knowledge.told(self.connection, [tie.key], self.known))

    def fulfilling(self, condition: Condition, among: Collection[int] | None = None) -> Found:
        """Return the nodes that fulfil a condition, of whatever kind, or those of `among` that do."""
        others = None if condition.other is None else self.term(condition.other)
        if others is not None and not others:
            return {}
        found: dict[int, list[Tie]] = {}
        for ways in condition.ways:
            ties = self._ties(ways, among, others)
            for key, other, tie in self._in_tense(ways, condition, ties):
                if not condition.made or self._is_made(tie):
                    found.setdefault(key, []).extend((tie, *(others or {}).get(other, ())))
        if condition.before is not None and found:
            earlier = self._earlier(condition, condition.before)
            found = {key: left for key, ties in found.items() if (left := earlier(key, ties))}
        if condition.tense == "now" and others and found:
            denied = self.denied(condition, found, others)
            found = {key: left for key, ties in found.items() if (left := _undenied(ties, denied))}
        return {key: tuple(dict.fromkeys(entries)) for key, entries in found.items()}

    def _earlier(self, condition: Condition, then: Term) -> Callable[[int, list[Tie]], list[Tie]]:
        """Return what leaves of a node the edges of before it was so of `then`; none where that is not known."""
        keys = self.term(then)
        was = self.fulfilling(replace(condition, tense="any", before=None), among=keys)
        later = [tie for key in keys for tie in was.get(key, ())]
        began = min((tie.valid_from for tie in later if tie.valid_from and not is_former(tie.relation)), default=None)
        lasts = any(self._holds(tie) and not is_former(tie.relation) for tie in later)

        def left(key: int, ties: list[Tie]) -> list[Tie]:
            if key in keys or not later:
                return []
            return [tie for tie in ties if _is_before(tie, began, lasts=lasts)]

        return left

    def denied(
        self, condition: Condition, nodes: Collection[int], others: Collection[int]
    ) -> dict[tuple[int, int], Denial]:
        """Return what was denied of a condition, by (source, target), as far as it was known."""
        ways = {way for group in condition.ways for way in group}
        relations, until = {way.relation for way in ways}, self.known or self.moment
        asked = denials(self.connection, min(nodes, others, key=len), relations, until)
        return {
            pair: denial
            for pair, denial in asked.items()
            if (pair[0] in nodes and pair[1] in others) or (pair[0] in others and pair[1] in nodes)
        }

    def _ties(
        self, asked: Sequence[Way], among: Collection[int] | None, others: Mapping[int, object] | None
    ) -> list[tuple[int, int, Tie]]:
        """Return (the node sought, the other one, the edge) along each way, whenever it was so."""
        found = []
        for forward in (True, False):
            ways = _targets(way for way in _asked(asked) if way.forward == forward)
            if not ways:
                continue
            ends = (among, others) if forward else (others, among)
            ties = knowledge.ties(self.connection, ways, sources=ends[0], targets=ends[1], known=self.known)
            found += [
                (tie.source, tie.target, tie) if forward else (tie.target, tie.source, tie)
                for tie in ties
                if tie.probability >= self.least
                and (not (wanted := _wanted(ways, tie.relation)) or tie.target_type in wanted)
            ]
        return found

    # --- time ----------------------------------------------------------------------------------------------------

    def _in_tense(
        self, ways: Sequence[Way], condition: Condition, found: list[tuple[int, int, Tie]]
    ) -> Iterator[tuple[int, int, Tie]]:
        over = {former()[way.relation]: frozenset[str]() for way in ways if way.relation in former()}
        asked = _targets(ways) | (over if condition.tense in ("over", "past") else {})
        left = _left(found, self.at)
        meant = [one for one in found if _wanted(asked, one[2].relation) is not None]
        living = [one for one in meant if not _outlived(one[2], left)]
        if self.period is not None:
            yield from (one for one in living if self._in_period(one[2], condition.state))
            return
        ended = [one for one in living if self._over(one[2])] if condition.state else []
        holding = [one for one in living if self._holds(one[2]) and not is_former(one[2].relation)]
        match condition.tense:
            case "over":
                yield from ended or ([] if condition.state else living)
            case "past" if condition.state:
                yield from ended or holding
            case "past":
                yield from (one for one in living if self._begun(one[2]))
            case "now":
                yield from (one for one in living if self._holds(one[2]))
            case _:
                yield from (one for one in living if one[2].known_since <= self.at)

    def _begun(self, tie: Tie) -> bool:
        return tie.known_since <= self.at and (tie.valid_from is None or tie.valid_from <= self.at)

    def _holds(self, tie: Tie) -> bool:
        return self._begun(tie) and (tie.valid_until is None or tie.valid_until > self.at)

    def _over(self, tie: Tie) -> bool:
        ended = tie.valid_until is not None and tie.valid_until <= self.at
        return self._begun(tie) and (ended or is_former(tie.relation))

    def _in_period(self, tie: Tie, state: bool) -> bool:
        assert self.period is not None
        start, end = tie.valid_from or tie.known_since, tie.valid_until
        first, last = micros(self.period.start), micros(self.period.end)
        if self.period.kind == "until":
            return start < first
        if not state or self.period.kind == "since":
            return first <= start < last
        return start < last and (end is None or end > first)


def _is_before(tie: Tie, began: int | None, *, lasts: bool) -> bool:
    """Whether what is over was so before something began; of what lasts that is taken for granted but for dates."""
    over = is_former(tie.relation)
    first, end = (None, tie.valid_from) if over else (tie.valid_from, tie.valid_until)
    if first is not None and began is not None:
        return first < began
    return lasts or (end is not None and began is not None and end <= began)


def is_former(relation: str) -> bool:
    """Whether a relation says what was so before."""
    return relation in former().values()


def opened(tie: Tie) -> int:
    """Return when an edge was last said to hold."""
    return tie.opened_at or tie.known_since


def _undenied(ties: Sequence[Tie], denied: Mapping[tuple[int, int], Denial]) -> list[Tie]:
    """Return the edges that nobody denied after they were last said to hold; other people deny only their own."""
    return [
        tie
        for tie in ties
        if (denial := denied.get((tie.source, tie.target))) is None
        or micros(denial.at) < opened(tie)
        or (denial.origin == "external" and tie.origin != "external")
    ]


def _is_of(node: int, ties: Sequence[Tie], kinds: Kinds) -> bool:
    """Whether a node is of one of the kinds; an office at a company stands for the role."""
    return any(tie.type_of(node) in kinds or (kinds == ROLE and is_office(tie.relation)) for tie in ties)


def _targets(ways: Iterable[Way]) -> dict[str, frozenset[str]]:
    """Return the types that the targets of each relation may have, none for any."""
    found: dict[str, frozenset[str]] = {}
    for way in ways:
        wanted = way.targets or frozenset()
        known = found.get(way.relation)
        found[way.relation] = wanted if known is None else (known | wanted if known and wanted else frozenset())
    return found


def _wanted(ways: Mapping[str, frozenset[str]], relation: str) -> frozenset[str] | None:
    """Return the types that the target of a relation may have, none for any; None if it is not asked for."""
    if relation in ways:
        return ways[relation]
    return next((types for name, types in ways.items() if name.endswith("_") and relation.startswith(name)), None)


def _asked(ways: Sequence[Way]) -> Iterator[Way]:
    """The ways, and what must be known to judge what is found along them: who left holds no office there."""
    yield from ways
    relations = {way.relation for way in ways}
    for forward in {way.forward for way in ways}:
        if any(map(is_office, relations)) and WORKS not in relations:
            yield Way(WORKS, forward)
        yield from (Way(over, forward) for relation, over in former().items() if relation in relations)


def _left(found: Iterable[tuple[int, int, Tie]], at: int) -> dict[tuple[int, int], int]:
    """Return when people were last said to work somewhere no more."""
    return {
        (tie.source, tie.target): tie.closed_at
        for *_, tie in found
        if tie.relation == WORKS and tie.valid_until is not None and tie.valid_until <= at and tie.closed_at is not None
    }


def _outlived(tie: Tie, left: Mapping[tuple[int, int], int]) -> bool:
    """Whether an office was given up with the work, which was said to be over later."""
    ended = left.get((tie.source, tie.target))
    return ended is not None and is_office(tie.relation) and opened(tie) <= ended
