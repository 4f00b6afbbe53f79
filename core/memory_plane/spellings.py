"""Other spellings of a name: without accents, in Latin letters, without "Inc.", short for long, an initial for a name.

They raise the question whether two names mean one thing and never answer it: other evidence must.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import permutations, product

ALIKE, SHORT, INITIAL, PART, SHORT_ALONE, SLIP = 0.9, 0.8, 0.7, 0.6, 0.5, 0.4
"""How alike names are: but for spelling; short for long with one surname; an initial; one word of it; short alone;
but for one letter of a long word, which may be a slip or another name."""

MARK = "\x1f"
"""Stands before a key among names; no folded name has it, since it counts as white space."""
COMPANY = frozenset(
    re.findall(
        r"\w+",
        "ab ag as asa bhd bv co company corp corporation gbr gmbh inc incorporated kg kgaa kk limited llc llp lp ltd"
        " mbh nv ohg oy oyj plc pte pty sa sab sarl sas se sl spa srl ug ulc",
    )
)
"""What stands after a company's name and is no part of it."""
_BETWEEN = re.compile(r"[\s.,'’`´_‐-―-]+")  # the marks that people put between parts of a name
_TWO_FOR_ONE = re.compile(r"([aou])e")
_ONE_FOR_TWO = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
_SINGLE = re.compile(r"[a-z]\.?")
LONG, LONGEST = 6, 64
"""How many letters a word has in which a slip is looked for, and a name at most."""
_SHORTS = 6
"""How many other forms of a first name are looked up."""


def key(name: str) -> str:
    """Return what all spellings of a folded name have in common."""
    return "".join(_parts(name))


def latin(name: str) -> tuple[str, ...]:
    """Return the forms of a folded name in plain Latin letters, if they are others: 王伟 is Wang Wei, or Wei Wang."""
    if name.isascii():
        return ()
    words = _BETWEEN.sub(" ", _ascii(name)).strip().split()
    family_first = (words[0], "".join(words[1:])) if len(words) > 1 and " " not in name else ()
    forms = [" ".join(words), " ".join(family_first), " ".join(reversed(family_first))]
    return tuple(form for form in dict.fromkeys(forms) if form and form != name)


def contracted(name: str) -> str:
    """Return a folded name in which ae, oe and ue stand for one letter, as some write ä, ö and ü."""
    return _TWO_FOR_ONE.sub(lambda found: found[1], name)


def shorts(name: str) -> tuple[str, ...]:
    """Return the first names that a folded first name is short for or that are short for it."""
    found = _nicknames().get(key(name), set()) - {name}
    return tuple(sorted(found, key=lambda one: (one[0] != name[0], one)))[:_SHORTS]


def without_thirds(name: str) -> Iterator[str]:
    """Yield what is left of a folded name with a long word when a third of its letters is covered.

    A slip damages one third: so whoever is named but for a slip has one of these in common.
    """
    whole = key(name)
    if not _is_long(name):
        return
    for number, (start, end) in enumerate(_thirds(len(whole))):
        yield _covered(len(whole), number, whole[:start], whole[end:])


def slips(name: str) -> Iterator[str]:
    """Yield what a name that is one letter off has among `without_thirds`, or is with letters of two thirds swapped."""
    whole = key(name)
    if not _is_long(name):
        return
    for length in (len(whole), len(whole) - 1, len(whole) + 1):
        for number, (start, end) in enumerate(_thirds(length)):
            if start + length - end <= len(whole):
                yield _covered(length, number, whole[:start], whole[len(whole) - length + end :])
    for _, at in _thirds(len(whole))[:2]:
        swapped = whole[: at - 1] + whole[at] + whole[at - 1] + whole[at + 1 :]
        yield from (swapped, MARK + swapped)


def is_slip(name: str, other: str) -> bool:
    """Return whether two folded names differ in one letter of a long word, or in two that changed places."""
    mine, theirs = _words(name), _words(other)
    if len(mine) != len(theirs):
        return False
    unlike = [pair for pair in zip(mine, theirs, strict=True) if pair[0] != pair[1]]
    return len(unlike) == 1 and min(map(len, unlike[0])) >= LONG and _one_edit(*unlike[0])


