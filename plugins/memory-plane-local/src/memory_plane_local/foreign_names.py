"""Names in other languages: by capitals where there are any, else by all words that are none."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from memory_plane_local.cases import nominative
from memory_plane_local.languages import CASELESS, KINDS, Language, tells
from memory_plane_local.lexicon import known_names
from memory_plane_local.name import Name, legal_end, name_at
from memory_plane_local.name_lists import listed
from memory_plane_local.name_types import type_options
from memory_plane_local.sentences import Sentence
from memory_plane_local.tables import rows, words
from memory_plane_local.tokens import Token

_ELIDED = re.compile(r"\w{1,5}['’](?=[^\W\d_])")
_IN_CASE = re.compile(r"['’](?:[dt][ae]n?|y?[aeıiuü])$")
_ELIDING = ("fr", "it", "pt")
_TITLED, _KIN, _SURE, _GIVEN = 0.9, 0.8, 0.85, 0.9
_SIGNS = "«»„“”\"'."
_BEFORE = 2
_HAN = "[\u4e00-\u9fff々]"
_KANA, _KATAKANA = "[\u3041-\u3096]", "[\u30a1-\u30fa\u30fc]"
_SIDE, _FIRM = "はがをのとでにもへや、，。」）", "[県市区町村駅社店所院園校館屋堂寺房学業部室局]"
"""What stands behind a Japanese name, and what one ends in that begins like a person's and is a place's or a firm's."""


def find_foreign(sentence: Sentence, language: Language, gazetteer: Mapping[str, str]) -> list[Name]:
    """Return the names of a sentence in order; what may be an ordinary word is weak, so that only claims keep it."""
    if language.solid:
        return _placed(sentence, _solid(sentence, language, gazetteer))
    if language.code in CASELESS:
        return _placed(sentence, _caseless(sentence, language, gazetteer))
    found, at = [], 0
    while at < len(sentence.tokens):
        name = _cased(sentence, language, at, gazetteer)
        at = at + 1 if name is None else name.span[1]
        found += [] if name is None else [name]
    return found


def _cased(sentence: Sentence, language: Language, at: int, gazetteer: Mapping[str, str]) -> Name | None:
    """A run of capitalised words, without what is put before or behind with an apostrophe."""
    tokens = sentence.tokens
    token = tokens[at]
    if token.shape not in ("cap", "mix") or "@" in token.text or _plain(language, tokens, at):
        return None
    if "'" not in token.text and "’" not in token.text and (known := listed(sentence, at, gazetteer)):
        _told_by_neighbours(known, language, tokens)
        return known
    end = at + 1
    while end < len(tokens) and (step := _goes_on(language, tokens, end)):
        end += step
    if language.code == "tr" and end > at + 1 and _turkish_object(language, tokens, end):
        end -= 1
    end = legal_end(tokens, end)
    name = name_at(sentence, at, end, *type_options(tokens, at, end, [one.low for one in tokens[at:end]]))
    if name.strength < _SURE and name.options != ("Person",):
        name.options = ()
    _cut(name, language, token)
    _told_by_neighbours(name, language, tokens)
    if not name.options or (name.options == ("Person",) and name.strength <= _GIVEN):
        place = _listed(name.text, gazetteer)
        name.options = place if place and (not name.options or place == ("Place",)) else name.options
    name.soft = name.options == ("Person",) and name.strength <= _GIVEN and not _titled(language, tokens, at)
    name.weak = not name.options and end == at + 1 and (at == 0 or (language.code == "de" and token.shape == "cap"))
    return name if name.text else None


def _plain(language: Language, tokens: Sequence[Token], at: int) -> bool:
    low = tokens[at].low
    given = low in words("first_names.txt") or low in words("first_names_ambiguous.txt")
    goes_on = at + 1 < len(tokens) and tokens[at + 1].low in language.listed("inside")
    day = low in words("calendar.txt") and not given and not goes_on
    if day or low in language.plain or language.spoken.fullmatch(low) or _elides_no_name(language, tokens[at].text):
        return True
    first = at == 0 or tokens[at - 1].shape == "mark"
    return first and tells(low, language.code)


def _elides_no_name(language: Language, text: str) -> bool:
    """Whether a word in small letters stands behind an apostrophe: L'équipe."""
    elided = _ELIDED.match(text) if language.code in _ELIDING else None
    return elided is not None and text[elided.end()].islower()


def _goes_on(language: Language, tokens: Sequence[Token], at: int) -> int:
    """How many more words belong to a name."""
    token = tokens[at]
    if "'" in tokens[at - 1].text and language.code == "tr":
        return 0
    if token.shape in ("cap", "mix") and not _ELIDED.match(token.text):
        noun = language.code != "de" and any(language.find(kind).fullmatch(token.low) for kind in KINDS)
        return int(noun or not _plain(language, tokens, at))
    inside, after = language.listed("inside"), at + 1
    while after < len(tokens) and tokens[after].low in inside and after < at + 2:
        after += 1
    small = token.low in inside and token.shape == "low" and after < len(tokens)
    return after + 1 - at if small and tokens[after].shape == "cap" and tokens[after].low not in known_names() else 0


