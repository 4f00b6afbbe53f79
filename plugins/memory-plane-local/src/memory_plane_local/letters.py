"""Messages: a text that begins with who sent it, such as "iMessage from Sarah Lee: I'll send the deck by Friday"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from memory_plane.types import Memory
from memory_plane_local.lexicon import known_names
from memory_plane_local.name import Name, me

_HEAD = re.compile(
    r"(?:iMessage|SMS|RCS|WhatsApp|Telegram|Signal|Mail|Email) (?:"
    r"from (?P<by>[^:\n“”]{1,60}?)(?: in “[^”\n]{1,80}”)?"
    r"|to (?P<to>[^:\n“”]{1,60}?)"
    r"|in “[^”\n]{1,80}”): "
)
_PERSON = ("Person",)
_USER = "user"
"""What the person whose memory it is goes by where an owner is named."""
_CALLED = r"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?(?P<{}>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){{0,2}})"
_GREETING = re.compile(
    r"\s*(?:Hi|Hello|Hey|Dear|Good (?:morning|afternoon|evening)),? (?!All|Team|Everyone|Folks|There)"
    + _CALLED.format("to")
    + r"\s*(?:[,!:–—-]|\n)"
)
_SIGNED = re.compile(
    r"\n\s*(?:(?i:All the best|Best(?: wishes)?|(?:(?:Best|Kind|Warm) )?regards|Cheers|(?:Many )?thanks|Thank you|Love"
    r"|(?:Yours )?sincerely|Yours(?: truly| faithfully)?|Take care|(?:Talk|Speak) soon)[,.!]?\s+[-–—]*\s*"
    r"|(?P<dash>[-–—]+)\s*)" + _CALLED.format("by") + r"\s*$"
)
_BULLETS = {mark: re.compile(rf"(?m)^[^\S\n]*{mark}\s|:\s*\Z") for mark in "-–—"}
"""What shows that a dash at the end begins the last line of a list."""
_FOOT = 120
"""How far from its end a letter is signed."""
_INTRODUCED = re.compile(
    r"(?:^|[,.!:;\n][^\S\n]{0,8}|\b(?:hey|hi|please|and)\s+)meet\s+"
    r"|\b(?:introduc(?:e|ing)|connect(?:ing)?)\s+you\s+(?:to|with)\s+",
    re.IGNORECASE,
)
_UNSAID = re.compile(r"\b(?:not|never|if|could|would|might|will|should)\b|n['’]t\b|['’]ll\b|\?", re.IGNORECASE)
_PRESENTED = re.compile(r"\s*[,(–—-]\s*(?:she|he|they|who|our|my)\b", re.IGNORECASE)
"""What follows on a name in "Meet Petra, she runs data", and not where there is somebody to meet."""
_DATED = re.compile(r"\d|\b(?:to(?:day|morrow|night)|noon|next|\w+[nsri]day)\b", re.IGNORECASE)
_END = re.compile(r"[.!?\n]")
_NEAR = 30
"""How far after "meet" the name may stand: "meet my friend Daniel"."""
_TRIES = 8


@dataclass(frozen=True, slots=True)
class Letter:
    """`writer` is "I" in what follows from `begin` on; `reader` is who it was sent to, as far as it is a person."""

    begin: int = 0
    writer: Name | None = None
    reader: Name | None = None


def read_letter(memory: Memory) -> Letter:
    """Return who sent a message to whom; a text that is none was written by its author."""
    head = _HEAD.match(memory.text) if memory.origin != "agent" else None
    if head is None:
        return _signed(memory)
    if head["by"] and memory.origin == "external":
        reader = None if "“" in head[0] else me()
        return Letter(head.end(), _named(memory, head, "by"), reader)
    if memory.origin == "external":
        return Letter(head.end())
    return Letter(head.end(), me(), _named(memory, head, "to") if head["to"] else None)


def _signed(memory: Memory) -> Letter:
    """Return whose letter a text without a head is by its greeting and its end: "Hi Rob, … Best, Alice"."""
    writer = _author(memory)
    greeting = _GREETING.match(memory.text)
    foot = _SIGNED.search(memory.text, max(0, len(memory.text) - _FOOT)) if "\n" in memory.text else None
    if foot is not None and memory.owner is None and not _is_listed(memory.text, foot):
        writer = _named(memory, foot, "by")
    return Letter(writer=writer, reader=_named(memory, greeting, "to") if greeting else None)


def _is_listed(text: str, foot: re.Match[str]) -> bool:
    """Whether what could be a signature is the last line of a list: "- Pay Ann", "- Pay Eve"."""
    bullets = _BULLETS.get(foot["dash"] or "")
    return bullets is not None and bullets.search(text, 0, foot.start()) is not None


def introduced(letter: Letter, text: str, names: list[Name]) -> tuple[Name, int] | None:
    """Return whom the reader of a letter is told to meet, and where that is said; in a note, whom it presents."""
    begin = letter.begin - 2  # the head ends in what may stand before "meet"
    for found in islice(_INTRODUCED.finditer(text, begin), _TRIES):
        near = [one for one in names if found.end() <= one.start < found.end() + _NEAR and one.options[:1] == _PERSON]
        if not near or _UNSAID.search(said := _sentence(text, letter.begin, found)):
            continue
        name = min(near, key=lambda name: name.start)
        presented = _PRESENTED.match(text, name.end) and found[0][0] != ":" and not _DATED.search(said)
        if letter.reader is not None or presented:
            return name, found.start()
    return None


def _author(memory: Memory) -> Name | None:
    """Return who "I" is: whose promise it is said to be, or who wrote it."""
    if memory.origin == "external":
        return None
    owner = memory.owner if memory.kind == "commitment" else None
    who = owner or (memory.agent if memory.origin == "agent" else _USER)
    if who.lower() in (_USER, "me"):
        return me()
    known = known_names().get(who.lower().partition("-")[0], ())
    agent = owner in (None, memory.agent) or any(one.type == "Agent" for one in known)
    return Name(who, 0, 0, ("Agent",) if agent else _PERSON, 1.0, weak=True)


def _named(memory: Memory, head: re.Match[str], group: str) -> Name:
    return Name(head[group], *head.span(group), _PERSON, 0.93)


def _sentence(text: str, begin: int, found: re.Match[str]) -> str:
    before = [end.end() for end in _END.finditer(text, begin, max(begin, found.end() - 1))]
    after = _END.search(text, found.end())
    return text[before[-1] if before else begin : after.end() if after else len(text)]
