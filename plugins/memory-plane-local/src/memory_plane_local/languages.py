"""Languages other than English: which one a sentence is in, and what its words and phrases do, all from tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from memory_plane_local.cases import CASES
from memory_plane_local.lexicon import Role, is_common, roles
from memory_plane_local.sentences import Sentence
from memory_plane_local.tables import rows, words
from memory_plane_local.tokens import Token
from memory_plane_local.verbs import Phrase, forms, phrases

SOLID, CASELESS = frozenset({"zh", "ja"}), frozenset({"ko", "hi", "ar"})
"""Languages without spaces, and those with spaces but without capitals."""
NAME = "[\ue000-\uf8ff]"
"""What stands for a name while a sentence is matched."""
KINDS = ("Project", "Organization", "Team", "Place", "Tool")
_LETTERED = {
    "ja": ("\u3040", "\u30ff"),
    "ko": ("\uac00", "\ud7a3"),
    "zh": ("\u3400", "\u9fff"),
    "hi": ("\u0900", "\u097f"),
    "ar": ("\u0600", "\u06ff"),
    "ru": ("\u0400", "\u04ff"),
    "el": ("\u0370", "\u03ff"),
}
"""Languages that their letters tell, the first before the others."""
_OPENING, _SHORT = 2, 3
_ENOUGH = 2
_LETTERS = {
    letter: code
    for code, letters in (
        ("tr", "ğış"),
        ("pl", "łżźś"),
        ("de", "ß"),
        ("es", "ñ"),
        ("pt", "ãõ"),
        ("sv", "å"),
        ("vi", "ảạắằặẳẵấầẩẫậđẻẽẹềểễệỉịỏọốồổỗộơớờởỡợụủưứừửữựỳỷỹỵ"),
    )
    for letter in letters
}
"""Letters that one of these languages has and the others do not."""
_STOP = r"[^\s,.;:!?，。、；]"
_UNNAMED = "[^\\s,.;:!?，。、；\ue000-\uf8ff]"


class Said(NamedTuple):
    """A phrase of foreign.tsv: `senses` is what it may say; without them it says that somebody has a job title.

    `starts`: one of these stands in every sentence that has it; `turned`: the object is the subject of the sentence;
    `past`: it is over if it is a state; `own`: the writer is the subject; `beside`, `after`: the subject stands right
    before or after it; `case`: that of the name.
    """

    text: str
    starts: tuple[str, ...]
    senses: tuple[Phrase, ...]
    turned: bool
    past: bool
    own: bool
    beside: bool
    after: bool
    case: str


@dataclass(frozen=True)
class Language:
    """One language of languages.tsv."""

    code: str

    @cached_property
    def solid(self) -> bool:
        """Whether words are written without spaces."""
        return self.code in SOLID

    @cached_property
    def letter(self) -> str:
        """What matches a letter of a word: in Hindi and Arabic signs above and below the letters as well."""
        return r"[\w\u0900-\u0963\u0966-\u097f\u064b-\u0652]" if self.code in ("hi", "ar") else r"\w"

    def asks(self, sentence: Sentence) -> bool:
        """Return whether a sentence is a question; a Greek one ends in what is a semicolon elsewhere."""
        behind = sentence.text[sentence.tokens[-1].end :].lstrip()
        return sentence.question or (self.code == "el" and behind[:1] in (";", "\u037e"))

    def listed(self, use: str) -> tuple[str, ...]:
        """Return the entries of a use, as regular expressions."""
        return _uses().get((self.code, use), ())

    @cached_property
    def plain(self) -> frozenset[str]:
        """Words that are no names, in lower case."""
        uses = ("word", "light", "and", "but", "not", "maybe", "he", "she", "they", "me", "who", "title", *KINDS)
        found = {word for use in uses for entry in self.listed(use) for word in entry.split(r"\s")}
        if self.code in CASELESS:
            said = " ".join(row[3] for row in rows("foreign.tsv") if row[0] == self.code)
            found |= {word for word in re.findall(f"{self.letter}+", said) if len(word) > 1}
        return frozenset(found)

    @cached_property
    def spoken(self) -> re.Pattern[str]:
        """Words that are no names: those that regular expressions tell, job titles and the words of phrases."""
        uses = ("word", "not", "maybe", *KINDS, *self.titles)
        return re.compile(_any(["c[etfop]o", *(entry for use in uses for entry in self.listed(use))]), re.IGNORECASE)

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """The labels of the job titles that this language has words for."""
        return tuple(use for code, use in _uses() if code == self.code and use.isupper())

    def find(self, use: str) -> re.Pattern[str]:
        """Return what finds the words of a use in a sentence."""
        return _finder(self, use)

    @cached_property
    def trailing(self) -> re.Pattern[str]:
        """Light words, particles and denials between a subject and its verb."""
        uses = ("light", "not", "part", "title", *KINDS)
        entries = _any([entry for use in uses for entry in self.listed(use)])
        return re.compile(rf"(?:\s*{entries})*\s*$" if self.solid else rf"(?:(?<!\w){entries}\s*)*$", re.IGNORECASE)

    @cached_property
    def light(self) -> str:
        """Words that may stand before a name: articles, adverbs, and nouns that tell what it is (el equipo de)."""
        of = rf"(?:\s+{_any(self.listed('of'))})?" if self.listed("of") and not self.solid else ""
        return _any([*self.listed("light"), *(entry + of for kind in KINDS for entry in self.listed(kind))])

    @cached_property
    def joint(self) -> str:
        """What joins names: a comma or "and"."""
        conjunctions, light = _any(self.listed("and")), _any(self.listed("light"))
        if self.solid:
            return rf"(?:{_any(self.listed('title'))})?(?:\s*[,、，]\s*|\s*{conjunctions}\s*)"
        comma = "" if self.code == "tr" else r"\s*,\s*|"  # which stands behind a Turkish subject
        return rf"(?:{comma}\s*(?<!\w){conjunctions}\s*)(?:{light}\s+)?"

    @cached_property
    def group(self) -> re.Pattern[str]:
        """Names that stand at the end of what was read."""
        return re.compile(rf"{NAME}(?:{self.joint}{NAME})*$", re.IGNORECASE)

    @cached_property
    def phrases(self) -> tuple[Said, ...]:
        """The phrases of the language."""
        return tuple(
            said
            for row in rows("foreign.tsv")
            if row[0] == self.code
            for said in _phrases(row[1], row[2].split(), row[3])
        )

    def said(self, text: str) -> Iterator[tuple[Said, re.Match[str]]]:
        """Yield the phrases that stand in a text, and where."""
        low = text.lower()
        for said in self.phrases:
            if not said.starts or any(start in low for start in said.starts):
                yield from ((said, found) for found in _compile(self, said.text).finditer(text))

    @cached_property
    def roles(self) -> tuple[tuple[re.Pattern[str], Role], ...]:
        """Job titles with the label that roles.tsv has for them."""
        kinds = {role.label: role for entries in roles().values() for role in entries}
        found = [(label, entry) for label in self.titles for entry in self.listed(label)]
        found += [(label, label.lower()) for label in ("CEO", "CTO", "CFO", "COO", "CPO")]
        return tuple((re.compile(entry, re.IGNORECASE), kinds[label]) for label, entry in found)


def language_of(sentence: Sentence) -> Language | None:
    """Return the language of a sentence, None for English and what cannot be told."""
    tokens = sentence.tokens
    votes: dict[str, int] = {}
    known = _telling()
    for at, token in enumerate(tokens):
        word = token.low if token.shape != "mix" else _elided(token.low)
        if word in known and (token.shape != "cap" or at < _OPENING):
            for code, weight in known[word]:
                votes[code] = votes.get(code, 0) + weight
    if not votes and sentence.text.isascii():
        return None
    code = _script(tokens)
    if code in _LETTERED or code == "uk":
        english = sum(token.low.isascii() and token.shape == "low" and _is_english(token.low) for token in tokens)
        written = sum(not token.text.isascii() for token in tokens)
        if code in SOLID:
            written = sum(len(token.text) for token in tokens if not token.text.isascii()) // 3
        if written < 2 or 2 * english >= written:  # a name alone, or in an English sentence
            return None
        return _language("uk" if code == "ru" and votes.get("uk", 0) > votes.get("ru", 0) else code)
    marked = [token for token in tokens if not token.text.isascii()]
    if any(token.shape == "low" for token in marked):
        votes = {code: number + 1 for code, number in votes.items()}
    small = {char for token in marked if token.shape == "low" for char in token.low}
    for letter in {char for token in marked for char in token.low} & _LETTERS.keys():
        code = _LETTERS[letter]
        if letter in small or code in votes:  # in a name alone it tells nothing: Nguyễn Thị Hạnh
            votes[code] = votes.get(code, 0) + 1
    code = max(votes, key=lambda one: votes[one], default="")
    if len(tokens) < _SHORT or votes.get(code, 0) < _ENOUGH:
        return None
    english = sum(token.low in _english() for token in tokens)
    return _language(code) if votes[code] > english else None


def _script(tokens: Sequence[Token]) -> str:
    """The language that the letters of a sentence tell."""
    text = "".join(token.text for token in tokens if not token.text.isascii())
    for code, (first, last) in _LETTERED.items():
        if any(first <= char <= last for char in text):
            return "uk" if code == "ru" and any(char in "іїєґІЇЄҐ" for char in text) else code
    return ""


def _elided(word: str) -> str:
    """What stands before an apostrophe: l'équipe, dell'Enel."""
    return word[: max(word.find("'"), word.find("’")) + 1].replace("’", "'")


def _is_english(word: str) -> bool:
    return is_common(word) or word in forms()


@cache
def _finder(language: Language, use: str) -> re.Pattern[str]:
    entries = language.listed(use)
    if not entries:
        return re.compile("(?!)")
    before, after = ("", "") if language.solid else (f"(?<!{language.letter})", f"(?!{language.letter})")
    return re.compile(before + _any(entries) + after, re.IGNORECASE)


@cache
def _language(code: str) -> Language:
    return Language(code)


@cache
def _uses() -> dict[tuple[str, str], tuple[str, ...]]:
    return {
        (code, use): tuple(word.replace("_", r"\s") for word in text.split())
        for code, use, text in rows("languages.tsv")
    }


@cache
def _english() -> frozenset[str]:
    """Words that English alone has."""
    return frozenset(_uses()["en", "telling"])


def tells(word: str, code: str) -> bool:
    """Return whether a word is a verb of the phrases of a language."""
    return any(one == code and weight == _ENOUGH for one, weight in _telling().get(word, ()))


@cache
def _telling() -> dict[str, tuple[tuple[str, int], ...]]:
    """What a word says of the language: its verbs say more than its small words."""
    found: dict[str, dict[str, int]] = {}
    for (code, use), entries in _uses().items():
        if use in ("telling", *KINDS) or (use.isupper() and code not in _LETTERED):
            for word in (word for entry in entries for word in _spelt(entry)):
                found.setdefault(word, {})[code] = 1
    for code, _, _, text in rows("foreign.tsv"):
        if code not in SOLID | CASELESS:
            for word in re.findall(r"(?<![\w\\(\[])[^\W\d_]{3,}(?![\w*\[(?])", text):
                found.setdefault(word, {})[code] = _ENOUGH if len(word) > 3 else 1
    ordinary = {*words("common.txt"), *_english(), *_uses()["en", "word"]}
    return {word: tuple(codes.items()) for word, codes in found.items() if word not in ordinary}


def _spelt(entry: str) -> list[str]:
    """The words that a simple regular expression stands for: fundador and fundadora of fundadora?."""
    if found := re.search(r"\[(\w+)\]|(\w)\?", entry):
        options = found[1] or ["", found[2]]
        return [word for option in options for word in _spelt(entry[: found.start()] + option + entry[found.end() :])]
    return [entry] if entry.replace("'", "").isalpha() else []


def _phrases(english: str, marks: Sequence[str], text: str) -> list[Said]:
    verb, *rest = english.lstrip("<").split()
    senses = () if "@" in rest else tuple(one for one in phrases()[verb] if one.rest == tuple(rest))
    case = next((mark for mark in marks if mark in CASES), "")
    told = english.startswith("<"), "past" in marks, "me" in marks, "beside" in marks, "after" in marks, case
    return [Said(phrase, _starts(phrase), senses, *told) for phrase in text.split("; ")]


def _starts(phrase: str) -> tuple[str, ...]:
    """What the words of the longest place of a phrase begin with, so that few phrases need be compiled."""
    best: tuple[str, ...] = ()
    for atom in _atoms(phrase):
        options = re.sub(r"\([^)]*\)", "(", atom).split("|")
        starts = tuple(_start(option) for option in options)
        if "_" not in atom and min(map(len, starts)) > min(map(len, best), default=0):
            best = starts
    return best


def _start(option: str) -> str:
    """The letters that a word of a phrase begins with for certain."""
    found = re.match(r"[^\W\d_]*", option)
    letters = found.group() if found else ""
    return (letters[:-1] if option[len(letters) :][:1] in ("?", "{") else letters).lower()


def _atoms(phrase: str) -> list[str]:
    return re.findall(r"(?:\([^)]*\)|\S)+", phrase)


@cache
def _compile(language: Language, phrase: str) -> re.Pattern[str]:
    """Make a regular expression of a phrase: light words may stand before its name, others between its words."""
    atoms = _atoms(phrase)
    solid = language.solid
    light = language.light
    name = rf"(?P<o>{NAME}(?:{language.joint}{NAME})*)"
    if solid or language.code in CASELESS or language.code == "tr":
        name += rf"(?:\s*{_any([entry for use in (*KINDS, 'title') for entry in language.listed(use)])})?"
    elif atoms[-1] == "_":
        end = rf"(?=\s*(?:$|[,.;:)]|(?<!\w){_any(language.listed('and'))}(?!\w)))"
        name = rf"(?P<o>{NAME}(?:{language.joint}{NAME}{end})*)"
    titles = [one.pattern.replace(r"\w+", rf"(?:\w+|{NAME})") for one, _ in language.roles]
    title = rf"(?P<r>{_any(titles)})" if "@" in phrase else ""
    parts: list[str] = []
    for at, atom in enumerate(atoms):
        if at:
            close = atom.startswith(("_", "@")) or (atoms[at - 1] == "@" and not solid)
            parts.append(_between(language, light, close=close, named=not atoms[at - 1].startswith("_")))
        text = (
            atom.replace("*", r"\w*").replace(r"\w\w*", r"\w*").replace(".{", r"[^,.;，。、；]{").replace(".\\w*", ".*")
        )
        text = f"(?:{text})" if "|" in text else text
        parts.append(text.replace(" ", r"\s").replace("_", name).replace("@", title).replace(r"\w", language.letter))
        if at and atom[0] == "(" and atom[-2:] == ")?":
            parts[-2:] = [f"(?:{parts[-2]}{parts[-1]})?"]
    edges = ("", "") if solid else (f"(?<!{language.letter})", f"(?!{language.letter})")
    return re.compile(edges[0] + "".join(parts) + edges[1], re.IGNORECASE)


def _between(language: Language, light: str, *, close: bool, named: bool) -> str:
    if language.solid:
        return rf"(?:{light}|[「『“\"《\s])*" if close else r"\s*"
    if close:
        doer = rf"(?:\s+{NAME})?" if language.code == "ar" else ""  # who does it stands behind the verb
        return doer + rf"(?:\s+|(?<=['’]))(?:(?:\w{{1,5}}['’])?{light}\s+)*(?:\w{{1,5}}['’])?"
    stop = _any([*language.listed("and"), *language.listed("but")])
    return rf"(?:\s+(?!{stop}(?!\w)){_STOP if named else _UNNAMED}+){{0,6}}?\s+"


def _any(entries: Sequence[str]) -> str:
    return f"(?:{'|'.join(sorted(entries, key=len, reverse=True))})" if entries else "(?:(?!))"
