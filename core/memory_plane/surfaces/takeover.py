"""What a bridge does when its hub stays away: it serves the session by itself, from the line where the hub left off."""

from __future__ import annotations

import socket
from functools import partial
from typing import TYPE_CHECKING

from memory_plane.errors import ConfigurationError, MemoryPlaneError, Refused
from memory_plane.surfaces import stdio
from memory_plane.surfaces.bridge import greeted
from memory_plane.surfaces.callers import agent_id
from memory_plane.surfaces.cli.guard import guarded
from memory_plane.surfaces.cli.session import Session

if TYPE_CHECKING:
    from memory_plane.surfaces.bridge import Pump, Wanted


def take_over(pump: Pump, opening: bytes, wanted: Wanted) -> int:
    """Serve the rest of the session in this process and return the exit code."""
    session = Session(wanted.given or None)
    try:
        return guarded(partial(_serve, pump, opening, wanted.agent, session), session)
    finally:
        session.close_log()


def _serve(pump: Pump, opening: bytes, agent: str, session: Session) -> None:
    # Before the plane is made, so that nothing which a plugin prints gets on the wire.
    wire = stdio.claim()
    pump.source, pump.sink = wire.source, wire.sink
    from memory_plane.surfaces.rounds import arrivals_of
    from memory_plane.surfaces.socket_server import sessions

    try:
        agent_id(agent)
    except Refused as error:
        raise ConfigurationError(f"--{error}") from None
    try:
        with arrivals_of(session), sessions(session.client) as adopt:
            ours, theirs = socket.socketpair()
            adopt(theirs)
            if not greeted(ours, opening) or not pump.run(ours, 0.0):
                raise MemoryPlaneError("the session broke off; memory-plane.log in the home has more")
    finally:
        session.close()
