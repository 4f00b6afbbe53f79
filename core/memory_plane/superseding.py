"""What other words in the place of a memory's leave as it was: the item that it opened, and who or what it named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memory_plane.ask.times import is_of_days
from memory_plane.types import OPEN_KINDS, Node, OpenItem

_WORD = re.compile(r"[^\W_]+")
_SPEAKER = re.compile(r"\b(?:i|we|me|my|us|our)\b", re.IGNORECASE)
_DENIES = re.compile(r"\b(?:not|never|no)\b|n['’]t\b", re.IGNORECASE)


def still_said(record: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return what of the item that a plugin read in an entry holds for other words too, as fields of a body.

    That is its kind, owner, addressee and day, without those of which the new words say anything new: names, or days,
    which are reckoned from the time of the old words. Nothing where they deny, or are about another owner, or where
    there are several: the new words are a list of their own.
    """
    body, state = record["body"], record.get("state") or {}
    old = body.get("text", "")
    if state.get("item") is None or "items" in state or (_DENIES.search(text) and not _DENIES.search(old)):
        return {}
    known = {word.casefold() for word in _WORD.findall(old)}
    fresh = [word for word in _WORD.findall(text) if word.casefold() not in known]
    named = any(not word.islower() and not word.isdecimal() for word in fresh)

    def stands(name: str) -> bool:
        return not named or any(word.casefold() in text.casefold() for word in _WORD.findall(name))

    found: dict[str, Any] = {}
    if body["kind"] not in OPEN_KINDS:
        owner = state.get("owner")
        if owner is not None and owner != "me" and not stands(owner):
            return {}
        # Without an "I" the new words may be about another, who is the owner if they are read so.
        spoken = owner != "me" or not named or _SPEAKER.search(text)
        found |= {"kind": state["item"], "owner": owner if spoken else None}
        if state.get("to") is not None and stands(state["to"]):
            found["to"] = state["to"]
    if state.get("due_at") is not None and not any(is_of_days(word.casefold()) for word in fresh):
        found["due_at"] = state["due_at"]
    return found


def said_of(id: str, state: Mapping[str, Any], items: Sequence[OpenItem]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the operations after which the memory with this id, and its open items, are as another one is by `state`.

    Of several items those are the same that have the same words.
    """
    again = {item.text.casefold(): item.id for item in items}
    several = state.get("items", {}).values()
    pairs = [(again.get((one["object"] or "").casefold()), one) for one in several] if several else [(id, state)]
    for item, one in pairs:
        if item is not None and one.get("status", "open") != "open":
            yield "resolve", {"item": item, "status": one["status"]}
        if item is not None and one.get("snoozed_until"):
            yield "snooze", {"item": item, "until": one["snoozed_until"]}
    if state.get("pinned"):
        yield "pin", {"target": id}


def named_anew(nodes: Sequence[Node], before: Sequence[Node]) -> list[tuple[str, str]]:
    """Return the nodes of the new words that the old ones had under the same name, each with the node there."""
    meant = {(node.type, node.name.casefold()): node.id for node in before}
    pairs = ((node.id, meant.get((node.type, node.name.casefold()))) for node in nodes)
    return [(node, other) for node, other in pairs if other is not None and other != node]
