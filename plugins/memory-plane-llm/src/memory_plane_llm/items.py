"""What a model calls open, held against the text: who owes what to whom, and by which day."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta, tzinfo
from typing import Any

from memory_plane.types import OPEN_KINDS, Claim, Item, Memory, Mention
from memory_plane.vocabulary.catalogue import relations
from memory_plane_llm.chat import TEXT
from memory_plane_llm.places import places
from memory_plane_local.dates import due_date, find_days
from memory_plane_local.tokens import tokenize

FURTHEST = timedelta(days=3660)
"""A day that is further off than this was misread."""

_PROMISED = "COMMITTED_TO"


class Items:
    """Reads the items of one memory: `who` finds the person or agent of a name, `refuse` hears what is not taken."""

    def __init__(
        self,
        memory: Memory,
        zone: tzinfo | None,
        who: Callable[[object], Mention | None],
        refuse: Callable[[str], None],
    ) -> None:
        self._text = memory.text[:TEXT]
        self._written = memory.created_at.astimezone(zone)
        self._who = who
        self._refuse = refuse

    def read(self, entries: Iterable[Mapping[str, Any]], confidence: float) -> tuple[tuple[Item, ...], list[Claim]]:
        """Return the items that the text has, and what was promised as claims."""
        found: dict[Item, Claim | None] = {}
        for entry in entries:
            for item, owner, span in self._item(entry):
                found.setdefault(item, self._promise(item, owner, span, confidence))
        return tuple(found), [claim for claim in found.values() if claim is not None]

    def _item(self, entry: Mapping[str, Any]) -> Iterator[tuple[Item, Mention | None, tuple[int, int]]]:
        kind = entry.get("kind")
        span = next(places(self._text, entry.get("what")), None)
        owner, to = self._named(entry, "owner"), self._named(entry, "to")
        if kind not in OPEN_KINDS:
            self._refuse("an item of no known kind")
        elif span is None:
            self._refuse("an item whose words are not in the text")
        elif owner is None and kind == "commitment":
            self._refuse("a promise that nobody in the text makes")
        else:
            item = Item(
                kind=kind,
                owner=None if owner is None else owner.text,
                to=None if to is None else to.text,
                object=self._text[slice(*span)],
                due_at=self._due(entry),
                start=span[0],
            )
            yield item, owner, span

    def _named(self, entry: Mapping[str, Any], part: str) -> Mention | None:
        name = entry.get(part)
        found = self._who(name) if name else None
        if name and found is None:
            self._refuse(f"the {part} of an item who is nobody in the text")
        return found

    def _due(self, entry: Mapping[str, Any]) -> datetime | None:
        """Return the end of the day that the copied words name; where they are not understood, that of the ISO date."""
        when = entry.get("when")
        if not when:
            return None
        span = next(places(self._text, when), None)
        if span is None:
            self._refuse("a due date that is not in the text")
            return None
        for said in (self._text[slice(*span)], entry.get("day")):
            tokens = tokenize(said) if isinstance(said, str) else []
            if any(find_days(tokens, self._written)):
                return self._to_come(due_date(tokens, self._written))
        self._refuse("a due date that names no day")
        return None

    def _to_come(self, day: datetime | None) -> datetime | None:
        if day is not None and day - self._written <= FURTHEST:
            return day
        self._refuse("a due date that is past or too far off")
        return None

    def _promise(self, item: Item, owner: Mention | None, span: tuple[int, int], confidence: float) -> Claim | None:
        joins = relations()[_PROMISED].joins
        if item.kind != "commitment" or owner is None or (owner.type, "Commitment") not in joins:
            return None
        start, end = span
        thing = Mention(text=item.object, type="Commitment", start=start, end=end, confidence=confidence)
        return Claim(subject=owner, relation=_PROMISED, object=thing, start=start, end=end, confidence=confidence)
