"""One look at every source: messages out of chat.db or from BlueBubbles, and the folder of dossiers."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memory_plane.types import Event, Ingested, Operation, Origin
from memory_plane_muse import bluebubbles, chatdb, ledger
from memory_plane_muse.bluebubbles import BlueBubbles, Unanswered
from memory_plane_muse.chatdb import Place, Unreadable
from memory_plane_muse.dossiers import Folder
from memory_plane_muse.message import Message
from memory_plane_muse.names import Names
from memory_plane_muse.notes import Notes, State

logger = logging.getLogger("memory_plane_muse")

MESSAGES = 300
"""How many messages are read in one poll at most."""

_AGAIN, _AGAIN_MOST = timedelta(minutes=20), 100
"""BlueBubbles tells of no change of an older message, so the latest are looked at again: edits end after 15 minutes."""
_NAMES_FOR = timedelta(hours=1)
_SILENT_FOR = timedelta(minutes=1)
"""A server that does not answer is not asked for a name for so long: each would cost seconds."""
_LATE = timedelta(days=1)


@dataclass(slots=True)
class Cursor:
    """Where each source was read up to, and what is needed to go on."""

    place: Place = field(default_factory=Place)
    sent: int = 0
    state: State = field(default_factory=State)
    dossiers: ledger.Known = field(default_factory=dict)

    @classmethod
    def read(cls, text: str | None) -> Cursor:
        """Read what `written` gave; anything else is a fresh start."""
        given: Any = None
        with suppress(ValueError, RecursionError):
            given = json.loads(text or "")
        if not isinstance(given, dict) or given.get("version") != 1:
            return cls()
        row, change, sent = (_number(given.get(name)) for name in ("row", "change", "sent"))
        return cls(Place(row, change), sent, State.read(given.get("state")), ledger.read(given.get("dossiers")))

    def written(self) -> str:
        """Return it as text."""
        known: dict[str, Any] = {"version": 1, "row": self.place.row, "change": self.place.change, "sent": self.sent}
        return json.dumps(known | {"state": self.state.written(), "dossiers": self.dossiers}, ensure_ascii=False)


class Sources:
    """What the settings name; it lives as long as its process and remembers names and troubles."""

    def __init__(
        self, *, chat_db: Path | None, server: BlueBubbles | None, dossiers: Path | None, origin: Origin, days: int
    ) -> None:
        """`days` is how far the first look goes back."""
        self._chat_db, self._server, self._origin = chat_db, server, origin
        self._history = timedelta(days=days)
        self._folder = None if dossiers is None else Folder(dossiers)
        self._told: dict[str, int] = {}
        self._troubles: set[str] = set()
        self._names, self._named = Names(self._ask), datetime.now(UTC)
        self._silent_until = self._named

    def close(self) -> None:
        """Close the connection to the server."""
        if self._server is not None:
            self._server.close()

    def poll(self, text: str | None) -> Ingested | None:
        """Return what has come since a cursor; None for nothing."""
        cursor = Cursor.read(text)
        names = self._known_names()
        operations: list[Operation] = []
        if self._folder is not None:
            operations += ledger.changes(self._folder, cursor.dossiers, self._origin)
        operations += Notes(names, self._told).take(self._messages(cursor), cursor.state)
        written = cursor.written()
        return Ingested(operations=tuple(operations), cursor=written) if operations or written != text else None

    def event(self, event: Event) -> tuple[Operation, ...]:
        """Return what a message becomes that a webhook of BlueBubbles brought; nothing for its other events.

        Whoever knows the webhook's secret can say that a message is the person's own: those come by the polls alone.
        """
        if event.payload.get("type") not in bluebubbles.EVENTS:
            return ()
        message = bluebubbles.message_of(event.payload.get("data"))
        if message is None or message.mine or message.at < datetime.now(UTC) - _LATE:
            return ()
        return Notes(self._known_names(), self._told).take([message], State(), whole=False)

    def _messages(self, cursor: Cursor) -> Iterable[Message]:
        since = datetime.now(UTC) - self._history
        try:
            if self._chat_db is not None:
                messages, cursor.place = chatdb.read(self._chat_db, cursor.place, since, MESSAGES)
                return messages
            if self._server is not None:
                return _from_server(self._server, cursor, since)
        except (Unreadable, Unanswered) as error:
            self._tell(error)
        return ()

    def _known_names(self) -> Names:
        """Return who is behind which address; what contacts say is asked again after a while."""
        if datetime.now(UTC) - self._named > _NAMES_FOR:
            self._names, self._named = Names(self._ask), datetime.now(UTC)
        if self._folder is not None:
            self._folder.look()
            for dossier in self._folder.dossiers.values():
                for address in dossier.addresses:
                    self._names.learn(address, dossier.name)
        return self._names

    def _ask(self, addresses: Iterable[str]) -> Mapping[str, str]:
        if self._server is None or datetime.now(UTC) < self._silent_until:
            return {}
        try:
            return self._server.names(addresses)
        except Unanswered as error:
            self._silent_until = datetime.now(UTC) + _SILENT_FOR
            self._tell(error)
            return {}

    def _tell(self, error: Exception) -> None:
        """Say each trouble once: the next poll meets it again."""
        if str(error) not in self._troubles and len(self._troubles) < 100:
            self._troubles.add(str(error))
            logger.warning("%s", error)


def _from_server(server: BlueBubbles, cursor: Cursor, since: datetime) -> list[Message]:
    start = max(cursor.sent, int(since.timestamp() * 1000))
    fresh = server.messages(after=start, limit=MESSAGES)
    before: list[Any] = []
    if cursor.sent:
        back = start - _AGAIN // timedelta(milliseconds=1)
        before = server.messages(after=back, before=start, newest=True, limit=_AGAIN_MOST)
    last = max([start, *map(bluebubbles.milliseconds_of, fresh)])
    # A page of one and the same moment would come again for ever.
    cursor.sent = last + 1 if len(fresh) >= MESSAGES and last == start else last
    found = {one.guid: one for record in (*before, *fresh) if (one := bluebubbles.message_of(record)) is not None}
    return sorted(found.values(), key=lambda one: one.at)


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 else 0
