"""What an agent's new focus or interests make of the newest memories: they are scored for it anew."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING

from memory_plane.database import Database
from memory_plane.operations import iso
from memory_plane.recall import attention
from memory_plane.store import cursors, derivations
from memory_plane.store.attention import ADDRESSED
from memory_plane.store.codec import Derivation
from memory_plane.types import Attention, Memory, Routing

if TYPE_CHECKING:
    from memory_plane.plugins import PluginManager

_CURSOR = "scored for {agent}"  # no plugin has a space in its name


class Rescorer:
    """Keeps what the scores of each agent rest on, and scores its newest memories anew once that is another.

    What comes of it is stored as an answer about the memory, in the name of the plugin and the agent: so it is passed
    on, outlives a rebuild, and takes the place of what was scored at once.
    """

    def __init__(self, database: Database, plugins: PluginManager, interests: Mapping[str, tuple[str, ...]]) -> None:
        self._database = database
        self._plugins = plugins
        self._interests = interests

    def catch_up(self, agents: Collection[str] | None, now: datetime) -> int:
        """Look at these agents, or at all; return how many scores have changed."""
        if not self._plugins.scores or (agents is not None and not agents):
            return 0
        with self._database.reading() as connection:
            focuses = attention.focuses(connection)
            names = focuses.keys() | self._interests.keys() if agents is None else agents
            rests = {name: _mark(focuses.get(name, ""), self._interests.get(name, ())) for name in names}
            new = [name for name in rests if cursors.get(connection, _CURSOR.format(agent=name)) != rests[name]]
        return sum(self._score(name, rests[name], now) for name in sorted(new))

    def _score(self, agent: str, rests: str, now: datetime) -> int:
        with self._database.reading() as connection:
            before = attention.scores(connection, agent, now)
            asked = list(attention.recent(connection, agent, self._interests, now))
        said: list[tuple[int, Memory, Derivation]] = []
        for seq, memory, nodes, context in asked:
            routed = self._plugins.route(memory, nodes, [context])
            score = next(iter(routed[1].attention), None) if routed else None
            known = before.get(seq)
            if routed and score != known and (known is None or known.reason != ADDRESSED):
                routing = Routing(attention=(score or Attention(agent=agent, score=0.0, reason=""),))
                answer = Derivation(plugin=f"{routed[0]} {agent}", version=iso(now), rank=1, routing=routing)
                said.append((seq, memory, answer))
        with self._database.writing(durable=False) as connection:
            derivations.heed(connection, agent, said)
            cursors.put(connection, _CURSOR.format(agent=agent), rests)
        return len(said)


def _mark(focus: str, interests: tuple[str, ...]) -> str:
    """Return a mark of what scores rest on, and not the words, which may be forgotten one day."""
    return blake2b(json.dumps([focus, interests]).encode(), digest_size=8).hexdigest()
