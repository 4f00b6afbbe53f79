"""What a whole question asks: by a pattern, by a clause with a gap ("who works at …"), or by the key of a fact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

from memory_plane.ask.grammar import OVER, Phrases, had
from memory_plane.ask.patterns import Bound, Pattern, matching
from memory_plane.ask.questions import (
    ANY_KIND,
    About,
    Between,
    Changes,
    Condition,
    Doings,
    FactOf,
    Form,
    Items,
    Kinds,
    Sought,
    Tense,
    Term,
    Want,
    When,
    Whether,
    Which,
    Workers,
)
from memory_plane.ask.verbs import AUXILIARIES, BE, LOOSE
from memory_plane.types import Kind
from memory_plane.vocabulary.meanings import Way, attributes, including

_WHO: Kinds = frozenset({"Person", "Agent", "Team", "Organization"})
_PLACES: Kinds = frozenset({"Place", "Organization"})
_WANTED: dict[str, Want] = {"owner": "owner", "all": "all", "to": "to", "whether": "whether", "done": "done"}
_KEY = 4
"""How many words the key of a fact has at most."""
_SPOKEN_OF = frozenset({"he", "she", "they", "it"})
_ENDINGS: tuple[tuple[tuple[str, ...], Tense], ...] = (
    (("in", "the", "past"), "over"),
    (("any", "more"), "over"),
    (("before", "that"), "over"),
    *(((word,), "over") for word in (*OVER, "anymore")),
)


def forms(phrases: Phrases) -> Iterator[Form]:
    """Yield what a question can ask, the likeliest first; nothing where a word of it has no meaning."""
    yield from _forms(phrases)
    for at in range(2, len(phrases.lows) - 1):
        if phrases.lows[at] == "before":
            for then in _then(phrases, at + 1):
                yield from _in_past(phrases, at, "over", then)
    for ending, tense in _ENDINGS:
        if len(phrases.lows) > len(ending) + 1 and tuple(phrases.lows[-len(ending) :]) == ending:
            yield from _in_past(phrases, len(phrases.lows) - len(ending), tense)


def _then(phrases: Phrases, at: int) -> Iterator[Term]:
    """Yield what something was before: "before Northlight", "before he joined Northlight"."""
    begins = [at + 1] if phrases.lows[at] in _SPOKEN_OF else []
    for term, end in phrases.terms(at):
        if end == len(phrases.lows):
            yield term
        elif phrases.text(at, end) in phrases.text(0, at):  # another's beginning is not its own
            begins.append(end)
    for begin in begins:
        for conditions, end in phrases.predicates(begin):
            if end == len(phrases.lows) and len(conditions) == 1 and conditions[0].other is not None:
                yield conditions[0].other


def _in_past(phrases: Phrases, end: int, tense: Tense, then: Term | None = None) -> Iterator[Form]:
    """Yield what the words up to `end` ask, of what was so before."""
    shorter = Phrases(phrases.lows[:end], phrases.names, phrases.writer, phrases.called)
    for form in (*_forms(shorter), *_places_of_work(shorter)):
        if (changed := _in_tense(form, tense, then)) is not None:
            yield changed


def _places_of_work(phrases: Phrases) -> Iterator[Form]:
    """Yield where somebody worked, which is asked by "where was Bruno" and "what did Bruno do" with a "before"."""
    opening, does = tuple(phrases.lows[:2]), phrases.lows[-1] == "do"
    if opening in (("where", "was"), ("where", "were")) or (opening == ("what", "did") and does):
        for term, end in phrases.terms(2):
            if end == len(phrases.lows) - does:
                yield from (Which(had(one, term)) for one in attributes()["employer",])


def _forms(phrases: Phrases) -> Iterator[Form]:
    for pattern, bound in matching(phrases):
        yield from _built(pattern, bound, phrases)
    yield from _clauses(phrases)


# --- clauses -----------------------------------------------------------------------------------------------------


def _clauses(phrases: Phrases) -> Iterator[Form]:
    first = phrases.lows[0] if phrases.lows else ""
    if first in AUXILIARIES:
        for subject, conditions, end in phrases.clauses(0):
            if end == len(phrases.lows):
                yield Whether(subject, conditions)
    for opening, length in ((("since", "when"), False), (("when",), False), (("how", "long"), True)):
        if phrases.has(0, opening):
            yield from _when(phrases, len(opening), length)
    yield from _trailing(phrases)
    loose = first in LOOSE
    for kinds, conditions, at, count in _asked(phrases, int(loose)):
        yield from _gaps(phrases, kinds, conditions, at, count=count, loose=loose)


def _asked(phrases: Phrases, at: int) -> Iterator[tuple[Kinds, tuple[Condition, ...], int, bool]]:
    """Yield what is asked for: the kinds of it, what its noun says of it, the word after it, and whether how many."""
    match phrases.lows[at] if at < len(phrases.lows) else "":
        case "who":
            at += phrases.lows[at + 1 : at + 2] in (["all"], ["else"])
            yield _WHO, (), at + 1, False
            if phrases.lows[at + 1 : at + 2] and phrases.lows[at + 1] in LOOSE:  # "who at Acme uses Go"
                yield from ((_WHO, found, end, False) for found, end in phrases.relative(at + 1))
        case "where":
            yield _PLACES, (), at + 1, False
        case "what":
            yield ANY_KIND, (), at + 1, False
            yield from ((*found, False) for found in phrases.kind(at + 1))
        case "which":
            yield from ((*found, False) for found in phrases.kind(at + 1))
        case "how" if phrases.has(at, ("how", "many")):
            yield from ((*found, True) for found in phrases.kind(at + 2))


def _gaps(
    phrases: Phrases, kinds: Kinds, conditions: tuple[Condition, ...], at: int, *, count: bool, loose: bool
) -> Iterator[Form]:
    """Yield clauses that lack what is asked for: their subject or their object."""
    last, where = len(phrases.lows), phrases.lows[0] == "where"
    if where and phrases.lows[at : at + 1] and phrases.lows[at] in BE and _copular(phrases, at):
        kinds = frozenset({"Place"})
    noun = kinds not in (ANY_KIND, _WHO, _PLACES) or bool(conditions)
    for relative, begin in [((), at), *(phrases.relative(at) if noun else ())]:
        for more, end in _gapped(phrases, begin, loose=loose or where or noun):
            if end == last:
                yield Which(Sought(kinds, (*conditions, *relative, *more)), count)


def _gapped(phrases: Phrases, at: int, *, loose: bool) -> Iterator[tuple[tuple[Condition, ...], int]]:
    yield from phrases.predicates(at)
    yield from (((one,), end) for _, one, end in phrases.inverted(at, loose=loose))
    yield from (((one,), end) for one, end in phrases.statement(at, loose=loose))


def _trailing(phrases: Phrases) -> Iterator[Form]:
    """Yield clauses in the order of a statement: "Tom works where?", "Redis was suggested by whom?"."""
    last = phrases.lows[-1] if phrases.lows else ""
    kinds = {"who": _WHO, "what": ANY_KIND, "where": _PLACES}.get(last)
    if kinds is not None:
        for one, end in phrases.statement(0, loose=last == "where"):
            if end == len(phrases.lows) - 1:
                yield Which(Sought(kinds, (one,)))


def _copular(phrases: Phrases, at: int) -> bool:
    """Whether nothing but a thing stands after "where is"."""
    return any(end == len(phrases.lows) for _, end in phrases.terms(at + 1))


def _when(phrases: Phrases, at: int, length: bool) -> Iterator[Form]:
    for subject, conditions, end in phrases.clauses(at):
        if end == len(phrases.lows) and len(conditions) == 1:
            yield When(subject, conditions[0], length)


def _in_tense(form: Form, tense: Tense, then: Term | None = None) -> Form | None:
    """Return the question of what was so before, or before it was so of something else, where that can be asked."""
    match form:
        case Which() if then is None or len(form.sought.conditions) == 1:
            sought = form.sought.in_tense(tense)
            return replace(
                form, sought=replace(sought, conditions=tuple(replace(one, before=then) for one in sought.conditions))
            )
        case Whether():
            return replace(form, conditions=tuple(replace(one, tense=tense) for one in form.conditions))
    return None


# --- patterns ----------------------------------------------------------------------------------------------------


def _built(pattern: Pattern, bound: Bound, phrases: Phrases) -> Iterator[Form]:
    """Yield what a pattern asks; of several things that it can mean the likeliest first."""
    if pattern.form == "has":
        meant = attributes()[pattern.option,] if (pattern.option,) in attributes() else [bound["N"]]
        for one in meant:
            yield Which(replace(had(one, bound["A"]), at=bound.get("B")), count=pattern.option == "count")
        return
    form = _form(pattern, bound, phrases)
    if form is not None:
        yield form


def _form(pattern: Pattern, bound: Bound, phrases: Phrases) -> Form | None:
    one: Any = bound.get("A")
    other, option = bound.get("B"), pattern.option
    match pattern.form:
        case "between" if other is not None:
            return Between(one, other, whether=option == "whether")
        case "list" if option == "people":
            return Which(Sought(frozenset({"Person"})))
        case "list" if option == "described":
            return Which(one) if isinstance(one, Sought) else None
        case "list" | "count":
            return Which(bound["K"], count=pattern.form == "count")
        case "about":
            return Which(one) if isinstance(one, Sought) else About(one, all=option == "all")
        case "open":
            owner = one or (phrases.writer if any("my" in words for words in pattern.words) else None)
            return Items(bound.get("I", ()), owner=owner, whose="by" if option == "mine" else "for", want="all")
        case "due":
            return _due(option, bound)
        case "promise":
            return _promise(option, bound, phrases)
        case "doings":
            kinds = (option,) if option in (*get_args(Kind), "recommendation") else ()
            return Doings(one, kinds, other, focus=option == "focus", words=bound.get("T", ""))
        case "workers":
            return Workers(one, bound["T"] if one is None else getattr(one, "text", ""))
        case "blocked":
            blocked = Condition((including(Way("BLOCKED_BY", forward=True)),), None)
            return Which(Sought(bound["K"].kinds if "K" in bound else ANY_KIND, (blocked,)))
        case "changes":
            return Changes(other)
    return None


def _due(option: str, bound: Bound) -> Items:
    if option == "when":
        return Items(owner=bound.get("A"), thing=bound["T"], want="due", still_open=False)
    if option == "act":
        return Items(thing=bound["T"], want="due", still_open=False, act=True)
    if option == "late":
        return Items(owner=bound.get("A"), thing=bound["T"], want="late")
    items = Items(bound.get("I", ()), owner=bound.get("A"), whose="for", want="all", due="any")
    return replace(items, due="overdue") if option == "overdue" else items


def _promise(option: str, bound: Bound, phrases: Phrases) -> Items:
    return Items(
        ("commitment",),
        owner=phrases.writer if option == "mine" else bound.get("A"),
        to=bound.get("B"),
        thing=bound.get("T", ""),
        want=_WANTED.get(option, "thing"),
        still_open=False,
    )


# --- facts -------------------------------------------------------------------------------------------------------


def fact_of(phrases: Phrases) -> FactOf | None:
    """Return which fact a question asks for: "what is the deploy day of the website", "what is Bob's shoe size"."""
    lows = phrases.lows
    if len(lows) < 4 or lows[0] not in ("what", "who", "where", "when", "which") or lows[1] not in BE:
        return None
    begin, last = phrases.skip(2), len(lows)
    if lows[2] == "my":
        return FactOf(tuple((subject, phrases.text(3, last)) for subject in ("user", "me", "I")))
    options = [
        (phrases.text(begin, at), phrases.text(at + 1, last))
        for at in range(begin + 1, last - 1)
        if lows[at] == "'s" and last - at - 1 <= _KEY
    ]
    options += [
        (phrases.text(phrases.skip(at + 1), last), phrases.text(begin, at))
        for at in range(begin + 1, last - 1)
        if lows[at] in ("of", "for", "at", "in") and at - begin <= _KEY
    ]
    # "Femi" is Femi Adeyemi where one alone is called so.
    options += [(nodes[0].name, key) for subject, key in options if len(nodes := phrases.called(subject)) == 1]
    return FactOf(tuple(options)) if options else None
