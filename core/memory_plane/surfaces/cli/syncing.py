"""The command that brings this memory up to date: with its queue, its agents, and another machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memory_plane.surfaces.cli.guard import tell
from memory_plane.surfaces.cli.options import examples, json_option, pass_session
from memory_plane.surfaces.cli.output import print_json, print_pairs

if TYPE_CHECKING:
    from memory_plane.surfaces.cli.session import Session


@click.command(epilog=examples("sync", "sync https://nas.local:8788", "sync --json"))
@click.argument("url", required=False)
@click.option("--new-identity", is_flag=True, help="First give this memory, a copy of another one, an id of its own.")
@json_option
@pass_session
def sync(session: Session, url: str | None, new_identity: bool, as_json: bool) -> None:
    """Send what waits, take in what agents left, and exchange changes with the hub at URL, or at `sync.url`.

    Its token is `sync.token`, best set as MEMORY_PLANE_SYNC__TOKEN. A hub does all of this every half minute.
    """
    from memory_plane.sync import exchange, peer

    session.takes_in = False  # it is told how much that was
    session.client.flush()  # what is older goes first
    there = peer(session.settings, url)
    if there is not None and new_identity:
        session.plane.renew_identity()
    took = session.take_in()
    told: dict[str, object] = {"waiting": session.client.flush(), "taken_in": took.stored}
    if took.enriched:
        told["answered_by_models"] = took.enriched
    if session.settings.elsewhere is not None:
        from memory_plane.surfaces import mirror

        if changed := mirror.keep(session.client, mirror.agents_of(session.settings.home)):
            told["pages"] = len(changed)
    if there is not None:
        with there:
            report = exchange(session.plane, there)
        told |= {"pulled": report.pulled, "pushed": report.pushed, "refused": len(report.refused)}
        for line in report.refused:
            tell(f"refused: {line}")
    if as_json:
        print_json(told)
    else:
        print_pairs((name.replace("_", " "), value) for name, value in told.items())
    if told.get("refused") or told["waiting"]:
        raise click.exceptions.Exit(1)
