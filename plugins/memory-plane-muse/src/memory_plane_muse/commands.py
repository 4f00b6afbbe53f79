"""`memory-plane muse`: the webhook, what its sources answer, and the hooks of a Muse Code project."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from memory_plane import presence, webhooks
from memory_plane.errors import MemoryPlaneError
from memory_plane.integration import Machine
from memory_plane_muse import chatdb, muse_code
from memory_plane_muse.agents import MUSE
from memory_plane_muse.bluebubbles import BlueBubbles, Unanswered
from memory_plane_muse.imessage import ANSWERS

if TYPE_CHECKING:
    from memory_plane_muse import MuseSettings


def commands(settings: MuseSettings) -> tuple[click.Command, ...]:
    """Return the commands; they work with a broken store, too."""
    return _webhook(settings), _status(settings), _hooks()


def _webhook(settings: MuseSettings) -> click.Command:
    @click.command()
    @click.option("--register", is_flag=True, help="Have the BlueBubbles server of the settings post there.")
    @click.option("--renew", is_flag=True, help="Make a new secret; the old address ends at once.")
    @click.option("--hub", metavar="URL", help="How BlueBubbles reaches the hub, where that is not on its machine.")
    @click.pass_obj
    def webhook(session: Any, register: bool, renew: bool, hub: str | None) -> None:
        """Print the address that a BlueBubbles server posts new messages to.

        It holds a secret that is made at the first use: give it to that server alone.
        """
        home, at = session.settings.home, _hub(session, hub)
        server = _server(settings) if register else None
        secret = webhooks.renew_secret(home, MUSE) if renew else webhooks.ensure_secret(home, MUSE)
        address = at + webhooks.path(MUSE, secret)
        if server is None:
            click.echo(address)
            return
        with server:
            click.echo(_registered(server, address))

    return webhook


def _status(settings: MuseSettings) -> click.Command:
    @click.command()
    def status() -> None:
        """Say of each source in the settings whether it can be read; exit with 1 where one cannot."""
        told = list(_sources(settings))
        for _, line in told or [(True, "no source is set; see docs/agents/muse.md")]:
            click.echo(line)
        if not all(fine for fine, _ in told):
            raise click.exceptions.Exit(1)

    return status


def _hooks() -> click.Command:
    @click.command()
    @click.pass_obj
    def hooks(session: Any) -> None:
        """Print the .muse/hooks.json of a Muse Code project whose turns are to be captured."""
        click.echo(muse_code.hooks(Machine.here(session.settings.home)), nl=False)

    return hooks


def _server(settings: MuseSettings) -> BlueBubbles:
    server = settings.server()
    if server is None:
        raise MemoryPlaneError("plugin.muse.bluebubbles and plugin.muse.password are not set; set both to register")
    return server


def _hub(session: Any, given: str | None) -> str:
    """Return the address of the hub: as given, as it runs, or as it will run."""
    if given is not None:
        if urlsplit(given).scheme not in ("http", "https") or not urlsplit(given).hostname:
            raise click.UsageError(f"--hub: {given!r} is no address; write it as http://192.0.2.7:8788")
        return given.rstrip("/")
    running = presence.running(session.settings.home)
    hub = session.settings.hub
    return running.url if running else f"{'https' if hub.certificate else 'http'}://{hub.host}:{hub.port}"


def _registered(server: BlueBubbles, address: str) -> str:
    """Register an address once, and take away those of ours that have another secret."""
    try:
        ours = [one for one in server.webhooks() if f"/ingest/{MUSE}/" in str(one.get("url"))]
        for old in ours:
            if old.get("url") != address and isinstance(old.get("id"), int):
                server.remove_webhook(old["id"])
        if any(one.get("url") == address for one in ours):
            return "BlueBubbles posts new messages here already"
        server.add_webhook(address)
    except Unanswered as error:
        raise MemoryPlaneError(str(error)) from None
    return "BlueBubbles posts new messages here from now on"


def _sources(settings: MuseSettings) -> Iterator[tuple[bool, str]]:
    if settings.chat_db is not None:
        try:
            chatdb.read(settings.chat_db, chatdb.Place(), datetime.now(UTC), 1)
        except chatdb.Unreadable as error:
            yield False, str(error)
        else:
            yield True, f"Messages can be read: {settings.chat_db}"
    if settings.bluebubbles is not None:
        yield _answers(settings)
    if settings.dossiers is not None:
        there = settings.dossiers.is_dir()
        yield there, f"dossiers: {settings.dossiers}{'' if there else ' is no folder'}"


def _answers(settings: MuseSettings) -> tuple[bool, str]:
    server = settings.server()
    if server is None:
        return False, "BlueBubbles: plugin.muse.password is not set"
    try:
        with server:
            server.ping()
    except Unanswered as error:
        return False, str(error)
    return True, f"{ANSWERS}: {settings.bluebubbles}"
