"""Lists of what is to be done: lines under "TODO:" or "Action items", and boxes, each with its owner."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from memory_plane.types import Item
from memory_plane_local.clauses import Clause
from memory_plane_local.dates import due_date
from memory_plane_local.deals import act, bind, each
from memory_plane_local.elements import NAME, PRONOUN, VERB, WORD
from memory_plane_local.guards import HYPOTHETICAL
from memory_plane_local.name import Name
from memory_plane_local.relations import Reader
from memory_plane_local.tables import cues, rows, words
from memory_plane_local.tasks import does_deed
from memory_plane_local.tokens import Token

_STRENGTH = 0.85
_LONGEST = 40
"""Tokens that an entry has at most: what is longer is prose."""
_BOX = 3
_TOPIC = 5
"""Tokens in which a heading may tell what the list is about: "House, who does what:"."""
_WORD = frozenset({"low", "cap", "mix"})


class Line(NamedTuple):
    """A line of a list: what is to be done, once for each who owes it; nothing where it is done or says nothing."""

    items: Sequence[Item]


class _Owned(NamedTuple):
    """Where what is to be done stands, and who is to do it, as far as it is said."""

    begin: int
    end: int
    owners: Sequence[Name]


class Agenda:
    """The lists of a text, read line by line: whether one is open, and whether its lines have bullets."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._heard = 0
        self._open = self._bulleted = self._numbered = False
        self._empty, self._kind = True, ""
        self._owner: Name | None = None

    def read(self, clause: Clause) -> Line | None:
        """Return what a line of a list says, None for all other sentences."""
        tokens = clause.sentence.tokens
        first, last = clause.span()
        if not (self._open or self._numbered) and _plainly_none(tokens):
            self._heard = last
            return None
        between = clause.sentence.text[self._heard : first]
        numbered = self._numbered
        begins = self._heard == 0 or "\n" in between or numbered
        self._numbered = begins and all(token.low.isdecimal() for token in tokens)
        if self._numbered or not begins:
            self._heard = first if self._numbered else last
            return None
        blank, self._heard = between.count("\n") > 1, last
        begin = next((at for at, token in enumerate(tokens) if not _is_bullet(token)), len(tokens))
        boxed, ticked, begin = _box(tokens, begin)
        if not boxed and (kind := heading(tokens)) is not None:
            self._open, self._empty, self._kind = True, True, kind
            self._owner = _of_whom(clause)
            return Line(())
        bullet = begin > 0 or numbered
        if self._open and not self._goes_on(bullet, blank, tokens):
            self._open = False
        if ticked or (bullet and _ticked_behind(tokens)):
            return Line(())
        if self._open and self._kind == "question" and not boxed:
            return _question(self._reader, clause, begin)
        if clause.sentence.question or not (boxed or self._open or (bullet and _is_assigned(clause, begin))):
            return None
        return self._entry(clause, begin, owned=self._open and self._kind == "owned" and not boxed)

    def _goes_on(self, bullet: bool, blank: bool, tokens: Sequence[Token]) -> bool:
        """Whether the open list goes on with this line."""
        if self._empty:
            self._bulleted, self._empty = bullet, False
            return True
        titled = tokens[0].low == "#" or (tokens[-1].low == ":" and not bullet)
        return bullet if self._bulleted else not (blank or bullet or titled)

    def _entry(self, clause: Clause, begin: int, *, owned: bool) -> Line | None:
        """Read what a line gives somebody to do; where only what is `owned` counts, it must say to whom."""
        tokens = clause.sentence.tokens
        told = _owner(self._reader, clause, begin)
        own = (
            told.owners
            or [
                name
                for name in (self._owner if self._open else None, self._reader.discourse.writer)
                if name is not None
            ][:1]
        )
        if not told.owners and (owned or len(tokens) > _LONGEST or not _may_be_a_task(clause, told.begin)):
            return None
        if not own or told.begin >= told.end or tokens[told.begin].low in cues("no_task"):
            return Line(())
        deal = act(self._reader, clause, told.begin, told.end)
        clause.flags |= HYPOTHETICAL
        due = due_date(tokens[told.begin :], clause.written)
        return Line(each(bind(self._reader, own, deal, _STRENGTH, due), own))


def heading(tokens: Sequence[Token]) -> str | None:
    """Return which lines count below the heading of a list, "## Next steps:", "House, to do:"; None for other lines."""
    at = 0
    while at < len(tokens) and tokens[at].low in ("#", "*", "_"):
        at += 1
    kind = _titled(tokens, at)
    if kind is None and tokens[-1].low == ":":
        topic = next(
            (place for place, token in enumerate(tokens[at : at + _TOPIC], at) if token.low in cues("topic")), -1
        )
        return _titled(tokens, topic + 1) if topic > at else None
    return kind


