"""Verbs of a question: which verb a run of words is, in which tense, and which phrases of the vocabulary it begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memory_plane.ask.questions import Tense
from memory_plane.vocabulary.meanings import question_phrases, verb_forms
from memory_plane.vocabulary.verbs import BASE, ING, PARTICIPLE, PAST, THIRD, Row

DO = frozenset({"do", "does", "did"})
BE = frozenset({"is", "are", "am", "was", "were", "be", "been", "being", "'s"})
HAVE = frozenset({"has", "have", "had"})
AUXILIARIES = DO | BE | HAVE
OWNERS = frozenset({"my", "our"})
ARTICLES = frozenset({"the", "a", "an", "any", "some", "all", "every", "my", "our", "their", "his", "her", "its"})
LOOSE = frozenset({"at", "in", "for", "on", "to", "with", "from", "by", "of"})
"""Prepositions that a question may leave out or put first: "where does she work", "at which company …"."""
_PAST = frozenset({"did", "was", "were", "had"})


class Verb(NamedTuple):
    """A verb in its base form; `end` is the word after it."""

    lemma: str
    passive: bool
    tense: Tense
    end: int


class Meaning(NamedTuple):
    """A phrase that was read: the rows that say it, each with whether the object comes first, and the word after it."""

    rows: tuple[tuple[Row, bool], ...]
    end: int


def verbs(lows: Sequence[str], at: int, before: Sequence[str] = ()) -> Iterator[Verb]:
    """Yield what the words from `at` on can be as a verb; `before` are auxiliaries that stood before the subject."""
    chain = list(before)
    while at < len(lows) and lows[at] in AUXILIARIES:
        chain.append(lows[at])
        at += 1
    if list(lows[at : at + 2]) in (["used", "to"], ["use", "to"]):
        yield from (verb._replace(tense="over") for verb in verbs(lows, at + 2))
    tense: Tense = "past" if _PAST & set(chain) else "any" if HAVE & set(chain[:1]) else "now"
    last = chain[-1] if chain else ""
    for lemma, kinds in verb_forms().get(lows[at], ()) if at < len(lows) else ():
        yield from _main(lemma, kinds, last, tense, at + 1)
    if last in BE:
        yield Verb("be", False, tense, at)


def _main(lemma: str, kinds: frozenset[str], last: str, tense: Tense, end: int) -> Iterator[Verb]:
    """Yield the main verb after the auxiliary that stands last, "" for none."""
    if last in BE:
        if ING in kinds:
            yield Verb(lemma, False, tense, end)
        if PARTICIPLE in kinds:
            yield Verb(lemma, True, tense, end)
    elif last in HAVE:
        if PARTICIPLE in kinds:
            yield Verb(lemma, False, "any", end)
    elif last:
        if BASE in kinds or THIRD in kinds:
            yield Verb(lemma, False, tense, end)
    else:
        yield Verb(lemma, False, "past" if PAST in kinds and BASE not in kinds else "now", end)


def meanings(lows: Sequence[str], verb: Verb, *, loose: bool = False) -> Iterator[Meaning]:
    """Yield what verb and words after it say, the longest first; `loose`: the last preposition may be missing."""
    found: dict[int, list[tuple[Row, bool]]] = {}
    said = {"~", *lows[verb.end :]}
    for phrase in question_phrases().get(verb.lemma, ()):
        rest = (*phrase.rest, "by") if verb.passive else phrase.rest
        if rest and rest[0] not in said and not (loose and len(rest) == 1):
            continue
        end = _follows(lows, verb.end, rest)
        if end < 0 and loose and rest and rest[-1] in LOOSE and "~" not in rest:
            end = _follows(lows, verb.end, rest[:-1])
        if end >= 0:
            found.setdefault(end, []).append((phrase.row, phrase.turned != verb.passive))
    for end in sorted(found, reverse=True):
        yield Meaning(tuple(dict.fromkeys(found[end])), end)


def _follows(lows: Sequence[str], at: int, rest: Sequence[str]) -> int:
    """The word after the words `rest`, articles left out; -1 when others stand there."""
    for word in rest:
        if word == "~":
            continue
        while at < len(lows) and lows[at] != word and lows[at] in ARTICLES:
            at += 1
        if at >= len(lows) or lows[at] != word:
            return -1
        at += 1
    return at
