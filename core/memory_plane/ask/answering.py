"""From what a question asks to its answer: each form reads what it needs and says no more than was asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo

from sqlalchemy import Connection

from memory_plane.ask import diary, wording
from memory_plane.ask.questions import (
    About,
    Between,
    Changes,
    Condition,
    Doings,
    FactOf,
    Form,
    Items,
    Kinds,
    Named,
    Sought,
    Term,
    When,
    Whether,
    Which,
    Workers,
    relations,
)
from memory_plane.ask.solving import ROLE, Found, Solver, is_former
from memory_plane.ask.times import Period
from memory_plane.ask.wording import SHOWN, answer, concluded, finding, listed
from memory_plane.recall import graph, knowledge, state
from memory_plane.recall.denials import Denial
from memory_plane.recall.holding import EVER, Then
from memory_plane.recall.knowledge import Tie
from memory_plane.recall.paths import trail
from memory_plane.store.exclusivity import concerns
from memory_plane.store.names import folded
from memory_plane.types import EPOCH, Answer, Edge, Fact, Finding, Node
from memory_plane.vocabulary.meanings import Way, backwards, is_office, keys_of

WORKERS: Kinds = frozenset({"Person", "Agent", "Team", "Organization"})
_PAIRS = 4
"""How many nodes of one name may stand at each end of a path."""
_NAMESAKES = 6
"""How many things of one name an answer tells apart."""
_REACHED = frozenset({"phone", "telephone", "mobile", "cell", "fax", "email"})
"""What has a number or an address, with or without that word: "phone" is "phone number"."""
_ABOUT, _ALL = 8, 16
"""How many edges tell who somebody is, and how many all that is known."""


@dataclass(frozen=True, slots=True)
class Answering:
    """Answers forms at one moment; None where the memory does not say it.

    With `known` nothing counts that was told after that time. `fuller` and `edges` keep what was looked up.
    """

    connection: Connection
    at: datetime
    known: datetime | None
    period: Period | None
    zone: tzinfo | None
    least: float = 0.0
    fuller: dict[str, list[str]] = field(default_factory=dict)
    edges: dict[int, Edge] = field(default_factory=dict)

    def answer(self, form: Form) -> Answer | None:
        """Return the answer to a form."""
        timeless = isinstance(form, About | Between | FactOf) or (
            isinstance(form, Which) and not form.sought.conditions
        )
        if timeless and self.period is not None:
            return None
        match form:
            case Which():
                return self._which(form)
            case Whether():
                return self._whether(form)
            case When():
                return self._when(form)
            case Between():
                return self._between(form)
            case About():
                return self._about(form)
            case FactOf():
                return self._fact(form.options)
            case Items():
                return diary.items(self._diary, form, self._names(form.owner), self._names(form.to))
            case Workers():
                return self._workers(form)
            case Doings():
                return diary.doings(self._diary, form, self._keys(form.subject), self._keys(form.about))
            case Changes():
                return diary.changes(self._diary, self._keys(form.about), self._names(form.about))

    @property
    def _diary(self) -> diary.Diary:
        return diary.Diary(self.connection, self.at, self.known, self.period, self.zone, self.fuller)

    @property
    def _then(self) -> Then:
        return Then(self.at, self.known or EVER)

    @property
    def _solver(self) -> Solver:
        return Solver(self.connection, self.at, self.known, self.period, self.least)

    def _workers(self, form: Workers) -> Answer | None:
        names = [form.words] if form.thing is None else self._names(form.thing) or []
        way = ((Way("WORKING_ON", forward=True),),)
        found = None if form.thing is None else self._which(Which(Sought(WORKERS, (Condition(way, form.thing),))))
        return diary.workers(self._diary, found, names) if self.period is None else found

    # --- which, how many -----------------------------------------------------------------------------------------

    def _which(self, form: Which) -> Answer | None:
        whole = self._solver.term(form.sought)
        apart = _apart(form.sought) if whole else []
        tried = ((named, whole if len(apart) == 1 else self._solver.term(sought)) for named, sought in apart)
        groups = [(named, one) for named, one in tried if one]
        fact = self._known_by_fact(form.sought)
        own = fact is not None and fact.origin != "external"  # what others say takes the place of no word of one's own
        if fact is not None and (not groups or (own and _has_one(form.sought) and not form.count)):
            return self._by_fact(fact, [found for _, found in groups], form.sought)
        if not groups:
            return self._none_is(form.sought)
        if form.count:
            found = {key for _, one in groups for key in one}
            more = "at least " if len(found) >= knowledge.MOST else ""
            return concluded(f"{more}{len(found)}", self._findings([one for _, one in groups]))
        left, groups = len(groups) - _NAMESAKES, groups[:_NAMESAKES]
        texts = [self._told(found, form.sought) for _, found in groups]
        if len(groups) > 1 and len(set(texts)) > 1:
            slugs = self._slugs([named for named, _ in groups if named is not None])
            texts = [f"{slug}: {text}" for slug, text in zip(slugs, texts, strict=True)]
        texts += [f"and {left} more of that name"] if left > 0 else []
        return answer("; ".join(dict.fromkeys(texts)), self._findings([found for _, found in groups]))

    def _none_is(self, sought: Sought) -> Answer | None:
        """Say that nothing is blocked, where that is asked of all things."""
        if [one.other for one in sought.conditions] != [None] or "BLOCKED_BY" not in relations(sought):
            return None
        return answer("Nothing is blocked.", ())

    def _told(self, found: Found, sought: Sought) -> str:
        """Return the names of what was found; titles as people say them."""
        shown = self._ranked(found)[:SHOWN]
        nodes = graph.nodes(self.connection, shown)
        names = [nodes[key].name for key in shown]
        edges = self._edges([tie for key in shown for tie in found[key]])
        texts = []
        for key in shown:
            own = [edges[tie.key] for tie in found[key] if tie.key in edges]
            if ROLE in (sought.kinds, *(one.kinds for one in sought.conditions)) and own:
                texts += [
                    wording.office(edge) for edge in own if edge.relation == "HAS_ROLE" or is_office(edge.relation)
                ]
                continue
            external = bool(own) and all(edge.origin == "external" for edge in own)
            texts.append(wording.named(nodes[key], apart=names.count(nodes[key].name) > 1, external=external))
        return listed(texts, len(found) if len(found) > SHOWN else None)

    def _ranked(self, found: Found) -> list[int]:
        """Return what was found, the most probable first, the oldest first where nothing tells them apart."""
        if not any(found.values()):
            return list(found)
        return sorted(
            found, key=lambda key: (-max(tie.probability for tie in found[key]), found[key][0].known_since, key)
        )

    def _by_fact(self, fact: Fact, groups: Sequence[Found], sought: Sought) -> Answer:
        """Return what a fact says: it was set, so notes do not take its place, but what they said later is told too."""
        later: Found = {}
        for key, ties in ((key, ties) for found in groups for key, ties in found.items()):
            said = max(
                (EPOCH + timedelta(microseconds=tie.opened_at or tie.known_since) for tie in ties), default=EPOCH
            )
            names = {*map(folded, self._names_of([key]))}
            if said > fact.created_at and folded(fact.value) not in names:
                later[key] = ties
        told = f"; said later: {self._told(later, sought)}" if later else ""
        return answer(_value(fact) + told, [_fact_finding(fact), *self._findings([later])])

    def _known_by_fact(self, sought: Sought) -> Fact | None:
        if len(sought.conditions) != 1 or not isinstance(owner := sought.conditions[0].other, Named):
            return None
        ways = [group[0] for group in sought.conditions[0].ways if sought.conditions[0].tense == "now"]
        keys = sought.keys.union(*(keys_of(way) for way in ways))
        return self._fact_of([(name, key) for name in _spellings(owner) for key in sorted(keys)])

    # --- whether, when -------------------------------------------------------------------------------------------

    def _whether(self, form: Whether) -> Answer | None:
        if isinstance(form.subject, Sought):
            some = self._which(Which(replace(form.subject, conditions=(*form.subject.conditions, *form.conditions))))
            return None if some is None else replace(some, text=f"Yes: {some.text}")
        subjects = set(self._solver.term(form.subject))
        found = self._holding(form.conditions, subjects)
        if found:
            return concluded("Yes", self._findings([found]))
        if (fact := self._stated(form.subject, form.conditions)) is not None:
            return concluded("Yes", [_fact_finding(fact)])
        denied = self._denied(form.conditions, subjects)
        if denied is not None:
            told = Finding(text="denied", at=denied.at, evidence=(denied.memory,), origin=denied.origin)
            return concluded("No", [told])
        before = [replace(one, tense="over") for one in form.conditions if one.tense == "now" and one.state]
        ended = self._holding(before, subjects) if len(before) == len(form.conditions) else {}
        if not ended:
            return None
        findings = self._findings([ended])
        until = max((one.until or one.at for one in findings), default=self.at)
        return concluded(f"No, not since {wording.day(until, self.zone)}", findings)

    def _stated(self, subject: Term, conditions: Sequence[Condition]) -> Fact | None:
        """Return the fact by which a thing is to another as the one condition has it."""
        if len(conditions) != 1 or conditions[0].tense != "now" or not isinstance(subject, Named):
            return None
        (condition,) = conditions
        keys = {key for group in condition.ways for key in keys_of(group[0]._replace(forward=not group[0].forward))}
        fact = self._fact_of((name, key) for name in _spellings(subject) for key in sorted(keys))
        others = map(folded, self._names(condition.other) or ())
        return fact if fact is not None and folded(fact.value) in others else None

    def _holding(self, conditions: Sequence[Condition], subjects: set[int]) -> Found:
        """Return the subjects that fulfil every condition."""
        found: Found = dict.fromkeys(subjects, ())
        for condition in conditions:
            more = self._solver.fulfilling(condition, among=list(found)) if found else {}
            found = {key: (*found[key], *more[key]) for key in found if key in more}
        return found if conditions else {}

    def _denied(self, conditions: Sequence[Condition], subjects: set[int]) -> Denial | None:
        """Return the newest memory that denies what is asked, as far as it was known."""
        if len(conditions) != 1 or conditions[0].other is None:
            return None
        found = self._solver.denied(conditions[0], subjects, self._solver.term(conditions[0].other))
        return max((denial for denial in found.values()), default=None, key=lambda one: one.at)

    def _when(self, form: When) -> Answer | None:
        any_time = replace(form.condition, tense="any")
        found = self._holding([any_time], set(self._solver.term(form.subject)))
        ties = [tie for entries in found.values() for tie in entries]
        if not ties:
            return None
        edges = self._edges(ties)
        if form.condition.tense == "over" or any(is_former(tie.relation) for tie in ties):
            return self._ended(form, edges)
        first = min(edges.values(), key=lambda edge: edge.valid_from or edge.known_since)
        return concluded(self._since(first, length=form.length), [finding(first)])

    def _since(self, edge: Edge, *, length: bool) -> str:
        day = wording.day(edge.valid_from or edge.known_since, self.zone)
        if edge.valid_from is None:
            return f"noted on {day}" if not length else f"at least since {day}"
        return f"since {day}" if length else day

    def _ended(self, form: When, edges: dict[int, Edge]) -> Answer:
        last = max(edges.values(), key=lambda edge: edge.valid_until or edge.valid_from or edge.known_since)
        day = wording.day(last.valid_until or last.valid_from or last.known_since, self.zone)
        exact = last.valid_until is not None or last.valid_from is not None
        return concluded(day if exact else f"noted on {day}", [finding(last)])

    # --- connections ---------------------------------------------------------------------------------------------

    def _between(self, form: Between) -> Answer | None:
        sources, targets = (list(self._solver.term(end))[:_PAIRS] for end in (form.source, form.target))
        found = trail(self.connection, sources, targets, self._then, least=self.least)
        if not found.edges:
            return None
        way = wording.chain(found.edges, found.nodes[0].id)
        return answer(f"{'Yes: ' if form.whether else ''}{way}", map(finding, found.edges))

    # --- about ---------------------------------------------------------------------------------------------------

    def _about(self, form: About) -> Answer | None:
        keys = self._keys(form.subject) or []
        texts: list[str] = []
        findings: list[Finding] = []
        limit = _ALL if form.all else _ABOUT
        around = [(node, self._around(key, node, form, limit)) for key, node in self._nodes(keys[:_PAIRS])]
        around = [(node, edges) for node, edges in around if edges]
        for node, edges in around:
            title = f"{wording.named(node, apart=len(around) > 1)} ({node.type}): "
            texts.append(title + _grouped(edges, node.id))
            findings += map(finding, edges)
        names = self._names(form.subject) or [] if form.all else []
        facts = list({fact.id: fact for name in names for fact in self._facts(name)}.values())
        texts += [f"{_value(fact, key=True)}" for fact in facts[:limit]]
        findings += map(_fact_finding, facts[:limit])
        return answer("; ".join(texts), findings) if texts else None

    def _around(self, key: int, node: Node, form: About, limit: int) -> list[Edge]:
        """Return what is linked to a node; whoever uses or knows a thing does not say what it is, its family does."""
        near = graph.around(self.connection, [key], self.at, limit, known=self.known, least=self.least)
        ranked = sorted(
            near.edges, key=lambda one: (-one.probability, EPOCH - one.known_since, one.relation, one.target.id)
        )
        return [
            one
            for one in ranked
            if form.all or one.source.id == node.id or one.source.type != "Person" or one.relation == "FAMILY_OF"
        ]

    def _nodes(self, keys: Sequence[int]) -> Iterable[tuple[int, Node]]:
        nodes = graph.nodes(self.connection, keys)
        return [(key, nodes[key]) for key in keys]

    # --- facts ---------------------------------------------------------------------------------------------------

    def _fact(self, options: Iterable[tuple[str, str]]) -> Answer | None:
        fact = self._fact_of(options)
        return None if fact is None else answer(_value(fact), [_fact_finding(fact)])

    def _fact_of(self, options: Iterable[tuple[str, str]]) -> Fact | None:
        for subject, key in options:
            wanted = _key(key)
            for fact in self._facts(subject):
                if _key(fact.key) == wanted:
                    return fact
        return None

    def _facts(self, subject: str) -> Sequence[Fact]:
        return state.facts(self.connection, subject=subject, known=self.known)

    # --- terms ---------------------------------------------------------------------------------------------------

    def _keys(self, term: Term | None) -> list[int] | None:
        return None if term is None else list(self._solver.term(term))

    def _names(self, term: Term | None) -> list[str] | None:
        """Return how a thing is called in open items and facts."""
        if term is None:
            return None
        if isinstance(term, Named):
            names, keys = _spellings(term), [node.key for node in term.nodes]
        else:
            names, keys = [], list(self._solver.term(term))
        return list(dict.fromkeys((*names, *self._names_of(keys))))

    def _names_of(self, keys: Sequence[int]) -> list[str]:
        nodes = knowledge.nodes(self.connection, keys).values()
        return [*(node.name for node in nodes), *graph.own_names(self.connection, keys)]

    def _slugs(self, names: Sequence[Named]) -> list[str]:
        nodes = graph.nodes(self.connection, [node.key for name in names for node in name.nodes])
        return [wording.named(nodes[name.nodes[0].key], apart=True) for name in names]

    def _edges(self, ties: Sequence[Tie]) -> dict[int, Edge]:
        different = list(dict.fromkeys(tie.key for tie in ties))[: 3 * SHOWN]
        new = [key for key in different if key not in self.edges]
        self.edges.update(knowledge.edges(self.connection, new, self.known))
        return {key: self.edges[key] for key in different}

    def _findings(self, groups: Sequence[Found]) -> list[Finding]:
        ties = [tie for found in groups for key in self._ranked(found)[:SHOWN] for tie in found[key]]
        return [finding(edge) for edge in self._edges(ties).values()]


def _apart(sought: Sought) -> list[tuple[Named | None, Sought]]:
    """Return the question for each node of an ambiguous name."""
    if len(sought.conditions) == 1:
        condition = sought.conditions[0]
        if isinstance(condition.other, Named) and len(condition.other.nodes) > 1:
            ones = [replace(condition.other, nodes=(node,)) for node in condition.other.nodes]
            return [(one, replace(sought, conditions=(replace(condition, other=one),))) for one in ones]
    return [(None, sought)]


def _has_one(sought: Sought) -> bool:
    """Whether there is one such at a time: the employer or home of a person."""
    ways = [condition.ways[0][0] for condition in sought.conditions]
    return all(not way.forward and concerns(way.relation) for way in ways)


def _spellings(named: Named) -> list[str]:
    names = [named.text, named.read_as, *(node.name for node in named.nodes)]
    return list(dict.fromkeys(name for name in names if name))


def _grouped(edges: Sequence[Edge], id: str) -> str:
    """Return what is known around a node: one part a relation, its own first."""
    parts: dict[str, list[str]] = {}
    for edge in sorted(edges, key=lambda edge: edge.source.id != id):
        forward = edge.source.id == id
        label = edge.relation if forward else backwards(edge.relation)
        other = edge.target if forward else edge.source
        parts.setdefault(label, []).append(wording.named(other, external=edge.origin == "external"))
    return "; ".join(f"{label} {listed(names)}" for label, names in parts.items())


def _key(text: str) -> str:
    words = text.casefold().replace("e-mail", "email").replace("_", " ").replace("-", " ").split()
    reached = len(words) == 2 and words[0] in _REACHED and words[1] in ("number", "address")
    return " ".join(words[:1] if reached else words)


def _value(fact: Fact, *, key: bool = False) -> str:
    value = wording.plainly(fact.value, wording.LINE, fact.origin)
    return f"{wording.plainly(_key(fact.key), 60, fact.origin)}: {value}" if key else value


def _fact_finding(fact: Fact) -> Finding:
    return Finding(
        text=f"{wording.plainly(fact.subject, 60, fact.origin)} {_value(fact, key=True)}",
        at=fact.valid_from,
        evidence=(fact.id,),
        origin=fact.origin,
        probability=fact.confidence,
        until=fact.valid_until or fact.superseded_at,
    )
