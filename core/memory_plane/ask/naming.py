"""Names in a question: those of known nodes, a possessive without its apostrophe, and names with a slip of the pen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice

from sqlalchemy import Connection

from memory_plane.ask.grammar import FORMER, OVER
from memory_plane.ask.patterns import ITEMS, patterns
from memory_plane.ask.questions import Named
from memory_plane.ask.verbs import ARTICLES, AUXILIARIES, LOOSE
from memory_plane.ask.words import Word
from memory_plane.ask.words import words as named_words
from memory_plane.recall import graph, knowledge, reviews, state
from memory_plane.store.names import folded
from memory_plane.vocabulary.meanings import attributes, kinds, question_phrases, titles, verb_forms

LONGEST_NAME = 6
"""How many words of a question are looked up as one name."""
_TRIED = 12
"""How many runs of words without meaning are tried as a name that was misspelt."""
_SHORTEST = 5
"""A name of fewer letters than this is never taken for another."""
_LONGEST = 80
"""Nor one of more, since every letter more may be wrong in thirty ways."""
_SHORT = 6
"""In a name of up to so many letters, one more or less makes another name."""
_CLOSED = (
    AUXILIARIES
    | (ARTICLES - {"her"})
    | LOOSE
    | {"who", "what", "where", "when", "which", "how", "why", "and", "or", "not", "'s", "i", "me", "my", "you", "that"}
)
_COMPANIES = frozenset(
    {
        "inc",
        "inc.",
        "corp",
        "corp.",
        "corporation",
        "ltd",
        "ltd.",
        "llc",
        "gmbh",
        "ag",
        "co",
        "co.",
        "company",
        "plc",
        "sa",
    }
)
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_PUNCTUATION = re.compile(r"[\W_]+")

Names = dict[int, list[tuple[int, Named]]]


@dataclass(frozen=True, slots=True)
class Naming:
    """Looks up the names of one question."""

    connection: Connection
    question: str

    def exact(self, words: Sequence[Word]) -> Names:
        """Return the names of known nodes and agents by where they begin, the longest first."""
        found: Names = {}
        agents = {agent for agent, _ in state.writers(self.connection)}
        spans = {(at, end): _names(folded(self._text(words, at, end))) for at, end in _spans(words)}
        known = knowledge.known(self.connection, (name for names in spans.values() for name in names))
        for (at, end), names in spans.items():
            called = (node for name in names if name in known for node in knowledge.called(self.connection, name))
            nodes = tuple(dict.fromkeys(called))
            if nodes or (end == at + 1 and words[at].low in agents):
                found.setdefault(at, []).append((end, Named(self._text(words, at, end), nodes)))
        return found

    def split(self, words: Sequence[Word]) -> list[Word]:
        """Return the words with a missing apostrophe put in: "alices role" -> alice 's role."""
        found: list[Word] = []
        for at, word in enumerate(words):
            owns = at + 1 < len(words) and _names_attribute(words[at + 1].low)
            stem = word.text[:-1]
            if owns and word.low.endswith("s") and len(stem) > 2 and not _is_known(self.connection, word.low, stem):
                found.append(word)
            elif owns and word.low.endswith("s") and len(stem) > 2:
                found += [Word(stem, word.low[:-1], word.start, word.end - 1), Word("s", "'s", word.end - 1, word.end)]
            else:
                found.append(word)
        return found

    def near(self, words: Sequence[Word]) -> Names:
        """Return names that words without meaning were meant for: other accents, or one slip of the pen."""
        found: Names = {}
        for at, end in islice(_runs(words), _TRIED):
            text = self._text(words, at, end)
            name = self._nearest(text)
            nodes = knowledge.called(self.connection, name) if name and folded(name) != folded(text) else ()
            if nodes:
                found.setdefault(at, []).append((end, Named(text, nodes, read_as=nodes[0].name)))
        return found

    def meant(self, words: Sequence[Word], names: Names) -> list[Word]:
        """Return the words with the names for which some were taken."""
        found: list[Word] = []
        at = 0
        while at < len(words):
            read = next(((end, named.read_as) for end, named in names.get(at, ()) if named.read_as), None)
            found += words[at : at + 1] if read is None else named_words(read[1])
            at = at + 1 if read is None else read[0]
        return found

    def doubted(self, names: Names) -> Iterator[Names]:
        """Yield the names once more, a first name for the one person of whom it is asked whether it is theirs.

        What is found is then told as that of another name.
        """
        others, read = dict(names), 0
        for at, ((end, longest), *shorter) in sorted(names.items()):
            alone = end == at + 1 and at >= read and len(longest.nodes) == 1
            nodes = graph.nodes(self.connection, [node.key for node in longest.nodes]).values() if alone else ()
            asked = reviews.others(self.connection, [node.id for node in nodes])
            keys = graph.find(self.connection, asked.pop()) if len(asked) == 1 else []
            if keys:
                (other,) = knowledge.nodes(self.connection, keys).values()
                others[at] = [(end, replace(longest, nodes=(other,), read_as=other.name)), *shorter]
            read = max(read, end)
        if others != names:
            yield others

    def unknown(self, words: Sequence[Word]) -> Names:
        """Return words without meaning as names of nothing that is here."""
        found: Names = {}
        for at, end in _runs(words):
            found.setdefault(at, []).append((end, Named(self._text(words, at, end))))
        return found

    def _nearest(self, text: str) -> str:
        plain = _plain(text)
        if len(plain) < 2:
            return ""
        alike = {name for name in knowledge.spelt_alike(self.connection, text) if _plain(name) == plain}
        if len(alike) == 1:
            return alike.pop()
        forms = knowledge.known(self.connection, _legal_forms(text.casefold()))
        if len(forms) == 1:
            return forms.pop()
        if not _SHORTEST <= len(plain) <= _LONGEST or any(char.isdecimal() for char in plain):
            return ""
        slips = knowledge.known(self.connection, _slips(text.casefold()))
        return slips.pop() if len(slips) == 1 else ""

    def _text(self, words: Sequence[Word], at: int, end: int) -> str:
        return self.question[words[at].start : words[end - 1].end]


