"""Names in a sentence: where they begin and end, and what type they can have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_plane_local.guards import effects
from memory_plane_local.lexicon import contexts, is_common, nouns, stems, titles
from memory_plane_local.name import Name, legal_end, me, name_at, opening, owns_noun, version_end
from memory_plane_local.name_lists import NOTHING_KNOWN, listed
from memory_plane_local.name_types import GIVEN, told, type_options
from memory_plane_local.sentences import Sentence, is_initial
from memory_plane_local.tables import cues, words
from memory_plane_local.tokens import Token, uncased
from memory_plane_local.uncased_names import read_uncased
from memory_plane_local.verbs import PAST, THIRD, forms

_PREFIXED = 6
_SHORTEST = 4
"""Letters that a rare given name has at least where it is written small."""
_OPENED, _TITLE = {"'": "'", '"': '"', "“": "”", "‘": "’", "«": "»"}, 14
"""Quotation marks, and how far apart those of a title are at most."""
_LISTING, _POSSESSIVE = (",", "and", "&"), ("'s", "’s")


def find_names(sentence: Sentence, gazetteer: Mapping[str, str] = NOTHING_KNOWN) -> list[Name]:
    """Return the names of a sentence in order; `span` is the range of its tokens."""
    tokens, found, at = sentence.tokens, [], 0
    while at < len(tokens):
        token = tokens[at]
        name = None
        if token.low in _OPENED and (name := _titled(sentence, at)):
            found.append(name)
            at = name.span[1] + 1
            continue
        if token.shape != "mark" and token.shape != "link":
            name = listed(sentence, at, gazetteer) or _written(sentence, at)
        if name is None:
            at += 1
            continue
        found.append(name)
        at = name.span[1]
    return found


def _titled(sentence: Sentence, at: int) -> Name | None:
    """The title of a work in quotation marks: 'Sparse Retrieval at Scale', and nothing that somebody says."""
    tokens, last = sentence.tokens, min(at + _TITLE, len(sentence.tokens))
    end = next((place for place in range(at + 2, last) if tokens[place].low == _OPENED[tokens[at].low]), 0)
    inside = tokens[at + 1 : end]
    written = [token for token in inside if token.shape in ("cap", "mix", "num")]
    small = all(token in written or token.low in words("function.txt") or token.low in ":-,&" for token in inside)
    made = bool(end) and end + 2 < len(tokens) and tokens[end + 1].low == "by" and _nameish(tokens, end + 2)
    if not made or len(written) < 2 or inside[0].shape == "low" or not small:
        return None
    return name_at(sentence, at + 1, end, ("Document",), 0.85)


def _written(sentence: Sentence, at: int) -> Name | None:
    tokens = sentence.tokens
    token = tokens[at]
    if "@" in token.text:
        return _address(tokens, at)
    if uncased(token):
        return read_uncased(sentence, at)
    if token.low in cues("numbered") and (name := _numbered(sentence, at)):
        return name
    if token.low == "user" and _the_user(tokens, at):
        return me((at, at + 1))
    if sentence.shout or token.shape == "low":
        return _lower(sentence, at)
    if token.shape == "num":
        return None
    return _capitalised(sentence, at)


def _numbered(sentence: Sentence, at: int) -> Name | None:
    """A thing that has a number for a name: PR #482, issue 12."""
    tokens = sentence.tokens
    number = at + 1 + (at + 1 < len(tokens) and tokens[at + 1].low == "#")
    if number >= len(tokens) or tokens[number].shape != "num" or (number == at + 1 and tokens[at].shape == "low"):
        return None
    return name_at(sentence, at, number + 1, ("Document",), 0.85)


def _address(tokens: Sequence[Token], at: int) -> Name | None:
    """The person in front of the @ of an e-mail address, or behind that of a handle."""
    token = tokens[at]
    local, _, host = token.text.partition("@")
    if at and tokens[at - 1].low == "<":
        return None
    if "." not in host or not local.isalpha() or is_common(local.lower()):
        return None
    return Name(local, token.start, token.start + len(local), ("Person",), 0.85, span=(at, at + 1))