def _turkish_object(language: Language, tokens: Sequence[Token], end: int) -> bool:
    """Whether the last word of a run is no part of its subject: Ayşe Trendyol'da, Emre Pusula projesini."""
    after = tokens[end].low if end < len(tokens) else ""
    return bool(_IN_CASE.search(tokens[end - 1].low)) or any(language.find(kind).fullmatch(after) for kind in KINDS)


def _cut(name: Name, language: Language, token: Token) -> None:
    """Take off d' and dell' before, and the endings that Turkish puts behind an apostrophe."""
    if language.code == "tr":
        length = min((at for at in (name.text.find("'"), name.text.find("’")) if at > 0), default=len(name.text))
        name.text, name.end = name.text[:length], name.start + length
    elif language.code in _ELIDING and token.shape == "mix" and (elided := _ELIDED.match(name.text)):
        name.text, name.start = name.text[elided.end() :], name.start + elided.end()


def _told_by_neighbours(name: Name, language: Language, tokens: Sequence[Token]) -> None:
    """The type by a title, or by a noun beside: Frau Lindner, das Projekt Adler, el equipo de Pagos, Pusula projesi."""
    if _titled(language, tokens, name.span[0]):
        name.options, name.strength = ("Person",), _TITLED
    before = [token.low for token in tokens[: name.span[0]] if token.text not in _SIGNS][-_BEFORE:]
    if len(before) > 1 and name.options != ("Person",) and language.find("of").fullmatch(before[-1]):
        before.pop()
    after = tokens[name.span[1]].low if name.span[1] < len(tokens) and tokens[name.span[1]].shape == "low" else ""
    beside = (after, "") if language.code == "tr" else (" ".join(before), before[-1] if before else "")
    for kind in KINDS:
        if any(language.find(kind).fullmatch(noun) for noun in beside):
            person = nominative(language.code, name.text, "gen", ()).lower() in words("first_names.txt")
            if kind == "Team" and (person or name.options == ("Person",)):  # whose team it is
                name.options = ("Person",)
                return
            name.options, name.strength = (kind,), _TITLED


def _titled(language: Language, tokens: Sequence[Token], at: int) -> bool:
    before = at - 1 - (at > 0 and tokens[at - 1].text == ".")
    return before >= 0 and bool(language.find("title").fullmatch(tokens[before].low))


def _listed(text: str, gazetteer: Mapping[str, str]) -> tuple[str, ...]:
    low = text.replace("İ", "I").lower()
    kind = next((one.type for one in known_names().get(low, ()) if not one.rest), None) or gazetteer.get(low)
    return (kind,) if kind and kind != "Concept" else ()


def listed_type(name: str) -> tuple[str, ...]:
    """Return the type of a name that the word lists have as it is."""
    return ("Person",) if name.lower() in words("first_names.txt") else _listed(name, {})


def _caseless(sentence: Sentence, language: Language, gazetteer: Mapping[str, str]) -> Iterator[Name]:
    """All words but those of the language, less what is put behind them; in Hindi those of one run belong together."""
    begin, end = sentence.tokens[0].start, sentence.tokens[-1].end
    particles = tuple(sorted(language.listed("part"), key=len, reverse=True))
    held: Name | None = None
    for found in re.compile(rf"{language.letter}+").finditer(sentence.text, begin, end):
        word = found.group()
        bare = next((word[: -len(one)] for one in particles if _cuts(language, word, one)), word)
        plain = word.lower() in language.plain or _none(language, bare) or word[0].isdigit()
        plain = plain or (bare == word and bool(language.find("verb").fullmatch(word)))
        if held is not None and not plain and _one_name(sentence, language, held, found.start(), word):
            held.text, held.end = sentence.text[held.start : found.start() + len(bare)], found.start() + len(bare)
            continue
        if held is not None:
            yield held
        held = None
        if not plain:
            held = Name(
                bare, found.start(), found.start() + len(bare), *_kind(language, sentence, bare, found.end(), gazetteer)
            )
            held.weak = not held.options or held.strength == _KIN
    if held is not None:
        yield held


def _cuts(language: Language, word: str, particle: str) -> bool:
    bare = word.removesuffix(particle)
    return word.endswith(particle) and (len(bare) > 1 or bare in language.plain)


def _none(language: Language, word: str) -> bool:
    if language.code == "ar" and len(word) > 3 and word[0] == "و" and _none(language, word[1:]):
        return True
    return word.lower() in language.plain or bool(language.spoken.fullmatch(word))


def _one_name(sentence: Sentence, language: Language, name: Name, start: int, word: str) -> bool:
    """Whether a word goes on with the name before it."""
    if sentence.text[name.end : start].strip() or language.code == "ko":
        return False
    kin = language.listed("kin")
    if language.code == "ar" or word in kin:
        return True
    return not name.options and name.text.split()[-1] not in kin and name.start > sentence.tokens[0].start