def _spans(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    for at, word in enumerate(words):
        for end in range(min(len(words), at + LONGEST_NAME), at, -1):
            if word.low != "'s" and not (end == at + 1 and word.low in _CLOSED):
                yield at, end


def _names(text: str) -> tuple[str, ...]:
    """What a name, folded, may be written as: Helix, the Helix project, The Zebra."""
    stem = text.removesuffix(" project")
    return (text, stem) if len(stem) < len(text) else (text, f"{text} project", f"the {text}")


def _runs(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Runs of words that mean nothing in a question, the longest first; a name may hold words that mean something."""
    idle = [word.low not in _vocabulary() or (word.text[:1].isupper() and at > 0) for at, word in enumerate(words)]
    for at in range(len(words)):
        for end in range(min(len(words), at + LONGEST_NAME), at, -1):
            if all(idle[at:end]) and any(word.low not in _vocabulary() for word in words[at:end]):
                yield at, end


def _is_known(connection: Connection, word: str, stem: str) -> bool:
    """Whether the stem is a name here and the word is not."""
    known = knowledge.known(connection, (word, stem.casefold()))
    return stem.casefold() in known and word not in known


def _names_attribute(low: str) -> bool:
    return low in FORMER or low in _attribute_words()


@cache
def _attribute_words() -> frozenset[str]:
    return frozenset(words[0] for words in attributes())


@cache
def _vocabulary() -> frozenset[str]:
    """All words that mean something in a question."""
    found = set(_CLOSED | FORMER | OVER | set(ITEMS) | set(verb_forms()))
    for entries in patterns().values():
        found |= {word for entry in entries for words in entry.words for word in words}
    for table in (kinds(), attributes(), titles()):
        found |= {word for words in table for word in words}
    found |= {word for entries in question_phrases().values() for phrase in entries for word in phrase.rest}
    return frozenset(found)


def _legal_forms(name: str) -> list[str]:
    """Return a company's name with and without its legal form: Acme, Acme Corp."""
    first, _, last = name.rpartition(" ")
    return [first] if first and last.strip(".") in _COMPANIES else [f"{name} {form}" for form in _COMPANIES]


def _plain(name: str) -> str:
    """Return a name without accents, case and marks."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return _PUNCTUATION.sub("", "".join(char for char in letters if not unicodedata.combining(char)))


def _slips(name: str) -> set[str]:
    """Return what may have been meant by a name with one slip: two letters swapped, one doubled, missing, too many, or
    the key beside it. The first and the last letter stand, since those tell names apart: Daniel and Daniela.
    """
    inner = range(1, len(name) - 1)
    swapped = {name[:at] + name[at + 1] + name[at] + name[at + 2 :] for at in range(1, len(name) - 2)}
    beside = {name[:at] + char + name[at + 1 :] for at in inner for char in _neighbours().get(name[at], "")}
    doubled = {name[:at] + name[at] + name[at:] for at in inner}
    single = {name[:at] + name[at + 1 :] for at in inner if name[at] == name[at - 1]}
    found = swapped | beside | doubled | single
    if len(name) > _SHORT:  # Brian and Bran, Martin and Marin are no slips
        found |= {name[:at] + name[at + 1 :] for at in inner}
        found |= {name[:at] + char + name[at:] for at in range(1, len(name)) for char in _letters(name)}
    return found - {name}


def _letters(name: str) -> Iterable[str]:
    """The letters of the script that a name is written in, where scripts are alphabets."""
    code = ord(name[0])
    for first, last in ((0x61, 0x7A), (0x430, 0x44F), (0x3B1, 0x3C9), (0x5D0, 0x5EA)):
        if first <= code <= last:
            return map(chr, range(first, last + 1))
    return ()


@cache
def _neighbours() -> Mapping[str, str]:
    """The keys beside each key."""
    found: dict[str, str] = {}
    for line, row in enumerate(_ROWS):
        others = [other for at, other in enumerate(_ROWS) if abs(at - line) == 1]
        for at, key in enumerate(row):
            near = [row[max(0, at - 1) : at], row[at + 1 : at + 2], *(other[at : at + 1] for other in others)]
            found[key] = "".join(near)
    return found
