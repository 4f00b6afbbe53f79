"""Cut secrets out of text before anything is written. What a secret looks like is data: redact_rules.toml."""

from __future__ import annotations

import base64
import binascii
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

Hints = tuple[tuple[str, list[int]], ...]

MARK = "[redacted:"

_DEEPEST = 64
_LONGEST_INNOCENT = 200
_QUOTES = "\"'`"
_TRAILING = ".,;:!?)]}>。，、；：！？」』）】"
_WORD_FOLLOWS = re.compile(r"[ \t]+[^\W\d]")
_LONG_WORD = re.compile(r"\S{16}")
_DOUBLED = str.maketrans("0123456789", "0246813579")  # the digit sum of twice the digit
_SYMBOL = re.compile(r"[!@#$%^&*+=~?<>|\\]")


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret; `hints` are literals without which the pattern need not be tried."""

    name: str
    hints: tuple[str, ...]
    pattern: str
    check: str = ""
    fold: bool = False
    long: bool = False
    overlap: bool = False


def redact(text: str) -> str:
    """Replace every secret in `text` by `[redacted:<rule>]`; doing it twice changes nothing."""
    while (cut := _cut_all(text)) != text:
        text = cut
    return text


def redact_value(value: Any) -> Any:
    """Redact the strings in nested dicts, lists and tuples; below a field such as `password` every string is secret."""
    return _walk(value, "", _DEEPEST)


@cache
def rules() -> tuple[Rule, ...]:
    """Return the rules in the order in which they run."""
    data, parts = _data()["rules"], _data()["parts"]
    return tuple(
        Rule(
            **rule
            | {
                "name": name,
                "hints": tuple(rule["hints"]),
                "pattern": re.sub(r"%([a-z]+)%", lambda part: parts[part[1]], rule["pattern"]),
            }
        )
        for name, rule in data.items()
    )


# --- the walk over structured values -----------------------------------------------------------------------------


def _walk(value: Any, field: str, depth: int) -> Any:
    if isinstance(value, str):
        return f"{MARK}{field}]" if field and value and not value.startswith(MARK) else redact(value)
    if not isinstance(value, Mapping | list | tuple):
        return value
    if not depth:
        return f"{MARK}too-deep]"  # nothing is written that was not looked at
    if isinstance(value, Mapping):
        return {_walk(key, "", 1): _walk(item, field or _field(key), depth - 1) for key, item in value.items()}
    items = [_walk(item, field, depth - 1) for item in value]
    return tuple(items) if isinstance(value, tuple) else items


def _field(key: Any) -> str:
    name = re.sub(r"[_\-. ]", "", key).lower() if isinstance(key, str) else ""
    return "field" if _field_name().fullmatch(name) else ""


# --- the pass over one text --------------------------------------------------------------------------------------


def _cut_all(text: str) -> str:
    lowered = _lower(text)
    for rule in _due(text, lowered):
        cut = _cut(rule, text, lowered if rule.fold else text)
        if cut != text:
            text, lowered = cut, _lower(cut)
    return text


def _due(text: str, lowered: str) -> list[Rule]:
    """The rules that may find something, in their order: most text has none of the hints."""
    short, long = _hinted()
    due = {index for hint, found in short if hint in lowered for index in found}
    if _LONG_WORD.search(text):
        due |= {index for hint, found in long if hint in lowered for index in found}
    return [rules()[index] for index in sorted(due)]


def _lower(text: str) -> str:
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := sign.lower()) == 1 else sign for sign in text)


def _cut(rule: Rule, text: str, subject: str) -> str:
    pattern, check = _compiled(rule.pattern), _CHECKS[rule.check]
    group = "secret" if "secret" in pattern.groupindex else 0
    parts, done, at = [], 0, 0
    while found := pattern.search(subject, at):
        begin, end = found.span(group)
        stop = begin if text.startswith(MARK, begin) else check(text, begin, end)
        if stop > begin:
            parts += [text[done:begin], f"{MARK}{rule.name}]"]
            done = at = stop
        else:
            at = begin + 1 if rule.overlap else max(end, begin + 1)
    return "".join([*parts, text[done:]]) if parts else text


# --- checks: (text, begin, end) of a candidate -> where the secret ends, `begin` if it is none -------------------


def _whole(text: str, begin: int, end: int) -> int:
    return end


def _mixed(text: str, begin: int, end: int) -> int:
    """Letters and digits, or long and of both cases: words of prose are neither."""
    candidate = text[begin:end]
    letters, digits = any(map(str.isalpha, candidate)), any(map(str.isdigit, candidate))
    cased = len(candidate) >= 20 and candidate != candidate.lower() and candidate != candidate.upper()
    return end if letters and (digits or cased) else begin


def _literal(text: str, begin: int, end: int) -> int:
    return begin if _is_innocent(text[begin:end]) else end


def _basic(text: str, begin: int, end: int) -> int:
    """Credentials in a Basic header are base64 of user:password."""
    try:
        decoded = base64.b64decode(text[begin:end].rstrip("=") + "==")
    except binascii.Error:
        return begin
    return end if b":" in decoded and decoded.isascii() and decoded.decode().isprintable() else begin


def _value(text: str, begin: int, end: int) -> int:
    """What is assigned to a password: anything but a placeholder, code, or a word with prose after it."""
    end = _trimmed(text, begin, end)
    candidate = text[begin:end]
    if len(candidate) < 4 or (_is_innocent(candidate) and not candidate.isdigit()):
        return begin
    plain = candidate.replace("-", "").replace("'", "").isalpha()
    prose = plain and text[begin - 1] in " \t" and _WORD_FOLLOWS.match(text, end)
    return begin if prose else end


def _said(text: str, begin: int, end: int) -> int:
    """What "the password is …" says: quoted, or with a digit or symbol in it, for most such sentences say none."""
    end = _value(text, begin, end)
    candidate = text[begin:end]
    if text[begin - 1] in _QUOTES and candidate.count(" ") not in (1, 2):
        return end
    return end if any(map(str.isdigit, candidate)) or _SYMBOL.search(candidate) else begin


def _blend(text: str, begin: int, end: int) -> int:
    """What prose, a cell or the next line says of a password: one word of letters and digits, for most is none."""
    end = _trimmed(text, begin, end)
    candidate = text[begin:end]
    if len(candidate) < 5 or " " in candidate or _is_innocent(candidate):
        return begin
    return end if any(map(str.isalpha, candidate)) and any(map(str.isdigit, candidate)) else begin


def _token(text: str, begin: int, end: int) -> int:
    """What is assigned to a token, key or secret: those words mean many things, so it must look random."""
    end = _trimmed(text, begin, end)
    candidate = text[begin:end]
    if len(candidate) < 8 or " " in candidate or _is_innocent(candidate):
        return begin
    return _mixed(text, begin, end)


def _card(text: str, begin: int, end: int) -> int:
    """The longest run of whole groups that is a card number: a security code or date may follow it."""
    candidate = text[begin:end].replace("-", " ")
    stop = len(candidate)
    while stop >= 13:
        digits = candidate[:stop].replace(" ", "")
        if _brands().fullmatch(digits) and _luhn(digits) and not text[begin + stop : begin + stop + 1].isdigit():
            return begin + stop
        stop = candidate.rfind(" ", 0, stop)
    return begin


def _luhn(digits: str) -> bool:
    return sum(map(int, digits[-1::-2] + digits[-2::-2].translate(_DOUBLED))) % 10 == 0


def _iban(text: str, begin: int, end: int) -> int:
    length, stop, taken = _iban_lengths().get(text[begin : begin + 2], 0), begin, ""
    while stop < end and len(taken) < length:
        taken += text[stop].strip()
        stop += 1
    if not length or len(taken) != length or text[stop : stop + 1].isalnum():
        return begin
    return stop if int("".join(str(int(sign, 36)) for sign in taken[4:] + taken[:4])) % 97 == 1 else begin


_CHECKS: Mapping[str, Callable[[str, int, int], int]] = {
    "": _whole,
    "mixed": _mixed,
    "literal": _literal,
    "basic": _basic,
    "value": _value,
    "said": _said,
    "blend": _blend,
    "token": _token,
    "card": _card,
    "iban": _iban,
}


def _trimmed(text: str, begin: int, end: int) -> int:
    """Leave the punctuation of the sentence outside, unless quotes say where the value ends."""
    if begin and text[begin - 1] in _QUOTES:
        return end
    return begin + len(text[begin:end].rstrip(_TRAILING))


def _is_innocent(candidate: str) -> bool:
    return len(candidate) <= _LONGEST_INNOCENT and bool(_innocent().fullmatch(candidate))


# --- the data, read and compiled when first needed ---------------------------------------------------------------


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("redact_rules.toml").read_text("utf-8"))


@cache
def _hinted() -> tuple[Hints, Hints]:
    """The hints of the rules for short and for long secrets, each once, with the places of their rules."""
    places: dict[bool, dict[str, list[int]]] = {False: {}, True: {}}
    for index, rule in enumerate(rules()):
        for hint in rule.hints or ("",):
            places[rule.long].setdefault(hint, []).append(index)
    return tuple(places[False].items()), tuple(places[True].items())


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _innocent() -> re.Pattern[str]:
    return re.compile("|".join(_data()["innocent"].values()))


@cache
def _brands() -> re.Pattern[str]:
    return re.compile("|".join(_data()["brands"].values()))


@cache
def _field_name() -> re.Pattern[str]:
    return re.compile(_data()["field"]["name"])


@cache
def _iban_lengths() -> dict[str, int]:
    return {entry[:2]: int(entry[2:]) for entry in _data()["iban"]["lengths"].split()}
