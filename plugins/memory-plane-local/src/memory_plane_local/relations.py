"""Verbs to claims: the row of the table that joins what stands before the verb to what stands after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from memory_plane.types import Polarity
from memory_plane_local import objects as after_verb
from memory_plane_local import subjects as before_verb
from memory_plane_local.clauses import Clause, Match, matches
from memory_plane_local.coreference import Discourse
from memory_plane_local.dates import find_days
from memory_plane_local.drafts import Draft, Drafts, closed, fit, polarity, settle
from memory_plane_local.elements import MARK, NAME, NOUN, PRONOUN, ROLE, VERB, WORD, Element
from memory_plane_local.ellipsis import read_ellipsis
from memory_plane_local.guards import ENDED, FUTURE, HYPOTHETICAL, NEGATIVE, PAST_TENSE
from memory_plane_local.lexicon import is_common
from memory_plane_local.name import THING, Name
from memory_plane_local.relatives import told_of
from memory_plane_local.spans import NEVER, Span, Times, coming, times
from memory_plane_local.tables import cues, words
from memory_plane_local.unnamed import field, hindrance, package
from memory_plane_local.verbs import Row, sense

_MEANS = (("on", "top", "of"), ("using",), ("with",), ("in",), ("on",), ("via",))
_LEAVING = frozenset({"PREVIOUSLY_WORKED_AT", "PREVIOUSLY_LIVED_IN"})
_CHANGES = frozenset({"WORKS_AT", "MEMBER_OF", "PREVIOUSLY_WORKED_AT"})
_MAKING = frozenset({"BUILDS", "WORKING_ON"})
_BUILDING = frozenset({"build", "write", "implement", "code", "develop", "make", "design"})
_MADE = frozenset({"BUILDS", "SUPPORTS", "LEADS"})
_ANY_PHRASE = frozenset({"DEPENDS_ON", "BLOCKED_BY", "PREFERS"})
_TECHNICAL = frozenset({"USES", "BUILT_IN", "DEPENDS_ON"})
_CARED_FOR = frozenset({"BUILDS", "SUPPORTS", "OWNS", "LEADS"})
_TECH, _PEOPLE = (("Tool",), ("Language",)), (("Person",), ("Agent",), ("Team",))
_BARE, _TOLD = 0.9, 0.95
_COMING = frozenset({"move", "come", "go", "transfer"})
_BY = frozenset({"by", "before"})
_SMALL_WORDS, _NEAR = 3, 4
_AFTERWARDS = 16
"""Tokens after a verb in which "anymore" and "until" belong to it."""


@dataclass(slots=True)
class Reader:
    """Finds the claims of one text, sentence by sentence; `once` makes the same name the same thing."""

    discourse: Discourse
    drafts: Drafts
    once: after_verb.Once

    def subject(self, clause: Clause, at: int) -> before_verb.Found:
        """Return the names that the verb at `at` speaks of."""
        return before_verb.subject(self.discourse, clause, at)

    def objects(self, clause: Clause, at: int, *, any_phrase: bool = True) -> after_verb.Found:
        """Return the names at element `at`."""
        return after_verb.objects(self.discourse, self.once, clause, at, any_phrase=any_phrase)

    def verb(self, clause: Clause, at: int) -> None:
        """Read the verb at `at`, unless its subject comes later."""
        if at == 0 and before_verb.rates(clause):
            return
        if at < 2 and before_verb.opens(clause, at):
            clause.waiting.append(at)
        else:
            found, factor = self.subject(clause, at)
            self._read(clause, at, found or self._bare(clause, at), factor or _BARE, told_of(clause, at))

    def _bare(self, clause: Clause, at: int) -> list[Name]:
        """A thing named by small words before a technical verb: "atlas depends on redis"."""
        first, before = clause.elements[0], clause.elements[:at]
        plain = all(one.kind == WORD and one.low not in words("function.txt") for one in before)
        plain = plain and not (clause.elements[at].bare and clause.elements[at].form == "base")  # "people use it"
        if not 0 < at <= _SMALL_WORDS or not plain or first.determined or before[-1].end - first.begin > at:
            return []
        for match in matches(clause, at):
            made = match.turned and match.phrase.row.relation in _CARED_FOR and not is_common(first.low)
            if not made and (match.turned or match.phrase.row.relation not in _TECHNICAL):
                continue
            kinds = _PEOPLE if made else _TECH
            found, after, _ = self.objects(clause, match.end, any_phrase=False)
            known = [name for name in found if not name.weak]
            if not _goes_on(clause, after) and any(name.options[:1] in kinds for name in known):
                start, end = clause.sentence.tokens[first.begin].start, clause.sentence.tokens[before[-1].end - 1].end
                span, text = (first.begin, before[-1].end), clause.sentence.text[start:end]
                return [self.once(Name(text, start, end, ("Project",), 0.75, span=span))]
        return []

    def finish(self, clause: Clause) -> None:
        """Read what opened the sentence once its subject is known: "Using Scala, Brightwater is building FlowCast"."""
        for at in clause.waiting:
            uses = clause.elements[at].low == "use"
            self._read(clause, at, clause.product if uses and clause.product else clause.main, 0.95)

    def _read(self, clause: Clause, at: int, subject: list[Name], factor: float, told: Sequence[Name] = ()) -> None:
        """Read what a verb says of its subject, and of `told`, the head of its relative clause."""
        element = clause.elements[at]
        if element.form in ("base", "ing") and element.bare and at and clause.elements[at - 1].low in cues("link"):
            element.flags |= clause.previous
        clause.previous = (
            element.flags & ~PAST_TENSE if element.bare else element.flags
        )  # "we dropped Redis and use Valkey"
        if subject:
            clause.last = subject
            clause.main = clause.main or subject
        for match in matches(clause, at):
            row = match.phrase.row
            found, after, sure = self.objects(clause, match.end, any_phrase=row.relation in _ANY_PHRASE)
            if row.relation == "LEADS" and not found:
                found, after, sure = field(self.once, clause, match.end)
            if element.low == "maintain" and not found:
                found, after, sure = package(self.discourse, self.once, clause, match.end)
            if row.relation == "BLOCKED_BY" and not found and not match.turned:
                found, after, sure = hindrance(self.once, clause, match.end)
            if told:
                found, after, sure = [] if found else list(told), match.end, _TOLD
            if row.relation == "PREFERS" and found and _vague(clause.elements[after - 1]):
                continue
            if row.relation in _MADE and not match.turned and any(_everyday(name) for name in found):
                continue
            if _hailing(match) and (_of_theirs(clause, at) or self.drafts.employed(subject, found)):
                continue  # "Its curator, Jan Roe, is from Hull"
            if row.relation == "WORKS_AT" and match.turned and any(one.options[:1] == ("Person",) for one in subject):
                continue  # "Isolde hired Tom"
            if _company(match) and found and not found[0].options:
                continue
            if row.relation == "USES" and element.low == "move" and match.end == at + 2 and _somewhere(subject, found):
                continue
            if row.relation == "LEADS" and element.low == "run" and not _group(found, past=element.form == "past"):
                continue
            if row.relation == "LEADS" and any(name.text.startswith("Series") for name in found):
                continue  # who led a round of funding leads nobody
            if row.relation == "FOUNDER_OF" and element.low == "start" and not _founded(found):
                continue
            came = element.low in _COMING and match.phrase.rest == ("from",)
            if came and not self._there(clause, at, subject):
                continue
            if row.relation == "CHANGED" and match.phrase.rest[:1] == ("~",) and not _worked_on(clause, at, after):
                continue
            if not self._state(clause, element, match, subject, found, factor * sure):
                continue
            if match.phrase.rest[:1] == ("~",) and row.relation != "CHANGED":
                continue
            if row.relation == "BUILDS" and not match.turned:
                self._made_of(clause, element, subject, clause.elements[after - 1])
            if row.relation in _MAKING:
                self._means(clause, element, found if not match.turned else subject, after)
            if match.passive and row.relation in _TECHNICAL:
                self._maker(clause, element, subject, after)
            self._workplace(clause, element, subject, after)
            read_ellipsis(self, clause, element, match, subject, after)
            return

    def _state(
        self, clause: Clause, element: Element, match: Match, subject: list[Name], found: list[Name], factor: float
    ) -> bool:
        """Draft the claims of one phrase; False when the types do not fit and another row must be tried."""
        row = match.phrase.row
        flags = self.flags(clause, element)
        if element.bare and match.passive:
            flags &= ~PAST_TENSE
        polar = polarity(flags, state=row.state)
        sources, targets = (found, subject) if match.turned else (subject, found)
        pairs = [(source, target) for source in sources for target in targets]
        return any([self.draft(clause, source, row, target, polar, factor, element) for source, target in pairs])

    def _there(self, clause: Clause, at: int, people: list[Name]) -> bool:
        """Whether people came to where the text has them at work: "he moved there from Globex"."""
        after = clause.sentence.tokens[clause.elements[at].end :][:1]
        if not after or after[0].low != "there":
            return False
        return any(one.relation == "WORKS_AT" and one.subject in people for one in self.drafts.found.values())

    def flags(self, clause: Clause, element: Element) -> int:
        """Return all polarity bits that hold for a verb."""
        at = clause.element_at(element.begin)
        decided = before_verb.governing(clause, at)
        flags = element.flags | (decided.flags & ~PAST_TENSE if decided else 0)
        if not flags & NEGATIVE and any(one.flags for one in _beside(clause, at)):
            flags |= HYPOTHETICAL  # "Alice works at Acme or Globex"
        flags |= HYPOTHETICAL if _not_yet(clause, element) else 0
        return clause.flags | flags | clause.onwards[element.begin] | self.afterwards(clause, element)

    def afterwards(self, clause: Clause, element: Element) -> int:
        """Return what words after the verb add: "not … anymore" and "was … until" say that it is over."""
        after = clause.elements[clause.element_at(element.begin) + 1 :]
        end = next((later.begin for later in after if later.kind == VERB), element.end + _AFTERWARDS)
        rest = [token.low for token in clause.sentence.tokens[element.end : min(end, element.end + _AFTERWARDS)]]
        denied = (element.flags | clause.onwards[element.begin]) & NEGATIVE
        if denied and ("anymore" in rest or ("any", "more") in pairwise(rest)):
            return ENDED
        return ENDED if "until" in rest and element.form == "past" else 0

    def draft(
        self,
        clause: Clause,
        source: Name,
        row: Row,
        target: Name,
        polar: Polarity,
        factor: float,
        verb: Element | None = None,
        *,
        leaving: bool = False,
    ) -> bool:
        """Add one claim if both types fit the row, with the time that is said of its verb."""
        ours, theirs = fit(source, row.subjects), fit(target, row.objects)
        depends = verb is not None and verb.low in cues("of_things") and target.options[:1] in _TECH
        if ours is None and depends and self._may_be_thing(source):
            ours = "Project", _BARE
        if ours is None or theirs is None or source is target:
            return False
        ahead = verb is not None and row.relation in _CHANGES and _under_way(verb, row)
        due = verb is not None and not row.state and _is_due(clause, verb)
        if polar == "positive" and (due or (ahead and self._coming(clause, verb) is None)):
            polar = "hypothetical"
        settle(source, ours[0])
        settle(target, theirs[0])
        if target.options == ("Organization",) and target not in self.discourse.recent:  # "northlight" is no NAME
            self.discourse.note([target])
        confidence = round(row.strength * factor * clause.doubt * ours[1] * theirs[1], 3)
        times = self.times(clause, verb, polar, state=row.state, leaving=leaving or row.relation in _LEAVING)
        self.drafts.add(Draft(source, closed(row.relation, polar), target, polar, *clause.span(), confidence, times))
        return True

    def _may_be_thing(self, name: Name) -> bool:
        """Whether nothing said so far tells a given name from that of software: "Marlin uses Go, depends on Kafka"."""
        if name.options != ("Person",) or " " in name.text or name in (self.discourse.writer, self.discourse.reader):
            return False
        said = self.drafts.found.values()
        does = all(one.relation in _TECHNICAL for one in said if one.subject is name)
        undergoes = all(one.relation in _TECHNICAL | _CARED_FOR for one in said if one.object is name)
        return does and undergoes and id(name) not in self.discourse.gender

    def times(self, clause: Clause, verb: Element | None, polar: Polarity, *, state: bool, leaving: bool) -> Times:
        """Return from when and until when a claim holds by what is said of its verb."""
        span = clause.told(verb) if verb is not None and polar in ("positive", "past") else None
        if span is None or verb is None:
            return NEVER
        ahead = verb.form == ("third" if verb.bare else "ing")  # "joins in May", "is joining in May"
        if ahead and not verb.flags & PAST_TENSE and not state:
            span = self._coming(clause, verb) or span
        return times(span, polar, self.flags(clause, verb), clause.written, state=state, leaving=leaving)

    def _coming(self, clause: Clause, verb: Element | None) -> Span | None:
        """Return the time to come at which what is under way will be so."""
        span = clause.told(verb) if verb is not None else None
        return None if span is None else coming(span, clause.written)

    def _workplace(self, clause: Clause, element: Element, subject: list[Name], at: int) -> None:
        """A person who does something "at The Zebra" works there."""
        elements = clause.elements
        if element.low not in cues("workplace"):
            return
        turn = ("but", "not")
        near = takewhile(
            lambda i: elements[i].kind not in (MARK, VERB) and elements[i].low not in turn,
            range(at, min(at + 3, len(elements))),
        )
        at = next((i for i in near if elements[i].low == "at"), len(elements)) + 1
        if at >= len(elements) or elements[at].kind != NAME:
            return
        place, works = elements[at].names[0], sense("join", "WORKS_AT")
        polar = polarity(self.flags(clause, element), state=True)
        for person in subject:
            named = person.options[:1] == ("Person",) and person is not self.discourse.writer
            if named and place.options[:1] in ((), ("Organization",)):
                self.draft(clause, person, works, place, polar, 0.9)

    def _maker(self, clause: Clause, element: Element, made: list[Name], at: int) -> None:
        """Who built what is "built on Kafka by Joost"."""
        rest = clause.elements[at : at + 2]
        if len(rest) < 2 or rest[0].low != "by" or rest[1].kind != NAME or element.low not in _BUILDING:
            return
        polar = polarity(self.flags(clause, element), state=False)
        for maker in rest[1].names:
            for thing in made:
                self.draft(clause, maker, sense("build", "BUILDS"), thing, polar, 1.0, element)

    def _made_of(self, clause: Clause, element: Element, makers: list[Name], made: Element) -> None:
        """Who makes something of a tool uses it: "set up a GitHub Actions workflow"."""
        techs = [name for name in made.inside if made.low in cues("configured") and name.options[:1] in _TECH]
        polar = polarity(self.flags(clause, element), state=False)
        for maker in makers:
            for tech in techs:
                self.draft(clause, maker, sense("use", "USES"), self.once(tech), polar, 0.95, element)

    def _means(self, clause: Clause, element: Element, made: list[Name], at: int) -> None:
        """What is built is built with something: "… using Rust", "… in Java with PostgreSQL"."""
        clause.product = made
        uses = sense("use", "USES")
        polar = polarity(self.flags(clause, element), state=False)
        while end := _means_at(clause, at):
            found, after, factor = self.objects(clause, end)
            techs = [name for name in found if _technical(name, guess=clause.elements[at].low != "on")]
            for source in made:
                for target in techs:
                    self.draft(clause, source, uses, target, polar, factor)
            if not techs:
                return
            at = after


def _beside(clause: Clause, at: int) -> Iterator[Element]:
    """Yield the names right before a verb, and those after it up to the next one."""
    before, after = clause.elements[max(at - 1, 0) : at], clause.elements[at + 1 : at + 1 + _NEAR]
    yield from (one for one in before if one.kind == NAME)
    yield from (one for one in takewhile(lambda one: one.kind != VERB, after) if one.kind == NAME)


def _not_yet(clause: Clause, verb: Element) -> bool:
    """Whether what a verb says is still to come: "ask legal before we use it", "until Orbit runs on Kafka"."""
    at = clause.element_at(verb.begin)
    if at < 2 or verb.flags & PAST_TENSE or clause.elements[at - 1].kind not in (NAME, NOUN, PRONOUN):
        return False
    word = clause.elements[at - 2]
    if word.kind == VERB and word.low in cues("causing") and verb.bare and verb.form == "base":  # "let Ann lead Orbit"
        return word.low == "let" or not word.flags & PAST_TENSE
    if word.low in cues("whenever"):  # "When Alice joins Acme, Bob will lead Orbit"
        return any(element.flags & FUTURE for element in clause.elements)
    return word.low in cues("not_yet") or (word.definite and word.low in cues("occasion"))


def _means_at(clause: Clause, at: int) -> int:
    """The element after "using", "with", "in" …, 0 when none of them is at `at`."""
    for phrase in _MEANS:
        chunk = [element.low for element in clause.elements[at : at + len(phrase)]]
        if chunk == list(phrase) or (phrase == ("using",) and chunk == ["use"] and clause.elements[at].form == "ing"):
            return at + len(phrase)
    return 0


def _goes_on(clause: Clause, at: int) -> bool:
    """Whether an ordinary word goes on with what stands before it: "python lessons"."""
    element = clause.elements[at] if at < len(clause.elements) else None
    return element is not None and (
        element.kind == NOUN or (element.kind == WORD and element.low not in words("function.txt"))
    )


def _under_way(verb: Element, row: Row) -> bool:
    """Whether a change is only to come: "he's joining Acme"."""
    return not row.state and verb.form == "ing" and not verb.bare and not verb.flags & PAST_TENSE


def _is_due(clause: Clause, verb: Element) -> bool:
    """Whether what a verb in the present says is to be so by a day to come: "leaves the team by Friday"."""
    tokens = clause.sentence.tokens[verb.end :]
    if verb.flags & PAST_TENSE or verb.form in ("past", "participle") or not any(one.low in _BY for one in tokens):
        return False
    return any(day.before in _BY and day.first > clause.written.date() for day in find_days(tokens, clause.written))


def _company(match: Match) -> bool:
    """Whether a phrase is said of tools and of people: "works with Efua"."""
    return match.phrase.row.relation == "USES" and match.phrase.rest == ("with",)


def _hailing(match: Match) -> bool:
    """Whether a phrase tells whose employee somebody is, or else where somebody comes from: "is from"."""
    return match.phrase.row.relation == "WORKS_AT" and match.phrase.rest == ("from",)


def _of_theirs(clause: Clause, at: int) -> bool:
    """Whether a title before the element at `at` is said to be somebody's: "its curator"."""
    return any(one.kind == ROLE and one.owner for one in clause.elements[:at])