def _lower(sentence: Sentence, at: int) -> Name | None:
    """A name without a capital: a given name, or an identifier such as billing-api."""
    tokens = sentence.tokens
    token = tokens[at]
    if token.low in words("first_names.txt") and len(token.low) > 2:
        return name_at(sentence, at, at + 1, ("Person",), 0.8)
    if token.low in words("given_names.txt") and _said_of_people(sentence, at):
        return name_at(sentence, at, at + 1, ("Person",), 0.75, soft=True)
    if at > 2 and tokens[at - 2].shape == "num" and _changed_in(tokens, at):
        return name_at(sentence, at, at + 1, ("Project",), 0.75)
    if (at == 0 or opening(tokens, at)) and _tells_of_software(tokens, at):
        return name_at(sentence, at, at + 1, ("Project",), 0.8)
    if "-" in token.low and token.low.split("-")[0] not in words("function.txt"):
        return name_at(sentence, at, at + 1, ("Project",), 0.6, weak=True) if _identifier(token.low) else None
    return None


def _tells_of_software(tokens: Sequence[Token], at: int) -> bool:
    """Whether a note begins with a name in small letters that it explains: "murmur is a library for …"."""
    low = tokens[at].low
    if len(low) < _SHORTEST or not low.isalpha() or is_common(low) or low in forms():
        return False
    return told(tokens, at + 1) in ("Project", "Tool")


def _the_user(tokens: Sequence[Token], at: int) -> bool:
    """Whether an agent speaks of the person it works for: "The user's son", "User said", and no "user table"."""
    the = at > 0 and tokens[at - 1].low == "the"
    before = tokens[at - 2].low if the and at > 1 else ""
    if before in cues("any_user") or not (the or (tokens[at].shape == "cap" and opening(tokens, at))):
        return False
    low = tokens[at + 1].low if at + 1 < len(tokens) else "."
    helps = low in forms() or low in effects("verb") or low in effects("to") or low in contexts("after")
    return helps or low in words("function.txt") or low in words("adverbs.txt") or low in cues("user_then")


def _changed_in(tokens: Sequence[Token], at: int) -> bool:
    """Whether a word is where a numbered change or issue is: "PR #88 on tessellate"."""
    numbered = tokens[at - 3].low == "#" or tokens[at - 3].low in cues("numbered")
    low = tokens[at].low
    return numbered and tokens[at - 1].low in ("on", "in", "against") and low.isalpha() and not is_common(low)


def _said_of_people(sentence: Sentence, at: int) -> bool:
    """Whether a rare given name stands, in a note without capitals, where somebody is spoken of: "met thandi"."""
    tokens = sentence.tokens
    if len(tokens[at].low) < _SHORTEST or tokens[0].shape not in ("low", "mark") or is_common(tokens[at].low):
        return False
    before = tokens[at - 1].low if at else ""
    after = tokens[at + 1].low if at + 1 < len(tokens) else ""
    return (
        contexts("before").get(before) == "Person"
        or before in cues("beside_people")
        or _acts(tokens, at + 1)
        or (not at and after in cues("after_people"))
    )


def _identifier(word: str) -> bool:
    """Whether the last part of a hyphenated word names software: billing-api, atlas-web, memory-plane."""
    return word.rsplit("-", 1)[-1] in words("identifier_endings.txt")


def _capitalised(sentence: Sentence, at: int) -> Name | None:
    """A run of capitalised words, less the ordinary word that opens a sentence."""
    tokens, begin = sentence.tokens, at
    if (
        tokens[at].low in words("function.txt")
        and not _given(tokens, at)
        and not is_initial(tokens, at)
        and (tokens[at].low != "the" or not _nameish(tokens, at + 1) or _article(tokens, at))
    ):
        return None
    end = _house_end(tokens, _run_end(tokens, at + 2 if _dotted(tokens, at) else at))
    first = tokens[begin]
    if opening(tokens, begin) and first.shape == "cap" and first.low != "the" and _ordinary_opening(tokens, begin, end):
        return None
    if not tokens[begin].text[0].isalpha() and tokens[begin].shape == "mix" and not _looks_named(tokens[begin].text):
        return None
    return _typed(sentence, begin, end)


def _dotted(tokens: Sequence[Token], at: int) -> bool:
    """Whether a place begins with a word that is cut short with a full stop: "St. Ives", "Mt. Vernon"."""
    short = tokens[at].low in cues("short_of_place") and at + 1 < len(tokens) and tokens[at + 1].low == "."
    return short and _nameish(tokens, at + 2)


def _saint(tokens: Sequence[Token], begin: int, lows: Sequence[str]) -> bool:
    """Whether "St" begins a name, and ends none before it: "St Ives", "St. Ives", but not "Baker St Cafe"."""
    if lows[0] != "st" or len(lows) == 1:
        return False
    before = tokens[begin - 1] if begin else None
    street = before is not None and before.shape == "cap" and not opening(tokens, begin - 1)
    return lows[1] == "." or not street or (before is not None and before.low in words("function.txt"))


