"""Whom or what a pronoun means: by what stands before it in its sentence or the one before, and by first names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_plane.ask import sentences as text
from memory_plane.ask.sentences import PRONOUNS, WRITERS, Sentence
from memory_plane.ask.verbs import BE
from memory_plane.vocabulary.meanings import genders

PERSONS = {"he": "he", "him": "he", "she": "she", "her": "she"}


def meant(sentence: Sentence, pronoun: int, previous: Sentence | None) -> tuple[Sentence, tuple[int, int]] | None:
    """Return the subject of the clause before a pronoun, or of the sentence before it.

    Of several who may be "he" or "she" it is nobody.
    """
    low = sentence.low(pronoun)
    if low in ("who", "which", "that"):
        found = sentence.before(pronoun)
        return None if found is None else (sentence, found)
    for one, last in ((sentence, pronoun), (previous, None)):
        if one is None:
            continue
        subject = _first_subject(one, last)
        if low in PERSONS:
            people = list(_people(one, last, subject))
            left = [found for found in people if may_be(one.lows[slice(*found)], low)]
            if len(left) == 1 and (len(people) == 1 or _is_person(one, left[0])):
                return (one, left[0]) if one.low(left[0][0]) not in PRONOUNS else None
            if left:
                return None
        elif subject is not None and one.low(subject[0]) not in PRONOUNS:
            return one, subject
    return None if low in PERSONS else _named_before(sentence, pronoun, previous)


def _first_subject(sentence: Sentence, last: int | None) -> tuple[int, int] | None:
    """Return the subject of the first verb of a sentence, up to a word; None where it is whoever writes."""
    for at in range(1, len(sentence.words) if last is None else last):
        if text.is_verb(sentence, at):
            found = sentence.before(text.group_before(sentence, at)[0])
            return None if found is None or sentence.low(found[0]) in WRITERS else found
    return None


def _people(sentence: Sentence, last: int | None, subject: tuple[int, int] | None) -> Iterator[tuple[int, int]]:
    """Yield who is named in a sentence up to a word, and its subject; the one person in that is the subject."""
    end = len(sentence.words) if last is None else last
    names = {sentence.lows[name.begin]: name for name in sentence.names if name.type == "Person" and name.end <= end}
    if subject is None:
        yield from (name[:2] for name in names.values())
        return
    inside = [name for name in names.values() if subject[0] <= name.begin and name.end <= subject[1]]
    kind = next((name.type for name in sentence.names if name.begin <= subject[1] - 1 < name.end), "Person")
    if len(inside) < 2 and (kind == "Person" or _is_person(sentence, subject)):
        yield subject
    called = subject[1] + 1 + (sentence.low(subject[1] + 1) in ("called", "named"))
    for name in names.values():
        same = name.begin == called and sentence.low(subject[1]) in BE  # "the landlord is called Poul; he …"
        if not same and (name not in inside or len(inside) > 1 or sentence.low(name.end) == "'s"):
            yield name[:2]


def _is_person(sentence: Sentence, found: tuple[int, int]) -> bool:
    """Whether words call a person."""
    named = any(name.type == "Person" and name.begin < found[1] and found[0] < name.end for name in sentence.names)
    return named or bool(_gender(sentence.lows[slice(*found)]))


def may_be(lows: Sequence[str], pronoun: str) -> bool:
    """Whether "he" or "she" may be who is called so."""
    return _gender(lows) in ("", PERSONS[pronoun])


def _gender(lows: Sequence[str]) -> str:
    """Return by which pronoun people speak of who is called so: "she" of Dora and of "Emil's sister"; "" if unknown."""
    owner = max((at for at, low in enumerate(lows) if low == "'s"), default=-1)
    return next((pronoun for low in lows[owner + 1 :] for pronoun, some in genders().items() if low in some), "")


def _named_before(
    sentence: Sentence, pronoun: int, previous: Sentence | None
) -> tuple[Sentence, tuple[int, int]] | None:
    """Return the one name before "it" or "they" that fits; None where several do."""
    for one, last in ((sentence, pronoun), (previous, None)):
        found = {
            (name.begin, name.end)
            for name in (one.names if one else ())
            if name.type != "Person" and (last is None or name.end <= last)
        }
        if one is not None and found:
            return (one, found.pop()) if len(found) == 1 else None
    return None
