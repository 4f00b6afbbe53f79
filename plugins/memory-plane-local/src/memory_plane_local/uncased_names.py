"""Names in scripts that have no capitals: by families, by what stands beside them, or by words side by side."""

from __future__ import annotations

from collections.abc import Container, Sequence

from memory_plane_local.lexicon import is_common
from memory_plane_local.name import Name, name_at
from memory_plane_local.name_types import type_options
from memory_plane_local.sentences import Sentence
from memory_plane_local.tables import words
from memory_plane_local.tokens import Token, uncased

_IDEOGRAPHS, _MOST = "\u3040", 4
"""Where the letters begin that stand without spaces, and how many words of other letters a name has at most."""
_FAMILIES = {
    "han": (
        "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
        "張劉陳楊趙黃吳孫馬羅鄭謝韓馮蕭許蘇盧蔣賈閻鍾譚鄒陸龍錢湯賀賴龔"
    ),
    "hangul": (
        "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민"
        "진지엄채원천방공현함변염여추도소석선설마길연위표명기반왕금옥육인맹제모"
    ),
}
"""First characters of family names."""
_FOLLOWED = {
    **dict.fromkeys(("さん", "くん", "氏", "ちゃん", "様"), "Person"),
    "项目": "Project",
    "公司": "Organization",
}
"""What the word behind a name says of it."""


def read_uncased(sentence: Sentence, at: int) -> Name | None:
    """Return the name that begins at `at`, which counts as one once something is said of it; None for other words."""
    return (_ideographic if sentence.tokens[at].text[0] >= _IDEOGRAPHS else _caseless)(sentence, at)


def _ideographic(sentence: Sentence, at: int) -> Name | None:
    tokens = sentence.tokens
    token = tokens[at]
    if token.text in words("ideographs.txt") or "\u3040" <= token.text[0] <= "\u309f":
        return None
    if "\uac00" <= token.text[0] <= "\ud7a3":
        return _caseless(sentence, at)
    end = _run(tokens, at, words("ideographs.txt"))
    text, after = sentence.text[token.start : tokens[end - 1].end], tokens[end].text if end < len(tokens) else ""
    person = after not in _FOLLOWED and text[0] in _FAMILIES["han"] and len(text) in (2, 3)
    options = ("Person",) if person else _kinds(tokens, at, end)
    return name_at(sentence, at, end, options, 0.7, weak=not options and len(text) == 1, soft=person)


def _caseless(sentence: Sentence, at: int) -> Name | None:
    tokens = sentence.tokens
    end = _run(tokens, at, words("scripts.txt"))
    text, low = sentence.text[tokens[at].start : tokens[end - 1].end], tokens[at].low
    if (low in words("scripts.txt") and end == at + 1) or len(text) < 2:
        return None
    family = len(text.replace(" ", "")) == 3 and text[0] in _FAMILIES["hangul"]
    person = family or low in words("given_names.txt")
    options = ("Person",) if person else _kinds(tokens, at, end)
    name = name_at(sentence, at, end, options, 0.7, weak=not options, soft=person)
    name.guess = "Person" if end > at + 1 else name.guess
    return name


def _kinds(tokens: Sequence[Token], at: int, end: int) -> tuple[str, ...]:
    """The type that the words beside a name in another script tell."""
    if end < len(tokens) and (kind := _FOLLOWED.get(tokens[end].text)):
        return (kind,)
    return type_options(tokens, at, end, [token.low for token in tokens[at:end]])[0]


def _run(tokens: Sequence[Token], at: int, plain: Container[str]) -> int:
    """The end of the words without capitals side by side, which in an English sentence are one name: 김 민준."""
    if at and _beside(tokens, at - 1, plain):
        return at + 1
    end = at + 1
    while end - at <= _MOST and end < len(tokens) and _beside(tokens, end - 1, plain):
        end += 1
    english = end > at + 1 and any(token.low.isascii() and is_common(token.low) for token in tokens)
    return end if english and end - at <= _MOST else at + 1


def _beside(tokens: Sequence[Token], at: int, plain: Container[str]) -> bool:
    """Whether two words without capitals, neither of them `plain`, stand side by side."""
    pair = tokens[at : at + 2]
    gap = pair[1].start - pair[0].end
    near = gap <= 1 and (pair[0].text[0] < _IDEOGRAPHS) == (pair[1].text[0] < _IDEOGRAPHS)
    family = gap == 1 and pair[0].text in _FAMILIES["hangul"]  # 이 is a particle behind a word as well
    return near and all(uncased(token) and (token.text not in plain or (family and token is pair[0])) for token in pair)
