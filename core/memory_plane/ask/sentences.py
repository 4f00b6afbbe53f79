"""Sentences of a memory as questions are compared with them: their words, verbs and the names that stand in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from memory_plane.ask.verbs import ARTICLES, AUXILIARIES, BE, DO, HAVE
from memory_plane.ask.words import Word, words
from memory_plane.recall.stems import stem
from memory_plane.types import Mention
from memory_plane.vocabulary.tables import rows
from memory_plane.vocabulary.verbs import forms

_WORDS = {kind: frozenset(word.replace("_", " ") for word in text.split()) for kind, text in rows("clauses.tsv")}
PREPOSITIONS, PRONOUNS, WRITERS = _WORDS["preposition"], _WORDS["pronoun"], _WORDS["writer"]
CAUSES, SUPPOSING, BESIDE = _WORDS["cause"], _WORDS["supposing"], _WORDS["beside"]
_END = re.compile(r"(?<=[.!?])[\"”’)]*\s+|\n+|(?<=;)\s+")
_ABBREVIATED = re.compile(r"(?:\b(?:dr|prof|mr|mrs|ms|st|jr|sr|vs|no|approx|e\.g|i\.e)|\b[A-Z])\.\s*$", re.IGNORECASE)
_BREAK = re.compile(r"[,:;()\[\]\"“”]|\s[–—-]+\s")
_LONGEST, _BESIDE = 7, 2
"""How many words a thing may be called by, and how many one that stands beside another."""
_MAIN = {"do": DO, "have": HAVE}
"""Auxiliaries that are verbs themselves too: "who does the dishes"."""
_RUNNING = frozenset({"is", "are", "am", "'s"})
_MONEY = "$€£¥"


class Name(NamedTuple):
    """The words of a sentence from one to another that plugins read as a name, and of what type."""

    begin: int
    end: int
    type: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a text: where it begins in that, its words, before which of them a mark stands, known names."""

    text: str
    start: int
    words: tuple[Word, ...]
    breaks: frozenset[int]
    names: tuple[Name, ...] = ()

    @property
    def end(self) -> int:
        """Where it ends in the text."""
        return self.start + len(self.text)

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return self.text.rstrip().endswith("?")

    @property
    def lows(self) -> list[str]:
        """The words folded."""
        return [word.low for word in self.words]

    def low(self, at: int) -> str:
        """Return a word folded, "" beyond the ends."""
        return self.words[at].low if 0 <= at < len(self.words) else ""

    def said(self, begin: int, end: int) -> str:
        """Return the words from one to another as they are written."""
        if begin >= end:
            return ""
        start = self.words[begin].start
        return self.text[start - (self.text[start - 1 : start] in tuple(_MONEY)) : self.words[end - 1].end]

    def is_sure(self, begin: int, end: int, *, ahead: bool = False) -> bool:
        """Whether the words from one to another say what is so or was, or, `ahead`, what will be."""
        said = range(max(begin, 0), end)
        meant = any(self.low(at) in _WORDS["meant"] and self.low(at + 1) == "to" for at in said)
        return (
            not self.asks
            and not meant
            and not any(
                self.low(at) in _WORDS["unsure"] - ({"will"} if ahead else set())
                and not (self.low(at) == "would" and advises(self.low(at + 1)))
                for at in said
            )
        )

    def is_denied(self, begin: int, end: int) -> bool:
        """Whether the words from one to another say that something is not so."""
        return not self.asks and any(self.low(at) in _WORDS["negative"] for at in range(max(begin, 0), end))

    def holds(self, at: int, lows: Sequence[str]) -> int | None:
        """Return the word after these, which stand from a word on, articles aside; None where others do."""
        for low in lows:
            while at < len(self.words) and self.low(at) in ARTICLES and self.low(at) != low:
                at += 1
            if self.low(at) != low:  # "Femi" is Femi Adeyemi
                at = next((name.end for name in self.names if name.begin < at < name.end and name.type == "Person"), at)
            if self.low(at) != low:
                return None
            at += 1
        return at

    def turns(self, at: int) -> bool:
        """Whether another clause may begin at a word."""
        return at in self.breaks or self.low(at) in _WORDS["turn"]

    # --- things ------------------------------------------------------------------------------------------------------

    def before(self, end: int, *, across: bool = False) -> tuple[int, int] | None:
        """Return the words that name a thing and end before a word: the subject of a verb that stands there.

        With `across` a mark may stand between them.
        """
        last = end if across else -1
        while end > 0 and self.low(end - 1) in _WORDS["adverb"]:
            end -= 1
        begin = end
        while begin > 0 and (begin == last or begin not in self.breaks) and self.low(begin - 1) not in _WORDS["turn"]:
            begin -= 1
        if begin > 1 and self.low(begin - 1) == "and" and begin not in self.breaks:  # "Cy, Ann and Bob"
            other = self._list_begin(begin - 1)
            begin = begin if other is None else other
        while begin < end and self.low(begin) in _WORDS["adverb"]:
            begin += 1
        if across:  # "over lunch with Raúl, the caterer"
            near = (at for at in range(begin + 1, end) if self.low(at - 1) in PREPOSITIONS - {"of"} and self._names(at))
            begin = max(near, default=begin)
        return (begin, end) if 0 < end - begin <= _LONGEST else None

    def after(self, begin: int) -> tuple[int, int] | None:
        """Return the words that name a thing and begin at a word: the object of a verb before it."""
        begin = next((name.end for name in self.names if name.begin < begin < name.end), begin)
        while begin < len(self.words) and (self.low(begin) in _WORDS["adverb"] or self._is_given_to(begin)):
            begin += 1
        end = begin
        while end < len(self.words):
            low = self.low(end)
            if end > begin and end in self.breaks:
                return (begin, self._list_end(end))
            if low == "and" and end > begin and _is_name(self.words[end - 1]) and self._names(end + 1):
                end += 2
                continue
            if (
                low in _WORDS["turn"]
                or low in _WORDS["adverb"]
                or low in AUXILIARIES
                or (low in PREPOSITIONS and low != "of")
            ):
                break
            end += 1
        return (begin, end) if 0 < end - begin <= _LONGEST else None

    def name_in(self, begin: int, end: int) -> str:
        """Return the name among the words of a thing, "Birgit" of "his sister Birgit", or all where there is none."""
        begin += self._opens(begin)
        runs: list[tuple[int, int]] = []
        at = begin
        while at < end and not (runs and self.low(at) in PREPOSITIONS - {"of"}):
            stop = at
            while stop < end and (self._names(stop) or (stop > at and stop + 1 < end and self._joins(stop))):
                stop += 1
            if stop > at:
                runs.append((at, stop))
            at = stop + (stop == at)
        own = [run for run in runs if self.low(run[1]) != "'s" and (run[0] == begin or self.low(run[0] - 1) != "of")]
        if not own or any(self.low(at) == "and" for at in range(begin, end)):
            return self.said(begin, end)
        return self.said(*own[-1])

    def _list_begin(self, last: int) -> int | None:
        """Return where what is joined by the "and" at a word begins, other names before a mark included."""
        begin: int | None = last
        if last not in self.breaks:
            other = self.before(last)
            verbs = other is None or any(map(_may_be_verb, self.lows[slice(*other)]))
            begin = None if other is None or verbs or other[1] - other[0] > _BESIDE else other[0]
        more = begin
        while more in self.breaks and (name := next((one for one in self.names if one.end == more), None)):
            more = name.begin
        clause = more == 0 or more in self.breaks or (more is not None and self.turns(more - 1))
        return more if clause else None if begin == last else begin

    def _list_end(self, at: int) -> int:
        """Return the word after a list of names that goes on after a mark: "Bob and Cy" of "Ann, Bob and Cy"."""
        end = at
        while _is_name(self.words[at - 1]) and (self._names(end) or (end > at and self.low(end) == "and")):
            last = self.low(end) == "and"
            end += 1
            if last and self._names(end):
                while self._names(end):
                    end += 1
                return at if end < len(self.words) and is_verb(self, end) else end
        return at

    def is_gapped(self, begin: int, end: int) -> bool:
        """Whether a clause without its verb begins between two words: "booked the hut, Hanne the train"."""
        for at in range(begin + 1, end):
            if at in self.breaks or self.low(at - 1) == "and":
                name = at
                while self._names(name):
                    name += 1
                if name > at and self.low(name) in ARTICLES:
                    return True
        return False

    def _is_given_to(self, at: int) -> bool:
        """Whether a word is a pronoun before the thing that is given: "sent her the deck"."""
        return self.low(at) in ("me", "us", "you", "him", "her", "them") and self.low(at + 1) in ARTICLES

    def _opens(self, at: int) -> bool:
        """Whether a word is a verb that a note begins with, before a name: "Met Gus Ferrer"."""
        named = any(name.begin <= at < name.end for name in self.names)
        verb = self.low(at) in forms() or is_past(self.low(at))
        return at == 0 and not named and bool(verb) and self._names(1) and 1 not in self.breaks

    def _joins(self, at: int) -> bool:
        """Whether a word is the "of" within a name: "Royal Bank of Scotland", but not "Ulrich Baum of Nordkap"."""
        person = any(name.end == at and name.type == "Person" for name in self.names)
        return self.low(at) == "of" and self._names(at + 1) and not person

    def _names(self, at: int) -> bool:
        return at < len(self.words) and _is_name(self.words[at]) and self.low(at) not in ARTICLES | AUXILIARIES


