"""Claims in other languages: phrases of a table, with the name before and the name that they are about."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from memory_plane.types import Polarity
from memory_plane_local.cases import CASES, nominative
from memory_plane_local.clauses import Clause
from memory_plane_local.drafts import Draft, closed, fit, polarity, settle
from memory_plane_local.foreign_names import listed_type
from memory_plane_local.guards import ENDED, HYPOTHETICAL, NEGATIVE, PAST_TENSE, QUESTION
from memory_plane_local.languages import NAME, Language, Said
from memory_plane_local.name import Name
from memory_plane_local.relations import Reader
from memory_plane_local.sentences import Sentence
from memory_plane_local.verbs import Phrase

_FIRST = 0xE000
_QUOTES = "«»„“”\"'‘’「」『』《》"
_SURE, _IMPLIED = 0.97, 0.88
_MARK = re.compile(r"[,;:.!?，。、；：！？()]")
_PRONOUNS = ("he", "she", "they", "me")


@dataclass(slots=True)
class Told:
    """A phrase in a sentence; its subject is names, a pronoun, or "" for whoever was spoken of before."""

    said: Said
    subject: Sequence[Name] | str
    objects: list[Name]
    flags: int
    title: str
    start: int


class Masked:
    """A sentence in which each name is one character."""

    def __init__(self, sentence: Sentence, names: Sequence[Name]) -> None:
        at, end = sentence.tokens[0].start, sentence.tokens[-1].end
        self.source, pieces = sentence.text, list[str]()
        self.names = [name for name in names if at <= name.start < name.end <= end]
        self.quoted: set[int] = set()
        for index, name in enumerate(self.names):
            before, after = sentence.text[at : name.start], sentence.text[name.end : name.end + 1]
            if before[-1:] in _QUOTES and before and after in _QUOTES and after:
                before, self.quoted = before[:-1], self.quoted | {index}
            pieces += [_without(before), chr(_FIRST + index)]
            at = name.end + (index in self.quoted)
        self.text = "".join([*pieces, _without(sentence.text[at:end])])

    def written(self, text: str) -> str:
        """Return a piece of the sentence as it is written."""
        return re.sub(NAME, lambda found: self.names[ord(found[0]) - _FIRST].text, text)

    def named(self, text: str) -> list[Name]:
        """Return the names in a piece of the sentence."""
        return [self.names[ord(char) - _FIRST] for char in text if "\ue000" <= char <= "\uf8ff"]


def _without(text: str) -> str:
    """Return a text without characters that would stand for names."""
    return re.sub(NAME, "\ufffd", text)


def find_told(language: Language, sentence: Sentence, names: Sequence[Name], known: Container[str]) -> list[Told]:
    """Find what a sentence says, in order; the names that its phrases are about are put into the nominative."""
    masked = Masked(sentence, names)
    if not masked.names:
        return []
    chosen = _chosen(language, masked)
    told: list[Told] = []
    previous, asked = 0, QUESTION if language.asks(sentence) else 0
    for at, (said, found) in enumerate(chosen):
        following = chosen[at + 1][1].start() if at + 1 < len(chosen) else len(masked.text)
        _decline(language, masked, said, found, known)
        flags = _flags(language, masked.text, previous, found, max(following, found.end())) | (
            PAST_TENSE if said.past else 0
        )
        title = masked.written(_title(found))
        goes_on = next((one for one in reversed(told) if not one.said.beside), None)
        if said.after:
            subject: Sequence[Name] | str = masked.named(_behind(language, masked, found))
        elif said.beside:
            subject = masked.named(masked.text[: found.start()].rstrip()[-1:])
        else:
            subject = "me" if said.own else _subject(language, masked, found, goes_on)
        objects = masked.named(found["o"])
        if any(name in objects for name in subject):
            continue
        told.append(Told(said, subject, objects, flags | asked, title, found.start()))
        previous = found.end()
        if flags == NEGATIVE and (instead := _instead(language, masked, said, found, known)):
            told.append(Told(said, subject, instead, told[-1].flags & ~NEGATIVE, title, found.start()))
    return told


def _chosen(language: Language, masked: Masked) -> list[tuple[Said, re.Match[str]]]:
    """Return one phrase for each name that phrases are about, in order: the longest says most."""
    matches = [one for one in language.said(masked.text) if not one[0].after or _behind(language, masked, one[1])]
    matches.sort(key=lambda one: (one[1].start() - one[1].end(), not one[0].after))
    bound: set[str] = set()
    chosen = []
    for said, found in matches:
        names = set(re.findall(NAME, found["o"]))
        about = masked.named(found["o"])
        if not bound & names and _fits(about, said) and not _team_of(language, masked, found, about):
            bound |= names | set(re.findall(NAME, _title(found)))
            chosen.append((said, found))
    return sorted(chosen, key=lambda one: one[1].start("o"))


def _team_of(language: Language, masked: Masked, found: re.Match[str], about: list[Name]) -> bool:
    """Whether a phrase is about somebody's team, and not about that person."""
    before = masked.text[: found.start("o")].rstrip()
    of = next((one.start() for one in language.find("of").finditer(before) if one.end() == len(before)), None)
    return of is not None and about[0].options[:1] == ("Person",) and _ends(language, "Team", before[:of])