def _titled(tokens: Sequence[Token], at: int) -> str | None:
    """The kind of the heading that stands at a token and goes to the end of the line."""
    for phrase, kind in _headings().get(_low(tokens, at), ()):
        end = at + len(phrase)
        if tuple(token.low for token in tokens[at:end]) != phrase:
            continue
        marked = next((place for place in range(end, len(tokens)) if tokens[place].low == ":"), -1)
        rest = [token.low for token in tokens[end:]]
        if marked == len(tokens) - 1 or set(rest) <= set("*_:") or (rest[0] == "(" and rest[-1] in (")", ":")):
            return kind
    return None


def _plainly_none(tokens: Sequence[Token]) -> bool:
    """Whether a line is no heading at first sight."""
    return tokens[0].shape in _WORD and tokens[0].low not in _headings() and tokens[-1].low != ":"


def _question(reader: Reader, clause: Clause, begin: int) -> Line | None:
    """What a line asks below "Open questions", and whom: "- Ana: which paint do we use?"."""
    tokens = clause.sentence.tokens
    people, after = _people(reader, clause, begin)
    if people and _low(tokens, after) == ":":
        begin = after + 1
    asks = clause.sentence.question or _low(tokens, begin) in cues("question")
    if not asks or begin >= len(tokens):
        return None
    clause.flags |= HYPOTHETICAL
    text = clause.sentence.text[tokens[begin].start : tokens[-1].end] + "?" * clause.sentence.question
    to = people[0].text if people and begin > after else None
    due = due_date(tokens[begin:], clause.written)
    return Line((Item(kind="question", owner=None, to=to, object=text, due_at=due, start=tokens[begin].start),))


def _of_whom(clause: Clause) -> Name | None:
    """Whose list a heading begins: "TODO for Lea:", "Action items (Jon)"."""
    people = (one.names[0] for one in clause.elements if one.kind == NAME and one.names[0].options[:1] == ("Person",))
    return next(people, None)


def _is_assigned(clause: Clause, begin: int) -> bool:
    """Whether a line of a list without a heading is somebody's by a mark and a day: "- @bob …", "- [Bob] … by Fri"."""
    tokens = clause.sentence.tokens
    marked = _low(tokens, begin) in ("@", "[") or tokens[-1].low == "]"
    return marked and due_date(tokens[begin:], clause.written) is not None