def likeness(name: str, other: str) -> float:
    """Return how alike two folded names of persons are, 0 where they cannot mean the same."""
    if name == other:
        return 1.0
    if key(name) == key(other) or key(_expanded(name)) == key(_expanded(other)):
        return ALIKE
    mine, theirs = _words(name), _words(other)
    if len(mine) == 1 or len(theirs) == 1:
        (alone,), whole = (mine, theirs) if len(mine) == 1 else (theirs, mine)
        if alone in (whole[0], whole[-1]):
            return PART
        return SHORT_ALONE if _short(alone, whole[0]) else 0.0
    if mine == theirs[::-1]:  # the family's name first: Wei Zhang, Zhang Wei
        return INITIAL
    if mine[-1] != theirs[-1]:
        return INITIAL if mine[0] == theirs[0] and _is_initial(mine[-1], theirs[-1]) else 0.0
    if mine[0] == theirs[0]:  # a middle name, or its initial
        return SHORT
    if _is_initial(mine[0], theirs[0]):
        return INITIAL
    return SHORT if _short(mine[0], theirs[0]) else 0.0


def _is_initial(one: str, other: str) -> bool:
    """Whether one word is but the first letter of the other."""
    return one[0] == other[0] and bool(_SINGLE.fullmatch(one) or _SINGLE.fullmatch(other))


def _expanded(name: str) -> str:
    return name if name.isascii() else name.translate(_ONE_FOR_TWO)


def _is_long(name: str) -> bool:
    return len(name) <= LONGEST and any(len(word) >= LONG for word in _words(name))


def _thirds(length: int) -> list[tuple[int, int]]:
    return [(length * number // 3, length * (number + 1) // 3) for number in range(3)]


def _covered(length: int, number: int, before: str, after: str) -> str:
    return f"{MARK}{length}.{number} {before} {after}"


def _one_edit(one: str, other: str) -> bool:
    """Whether one letter more, less or other, or two that changed places, make one word of the other; digits never."""
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    near = max(len(one), len(other)) <= 1 or (len(one) == 2 and one == other[::-1])
    return near and not any(char.isdigit() for char in one + other)


def _short(one: str, other: str) -> bool:
    return other in _nicknames().get(one, ())


def _words(name: str) -> list[str]:
    return [part for part in _BETWEEN.split(name if name.isascii() else _ascii(name)) if part] or [name]


def _parts(name: str) -> Iterator[str]:
    words = _words(name)
    while len(words) > 1 and words[-1] in COMPANY:
        words.pop()
    yield from words


def _ascii(name: str) -> str:
    from anyascii import anyascii  # half a millisecond that few names need

    spaced = re.sub(r"([\u3400-\u9fff\uac00-\ud7af])", r" \1 ", name)
    return " ".join(anyascii(spaced).casefold().split())


@cache
def _nicknames() -> dict[str, set[str]]:
    """Return by first name those that it is short for or that are short for it.

    English ones are those of a package, read without its own code; `nicknames.tsv` has those of other languages.
    """
    found: dict[str, set[str]] = {}
    table = csv.reader(files("nicknames").joinpath("names.csv").read_text("utf-8").splitlines())
    english = [(full, short) for full, relation, short in table if relation == "has_nickname"]
    for full, short in (*english, *_foreign_nicknames()):
        found.setdefault(full, set()).add(short)
        found.setdefault(short, set()).add(full)
    return found


def _foreign_nicknames() -> Iterator[tuple[str, str]]:
    """Yield first names of other languages with what is short for them, and with their other spellings."""
    lines = files("memory_plane").joinpath("nicknames.tsv").read_text("utf-8").splitlines()
    for _, full, short in csv.reader((line for line in lines if not line.startswith("#")), delimiter="\t"):
        for spellings in full.split(" / "):
            yield from product(spellings.split(), short.split())
            yield from permutations(spellings.split(), 2)
