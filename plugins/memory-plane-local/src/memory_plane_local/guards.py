"""Helpers of a verb and what they do to it: negation, tense, condition. Words that guard a whole sentence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise, product

from memory_plane_local.tables import cues, rows, words
from memory_plane_local.tokens import Token
from memory_plane_local.verbs import BASE, ING, PARTICIPLE, PAST, THIRD, forms

NEGATIVE, ENDED, HYPOTHETICAL, FUTURE, QUESTION, PAST_TENSE, _LIFT = 1, 2, 4, 8, 16, 32, 64
_BITS = {
    "negative": NEGATIVE,
    "past": ENDED,
    "hypothetical": HYPOTHETICAL,
    "future": FUTURE,
    "neutral": 0,
    "lift": _LIFT,
}
_HELPERS = ("be", "have", "do")
_STRINGS = frozenset("`\"'")
_OPENING = 4
"""Tokens among which a sentence says that it is but an example."""
_CLOSING = 8
"""Tokens at the end of a sentence among which it takes back how sure it is."""
_MOST_HELPERS = 8
"""Helpers after which a verb group ends: "not not not …" is none."""


@dataclass(slots=True)
class Helpers:
    """A verb with all that stands before it: `lemma` and `form` of the main verb, `bare` without any helper."""

    lemma: str
    form: str
    word: str
    end: int
    flags: int
    passive: bool
    bare: bool
    opening: str


@cache
def effects(scope: str) -> dict[str, int]:
    """Return the polarity bit of each word that works in `scope`: verb, to, ing, clause, onwards."""
    return {
        word: _BITS.get(effect, 0)
        for effect, where, text in rows("guards.tsv")
        if where == scope
        for word in text.split()
    }


@cache
def _guards(scope: str) -> dict[str, tuple[tuple[tuple[str, ...], int], ...]]:
    """The guards of "clause" or "onwards" by first word: the words after it, and the bit; a|b is either word."""
    found: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for guard, bit in effects(scope).items():
        for first, *rest in product(*(part.split("|") for part in guard.split("_"))):
            found.setdefault(first, []).append((tuple(rest), bit))
    return {first: tuple(entries) for first, entries in found.items()}


def _guarded(tokens: Sequence[Token], scope: str, named: Collection[int]) -> list[int]:
    """The bits of the guards that begin at each token outside of names; within a neutral one no other begins."""
    guards = _guards(scope)
    flags, free = [0] * len(tokens), 0
    for at in [at for at, token in enumerate(tokens) if token.low in guards]:
        if at < free or at in named:
            continue
        following = tokens[at + 1].low if at + 1 < len(tokens) else ""
        for rest, bit in guards[tokens[at].low]:
            if rest and rest[0] != following:
                continue
            if rest == (":",) and at and tokens[at - 1].shape != "mark":  # "Competitor check: …" is no request to check
                continue
            if len(rest) < 2 or tuple(after.low for after in tokens[at + 1 : at + 1 + len(rest)]) == rest:
                flags[at] |= bit
                if not bit:
                    flags[at], free = 0, at + 1 + len(rest)
                    break
    return flags


def clause_flags(tokens: Sequence[Token], named: Collection[int] = ()) -> int:
    """The bits that hold for a whole sentence: opened by a question word; conditional, invented or denied somewhere."""
    flags = QUESTION if tokens and _asks(tokens) else 0
    if tokens and tokens[0].low in cues("supposing") and 1 in named:
        flags |= HYPOTHETICAL  # "Had Alice joined Acme, …"
    flags |= next(iter(_guarded(tokens[:_OPENING], "opening", named)), 0)
    for bits in _guarded(tokens, "clause", named):
        flags |= bits
    return flags


def unconfirmed(tokens: Sequence[Token]) -> int:
    """Return where words begin that call all before them unsure (", but nobody confirmed it"), -1 for nowhere."""
    end = len(tokens)
    while end and tokens[end - 1].shape == "mark":
        end -= 1
    guards = _guards("closing")
    for at in range(max(0, end - _CLOSING), end):
        if tokens[at].low not in guards:
            continue
        said = tuple(after.low for after in tokens[at + 1 : end])
        if all(rest != said for rest, _ in guards[tokens[at].low]):
            continue
        begin = at
        while begin and tokens[begin - 1].low in cues("disclaiming"):
            begin -= 1
        turned = any(one.low in ("but", "though", "although") for one in tokens[begin:at])
        if not begin or turned or tokens[begin - 1].shape == "mark":
            return begin
    return -1


def onward_flags(tokens: Sequence[Token], named: Collection[int] = ()) -> list[int]:
    """The bits that the words before each token lay on everything after them: "hopes that …", "maybe …"."""
    bits = _guarded(tokens, "onwards", named)
    dictating = cues("dictating")
    for at in [at for at, token in enumerate(tokens) if token.low in dictating]:
        bits[at] |= HYPOTHETICAL if _dictates(tokens, at, named) else 0
    laid = list(accumulate(bits, lambda laid, more: 0 if more & _LIFT else laid | more, initial=0))
    for begin, end in _code(tokens):
        laid[begin:end] = [bits | HYPOTHETICAL for bits in laid[begin:end]]
    return laid


def jest(tokens: Sequence[Token]) -> int:
    """Return what of a sentence stands before words that take it back ("just kidding"), -1 where there are none.

    It is 0 where nothing but laughter does: the sentence before is taken back.
    """
    alone = tokens[0].low in ("kidding", "joking")
    at = 0 if alone else next((at for at, bits in enumerate(_guarded(tokens, "jest", ())) if bits), -1)
    return sum(one.low not in cues("laughter") and one.shape != "mark" for one in tokens[:at]) if at >= 0 else -1


def _dictates(tokens: Sequence[Token], at: int, named: Collection[int]) -> bool:
    """Whether somebody is told to say what follows: "and say Alice is the CEO", but not "happy to say"."""
    after = tokens[at + 1].low if at + 1 < len(tokens) else ""
    said = after in cues("dictated") or (at + 1 in named and tokens[at].low == "say")
    return said and (at == 0 or tokens[at - 1].low in cues("commanding"))


def _code(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Where code says something: between backquotes, or in a string that is passed, assigned or a value in JSON."""
    free = 0
    for at in [at for at, token in enumerate(tokens) if token.low in _STRINGS]:
        quote = tokens[at].low
        if at < free or not (quote == "`" or _is_string(tokens, at)):
            continue
        end = next((place for place in range(at + 1, len(tokens)) if tokens[place].low == quote), len(tokens))
        if any(one.end < other.start for one, other in pairwise(tokens[at + 1 : end])):
            yield at, end
        free = end + 1


