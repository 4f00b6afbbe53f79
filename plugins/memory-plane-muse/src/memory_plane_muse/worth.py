"""What of a message is worth keeping: an introduction, a promise with a date, a request, a question, news."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory_plane_muse.due import due_in

Sort = Literal["introduction", "promise", "request", "question", "news"]

_SENTENCE = re.compile(r"[^.!?\n]*(?:\.(?!\s|$)[^.!?\n]*)*[.!?]*\s*")
_MOST, _LONGEST = 60, 1_000
_LONG = 400
"""Of a longer message only the sentence that counts is kept, with the one after it."""

_NAME = r"[^\W\d_][\w'’.-]{0,40}"
_CAPITAL = r"(?-i:[A-ZÀ-ÞА-Я])[\w'’.-]{0,40}"
_TIME = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|tonight|january|february|march|april|may|june|july"
    r"|august|september|october|november|december|christmas|easter)"
)
_WHO = rf"(?:my |our |a )?(?:\w+ ){{0,2}}?(?!(?:i|we|you|they|he|she|it|me|us|{_TIME})\b){_CAPITAL}"

_ARROW = re.compile(rf"{_NAME}\)?\s*(?:<>|<->|↔|⇄|<—>|🤝)\s*\(?{_NAME}")
_INTRODUCTION = re.compile(
    rf"(?:^|[,:]\s*|\b(?:hey|hi|hello|please|and)\s+|{_CAPITAL},?\s+)meet\s+{_WHO}"
    rf"|\b(?:introduc(?:e|ing)|connect(?:ing)?|intro(?:'?ing)?)\s+(?:you|the two|both)\b"
    rf"|\bintroduc(?:e|ing)\s+{_WHO}"
    rf"|\bintros?(?:duction)?s?\s*(?::|between\s|—|-\s)"
    r"|\byou (?:two|both|guys) (?:should|have to|need to|gotta) (?:meet|talk|connect)"
    rf"|\byou (?:should|have to|need to|gotta) (?:meet|talk to|connect with) {_WHO}",
    re.IGNORECASE,
)
_NO_INTRODUCTION = re.compile(
    rf"\b(?:we|they|you|i|let'?s|lets|who|when|where|to|can|will|could|might|not|never|if)(?: \w+)?\s+meet\b"
    rf"|\bmeet\s+(?:up\b|me\b|us\b|at\b|there\b|{_TIME}\b)|n['’]t\b|\bif\b|\bnever\b",
    re.IGNORECASE,
)
_PROMISE = re.compile(
    r"\b(?:i|we)(?:['’]ll|['’]m (?:going to|gonna)| will| am going to| promise(?: you)?(?: to)?| can| shall)"
    r"(?: (?:also|just|then|definitely|try to|try and|be able to))* (?P<verb>[a-z]+)"
    r"|^(?:ok(?:ay)?|sure|yes|yep|yeah|np|no problem|cool|great)?[,.! ]*(?:ill|will|gonna|going to) (?P<bare>[a-z]+)"
    r"|\blet me (?P<let>get|send|check|find|ask|look|talk|call) "
    r"|\byou['’]ll (?:have|get) (?:it|the|your|my)\b",
    re.IGNORECASE,
)
_IDLE = frozenset(
    (
        *("be", "see", "have", "think", "wait", "miss", "love", "hope", "guess", "feel", "sleep", "stay"),
        *("you", "it", "they", "he", "she", "that", "this", "we", "i", "the", "not", "never", "always", "maybe"),
    )
)
_NO_PROMISE = re.compile(
    r"\b(?:won['’]t|not|never|can['’]t|if i|maybe|might|unless|i wish|would have)\b", re.IGNORECASE
)
_REQUEST = re.compile(
    r"\b(?:can|could|will|would) (?:you|u|ya|someone|anyone|one of you) (?:please |pls |plz )?"
    r"(?!believe|imagine|guess|like|prefer|mind if|be )\w+"
    r"|\b(?:please|pls|plz) (?!note|be|stop|don)[a-z]+"
    r"|^(?:don['’]?t forget to|remember to|make sure to|i need you to|need you to) [a-z]+"
    r"|\blet me know (?:if|when|what|which|how|by|whether)\b"
    r"|\bshould (?:i|we) [a-z]+",
    re.IGNORECASE,
)
_SMALL = re.compile(
    r"^(?:how(?:['’]s| is| are| was| did| have)? (?:you|it|things|everything|life|your (?:day|night|weekend|week|trip))"
    r"|what['’]?s up|wyd|wya|you (?:there|up|ok|okay|good)|u (?:there|up|ok)|are you (?:ok|okay|sure|serious|kidding)"
    r"|really|right|isn['’]t it|you know what|guess what|did you see (?:this|that)|what do you mean)",
    re.IGNORECASE,
)
_NEWS = re.compile(
    r"\b(?:i|we)(?:['’]m|['’]ve|['’]re| am| have| are)? (?:just |now |finally )?"
    r"(?:started (?:a job |working )?at|joined|left|quit|work(?:ing)? (?:at|for)|mov(?:ed|ing) to|got (?:a |the |an )?"
    rf"(?:job|offer|role) (?:at|from|with)|founded|launched) (?:the )?{_CAPITAL}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Found:
    """What a message is worth keeping as, in which words, and when it is due."""

    sort: Sort
    text: str
    due: datetime | None = None


def worth(text: str, at: datetime, *, group: bool = False) -> Found | None:
    """Return what a message written at `at` is worth keeping as; None for small talk, which most of it is."""
    sentences = list(_sentences(text))
    found = [(place, sort) for place, one in enumerate(sentences) if (sort := _sort(one, at, group=group))]
    if not found:
        return None
    order = ("introduction", "promise", "request", "question", "news")
    place, sort = min(found, key=lambda one: order.index(one[1]))
    kept = text if len(text) <= _LONG else " ".join(sentences[place : place + 2])[:_LONG]
    return Found(sort, " ".join(kept.split()), due_in(sentences[place], at) if sort != "introduction" else None)


def _sentences(text: str) -> Iterator[str]:
    for number, found in enumerate(_SENTENCE.finditer(text)):
        if number == _MOST:
            return
        if sentence := found[0].strip():
            yield sentence[:_LONGEST]


def _sort(sentence: str, at: datetime, *, group: bool) -> Sort | None:
    asked = sentence.rstrip("!").endswith("?")
    if _ARROW.search(sentence):
        return "introduction"
    promised = None if asked or _NO_PROMISE.search(sentence) else _promise(sentence)
    dated = due_in(sentence, at) is not None
    if promised and dated:
        return "promise"
    if not asked and _INTRODUCTION.search(sentence) and not _NO_INTRODUCTION.search(sentence):
        return "introduction"
    words = len(sentence.split())
    if _REQUEST.search(sentence) and words >= (4 if dated else 5) and not _SMALL.search(sentence):
        return "request"
    if asked and not group and words >= 5 and not _SMALL.search(sentence) and (dated or _names(sentence)):
        return "question"
    return "news" if not asked and _NEWS.search(sentence) else None


def _promise(sentence: str) -> bool:
    for found in _PROMISE.finditer(sentence):
        verb = next((value for value in found.groupdict().values() if value), "")
        if verb.lower() not in _IDLE:
            return True
    return False


def _names(sentence: str) -> bool:
    """Whether a name stands in the sentence, other than at its beginning: a capital, or a number of something."""
    return any(word[:1].isupper() and word.strip("?!,.'’") not in ("I", "I'm", "I’m", "I'd", "I’d", "OK", "LOL")
               for word in sentence.split()[1:])  # fmt: skip
