"""Whom this plugin speaks for; they stand alone, so that a plugin that is only loaded imports nothing more."""

from __future__ import annotations

MUSE, MUSE_CODE = "muse", "muse-code"
ME = "me"
"""What the person whose messages these are is called, as in the graph."""
