"""The MCP SDK: a hub loads it when the first agent comes, since it takes as long as a third of the hub."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from memory_plane import garbage


@cache
def load() -> None:
    """Load what serves MCP, once; off the event loop, which it would hold up for a third of a second."""
    import_module("memory_plane.surfaces.conversation")
    garbage.settle()
