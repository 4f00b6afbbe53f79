"""Questions that the graph does not answer, read off the sentences that say it in the question's own words.

"Who keeps the books?" is answered by "his sister Birgit keeps the books", whatever verb it is: subject, verb and the
rest must stand in one clause in this order, in the tense of the question, and the clause must say it plainly, not deny
it, suppose it or ask it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from memory_plane.ask import sentences as text
from memory_plane.ask.being import being, dated, place
from memory_plane.ask.clauses import NO, Told, in_sentence
from memory_plane.ask.sentences import PREPOSITIONS, PRONOUNS, WRITERS, Sentence
from memory_plane.ask.shapes import Shape, plainer, shapes
from memory_plane.ask.verbs import ARTICLES, AUXILIARIES, BE, DO, HAVE
from memory_plane.ask.words import words
from memory_plane.recall import passages
from memory_plane.recall.stopwords import STOP_WORDS
from memory_plane.store import derivations, log
from memory_plane.types import Claim, Extraction, Thought

_READ, _LONGEST = 8, 2_000
"""How many of the newest memories that hold the words are read, and how many characters of each."""
_REFUSED = frozenset({"not", "or", "than", "never", "without", "most", "best", "more", "less", "fewer", "least"})
_DECIDING = frozenset().union(
    *map(text.bases, ("decide", "choose", "pick", "select", "go", "use", "prefer", "settle", "opt", "take", "agree"))
)
_WITHIN = frozenset({"in", "on", "for", "at"})
_THEIRS = frozenset({"his", "her", "its", "their"})
_BECAUSE = re.compile(
    r"\b(?:because of|because|due to|owing to|thanks to|so that|in order to|in order for|as|since)\s+(?P<why>.+)",
    re.IGNORECASE,
)
_UNTIL = re.compile(r"\b(?P<why>(?:until|till)\s+.+)", re.IGNORECASE)
_REASON = re.compile(r"\breason\b.{0,60}?\b(?:is|was)\s+(?:that\s+)?(?P<why>.+)", re.IGNORECASE)


def _is_graphs(shape: Shape, names: Collection[str]) -> bool:
    """Whether the graph has from a sentence what is asked, of the very thing that is asked about.

    "Alice" is Alice Moreau and so is "Dr. Alice Moreau"; of "Terraform modules" nothing is known by "Terraform".
    """
    asked = [" ".join(shape.subject), " ".join(low for low in shape.rest if low not in PREPOSITIONS)]
    same = (f" {one} " in f" {name} " or one.endswith(f" {name}") for one in asked if one for name in names)
    return any(same) or not PRONOUNS.isdisjoint(names)


def _says(said: str, *, who: bool) -> bool:
    """Whether an answer says who or what it is: "he" and "it" do not, nor "her name" who."""
    first = said.split(maxsplit=1)[0].casefold() if said.strip() else ""
    return first not in PRONOUNS and not (who and first in _THEIRS)


def _newest(found: list[Told]) -> list[Told]:
    """Return what is told, the newest first, up to what was changed: "moved the review to Thursday"."""
    last = next((at for at, one in enumerate(found) if one.changed), None)
    if last is None:
        return found
    return [one for one in found[:last] if one.thought is not found[last].thought] + [found[last]]


def _saying(word: str) -> Collection[str]:
    """Return the words of which a memory must hold one to say a word of a question."""
    return (word, *text.MAKING) if "work" in text.bases(word) else text.spellings(word)


def _lows(text: str) -> list[str]:
    return [word.low for word in words(text)]


class Passage(NamedTuple):
    """A sentence of a memory, and the one before it."""

    sentence: Sentence
    previous: Sentence | None
    thought: Thought


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads memories up to a time; what plugins read in them of these relations is the graph's to tell."""

    connection: Connection
    known: datetime | None = None
    relations: frozenset[str] = frozenset()

    def told(self, lows: Sequence[str]) -> list[Told]:
        """Return what the newest memories say to a question, given as its folded words; "we" may be of a project."""
        lows = plainer(lows)
        if told := self._told(lows):
            return told
        for at in range(2, len(lows) - 1) if WRITERS & set(lows) else ():
            if lows[at] in _WITHIN:
                name = list(lows[at + 1 :])
                told = [one for one in self._told(lows[:at], name) if _lows(one.thought.project or "") == name]
                if told:
                    return told
        return []

    def _told(self, lows: Sequence[str], beside: Sequence[str] = ()) -> list[Told]:
        """Return what memories say to a question that hold some words beside its own."""
        if not lows or _REFUSED & set(lows):
            return []
        if lows[:1] == ["why"]:
            return self._why([low for low in lows[1:] if low not in AUXILIARIES])
        telling = [_saying(low) for low in lows[1:] if low not in STOP_WORDS | AUXILIARIES and low != "'s"]
        main = bool(set(lows[1:2]) & (DO | HAVE)) and (set(lows[2:3]) & ARTICLES or lows[-1] in ("do", "have"))
        if len(telling) + bool(WRITERS & set(lows)) < 2 and len(lows) > 2 and lows[1] not in BE and not main:
            return []  # one word alone says too little
        said = list(self._sentences([*telling, *((low,) for low in beside)]))
        for shape in shapes(lows):
            found = [
                told
                for one, joined in said
                for told in in_sentence(shape, *one)
                if (told.text == NO or not _is_graphs(shape, {name for pair in joined for name in pair}))
                and _says(told.text, who=lows[0] == "who")
            ]
            if found:
                return found
        asking, named = tuple(lows[:2]), [low for low in lows[2:] if low not in ARTICLES]
        unread = [one for one, joined in said if not joined and named]
        if asking[0] in ("who", "what") and asking[1:] and asking[1] in BE:
            who = asking[0] == "who"
            group = [named[1:]] if who and named[:1] in (["on"], ["in"]) else []  # "who is on the jury"
            for called in (named, *group):
                told = (told for one in unread for told in being(asking[1], called, *one, who=who))
                if found := [one for one in told if _says(one.text, who=who)]:
                    return found
        if asking[0] == "when" and asking[1:] and asking[1] in BE:
            return _newest([told for one in unread for told in dated(asking[1], named, one.sentence, one.thought)])
        if asking in (("where", "is"), ("where", "are"), ("where", "'s")):
            subjects = [(one, {name for name, _ in joined}) for one, joined in said if named]
            return [
                told
                for one, names in subjects
                if not names & {" ".join(named), named[0]}
                for told in place(named, *one)
            ]
        return []

    def _sentences(self, words: Sequence[Collection[str]]) -> Iterator[tuple[Passage, Collection[tuple[str, str]]]]:
        """Yield the sentences of the newest memories that hold some words, with what the graph joins by it."""
        for seq, thought in passages.said(self.connection, words, _READ, known=self.known):
            if thought.kind in ("question", "commitment", "handoff"):
                continue
            read, previous = self._read(seq), None
            mentions = dict.fromkeys(one for extraction in read for one in extraction.mentions)
            claims = [one for extraction in read for one in extraction.claims if self._is_asked(one)]
            for sentence in text.sentences(thought.text[:_LONGEST], mentions):
                own = [claim for claim in claims if sentence.start <= claim.start < sentence.end]
                yield (
                    Passage(sentence, previous, thought),
                    {(one.subject.text.casefold(), one.object.text.casefold()) for one in own},
                )
                previous = sentence

    def _read(self, seq: int) -> list[Extraction]:
        """Return what plugins have read in a memory."""
        memory = log.memory(self.connection, seq)
        answers = derivations.read(self.connection, seq, memory[0]) if memory is not None else ()
        return [answer.extraction for answer in answers if answer.extraction is not None]

    def _is_asked(self, claim: Claim) -> bool:
        """Whether a claim says that something of the relations asked for is so."""
        asked = any(
            claim.relation == one or (one.endswith("_") and claim.relation.startswith(one)) for one in self.relations
        )
        return asked and claim.polarity != "negative"

    def _why(self, lows: Sequence[str]) -> list[Told]:
        """Return the reasons that are given in a sentence with the words of a question."""
        telling = [low for low in lows if low not in STOP_WORDS and not text.bases(low) & _DECIDING]
        if not telling:
            return []
        asked = [*(text.spellings(low) for low in telling), text.CAUSES]
        found = []
        for _, thought in passages.said(self.connection, asked, _READ, known=self.known):
            for sentence in text.sentences(thought.text[:_LONGEST]):
                said = {base for word in sentence.words for base in text.bases(word.low)}
                cause = next(filter(None, (one.search(sentence.text) for one in (_BECAUSE, _REASON, _UNTIL))), None)
                if cause and not sentence.asks and all(text.bases(low) & said for low in telling):
                    found.append(Told(cause["why"].strip(" .;!"), thought))
        return found[:1]