def _fits(names: list[Name], said: Said) -> bool:
    if not said.senses:
        return all(fit(name, ("Organization", "Team", "Project")) for name in names)
    sides = [sense.row.subjects if sense.turned != said.turned else sense.row.objects for sense in said.senses]
    return any(all(fit(name, side) for name in names) for side in sides)


def _decline(language: Language, masked: Masked, said: Said, found: re.Match[str], known: Container[str]) -> None:
    """Put the names of a phrase into the nominative, unless a noun before them or quotation marks keep them in it."""
    if said.case not in CASES:
        return
    before = masked.text[: found.start("o")].split()
    noun = bool(before) and any(
        language.find(kind).fullmatch(before[-1]) for kind in ("Project", "Organization", "Team", "Place")
    )
    for index in (ord(char) - _FIRST for char in found["o"] if re.match(NAME, char)):
        name = masked.names[index]
        if not noun and index not in masked.quoted and not (name.text.isascii() and language.code != "pl"):
            name.text = nominative(language.code, name.text, said.case, known)
            name.options = name.options or listed_type(name.text)
            same = masked.source.startswith(name.text, name.start)
            name.end = name.start + (len(name.text) if same else 0)  # else it is implied, and stands nowhere


def _title(found: re.Match[str]) -> str:
    return found["r"] if "r" in found.re.groupindex else ""


def _behind(language: Language, masked: Masked, found: re.Match[str]) -> str:
    """The name right behind a phrase, articles aside."""
    behind = re.compile(rf"\s*(?:{language.light}\s*)*({NAME})", re.IGNORECASE).match(masked.text, found.end())
    return behind[1] if behind else ""


def _instead(language: Language, masked: Masked, said: Said, found: re.Match[str], known: Container[str]) -> list[Name]:
    """What is so in place of what is denied: nicht bei SAP, sondern bei Oracle."""
    gap = r"\S{0,2}" if language.solid else rf"\s+(?:\w{{1,5}}\s+)?(?:{language.light}\s+)?"
    but = re.compile(rf"\s*[,，、]?\s*{language.find('but').pattern}{gap}(?P<o>{NAME})", re.IGNORECASE)
    other = but.match(masked.text, found.end())
    if other is None:
        return []
    _decline(language, masked, said, other, known)
    return masked.named(other["o"])


def _flags(language: Language, text: str, previous: int, found: re.Match[str], following: int) -> int:
    """What the words around a phrase make of it: denied, over, or only supposed."""
    begin = max((mark.end() for mark in _MARK.finditer(text, previous, found.start())), default=previous)
    begin = max((mark.end() for mark in language.find("but").finditer(text, begin, found.start())), default=begin)
    ends = [mark.start() for mark in _MARK.finditer(text, found.end(), following)]
    if not language.solid:
        ends += [mark.start() for mark in language.find("and").finditer(text, found.end(), following)]
    around = text[begin : min(ends, default=following)]
    clause = _MARK.search(text, found.end())
    supposed = language.find("maybe").search(text, 0, clause.start() if clause else len(text))
    flags = HYPOTHETICAL if supposed else 0
    if language.find("over").search(around):
        return flags | ENDED | NEGATIVE
    return flags | (NEGATIVE if language.find("not").search(around) else 0)


