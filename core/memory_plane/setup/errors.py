"""What keeps an agent's file from being changed."""

from __future__ import annotations

from memory_plane.errors import MemoryPlaneError


class Broken(MemoryPlaneError):
    """The file does not hold what it should: the message goes on from its name."""


class Kept(MemoryPlaneError):
    """The file is left as it is: the message names it and says what to do."""