def sentences(text: str, mentions: Collection[Mention] = ()) -> Iterator[Sentence]:
    """Yield the sentences of a text, with the names that plugins found in it."""
    start = 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        if end < len(text) and _ABBREVIATED.search(text[start:end]):
            continue
        part = text[start:end]
        found = words(part)
        if found:
            breaks = frozenset(
                at for at in range(1, len(found)) if _BREAK.search(part[found[at - 1].end : found[at].start])
            )
            yield Sentence(part, start, tuple(found), breaks, tuple(sorted(_named(found, mentions))))
        start = end


def _named(found: Sequence[Word], mentions: Collection[Mention]) -> Iterator[Name]:
    """Yield which words are those of a name, wherever it stands: plugins tell of one place."""
    lows = [word.low for word in found]
    called = {(one.type, tuple(word.low for word in words(one.text))) for one in mentions}
    names = [
        Name(at, at + len(name), type)
        for type, name in called
        for at in range(len(lows) - len(name) + 1)
        if name and tuple(lows[at : at + len(name)]) == name
    ]
    for one in names:
        if not any(other.begin <= one.begin and one.end <= other.end and other[:2] != one[:2] for other in names):
            yield one


# --- verbs -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def bases(word: str) -> frozenset[str]:
    """Return what a word can be a form of, as stems: "sent" and "sends" of "send"."""
    return frozenset({stem(word), *map(stem, bases_of(word)), *(base for base, some in _MAIN.items() if word in some)})