def _subject(language: Language, masked: Masked, found: re.Match[str], previous: Told | None) -> Sequence[Name] | str:
    """Who does it: the name before, that before a relative pronoun, a pronoun, or the subject of the phrase before."""
    before, relative = masked.text[: found.start()], False
    for _ in range(2):
        before = language.trailing.sub("", before).rstrip()
        if group := language.group.search(before):
            names = masked.named(group.group())
            ahead = before[: group.start()]
            if _owned(language, ahead, "") or (names[0].options == ("Person",) and _ends(language, "Team", ahead)):
                return []
            return previous.subject if previous and names[-1] in previous.objects and not relative else names
        cut = next((mark for mark in language.find("who").finditer(before) if mark.end() == len(before)), None)
        if cut is None:
            break
        before, relative = before[: cut.start()].rstrip(" ,"), True
    for pronoun in _PRONOUNS:
        if _ends(language, pronoun, before):
            return pronoun
    inside = [name for name in masked.named(found.group()) if name not in masked.named(found["o"])]
    if previous is not None:
        return previous.subject
    first = re.search(rf"{NAME}(?:{language.joint}{NAME})*", before)
    if first is None:
        return inside[:1] or ""
    return [] if _owned(language, before[: first.start()], before[first.end() :]) else masked.named(first.group())


def _owned(language: Language, before: str, after: str) -> bool:
    """Whether a name only tells whose somebody or something is: the sister of Marta, 王芳的妹妹."""
    return _ends(language, "of", before) or bool(language.find("of").match(after.lstrip()))


def _ends(language: Language, use: str, text: str) -> bool:
    return any(found.end() == len(text.rstrip()) for found in language.find(use).finditer(text))


def state(reader: Reader, clause: Clause, language: Language, told: Sequence[Told]) -> None:
    """Draft the claims of a sentence."""
    for one in told:
        factor = _SURE
        named = one.subject
        if isinstance(named, str):
            named, factor = _resolved(reader, named)
        subject = [reader.once(name) for name in named]
        objects = [reader.once(name) for name in one.objects]
        types = [name.options[:1] for name in (*subject, *objects)]
        if one.said.beside and types != [("Organization",), ("Place",)]:
            continue
        if not subject:
            continue
        clause.main = clause.main or subject
        reader.discourse.note([*objects, *subject])
        for source in subject:
            for target in objects:
                _draft(reader, clause, language, one, source, target, factor)


def _resolved(reader: Reader, pronoun: str) -> tuple[Sequence[Name], float]:
    if pronoun:
        return reader.discourse.resolve(pronoun)
    return reader.discourse.subject, _IMPLIED


def _draft(
    reader: Reader, clause: Clause, language: Language, told: Told, source: Name, target: Name, factor: float
) -> None:
    if not told.said.senses:
        _hold(reader, clause, language, told, source, target, factor)
        return
    kinds = source.options[:1], target.options[:1]
    turned = [sense.turned != told.said.turned for sense in told.said.senses]
    # A sense that takes both as what they are comes before one that takes a person for a firm of that name.
    fitting = sorted(zip(told.said.senses, turned, strict=True), key=lambda one: not _exact(one[0], one[1], kinds))
    for sense, around in fitting:
        row = sense.row
        one, other = (target, source) if around else (source, target)
        polar = polarity(told.flags, state=row.state)
        if reader.draft(clause, one, row, other, polar, factor):
            return


def _exact(sense: Phrase, around: bool, kinds: tuple[tuple[str, ...], tuple[str, ...]]) -> bool:
    source, target = (sense.row.objects, sense.row.subjects) if around else (sense.row.subjects, sense.row.objects)
    return set(kinds[0]) <= set(source) and set(kinds[1]) <= set(target)


def _hold(
    reader: Reader, clause: Clause, language: Language, told: Told, holder: Name, place: Name, factor: float
) -> None:
    """Somebody holds a job title: the leading ones are relations, the others are roles."""
    role = next((role for title, role in language.roles if title.fullmatch(told.title)), None)
    if role is None or not fit(holder, ("Person", "Agent")) or not fit(place, ("Organization", "Team", "Project")):
        return
    settle(holder, "Person")
    settle(place, (fit(place, ("Organization", "Team", "Project")) or ("Organization", 1.0))[0])
    polar: Polarity = polarity(told.flags, state=True)
    start, end = clause.span()
    relation = closed(f"{role.label}_OF" if role.leads else "WORKS_AT", polar)
    reader.drafts.add(Draft(holder, relation, place, polar, start, end, round(0.92 * factor, 3)))
    if not role.leads:
        at = clause.sentence.text.find(told.title, start, end)
        span = (at, at + len(told.title)) if at >= 0 else (start, start)
        title = reader.once(Name(told.title, *span, ("Role",), 0.85, weak=True))
        reader.drafts.add(Draft(holder, "HAS_ROLE", title, polar, start, end, round(0.88 * factor, 3)))