def _vague(element: Element) -> bool:
    """Whether what somebody likes is no lasting taste: "the energy", "their work", "breaking it up"."""
    if element.kind != NOUN or not element.names or element.names[0].options[:1] != (THING,):
        return False
    return element.determined or element.owner != "" or element.names[0].text.split()[0].endswith("ing")


def _somewhere(subject: list[Name], found: list[Name]) -> bool:
    """Whether it is a place that somebody moves to, for all that is known of it."""
    return all(name.options[:1] == ("Person",) for name in subject) and any(not name.options for name in found)


def _group(found: list[Name], *, past: bool) -> bool:
    """Whether what somebody runs is no tool, and what somebody ran has a name or people, and is no script."""
    kinds = [name.options[:1] for name in found]
    named = all(
        not name.weak or kind in (("Organization",), ("Team",)) for name, kind in zip(found, kinds, strict=True)
    )
    return ("Tool",) not in kinds and (named or not past)


def _founded(found: list[Name]) -> bool:
    """Whether what somebody started is a company, and no server or meeting."""
    return all(name.options in ((), ("Organization",)) and not name.weak for name in found)


def _worked_on(clause: Clause, at: int, after: int) -> bool:
    """Whether it is a thing with a name, or spoken of as known, in which something without a name was changed."""
    changed, thing = clause.elements[at + 1], clause.elements[after - 1]
    if changed.kind == NAME or any(name.options == ("Tool",) for name in changed.inside):  # is used there
        return False
    known = thing.kind == NOUN and thing.definite and " " in thing.names[0].text
    return thing.kind == NAME or (known and thing.low not in cues("no_user"))


def _everyday(name: Name) -> bool:
    """Whether a name is one ordinary word, whose making nobody need remember: "made the coffee"."""
    return name.options[:1] == (THING,) and " " not in name.text


def _technical(name: Name, *, guess: bool) -> bool:
    return name.options[:1] in (("Tool",), ("Language",)) or (guess and not name.options)
