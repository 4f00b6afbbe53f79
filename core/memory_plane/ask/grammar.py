"""From the words of a question to what it asks: a small grammar whose verbs and nouns are those of the vocabulary.

Every word must be accounted for: a question of which a part was not understood is not understood, since leaving the
part out would answer another question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_plane.ask.questions import Condition, Kinds, Named, OfSort, Sought, Tense, Term
from memory_plane.ask.verbs import ARTICLES, AUXILIARIES, OWNERS, Meaning, Verb, meanings, verbs
from memory_plane.recall.knowledge import Called
from memory_plane.vocabulary.meanings import Attribute, Way, attributes, including, kinds, sorts, titles
from memory_plane.vocabulary.verbs import Row

OVER = frozenset({"before", "previously", "formerly", "earlier", "once", "originally"})
FORMER = frozenset({"former", "previous", "old", "ex", "past", "earlier", "last"})
_WRITERS = frozenset({"i", "me", "myself", "we", "us", "ourselves"})
_PERSONS: Kinds = frozenset({"Person", "Agent"})
_TOOLS: Kinds = frozenset({"Tool", "Language", "Project"})
_GROUPS = frozenset({"Person", "Agent", "Team"})
MADE = frozenset(
    {"written", "built", "coded", "made", "developed", "implemented", "programmed", "rewritten", "rebuilt"}
)
"""By these words it is told of what a thing is made."""
_MAKEUP = frozenset({"BUILT_IN", "USES"})
_HELD_BY = frozenset({"of", "at", "for", "in", "on", "behind", "from"})

Read = tuple[Sought, int]


@dataclass(frozen=True, slots=True)
class Phrases:
    """The words of one question, folded, the names in it by where they begin, and whoever says "I".

    `called` looks up a name that does not stand in the question.
    """

    lows: Sequence[str]
    names: Mapping[int, Sequence[tuple[int, Named]]]
    writer: Named
    called: Callable[[str], tuple[Called, ...]]
    _terms: dict[int, tuple[tuple[Term, int], ...]] = field(default_factory=dict)

    # --- things --------------------------------------------------------------------------------------------------

    def terms(self, at: int) -> tuple[tuple[Term, int], ...]:
        """Return what the words from `at` on can stand for: a name, "I", "Alice's manager", "the CTO of Acme" …"""
        if at not in self._terms:
            self._terms[at] = tuple(dict.fromkeys(self._all_terms(at)))
        return self._terms[at]

    def _all_terms(self, at: int) -> Iterator[tuple[Term, int]]:
        at = self.skip(at)
        if at >= len(self.lows):
            return
        if self.lows[at] in _WRITERS:
            yield from self._owned(self.writer, at + 1)
        if self.lows[at] in OWNERS:
            yield from self._attribute(self.writer, at + 1)
        for end, named in self.names.get(at, ()):
            yield from self._owned(named, end)
        yield from self._held(at)
        yield from self._described(at)

    def skip(self, at: int) -> int:
        """Return the first word that is no article; one that begins a name stays."""
        while at < len(self.lows) and self.lows[at] in ARTICLES - OWNERS and at not in self.names:
            at += 1
        return at

    def _owned(self, term: Term, at: int) -> Iterator[tuple[Term, int]]:
        """Yield what belongs to the term, then the term itself, with the noun that tells its kind: "Atlas project"."""
        if at < len(self.lows) and self.lows[at] in ("'s", "'"):
            for owned, end in self._attribute(term, at + 1):
                yield from self._owned(owned, end)
        for words, types in kinds().items():
            if self.has(at, words) and _typed(term, types):
                yield term, at + len(words)
        yield term, at

    def _attribute(self, owner: Term, at: int) -> Iterator[Read]:
        """Yield what the owner has, by the words for it: "manager", "former employer"."""
        past = at < len(self.lows) and self.lows[at] in FORMER
        for found, end in self._attributes(owner, at + past):
            yield (found.in_tense("over") if past else found), end

    def _attributes(self, owner: Term, at: int) -> Iterator[Read]:
        yield from ((had(one, owner), end) for one, end in self.attribute(at))

    def attribute(self, at: int) -> Iterator[tuple[Attribute, int]]:
        """Yield what something can have, by the words for it."""
        at = self.skip(at)
        for length in (3, 2, 1):
            words = tuple(self.lows[at : at + length])
            yield from ((one, at + length) for one in attributes().get(words, ()))
            if words in titles() and titles()[words].office and self._at(at + length) in ("of", "for"):
                yield from self._office_for(titles()[words].label, at + length + 1)

    def _office_for(self, label: str, at: int) -> Iterator[tuple[Attribute, int]]:
        """Yield an office for something: "head of design", "VP of product marketing"."""
        for end in range(at + 1, min(at + 3, len(self.lows)) + 1):
            relation = f"{label}_OF_{'_'.join(self.lows[at:end]).upper()}_OF"
            yield Attribute((Way(relation, forward=True),), frozenset(), frozenset()), end

    def _held(self, at: int) -> Iterator[Read]:
        """Yield "manager of Alice", "CTO at Acme", "people behind Falcon"."""
        past = at < len(self.lows) and self.lows[at] in FORMER
        at += past
        for one, place in self.attribute(at):
            if self._at(place) in _HELD_BY:
                for owner, end in self.terms(place + 1):
                    yield (had(one, owner).in_tense("over") if past else had(one, owner)), end

    def _described(self, at: int) -> Iterator[tuple[Term, int]]:
        """Yield "project Atlas", and things by their kind: "the tool that Bob suggested", "people at Acme"."""
        for types, conditions, end in self.kind(at):
            for stop, named in self.names.get(end, ()):
                if not conditions and _typed(named, types):
                    yield named, stop
            for found, stop in self.relative(end):
                yield Sought(types, (*conditions, *found)), stop
            if conditions:
                yield Sought(types, conditions), end

    def relative(self, at: int) -> Iterator[tuple[tuple[Condition, ...], int]]:
        """Yield what a clause after a noun says of it: "who work at Acme", "that Alice uses", "at Acme", "using Go"."""
        if self._at(at) in ("who", "that", "which"):
            yield from self.predicates(at + 1)
            yield from (((found,), end) for found, end in self.statement(at + 1))
        elif at < len(self.lows):
            yield from self._predicates_of(Verb("be", False, "now", at))
            yield from (found for verb in verbs(self.lows, at, ("is",)) for found in self._predicates_of(verb))
            yield from (((found,), end) for found, end in self.statement(at))

    def kind(self, at: int) -> Iterator[tuple[Kinds, tuple[Condition, ...], int]]:
        """Yield a noun for a kind of thing, with the title that it stands for: "companies", "engineers"."""
        at = self.skip(at)
        for length in (3, 2, 1):
            words = tuple(self.lows[at : at + length])
            if len(words) == length and words in kinds():
                yield kinds()[words], (), at + length
            ours = self._at(at) in OWNERS  # "our databases" are all that are known
            named = tuple(self.lows[at + ours : at + ours + length])
            if len(named) == length and named in sorts():
                sort = OfSort(sorts()[named], named[-1].removesuffix("s"))
                yield _TOOLS, (Condition((), None, sort=sort),), at + ours + length
            if len(words) == length and words in titles():
                title = titles()[words]
                ways = ((Way(f"{title.label}_OF" if title.office else "HAS_ROLE", forward=True),),)
                holders = frozenset({"Person", "Agent"})
                role = None if title.office else self._role(words, title.words)
                yield holders, (Condition(ways, role),), at + length

    def _role(self, words: Sequence[str], titles: Sequence[str]) -> Named:
        """Return the roles of a title and of those that end with it: of an engineer those of a software engineer."""
        asked = " ".join(words)
        meant = [one for one in titles if asked in (one, f"{one}s")] or [asked]
        meant += [one for one in titles if one.endswith(f" {meant[0]}")]
        return Named(asked, tuple(node for word in meant for node in self.called(word) if node.type == "Role"))

    def things(self, at: int) -> Iterator[tuple[Sought, int]]:
        """Yield a kind of thing, with what is said of it."""
        for types, conditions, end in self.kind(at):
            for found, stop in self.relative(end):
                yield Sought(types, (*conditions, *found)), stop
            yield Sought(types, conditions), end

    # --- clauses -------------------------------------------------------------------------------------------------

    def predicates(self, at: int) -> Iterator[tuple[tuple[Condition, ...], int]]:
        """Yield what is said of a subject that stands before: "works at Acme", "knows Rust and works at Acme"."""
        for first, end in self._predicate(at):
            yield from self._more(first, end)

    def _predicates_of(self, verb: Verb) -> Iterator[tuple[tuple[Condition, ...], int]]:
        for first, end in self._objects(verb):
            yield from self._more(first, end)

    def _more(self, first: tuple[Condition, ...], end: int) -> Iterator[tuple[tuple[Condition, ...], int]]:
        if self._at(end) == "and":
            second = end + 1 + (self._at(end + 1) in ("who", "that", "which"))
            for others, stop in self.predicates(second):
                yield (*first, *others), stop
        yield first, end

    def _predicate(self, at: int) -> Iterator[tuple[tuple[Condition, ...], int]]:
        past = self._over(at)
        for verb in verbs(self.lows, at + past):
            yield from self._objects(verb._replace(tense="over") if past else verb)

    def _objects(self, verb: Verb) -> Iterator[tuple[tuple[Condition, ...], int]]:
        """Yield the verb with its objects: "uses Rust and Go", "is the CTO of Acme", "is blocked"."""
        for meaning in meanings(self.lows, verb):
            for objects, end in self.listed(meaning.end):
                yield tuple(self._condition(meaning, one, verb, subject=True) for one in objects), end
        if verb.lemma == "be" and not verb.passive:
            for term, end in self.terms(verb.end):
                if isinstance(term, Sought):
                    yield _being(term, verb.tense), end
        yield from (((one,), end) for one, end in self._alone(verb))

    def listed(self, at: int) -> Iterator[tuple[tuple[Term, ...], int]]:
        """Yield one thing, or several with commas or "and" between them, the most first."""
        for first, end in self.terms(at):
            if self._at(end) == "and":
                for others, stop in self.listed(end + 1):
                    yield (first, *others), stop
            yield (first,), end

    def inverted(self, at: int, *, loose: bool = False) -> Iterator[tuple[Term, Condition, int]]:
        """Yield a clause whose object is asked for: "does Alice use", "is Falcon written in", "did Bob work (at)"."""
        if self._at(at) not in AUXILIARIES:
            return
        for subject, end in self.terms(at + 1):
            yield from self._asked(subject, end, (self.lows[at],), loose=loose)

    def statement(self, at: int, *, loose: bool = False) -> Iterator[tuple[Condition, int]]:
        """Yield the same in the order of a statement: "(what) Alice uses", "(where) Bob works"."""
        for subject, end in self.terms(at):
            yield from ((found, stop) for _, found, stop in self._asked(subject, end, (), loose=loose))

    def _asked(
        self, subject: Term, at: int, before: Sequence[str], *, loose: bool
    ) -> Iterator[tuple[Term, Condition, int]]:
        past = self._over(at)
        for verb in verbs(self.lows, at + past, before):
            verb = verb._replace(tense="over") if past else verb
            for meaning in meanings(self.lows, verb, loose=loose):
                yield subject, self._condition(meaning, subject, verb, subject=False), meaning.end

    def clauses(self, at: int) -> Iterator[tuple[Term, tuple[Condition, ...], int]]:
        """Yield whole clauses: "does Alice use Go", "Alice uses Go", "was Falcon built (by Bob)"."""
        if self._at(at) in AUXILIARIES:
            for subject, end in (*self.terms(at + 1), *self.things(at + 1)):
                for verb in verbs(self.lows, end, (self.lows[at],)):
                    yield from ((subject, found, stop) for found, stop in self._predicates_of(verb))
        for subject, end in self.terms(at):
            yield from ((subject, found, stop) for found, stop in self.predicates(end))

    def _alone(self, verb: Verb) -> Iterator[tuple[Condition, int]]:
        """Yield what is said with nothing after it: "(when was) Falcon built", "(is) Orbit blocked"."""
        if not (verb.passive and verb.end == len(self.lows)) and verb.lemma != "be":
            return
        for meaning in meanings(self.lows, verb, loose=verb.passive):
            if meaning.end == len(self.lows) and (verb.passive or meaning.end > verb.end):
                yield self._condition(meaning, None, verb, subject=True), meaning.end

    def _condition(self, meaning: Meaning, other: Term | None, verb: Verb, *, subject: bool) -> Condition:
        """Join what is sought, the subject or else the object of the verb, to the other one."""
        fitting = [
            (row, turned)
            for row, turned in meaning.rows
            if other is None or _typed(other, frozenset(row.objects if subject != turned else row.subjects))
        ]
        chosen = fitting or meaning.rows
        # "Hired" asks for HIRED before what follows from it; what somebody works on is a project before a team.
        group = [_GROUPS.issuperset(row.subjects if turned else row.objects) and not subject for row, turned in chosen]
        other_words = [not row.relation.casefold().startswith(verb.lemma[:4]) for row, _ in chosen]
        chosen = [one for *_, _, one in sorted(zip(other_words, group, range(len(chosen)), chosen, strict=True))]
        ways = dict.fromkeys(including(Way(row.relation, subject != turned)) for row, turned in chosen)
        kinds = _PERSONS if subject and all(_PERSONS.issuperset(_first(*one)) for one in chosen) else frozenset()
        state = any(row.state for row, _ in chosen)
        said = self.lows[verb.end - 1 : meaning.end]  # what a thing is built on may be all that it uses
        made = _MAKEUP.issuperset(row.relation for row, _ in chosen) and not MADE.isdisjoint(said) and "on" not in said
        return Condition(tuple(ways), other, verb.tense, state, kinds, made=made)

    # --- words ---------------------------------------------------------------------------------------------------

    def has(self, at: int, words: Sequence[str]) -> bool:
        """Whether these words stand at `at`."""
        return tuple(self.lows[at : at + len(words)]) == tuple(words)

    def text(self, at: int, end: int) -> str:
        """Return the words from `at` to `end`."""
        return " ".join(self.lows[at:end])

    def _over(self, at: int) -> int:
        """How many words here say that it is over: "previously", "no longer"."""
        return 2 if self.has(at, ("no", "longer")) else int(self._at(at) in OVER)

    def _at(self, at: int) -> str:
        return self.lows[at] if at < len(self.lows) else ""


def _first(row: Row, turned: bool) -> Sequence[str]:
    """The types of the subject of a phrase."""
    return row.objects if turned else row.subjects


def _typed(term: Term, types: Kinds) -> bool:
    """Whether a thing may be of one of the types; of what is only described, nothing speaks against it."""
    if isinstance(term, Sought):
        return not term.kinds or not types or bool(term.kinds & types)
    return not types or not term.nodes or any(node.type in types for node in term.nodes)


def had(attribute: Attribute, owner: Term) -> Sought:
    """Return what somebody has; of those with whom one shares something, all but oneself."""
    if attribute.via is None:
        return Sought(attribute.kinds, (Condition((attribute.ways,), owner),), attribute.keys)
    shared = Sought(conditions=(Condition((including(attribute.via),), owner),))
    return Sought(attribute.kinds, (Condition((attribute.ways,), shared),), but=owner)


def _being(term: Sought, tense: Tense) -> tuple[Condition, ...]:
    """What it means to be, or to have been, what a description says."""
    return tuple(
        replace(one, kinds=term.kinds or one.kinds, tense=one.tense if tense == "now" or one.tense == "over" else tense)
        for one in term.conditions
    )