def _article(tokens: Sequence[Token], at: int) -> bool:
    """Whether "The" is capital for the sentence alone, and not before what has people of its own (The Zebra's CTO)."""
    if not opening(tokens, at):
        return False
    owned = [token.low for token in tokens[at + 2 : at + 4]]
    return len(owned) < 2 or owned[0] not in ("'s", "’s") or owned[1] not in titles() or is_common(tokens[at + 1].low)


def _ordinary_opening(tokens: Sequence[Token], begin: int, end: int) -> bool:
    """Whether the first word of a sentence is capitalised for that reason alone."""
    low = tokens[begin].low
    if (
        low in words("first_names.txt")
        or low in words("given_names.txt")
        or _given(tokens, begin)
        or (owns_noun(tokens, end) and not (low.endswith("ed") and low in forms()))  # "Deployed api v2 to staging"
        or is_initial(tokens, begin)
    ):
        return False
    if end - begin == 1:
        return is_common(low) or low.endswith(("ing", "ed", "ly"))
    ordinary = (
        is_common(low)
        or (len(low) > _PREFIXED and low.endswith(("edly", "ably")))
        or (low.endswith(("ed", "ing")) and (low in forms() or _undone(low)))
    )
    last = tokens[end - 1].low
    if ordinary and low.endswith(("ed", "ing")) and any(stem in words("deeds.txt") for stem in stems(low)):
        return True
    return ordinary and not any((last in nouns("after"), last in nouns("named"), low in nouns("before")))


def _undone(low: str) -> bool:
    """Whether a word is one that is known with "re" or "un" before it: renamed, uninstalled."""
    return low.startswith(("re", "un")) and len(low) > _PREFIXED and is_common(low[2:])


def _given(tokens: Sequence[Token], at: int) -> bool:
    """Whether an ordinary word that opens a sentence is a given name: a family name or a verb follows (Mark said)."""
    low = tokens[at].low
    if low not in words("first_names_ambiguous.txt"):
        return False
    if not opening(tokens, at) and tokens[at].shape == "cap" and low not in words("calendar.txt"):
        return True
    if at + 1 >= len(tokens):
        return False
    after = tokens[at + 1]
    if after.shape == "cap" and (not is_common(after.low) or _acts(tokens, at + 2)):
        return True
    told = low in words("function.txt") and _said(after.low)
    return _acts(tokens, at + 1) or told or _among_people(tokens, at)


def _said(low: str) -> bool:
    """Whether a word is a verb in the third person or the past."""
    kinds = forms().get(low, ("", frozenset()))[1]
    return THIRD in kinds or PAST in kinds


def _among_people(tokens: Sequence[Token], at: int) -> bool:
    """Whether a list of people goes on at either side of a word: "Rita, Paolo and Jun", "May and Mark"."""
    ahead, back = at + 1, at - 1
    while ahead < len(tokens) and tokens[ahead].low in _LISTING:
        ahead += 1
    while back > 0 and tokens[back].low in _LISTING:
        back -= 1
    month = tokens[at].low in words("calendar.txt")
    beside = [place for place, apart in ((ahead, ahead > at + 1), (back, back < at - 1)) if apart]
    return any(_person(tokens, place, month=not month) for place in beside)


def _person(tokens: Sequence[Token], at: int, *, month: bool) -> bool:
    """Whether a given name stands here; `month`: also one that is a month."""
    low = tokens[at].low if 0 <= at < len(tokens) and tokens[at].shape == "cap" else ""
    if low in words("calendar.txt") and not month:
        return False
    return any(low in words(f"{kind}.txt") for kind in ("first_names", "given_names", "first_names_ambiguous"))


def _acts(tokens: Sequence[Token], at: int) -> bool:
    """Whether a verb stands here that people do: said, works."""
    low = tokens[at].low if at < len(tokens) else ""
    return low in cues("peoples_deeds") or contexts("after").get(low) == "Person"


def _nameish(tokens: Sequence[Token], at: int) -> bool:
    return at < len(tokens) and tokens[at].shape in ("cap", "mix") and tokens[at].low not in words("function.txt")


def _looks_named(text: str) -> bool:
    """Whether a word that begins with a digit is a name (3Rivers) and no measure (40M, 5pm)."""
    letters = text.lstrip("0123456789.,-")
    return len(letters) > 2 and any(char.isupper() for char in letters)