@cache
def _headings() -> dict[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """The headings by first word, the longest first, each with its kind."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for text, *kind in rows("headings.tsv"):
        phrase = tuple(text.split())
        found.setdefault(phrase[0], []).append((phrase, "".join(kind)))
    return {first: tuple(sorted(ones, key=lambda one: -len(one[0]))) for first, ones in found.items()}


def _is_bullet(token: Token) -> bool:
    return token.low in cues("bullet") or (token.low.isdecimal() and len(token.low) < _BOX) or token.low == ")"


def _box(tokens: Sequence[Token], begin: int) -> tuple[bool, bool, int]:
    """Whether a box stands at a token, whether it is ticked, and the token after it."""
    lows = [token.low for token in tokens[begin : begin + _BOX]]
    if lows[:1] == ["☐"] or lows[:2] == ["[", "]"]:
        return True, False, begin + len("[]"[: 1 + (lows[0] == "[")])
    if lows[:1] and (lows[0] in cues("ticked") or lows[:2] == ["~", "~"]):
        return False, True, begin + 1
    ticked = len(lows) == _BOX and lows[0] == "[" and lows[1] in ("x", "v", "✓", "✔") and lows[2] == "]"
    return ticked, ticked, begin + _BOX * ticked


def _ticked_behind(tokens: Sequence[Token]) -> bool:
    """Whether a line ends in what says that it is done: "✅", "(done)", "– done"."""
    lows = [token.low for token in tokens[-_BOX:]]
    return (
        lows[-1] in cues("ticked")
        or (lows[-1] == ")" and lows[-2:-1] == ["done"])
        or lows[1:] in (["–", "done"], ["-", "done"], [":", "done"])
    )


def _may_be_a_task(clause: Clause, begin: int) -> bool:
    """Whether a line without an owner can be something to do: no sentence of its own ("Bob is away")."""
    at = clause.element_at(begin)
    ahead = clause.elements[at : at + 2]
    if not ahead or ahead[0].kind == PRONOUN:
        return False
    tells = len(ahead) > 1 and ahead[0].kind != VERB and ahead[1].kind == VERB
    return not (tells and (ahead[1].low == "be" or ahead[1].form in ("third", "past")))


def _owner(reader: Reader, clause: Clause, begin: int) -> _Owned:
    """Find who is to do what a line says: "@bob: …", "Bob – …", "Owner: Bob, …", "(Bob) …", "… (Bob)", "… @bob"."""
    tokens = clause.sentence.tokens
    end = len(tokens)
    begin = _plain(tokens, begin)
    begin += 2 * (_low(tokens, begin) in cues("everybody") and _low(tokens, begin + 1) in cues("owner_then"))
    at = begin + 2 * (_low(tokens, begin) in cues("owned") and _low(tokens, begin + 1) == ":")
    opened = _low(tokens, at) in ("(", "[")
    owners, after = _people(reader, clause, at + opened, sure=not opened)
    marked = _low(tokens, begin) == "@" or at > begin
    after = _plain(tokens, after)
    then = _low(tokens, after) in cues("owner_then")
    if owners and opened and _low(tokens, after) in (")", "]"):
        return _Owned(after + 1 + (_low(tokens, after + 1) in cues("owner_then")), end, owners)
    if owners and not opened and _acts(clause, after, mine=owners == [reader.discourse.writer]):
        return _Owned(after, end, owners)
    if owners and not opened and (marked or then):
        told = clause.elements[clause.element_at(begin)].kind == PRONOUN and tokens[after - 1 + then].shape != "mark"
        return _Owned(begin, end, ()) if told else _Owned(_plain(tokens, after + then), end, owners)  # "I will …"
    for place in range(begin + 1, end):
        if behind := _behind(reader, clause, place):
            while place - 1 > begin and _low(tokens, place - 1) in cues("owner_before"):
                place -= 1
            return _Owned(begin, place, behind)
    return _Owned(begin, end, ())


def _acts(clause: Clause, at: int, *, mine: bool) -> bool:
    """Whether what somebody does is told at a token: "Ana checks the invoice", of the writer "I write to the bank"."""
    place = clause.element_at(at)
    element = clause.elements[place] if place < len(clause.elements) else None
    if element is None or element.begin != at or at + 1 == len(clause.sentence.tokens):
        return False
    verb = element.kind == VERB and element.form == ("base" if mine else "third")
    deed = element.low in words("deeds.txt") or element.low in words("giving.txt")
    return ((verb or (mine and element.kind == WORD)) and deed) or (not mine and does_deed(element))


def _behind(reader: Reader, clause: Clause, at: int) -> Sequence[Name]:
    """Who are named behind a task as those to do it, by a mark at `at`."""
    tokens = clause.sentence.tokens
    low = _low(tokens, at)
    if low == "@":
        return _people(reader, clause, at)[0]
    if low in cues("owned") and _low(tokens, at + 1) == ":":
        return _people(reader, clause, at + 2)[0]
    if low not in ("(", "[", "->", "→", "–", "—"):
        return ()
    owners, after = _people(reader, clause, at + 1, sure=low != "(")
    return owners if _low(tokens, after) in cues("owner_end") or after == len(tokens) else ()


def _people(reader: Reader, clause: Clause, at: int, *, sure: bool = True) -> tuple[list[Name], int]:
    """The people or agents from a token on, "Leila, Omar and me", and the token after."""
    tokens = clause.sentence.tokens
    found, end = _person(reader, clause, at, sure=sure)
    after, more = end, found
    while more and _low(tokens, after) in (*cues("owners"), "@"):
        while _low(tokens, after) in cues("owners"):
            after += 1
        more, after = _person(reader, clause, after, sure=sure)
        found, end = [*found, *more], after if more else end
    return found, end


def _person(reader: Reader, clause: Clause, at: int, *, sure: bool = True) -> tuple[list[Name], int]:
    """Who is named by one element, and the token after; a person by guess counts unless it must be `sure`."""
    tokens = clause.sentence.tokens
    if _low(tokens, at) in words("titles.txt"):
        at += 1 + (_low(tokens, at + 1) == ".")
    called = _low(tokens, at) == "@"
    at += called
    place = clause.element_at(at)
    element = clause.elements[place] if place < len(clause.elements) else None
    if element is not None and element.kind == NAME and element.begin == at:
        kinds = element.names[0].options[:1]
        guessed = not sure and not kinds and element.names[0].guess == "Person"
        if called or guessed or kinds in (("Person",), ("Agent",)):
            return element.names, element.end
    if element is not None and element.kind == PRONOUN and element.begin == at and element.low in ("me", "us"):
        return reader.discourse.resolve(element.low)[0], element.end
    if called and at < len(tokens) and tokens[at].shape != "mark":
        token = tokens[at]
        name = Name(token.text, token.start, token.end, ("Person",), _STRENGTH, span=(at, at + 1))
        return [reader.once(name)], at + 1
    return [], at


def _plain(tokens: Sequence[Token], at: int) -> int:
    """The token at which emphasis ends: **Bob**."""
    while _low(tokens, at) in ("*", "_"):
        at += 1
    return at


def _low(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].low if 0 <= at < len(tokens) else ""
