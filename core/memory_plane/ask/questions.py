"""What a question can be once it is understood."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from memory_plane.ask.times import Period
from memory_plane.recall.knowledge import Called
from memory_plane.vocabulary.meanings import Way

Tense = Literal["now", "past", "over", "any"]
"""`past` is "did" and "was": what is over before what still holds; `over` is "before", "used to"."""
Want = Literal["thing", "owner", "to", "due", "whether", "done", "late", "all"]
Kinds = frozenset[str]
ANY_KIND: Kinds = frozenset()


@dataclass(frozen=True, slots=True)
class Named:
    """Something by its name: the nodes that are called so. `read_as` is the name it was taken for, if another."""

    text: str
    nodes: tuple[Called, ...] = ()
    read_as: str = ""


@dataclass(frozen=True, slots=True)
class OfSort:
    """One of these by its name, folded, or what is called by the word where it is told of: a database."""

    names: frozenset[str]
    word: str


@dataclass(frozen=True, slots=True)
class Condition:
    """What is sought is joined to `other` (None = anything) along one of the ways, and is of one of the kinds.

    `ways` are in groups: the first group that leads anywhere counts, since it is what the words say most plainly. With
    a `sort` there are no ways: it says what is sought and nothing of what it is joined to. With `before` it was so
    before it was so of that; `made` = only what a thing is made of counts, not all that it uses.
    """

    ways: tuple[tuple[Way, ...], ...]
    other: Term | None
    tense: Tense = "now"
    state: bool = True
    kinds: Kinds = ANY_KIND
    sort: OfSort | None = None
    before: Term | None = None
    made: bool = False


@dataclass(frozen=True, slots=True)
class Sought:
    """Whatever is of these kinds, fulfils all conditions and is not `but`; `keys` are of facts that say it too.

    With `at` it is what somebody has there: a role at a company.
    """

    kinds: Kinds = ANY_KIND
    conditions: tuple[Condition, ...] = ()
    keys: frozenset[str] = field(default=frozenset())
    but: Term | None = None
    at: Term | None = None

    def in_tense(self, tense: Tense) -> Sought:
        """Return what was sought, as it was then: "his former employer"."""
        return replace(self, conditions=tuple(replace(one, tense=tense) for one in self.conditions))


Term = Named | Sought


@dataclass(frozen=True, slots=True)
class Which:
    """Which things are these, or how many."""

    sought: Sought
    count: bool = False


@dataclass(frozen=True, slots=True)
class Whether:
    """Is this so of the subject; without conditions: is the subject one of `among`."""

    subject: Term
    conditions: tuple[Condition, ...] = ()
    among: Sought | None = None


@dataclass(frozen=True, slots=True)
class When:
    """When did this begin to be so of the subject, or end."""

    subject: Term
    condition: Condition
    length: bool = False


@dataclass(frozen=True, slots=True)
class Between:
    """How are two things connected, or are they at all."""

    source: Term
    target: Term
    whether: bool = False


@dataclass(frozen=True, slots=True)
class About:
    """Who or what is this."""

    subject: Term
    all: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """Open items, or promises whatever became of them; None = anybody's. `want` is what of them is asked for.

    That is with `done` whether they were kept, with `late` whether they are overdue.

    `whose`: those that the owner owes; or has to see to (`by`), questions and handoffs to the owner included; or all
    that are addressed to the owner besides (`for`).

    With `act` an item begins with the first or the last word of the thing: "launch Wayfarer" is when it will launch.
    """

    kinds: tuple[str, ...] = ()
    owner: Term | None = None
    to: Term | None = None
    thing: str = ""
    want: Want = "thing"
    due: Literal["", "any", "overdue"] = ""
    still_open: bool = True
    whose: Literal["", "by", "for"] = ""
    act: bool = False


@dataclass(frozen=True, slots=True)
class Doings:
    """What somebody did, said or decided, or what happened to something; with `focus`, what an agent is at now.

    `words` stand in what is asked for.
    """

    subject: Term | None
    kinds: tuple[str, ...] = ()
    about: Term | None = None
    focus: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True)
class Workers:
    """Who is at something: by the graph, by the focus of agents and by who owes an open item that names it."""

    thing: Term | None
    words: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What has changed, of something or at all."""

    about: Term | None = None


@dataclass(frozen=True, slots=True)
class FactOf:
    """The value of a fact: the first of these (subject, key) that there is."""

    options: tuple[tuple[str, str], ...]


Form = Which | Whether | When | Between | About | Items | Doings | Workers | Changes | FactOf


def relations(part: Form | Condition | Term | None) -> frozenset[str]:
    """Return the relations that a question asks for."""
    match part:
        case Condition():
            own = {way.relation for group in part.ways for way in group}
            return relations(part.other).union(own)
        case Sought():
            return frozenset[str]().union(*map(relations, part.conditions))
        case Which():
            return relations(part.sought)
        case Whether():
            return relations(part.subject).union(*map(relations, part.conditions))
        case When():
            return relations(part.subject) | relations(part.condition)
    return frozenset()


@dataclass(frozen=True, slots=True)
class Question:
    """A question that was understood, and the time it speaks of."""

    form: Form
    period: Period | None = None