def _run_end(tokens: Sequence[Token], at: int) -> int:
    end = at + 1
    if tokens[at].low in titles() or _is_day(tokens[at].low):
        return end + _meets(tokens, at)
    if tokens[at].low == "the" and at and end < len(tokens) and tokens[end].low in titles():
        end += tokens[end].shape == "cap"  # The Correspondent
    while end < len(tokens):
        token = tokens[end]
        if token.shape in ("cap", "mix") and not _breaks(token):
            end += 1
        elif token.low in cues("inside_name") and _nameish(tokens, end + 1) and not _breaks(tokens[end + 1]):
            if token.low == "of" and tokens[at].low not in cues("of_head"):
                break
            firm = tokens[end + 2].low in _POSSESSIVE if end + 2 < len(tokens) else False
            if token.low == "&" and tokens[end + 1].low in words("first_names.txt") and not firm:
                break
            end += 2 + (token.low == "&" and firm and _acts_next(tokens, end + 3))
        elif token.low == "." and is_initial(tokens, end - 1):
            end += 1
        elif token.low == "," and legal_end(tokens, end) > end:
            end = legal_end(tokens, end)
        else:
            break
    return version_end(tokens, end)


def _house_end(tokens: Sequence[Token], end: int) -> int:
    """The end of a name with the house that is somebody's: St. Brigid's Hospital, King's College."""
    house = tokens[end + 1] if end + 1 < len(tokens) and tokens[end].low in _POSSESSIVE else None
    return _run_end(tokens, end + 1) if house and house.shape == "cap" and house.low in cues("house") else end


def _acts_next(tokens: Sequence[Token], at: int) -> bool:
    """Whether no noun follows an apostrophe, which then belongs to the name before it: "Ben & Jerry's uses"."""
    low = tokens[at].low if at < len(tokens) else ""
    return not low or tokens[at].shape == "mark" or low in words("function.txt") or low in forms()


def _is_day(low: str) -> bool:
    return low.endswith("day") and low in words("calendar.txt")


def _meets(tokens: Sequence[Token], at: int) -> bool:
    """Whether a group is called by the day on which it meets: "the Sunday band", but not "the Sunday band practice"."""
    if at == 0 or at + 1 >= len(tokens) or tokens[at + 1].low not in cues("meeting_group"):
        return False
    after = tokens[at + 2] if at + 2 < len(tokens) else None
    ends = after is None or after.shape != "low" or after.low in words("function.txt") or _said(after.low)
    return ends and (tokens[at - 1].low in cues("article") or tokens[at - 1].low in cues("owner"))


def _breaks(token: Token) -> bool:
    """Whether a capitalised word begins something else: a title, a pronoun, a day."""
    return (
        token.low in words("function.txt")
        or token.low in words("calendar.txt")
        or token.low in titles()
        or token.low in words("titles.txt")
        or "@" in token.low
    )


def _typed(sentence: Sentence, begin: int, end: int) -> Name | None:
    tokens = sentence.tokens
    lows = [token.low for token in tokens[begin:end]]
    if lows == ["i"] or lows[-1].endswith("-by"):
        return None
    if all(_says_nothing(low) for low in lows) and not _given(tokens, begin):
        return None
    if len(lows) == 1 and _counted(tokens[begin].text):
        return None
    if (lows[0] in words("titles.txt") and not _saint(tokens, begin, lows)) or (
        lows[0][0] == "v" and lows[0][1:2].isdigit()
    ):
        return None
    if len(lows) == 1 and lows[0] in titles() and not owns_noun(tokens, end):
        return None
    options, strength = type_options(tokens, begin, end, lows)
    ordinary = all(is_common(low) for low in lows)
    if lows[0] in cues("calls_next") and not all(is_common(low) for low in lows[1:]):
        name = name_at(sentence, begin + 1, end, options, strength)
        name.span = begin, end
        return name
    soft = strength == GIVEN or (options == ("Place",) and lows[-1] in nouns("named"))
    return name_at(sentence, begin, end, options, strength, weak=ordinary and not options, soft=soft)


def _counted(text: str) -> bool:
    """Whether a word is one letter, or an abbreviation in the plural: N, PRs, DAGs."""
    return (len(text) == 1 and text.isascii()) or (text[-1] == "s" and len(text) > 2 and text[:-1].isupper())


def _says_nothing(low: str) -> bool:
    """Whether a capitalised word is a date, a number or an ordinary abbreviation."""
    return low.isdigit() or low in words("calendar.txt") or low in words("acronyms.txt")
