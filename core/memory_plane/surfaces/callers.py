"""Who is calling: the agent's id as a session or a request gives it."""

from __future__ import annotations

from memory_plane import operations
from memory_plane.errors import Refused

AGENT_KEY = "memory_plane.agent"
"""Where the HTTP surface leaves the calling agent's id in the ASGI scope."""


def agent_id(name: str) -> str:
    """Return the name as an agent's id, or raise `Refused`."""
    folded = operations.agent_id(name)
    if folded is None:
        raise Refused(f"agent: {name[:80]!r} is no agent id; give letters, digits, '.', '_' or '-', at most 64")
    return folded