def _is_string(tokens: Sequence[Token], at: int) -> bool:
    """Whether the quotation mark at `at` opens a string of code: print("…"), text = "…", {"text": "…"}."""
    before = tokens[at - 1] if at else None
    if before is None or before.low not in ("(", "=", ":", "echo", "printf"):
        return False
    if before.low == "(":
        called = at > 1 and tokens[at - 2].end == before.start and tokens[at - 2].shape != "mark"
        return called and before.end == tokens[at].start
    return before.low != ":" or (at > 1 and tokens[at - 2].low == tokens[at].low)


def _asks(tokens: Sequence[Token]) -> bool:
    """Whether a sentence without a question mark begins like a question: an auxiliary and no pronoun of the writer."""
    first = tokens[0].low
    if first not in {"does", "do", "did", "is", "are", "was", "were", "has", "can", "could", "should", "would", "who"}:
        return False
    return len(tokens) > 2 and tokens[1].low not in ("not", "n't", "to", ",")


def helpers(tokens: Sequence[Token], at: int, named: Callable[[int], bool]) -> Helpers | None:
    """Read the longest verb group at `at`; None when no verb begins there."""
    group = _Group(tokens, named)
    return group.read(at)


class _Group:
    """The verb group while it is read from left to right."""

    def __init__(self, tokens: Sequence[Token], named: Callable[[int], bool]) -> None:
        self.tokens = tokens
        self.named = named
        self.flags = 0
        self.lemma = self.form = self.word = ""
        self.passive = False
        self.helpers = 0
        self.opening = ""

    def read(self, at: int) -> Helpers | None:
        """Take in word after word while grammar allows; None when no verb was among them."""
        begin, end, cursor = at, at, at
        while cursor < len(self.tokens) and self.helpers < _MOST_HELPERS and not self.named(cursor):
            low = self.tokens[cursor].low
            if low == "no" and self._low(cursor + 1) == "longer":
                self.flags |= ENDED
                cursor += 2
                end = cursor if self.lemma else end
            elif low in words("adverbs.txt"):
                if cursor == begin:
                    return None
                cursor += 1
            elif self._helper(low, cursor) or self._main(low, cursor):
                cursor += 1
                end = cursor if self.lemma else end
            else:
                break
        if not self.lemma:
            return None
        return Helpers(self.lemma, self.form, self.word, end, self.flags, self.passive, self.helpers == 0, self.opening)

    def _low(self, at: int) -> str:
        return self.tokens[at].low if at < len(self.tokens) else ""

    def _helper(self, low: str, at: int) -> bool:
        """Modals, negations and the "to" between two verbs."""
        bit = effects("verb").get(low)
        if bit == NEGATIVE and self._low(at + 1) in cues("merely") and self._low(at + 2) != "yet":
            return True  # "doesn't just use Rust", "is not only the CTO"
        if bit is not None and not (low in ("must", "won", "may") and (not self._verb_follows(at) or self._month(at))):
            if low in ("neither", "without", "never", "not", "hardly", "cannot", "once") and not self._verb_follows(at):
                return self.lemma in _HELPERS and low in ("not", "never", "neither") and self._note(bit)
            return self._note(bit)
        if low == "to" and self.lemma and self._verb_follows(at):
            key = self.word
            if self.word in effects("to"):
                return self._pass(effects("to")[key])
            if self.lemma == "be":
                return self._pass(HYPOTHETICAL)
        return False

    def _month(self, at: int) -> bool:
        """Whether "May" is no modal: a capital within the sentence, or an article before it."""
        return at > 0 and (self.tokens[at].shape == "cap" or self.tokens[at - 1].low in cues("article"))

    def _note(self, bit: int) -> bool:
        self.flags |= bit
        self.helpers += 1
        return True

    def _pass(self, bit: int) -> bool:
        """The verb so far is only a helper of the one that follows."""
        if bit == ENDED and self.flags & NEGATIVE:  # "never ceased to use", but "never used to use"
            self.flags, bit = self.flags if self.word == "used" else 0, 0
        self._note(bit)
        self.flags &= ~PAST_TENSE
        self.lemma = "do"
        return True

    def _verb_follows(self, at: int) -> bool:
        """Whether a verb comes within the next words."""
        for cursor in range(at + 1, min(at + 4, len(self.tokens))):
            if self.named(cursor):
                return False
            low = self.tokens[cursor].low
            if low in forms() or low in effects("verb") or low in effects("to"):
                return True
            if low not in words("adverbs.txt"):
                return False
        return False

    def _main(self, low: str, at: int) -> bool:
        """A verb form that can follow what was read so far."""
        entry = forms().get(low) or self._catenative(low) or self._deed(low, at)
        if entry is None or (low == "'s" and not self._is_be(at)):
            return False
        lemma, kinds = entry
        if lemma == "have" and low == "'s":
            lemma = "be"
        form = self._fitting(kinds)
        if not form:
            return False
        if self.lemma:
            has = self.word in ("'s", "’s") and self._goes_over(lemma, at + 1)
            self._fold(lemma, form)
            self.passive = self.passive and not has
        elif form == PAST:
            self.flags |= PAST_TENSE
        self.lemma, self.form, self.word = lemma, form, low
        self.opening = self.opening or form
        return True

    def _goes_over(self, lemma: str, at: int) -> bool:
        """Whether 's is "has" before a participle: its object follows, or where somebody went: "she's left Acme"."""
        while self._low(at) in words("adverbs.txt"):
            at += 1
        if lemma in cues("going") or lemma in ("relocate", "return"):
            return self._low(at) in ("to", "from", "back")
        known = self.named(at) or self._low(at) in cues("article") or self._low(at) in cues("owner")
        return known and lemma not in ("call", "name")

    def _catenative(self, low: str) -> tuple[str, frozenset[str]] | None:
        """Verbs that only introduce another one and stand in no relation themselves."""
        if low in effects("to") or low in effects("ing"):
            form = ING if low.endswith("ing") else THIRD if low.endswith("s") else PAST if low.endswith("ed") else BASE
            return low, frozenset({form, PARTICIPLE} if form == PAST else {form})
        return None

    def _deed(self, low: str, at: int) -> tuple[str, frozenset[str]] | None:
        """What somebody will do, by a verb that no relation has: "I'll book the venue", "he would return it"."""
        if self.lemma or not self.flags & (FUTURE | HYPOTHETICAL) or not low.isalpha() or low in words("function.txt"):
            return None
        after = self._low(at + 1)
        known = after in cues("article") or after in cues("owner") or after in ("it", "them")
        acts = known or low in words("deeds.txt")
        return (low, frozenset({BASE})) if acts else None

    def _fitting(self, kinds: frozenset[str]) -> str:
        """The inflection of the next verb that grammar allows here, "" for none."""
        order: tuple[str, ...]
        if not self.lemma:
            order = (
                (BASE,)
                if self.helpers and self.flags & (HYPOTHETICAL | FUTURE)
                else (PAST, THIRD, ING, BASE, PARTICIPLE)
            )
        elif self.lemma == "be":
            order = (ING, PARTICIPLE)
        elif self.lemma == "have":
            order = (PARTICIPLE,)
        elif self.lemma == "do":
            order = (BASE, PARTICIPLE)
        elif self.word in effects("ing"):
            order = (ING,)
        else:
            order = ()
        return next((form for form in order if form in kinds), "")

    def _fold(self, lemma: str, form: str) -> None:
        """Take the verb so far as a helper of the next one."""
        self.helpers += 1
        if self.lemma == "be" and form == PARTICIPLE and lemma != "be":
            self.passive = True
        if self.word in effects("ing") and self.lemma not in _HELPERS:
            bit = effects("ing")[self.word]
            if bit == ENDED and self.flags & NEGATIVE:  # "never stopped using", "won't stop using"
                self.flags, bit = 0, 0
            self.flags = self.flags & ~PAST_TENSE | bit
        if self.lemma == "have" and self.word != "had":
            self.flags &= ~PAST_TENSE

    def _is_be(self, at: int) -> bool:
        """Whether 's is "is" and no possessive: a participle, article, preposition or pronoun follows."""
        if at and self.tokens[at - 1].low in ("he", "she", "it", "that", "who", "there", "what"):
            return True
        cursor = at + 1
        while self._low(cursor) in words("adverbs.txt"):
            cursor += 1
        low = self._low(cursor)
        kinds = forms().get(low, ("", frozenset()))[1]
        if ING in kinds or (PARTICIPLE in kinds and BASE not in kinds):
            return not self.named(cursor)
        return low in cues("after_is")
