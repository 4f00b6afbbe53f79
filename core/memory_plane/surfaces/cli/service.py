"""Commands for the hub: run it, start it in the background, stop it, and have the system start it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import click

from memory_plane.errors import MemoryPlaneError
from memory_plane.surfaces.cli.guard import tell
from memory_plane.surfaces.cli.options import examples, json_option, pass_session
from memory_plane.surfaces.cli.output import print_json

if TYPE_CHECKING:
    from memory_plane.surfaces.cli.session import Session

logger = logging.getLogger(__name__)


@click.command(epilog=examples("up", "up --detach", "up --port 9000"))
@click.option("--host", metavar="ADDRESS", help="Where to listen.  [default: hub.host of the settings]")
@click.option("--port", type=click.IntRange(0, 65535), help="The port, 0 for any.  [default: hub.port of the settings]")
@click.option("--detach", is_flag=True, help="Run it in the background, and return when it answers.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with --detach.")
@pass_session
def up(session: Session, host: str | None, port: int | None, detach: bool, as_json: bool) -> None:
    """Run the hub: in the foreground until Ctrl-C, or in the background until `memory-plane down`."""
    if detach:
        _start(session, host, port, as_json)
    elif as_json:
        raise click.UsageError("--json needs --detach", click.get_current_context())
    else:
        _run(session, host, port)


def _run(session: Session, host: str | None, port: int | None) -> None:
    from memory_plane import presence
    from memory_plane.surfaces.cli.log import HUB

    session.log_file = HUB
    settings = session.settings
    logging.getLogger("memory_plane").setLevel(logging.INFO)
    try:
        with presence.claimed(settings.home):
            from memory_plane.surfaces.hub import serve

            serve(session.plane, host or settings.hub.host, settings.hub.port if port is None else port)
            session.close()
    except MemoryPlaneError as error:
        logger.error("the hub did not start: %s", error)  # noqa: TRY400 - the terminal gets the same line
        raise


def _start(session: Session, host: str | None, port: int | None, as_json: bool) -> None:
    from memory_plane.surfaces.background import start

    options = [*(("--host", host) if host else ()), *(("--port", str(port)) if port is not None else ())]
    there = start(session.settings, *options)
    if as_json:
        print_json(there)
    else:
        click.echo(f"the hub is up at {there.url} (pid {there.pid})")


@click.command(epilog=examples("down"))
@json_option
@pass_session
def down(session: Session, as_json: bool) -> None:
    """Stop the hub of this home; what it was asked is answered first."""
    from memory_plane.surfaces.background import stop

    ended = stop(session.settings.home)
    if as_json:
        print_json({"stopped": ended})
    elif ended is None:
        tell(f"no hub is up in {str(session.settings.home)!r}")
    else:
        click.echo(f"the hub at {ended.url} has ended (pid {ended.pid})")
