"""Commands for the hub: run it, start it in the background, stop it, and have the system start it."""

from __future__ import annotations

import logging
import os
import sys
from time import monotonic, sleep
from typing import TYPE_CHECKING

import click

from memory_plane.errors import MemoryPlaneError
from memory_plane.surfaces.cli.group import Group
from memory_plane.surfaces.cli.guard import tell
from memory_plane.surfaces.cli.options import examples, json_option, pass_session
from memory_plane.surfaces.cli.output import print_json, print_pairs
from memory_plane.surfaces.cli.text import clean

if TYPE_CHECKING:
    from memory_plane.presence import Presence
    from memory_plane.setup.service import Service
    from memory_plane.surfaces.cli.session import Session

logger = logging.getLogger(__name__)

ANSWER = 20.0
"""Seconds that a hub which the system starts may take to answer."""


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
    session.takes_in = False  # the hub does it when it is up
    settings = session.settings
    logging.getLogger("memory_plane").setLevel(logging.INFO)
    try:
        with presence.claimed(settings.home):
            from memory_plane.surfaces.hub import check_memory, serve

            port = settings.hub.port if port is None else port
            check_memory(settings, port)
            serve(session.client.plane, host or settings.hub.host, port)
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


@click.command(epilog=examples("open", "open --print"))
@click.option("--print", "only_print", is_flag=True, help="Print the link instead of opening it.")
@pass_session
def open(session: Session, only_print: bool) -> None:
    """Open the hub's page in your browser, signed in by a link that works once, for two minutes."""
    import webbrowser

    link = session.client.sign_in()
    if only_print or not webbrowser.open(link):
        click.echo(link)
    else:
        click.echo("opened in your browser; `memory-plane open --print` prints the link instead")


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


@click.group(cls=Group, epilog=examples("service install", "service status", "service uninstall"))
def service() -> None:
    """Have launchd or systemd start the hub when you log in, and start it again when it breaks down."""


@service.command(epilog=examples("service install", "service install --yes"))
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_session
def install(session: Session, yes: bool) -> None:
    """Show the file that the system gets, ask, write it and start the hub."""
    from memory_plane.setup import service as services
    from memory_plane.surfaces.cli.log import HUB, open_file

    told = _service(session)
    found = services.check_ours(told)
    _refuse_other_hub(session, told)
    click.echo(f"{'The file' if found is None else 'The new content of'} {told.path}\n")
    click.echo(clean(told.content.decode()))
    if not yes:
        _confirm("Write it and start the hub?")
    os.close(open_file(session.settings.home / HUB))  # launchd makes no folder for it
    if (complaint := services.install(told)) is not None:
        command = " ".join(told.start[-1])
        raise click.ClickException(f"the file is written, but the hub is not started: {complaint}; try: {command}")
    _print_started(session, told)


@service.command(epilog=examples("service uninstall"))
@pass_session
def uninstall(session: Session) -> None:
    """Stop the hub and remove the file, if it is ours; the memory stays."""
    from memory_plane.setup import service as services

    told = _service(session)
    if services.uninstall(told):
        click.echo(f"removed {told.path}")
    else:
        tell(f"no service is installed for {str(session.settings.home)!r}")


@service.command(epilog=examples("service status", "service status --json"))
@json_option
@pass_session
def status(session: Session, as_json: bool) -> None:
    """Show whether the service is installed and running, and the last line of its log."""
    from memory_plane import presence
    from memory_plane.setup import service as services
    from memory_plane.surfaces.cli.log import HUB, last_line

    told, home = _service(session), session.settings.home
    found = services.installed(told)
    there, last = presence.running(home), last_line(home / HUB)
    fresh, active = found == told.content, found is not None and services.is_active(told)
    if as_json:
        file = None if found is None else told.path
        print_json({"file": file, "up_to_date": fresh, "active": active, "hub": there, "last_line": last})
        return
    words = {
        "installed": "no" if found is None else told.path,
        "up to date": "" if found is None else "yes" if fresh else "no; run: memory-plane service install",
        "active": "yes" if active else "no",
        "hub": f"{there.url} (pid {there.pid})" if there else "not up",
        "log": home / HUB,
        "last line": last,
    }
    print_pairs((name, word) for name, word in words.items() if word)


def _service(session: Session) -> Service:
    from memory_plane.setup import service as services
    from memory_plane.surfaces.background import command, environment
    from memory_plane.surfaces.cli.log import HUB

    settings = session.settings
    return services.of(settings.home, settings.home / HUB, command(), environment(settings))


def _refuse_other_hub(session: Session, told: Service) -> None:
    """A hub that was started by hand would be in the service's way."""
    from memory_plane import presence
    from memory_plane.setup.service import is_active

    home = session.settings.home
    if not presence.free(home) and not is_active(told):
        there = presence.read(home)
        raise click.ClickException(
            f"a hub is up already{f' ({there})' if there else ''}; stop it first: memory-plane down"
        )


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise click.UsageError("nobody can be asked here; give --yes", click.get_current_context())
    click.confirm(question, abort=True, err=True)


def _print_started(session: Session, told: Service) -> None:
    from memory_plane.setup.service import lingers
    from memory_plane.surfaces.cli.log import HUB, last_line

    log = session.settings.home / HUB
    there = _awaited(session)
    if there is None:
        raise click.ClickException(f"the hub does not answer after {ANSWER:g} s: {last_line(log)}  (more is in {log})")
    click.echo(f"the hub is up at {there.url} (pid {there.pid})")
    if not lingers(told):
        tell("it ends when you log out; to let it go on: loginctl enable-linger")


def _awaited(session: Session) -> Presence | None:
    from memory_plane import presence
    from memory_plane.surfaces.background import answers

    deadline = monotonic() + ANSWER
    while monotonic() < deadline:
        there = presence.running(session.settings.home)
        if there is not None and answers(there.url):
            return there
        sleep(0.05)
    return None
