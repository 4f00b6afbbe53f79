from __future__ import annotations

from memory_plane.testing.contract import *  # noqa: F403
