"""Where Grok Build and the app of Grok Bot keep their files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_plane.integration import Machine

BUILD, BOT = "grok", "grokbot"


def grok_home(machine: Machine, named: Path | None = None) -> Path:
    """Return the folder of Grok Build: the one that the settings name, else that of its own variable."""
    return named.expanduser() if named else machine.folder("GROK_HOME", ".grok")


def bot_app(machine: Machine) -> Path:
    """Return the folder in which the app of Grok Bot keeps what belongs to its user."""
    return machine.settings() / "Grok Bot"


def bot_data(machine: Machine) -> Path:
    """Return the folder with the app's copy of the chats."""
    return bot_app(machine) / "sand-client-persistence"