def _kind(
    language: Language, sentence: Sentence, word: str, end: int, gazetteer: Mapping[str, str]
) -> tuple[tuple[str, ...], float]:
    """The type of a word and how sure it is: by the lists, a family name, a title or noun behind it."""
    if options := _listed(word, gazetteer):
        return options, _TITLED
    after = sentence.text[end : sentence.tokens[-1].end].lstrip('」』”"》 ')
    if any(after.startswith(title) for title in language.listed("title")) and language.code != "ar":
        return ("Person",), _TITLED
    for kind in KINDS if language.code != "ar" else ():
        noun = next(filter(None, (re.match(entry, after) for entry in language.listed(kind))), None)
        if noun and not (language.code == "hi" and _names_next(language, after[noun.end() :])):
            return (kind,), _TITLED
    if word.lower() in words("first_names.txt"):
        return ("Person",), _TITLED
    kin = language.listed("kin")
    surname = word in kin if language.code == "ja" else language.code == "ko" and len(word) == 3 and word[0] in kin
    return (("Person",), _KIN) if surname else ((), 0.7)


def _names_next(language: Language, after: str) -> bool:
    """Whether a noun goes with the word behind it: प्रोजेक्ट उड़ान."""
    word = re.match(rf"\s*({language.letter}+)", after)
    return word is not None and not _none(language, word[1])


def _solid(sentence: Sentence, language: Language, gazetteer: Mapping[str, str]) -> Iterator[Name]:
    """What stands between the words of Chinese or Japanese that are no names."""
    begin, end = sentence.tokens[0].start, sentence.tokens[-1].end
    for found in _cutter(language).finditer(sentence.text, begin, end):
        if found.lastgroup is None:
            continue
        word = found.group()
        options, strength = _kind(language, sentence, word, found.end(), gazetteer)
        if found.lastgroup == "person":
            options, strength = options or ("Person",), _KIN
        if not word.isdigit() and (len(word) > 1 or options):
            yield Name(word, found.start(), found.end(), options, strength, weak=not options or strength == _KIN)


@cache
def _cutter(language: Language) -> re.Pattern[str]:
    """What finds, from left to right, names that are listed, people, words that are no names, and other names."""
    families = language.listed("kin") if language.code == "ja" else ()
    known = _either([*families, *(name for name in known_names() if re.fullmatch("[\u3041-\u9fff]+", name))])
    phrases = " ".join(row[3] for row in rows("foreign.tsv") if row[0] == language.code)
    titles = " ".join(title.pattern for title, _ in language.roles)
    plain = {*language.plain, *re.findall(f"{_HAN}+", phrases), *re.findall("[\u30a1-\u30fc\u4e00-\u9fff]+", titles)}
    if language.code == "ja":
        # One ideograph is a word of its own before kana alone: 働いて, but not that of 労働.
        cut = _either(word if len(word) > 1 else f"{word}(?={_KANA}|$)" for word in plain)
        lead, kinds = "(?<=[はがのをで、「])", "(?=プロジェクト|チーム)"
        kana = f"{lead}{_KANA}{{2,8}}{kinds}"
        family = _either(name for name in families if len(name) > 1)
        given = f"(?:(?!{_either(word for word in plain if len(word) > 1)}){_HAN}){{1,3}}(?<!{_FIRM})"
        ends = f"(?={_either(language.listed('title'))}|[{_SIDE}]|$)"
        firm = f"{family}{_HAN}{{0,3}}{_FIRM}(?=[{_SIDE}]|$)"
        person = f"{family}[ \u3000]?(?:{given}|{_KATAKANA}{{2,8}}){ends}"
        first = f"(?P<kana>{kana})|(?P<firm>{firm})|(?P<person>{person})|(?P<known>{known})|(?:(?!{kana}){_KANA})+"
        letters = f"(?:[\u30a1-\u30fa\u30fc\u4e00-\u9fff々]|(?<={_KATAKANA})・(?={_KATAKANA}))"
    else:
        cut = _either(plain)
        lead = r"(?:(?<=[，。、；：和与跟及由向给对\s])|^|(?<=如果|昨天|今天|现在|经理|总监)|(?<=师))"
        person = rf"{lead}(?:{_either(language.listed('kin'))}){_HAN}{{1,2}}?(?={cut}|[，、。]|$)"
        first = f"(?P<known>{known})|(?P<person>{person})"
        letters = _HAN
    latin = r"[A-Za-zÀ-ž][\w.+#'-]*?(?:(?=[^\w.+#'-])|$|(?=[\u3000-\u9fff]))"
    return re.compile(rf"{first}|C[ETFO]O|{cut}|(?P<latin>{latin})|(?P<name>(?:(?!{cut}){letters})+)")


def _either(options: Iterable[str]) -> str:
    return f"(?:{'|'.join(sorted(filter(None, options), key=len, reverse=True))})"


def _placed(sentence: Sentence, names: Iterator[Name]) -> list[Name]:
    """Tell names which tokens they stand in."""
    found = list(names)
    starts, ends = [token.start for token in sentence.tokens], [token.end for token in sentence.tokens]
    for name in found:
        first, last = bisect_right(ends, name.start), bisect_left(starts, name.end)
        name.span = (first, last) if first < last else (0, 0)
    return found
