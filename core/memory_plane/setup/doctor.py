"""What is wrong with this installation, and what to do about each thing."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from memory_plane import presence, schema, spool
from memory_plane.access import read_token, token_path
from memory_plane.database import Database
from memory_plane.errors import MemoryPlaneError
from memory_plane.outbox import Outbox
from memory_plane.recall import contradictions, entities
from memory_plane.remote import Hub
from memory_plane.setup import agents
from memory_plane.setup.finding import Finding
from memory_plane.sync import peer

if TYPE_CHECKING:
    from memory_plane.plugins import PluginManager
    from memory_plane.settings import Settings

SHOWN = 100
"""How many links that stand against others are counted."""
LONG = timedelta(minutes=5)
"""Something that has waited for longer does not move by itself."""


def examine(
    settings: Settings,
    plugins: PluginManager,
    *,
    ask: bool = False,
    only: Collection[str] = (),
    start: bool = True,
    through: bool = True,
) -> Iterator[Finding]:
    """Look at everything that this machine can tell by itself; nothing is changed, and nothing raises.

    To `ask` the agents is to start their programs too; with `only` these agents are looked at, and nothing else. Unless
    programs may be `start`ed, what no file tells is left out. The database is read `through` unless that is not wanted:
    it takes half a minute for a million memories, in part of which nobody can write.
    """
    now = datetime.now(UTC)
    looks: tuple[tuple[str, Callable[[], Iterator[Finding]]], ...] = (
        ("files", lambda: _files(settings.home)),
        ("database", lambda: _database(settings, through=through)),
        ("hub", lambda: _hub(settings)),
        ("outbox", lambda: _outbox(settings.home, now)),
        ("spool", lambda: _spool(settings.home, plugins, now)),
        ("sync", lambda: _sync(settings)),
        ("plugins", lambda: _plugins(plugins)),
        ("agents", lambda: agents.examine(settings.home, plugins, ask=ask, only=only, start=start)),
    )
    for what, look in looks[-1:] if only else looks:
        try:
            yield from look()
        except (MemoryPlaneError, OSError) as error:
            yield Finding(what=what, state="wrong", detail=str(error), remedy="see the detail")


def _files(home: Path) -> Iterator[Finding]:
    if not home.is_dir():
        yield Finding(what="files", state="note", detail=f"{home} is not there yet; the first write makes it")
        return
    kept = [home, *home.glob("memory.db*"), *home.glob("outbox*"), *home.glob("*.json"), token_path(home)]
    shared = [path for path in kept if os.name == "posix" and path.exists() and path.stat().st_mode & 0o077]
    for path in shared:
        mode = "700" if path.is_dir() else "600"
        yield Finding(what="files", state="wrong", detail=f"others may read {path}", remedy=f"chmod {mode} '{path}'")
    if not shared:
        yield Finding(what="files", state="ok", detail=f"{home} is yours alone")


def _database(settings: Settings, *, through: bool) -> Iterator[Finding]:
    with closing(Database.of(settings)) as database:
        if database.path is not None and not database.path.exists():
            elsewhere = f"; the memory is at {settings.hub.url}" if settings.hub.url else ""
            yield Finding(what="database", state="note", detail=f"there is none here yet{elsewhere}")
            return
        revision, newest = schema.current(database), schema.head()
        if revision != newest:
            detail = f"is at revision {revision}, this version has {newest}"
            yield Finding(what="database", state="wrong", detail=detail, remedy="memory-plane db upgrade")
            return
        complaints = schema.check(database) if through else []
        for complaint in complaints:
            remedy = "memory-plane rebuild, or restore a backup"
            yield Finding(what="database", state="wrong", detail=complaint, remedy=remedy)
        if not complaints:
            sound = "is sound, at" if through else "is at"
            yield Finding(what="database", state="ok", detail=f"{sound} revision {revision}")
        yield from _spellings(database)
        yield from _contradictions(database)
        if _is_elsewhere(settings.hub.url) and settings.sync.url is None:
            detail = f"what is written while {settings.hub.url} is away stays in the database of this machine"
            remedy = "set sync.url and sync.token to that hub, or move memory.db away and have what is missed queued"
            yield Finding(what="database", state="note", detail=detail, remedy=remedy)


def _spellings(database: Database) -> Iterator[Finding]:
    with database.reading() as connection:
        names = entities.unspelt(connection)
    if names:
        detail = f"is from before names were found by other spellings; {names[0]!r} is found by its own alone"
        yield Finding(what="database", state="note", detail=detail, remedy="memory-plane rebuild, once")


def _contradictions(database: Database) -> Iterator[Finding]:
    with database.reading() as connection:
        found = contradictions.contradictions(connection, SHOWN)
    if found:
        pair = (found[0].against, found[0].stands)
        against, stands = (f"{one.source.name} {one.relation} {one.target.name}" for one in pair)
        many = f"{len(found)}{'+' if len(found) == SHOWN else ''}"
        detail = f"{many} cannot hold beside what stands, the newest {against!r} beside {stands!r}"
        remedy = "memory-plane graph contradictions, then retract what is wrong, or say what is over"
        yield Finding(what="graph", state="note", detail=detail, remedy=remedy)


def _is_elsewhere(url: str | None) -> bool:
    return url is not None and urlsplit(url).hostname not in ("127.0.0.1", "::1", "localhost")


def _hub(settings: Settings) -> Iterator[Finding]:
    url = settings.hub.url
    if url is None and (there := presence.running(settings.home)) is not None:
        url = there.url
    if url is None:
        yield Finding(what="hub", state="note", detail="none is up; each agent serves itself (memory-plane up)")
        return
    token = settings.hub.token.get_secret_value() if settings.hub.token else read_token(settings.home)
    if token is None:
        detail, remedy = f"{url} needs a token", "set MEMORY_PLANE_HUB__TOKEN"
        yield Finding(what="hub", state="wrong", detail=detail, remedy=remedy)
        return
    wait = settings.client
    with Hub(url, token, connect=wait.connect_remote, answer=wait.answer, certificate=settings.hub.certificate) as hub:
        start = "start that hub" if _is_elsewhere(url) else "memory-plane up"
        yield _reached("hub", hub, remedy=f"{start}, or correct hub.url, hub.token and hub.certificate")


def _sync(settings: Settings) -> Iterator[Finding]:
    there = peer(settings)
    if there is not None:
        with there:
            yield _reached("sync", there, remedy="start that hub, or correct sync.url, sync.token and sync.certificate")


def _reached(what: str, hub: Hub, *, remedy: str) -> Finding:
    try:
        hub.ask("status", {})
    except MemoryPlaneError as error:
        return Finding(what=what, state="wrong", detail=str(error), remedy=remedy)
    return Finding(what=what, state="ok", detail=f"{hub.url} answers, and has proved to be ours")


def _outbox(home: Path, now: datetime) -> Iterator[Finding]:
    outbox = Outbox(home)
    waiting, since, dead = outbox.depth(), outbox.oldest(), len(outbox.dead())
    if dead:
        detail, remedy = f"{dead} cannot be delivered", "memory-plane outbox list --dead, then retry or drop"
        yield Finding(what="outbox", state="wrong", detail=detail, remedy=remedy)
    if waiting:
        old = since is not None and now - since > LONG
        detail = f"{waiting} wait" + (f", the oldest since {since:%Y-%m-%d %H:%M} UTC" if since else "")
        remedy = "memory-plane sync" if old else ""
        yield Finding(what="outbox", state="wrong" if old else "note", detail=detail, remedy=remedy)
    if not waiting and not dead:
        yield Finding(what="outbox", state="ok", detail="nothing waits")


def _spool(home: Path, plugins: PluginManager, now: datetime) -> Iterator[Finding]:
    waiting, bad = spool.waiting(home), list((home / spool.FOLDER).glob("*.bad"))
    if bad:
        remedy = f"see {home / spool.FOLDER}/*.bad, then delete them"
        yield Finding(what="spool", state="wrong", detail=f"{len(bad)} events could not be taken in", remedy=remedy)
    spoken_for = {agent for info in plugins.infos() if info.state == "active" for agent in info.agents}
    events: dict[str, list[Path]] = {}
    for path in waiting:
        agent = spool.agent_of(path)
        events.setdefault(agent if agent not in spoken_for else "", []).append(path)
    for agent, paths in sorted(events.items()):
        yield _waiting_events(agent, paths, now)
    if not waiting and not bad:
        yield Finding(what="spool", state="ok", detail="nothing waits")


def _waiting_events(nobody_for: str, paths: Sequence[Path], now: datetime) -> Finding:
    """Tell of events that will be taken in, or of those of an agent that no plugin speaks for."""
    with suppress(FileNotFoundError):  # taken in meanwhile
        since = datetime.fromtimestamp(paths[0].stat().st_mtime, UTC)
        whose, remedy = "", "memory-plane ingest --spool"
        if nobody_for:
            whose = f" of {nobody_for!r}, for which no plugin speaks,"
            remedy = "pip install its plugin, or enable it in plugins.enabled; memory-plane plugins lists what is here"
        old = now - since > LONG
        detail = f"{len(paths)} events{whose} wait since {since:%Y-%m-%d %H:%M} UTC"
        return Finding(what="spool", state="wrong" if old else "note", detail=detail, remedy=remedy if old else "")
    return Finding(what="spool", state="ok", detail="nothing waits any more")


def _plugins(plugins: PluginManager) -> Iterator[Finding]:
    for info in plugins.infos():
        if info.failure and info.failure.until:
            yield Finding(what=f"plugin {info.name}", state="note", detail=info.failure.error)
        elif info.failure:
            remedy = f"correct it, or leave {info.name!r} out of plugins.enabled"
            yield Finding(what=f"plugin {info.name}", state="wrong", detail=str(info.failure), remedy=remedy)
        elif info.state == "active":
            sends = f"sends {info.sends}" if info.sends else "sends nothing off this machine"
            yield Finding(what=f"plugin {info.name}", state="ok", detail=f"{info.version}, {sends}")