@lru_cache(maxsize=2048)
def spellings(word: str) -> tuple[str, ...]:
    """Return a word with its irregular forms, which no stem shares."""
    return tuple(sorted({word} | {form for form, (found, _) in _irregular().items() if found & bases_of(word)}))


def bases_of(word: str) -> frozenset[str]:
    """Return of which irregular verbs a word is a form."""
    return _irregular()[word][0] if word in _irregular() else frozenset()


def is_past(word: str) -> bool | None:
    """Return whether a verb stands in the past or is a participle; None where its form does not tell."""
    if word in DO | HAVE:
        return word in ("did", "had")
    if word in _irregular():
        past = _irregular()[word][1]
        return (None if word in bases_of(word) else True) if past else False
    return word.endswith("ed")


def group_before(sentence: Sentence, verb: int) -> tuple[int, tuple[str, ...]]:
    """Return where the auxiliaries and adverbs of a verb begin, and the auxiliaries."""
    begin, chain = verb, list[str]()
    while begin > 0 and begin not in sentence.breaks and _helps(sentence.low(begin - 1)):
        begin -= 1
        if sentence.low(begin) in AUXILIARIES:
            chain.insert(0, sentence.low(begin))
    return begin, tuple(chain)


def _helps(low: str) -> bool:
    return (
        low in AUXILIARIES
        or low in _WORDS["adverb"]
        or low in _WORDS["unsure"]
        or (low.endswith("ly") and len(low) > 4)
    )


def says_verb(sentence: Sentence, at: int, verb: str, *, past: bool, passive: bool) -> bool:
    """Whether a form of the verb of a question stands in its tense and voice; "does the glazing", not "does not"."""
    low, after = sentence.low(at), sentence.low(at + 1)
    if low in DO | HAVE and after not in ARTICLES and not is_number(after):
        return False
    chain = group_before(sentence, at)[1]
    being, ing = bool(BE & set(chain)), low.endswith("ing") and not verb.endswith("ing")
    if passive != (being and not low.endswith("ing")):
        return False
    told = is_past(low)
    if past:
        return told is not False or advises(low) or bool({"was", "were", "had", "did"} & set(chain))
    if ing or low.endswith("ing"):
        return bool(_RUNNING & set(chain)) or not chain
    return (passive and not {"was", "were"} & set(chain)) or not told or bool(HAVE & set(chain))


def goes_on(sentence: Sentence, at: int) -> bool:
    """Whether a verb says what is still going on: "is building", "builds"."""
    chain, low = set(group_before(sentence, at)[1]), sentence.low(at)
    return bool(chain & _RUNNING) if low.endswith("ing") else not chain and low.endswith("s")


def is_number(low: str) -> bool:
    """Whether a word is a number, in digits or not."""
    return low[:1].isdecimal() or low in _WORDS["number"]


def advises(low: str) -> bool:
    """Whether a verb does what it says, so that "I recommend" tells what somebody recommended."""
    return low in _WORDS["advising"]


def is_verb(sentence: Sentence, at: int) -> bool:
    """Whether a word of a sentence may be a verb; what is written large is a name."""
    return not sentence.words[at].text[:1].isupper() and _may_be_verb(sentence.low(at))


def _may_be_verb(low: str) -> bool:
    return low in AUXILIARIES or low in forms() or low in _irregular() or low.endswith("ing")


def _is_name(word: Word) -> bool:
    return word.text[:1].isupper() or word.text[:1].isdecimal() or not word.text[:1].isascii()


@cache
def _irregular() -> dict[str, tuple[frozenset[str], bool]]:
    """Forms of irregular verbs with what they are forms of, and whether they are of the past."""
    found: dict[str, tuple[frozenset[str], bool]] = {}
    for base, past, participle, *_ in (*rows("irregular.tsv"), *rows("past.tsv")):
        pasts = {*past.split(), *participle.split()}
        for word in {base, *pasts} - AUXILIARIES:
            known, was = found.get(word, (frozenset[str](), False))
            found[word] = known | {base}, was or word in pasts
    return found


MAKING = frozenset().union(*map(bases, _WORDS["making"]))
"""What the verbs of making something are forms of."""
