"""How messages reach Memory Plane: what setup says, and what doctor looks at."""

from __future__ import annotations

from pathlib import Path

from memory_plane.integration import Access, Check, Integration, Machine
from memory_plane_muse.agents import MUSE
from memory_plane_muse.chatdb import REMEDY

ANSWERS = "BlueBubbles answers"


def integration(machine: Machine, *, chat_db: Path | None, server: str | None, dossiers: Path | None) -> Integration:
    """Declare what only a person can do, since nobody else may let a program read their messages."""
    folder = machine.home / "Library" / "Messages"
    here = folder if machine.platform == "darwin" and folder.is_dir() else None
    checks: list[Check | Access] = []
    if chat_db is not None:
        checks.append(Access(what="messages of this Mac", path=chat_db, remedy=REMEDY))
    if dossiers is not None:
        checks.append(Access(what="dossiers", path=dossiers, remedy="make the folder, or correct plugin.muse.dossiers"))
    if server is not None:
        remedy = "start BlueBubbles, or correct plugin.muse.bluebubbles and plugin.muse.password"
        command = (*machine.command, "muse", "status")
        checks.append(Check(what=ANSWERS, command=command, shows=ANSWERS, remedy=remedy, harmless=True))
    sources = [source for source in (chat_db, server, dossiers) if source is not None]
    return Integration(
        agent=MUSE,
        name="Muse (messages and dossiers)",
        found=str(sources[0] if sources else here or ""),
        checks=tuple(checks),
        steps=_steps(machine, folder / "chat.db", chat_db, server) if sources or here else (),
    )


def _steps(machine: Machine, usual: Path, chat_db: Path | None, server: str | None) -> tuple[str, ...]:
    config = machine.plane / "config.toml"
    if server is not None:
        return ("To have new messages come at once: memory-plane muse webhook --register",)
    if chat_db is not None or machine.platform != "darwin":
        return ()
    return (
        f'To have introductions, promises and questions in Messages noted: add chat_db = "{usual}" below'
        f" [plugin.muse] in {config}, and {REMEDY}",
        f"Or from a BlueBubbles server: set bluebubbles and password below [plugin.muse] in {config}, then memory-plane"
        " muse webhook --register",
    )
