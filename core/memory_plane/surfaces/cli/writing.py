"""Commands that write one operation each; the plane judges the input, the receipt is the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from memory_plane.surfaces.cli.options import (
    KINDS,
    STATUSES,
    examples,
    full_id,
    given,
    origin_of,
    origin_option,
    pass_session,
    project_option,
    read_text,
    write_options,
)
from memory_plane.surfaces.cli.output import print_receipt
from memory_plane.surfaces.cli.times import Moment

if TYPE_CHECKING:
    from memory_plane.surfaces.cli.session import Session


@click.command(
    epilog=examples(
        'post "The release is out" --kind milestone --project website',
        'post "Send Rob the invoice" --kind commitment --to Rob --due tomorrow',
        "post - --agent muse < note.txt",
    )
)
@click.argument("text")
@click.option("--kind", type=click.Choice(KINDS), default="thought", show_default=True, help="What it is.")
@project_option
@click.option("--to", metavar="NAME", help="The agent or person it is for.")
@click.option("--due", "due_at", type=Moment(ahead=True, end=True), help="When it is due.")
@click.option("--held", is_flag=True, default=None, help="Store it, but show it nowhere until it is released.")
@origin_option
@write_options
@pass_session
def post(session: Session, text: str, as_json: bool, agent: str, origin: str | None, **values: Any) -> None:
    """Write down a thought, decision, question, commitment or handoff. TEXT may be - for stdin."""
    text = read_text(text)
    receipt = session.plane.post(text, agent=agent, origin=origin or origin_of(agent), **given(**values))
    print_receipt(receipt, as_json)


@click.command(
    epilog=examples(
        'fact "Alice Moreau" role "CTO of Nordwind"',
        "fact website deploy_day friday --confidence 0.8 --valid-until 2026-12-31",
    )
)
@click.argument("subject")
@click.argument("key")
@click.argument("value")
@click.option("--confidence", type=click.FloatRange(0, 1), help="How sure it is.  [default: 1]")
@click.option("--valid-from", type=Moment(), help="Since when it is true.")
@click.option("--valid-until", type=Moment(ahead=True, end=True), help="Until when it is true.")
@click.option("--source", metavar="TEXT", help="Where it comes from.")
@project_option
@origin_option
@write_options
@pass_session
def fact(
    session: Session,
    subject: str,
    key: str,
    value: str,
    as_json: bool,
    agent: str,
    origin: str | None,
    **values: Any,
) -> None:
    """Set what is true of a subject. VALUE may be - for stdin."""
    value = read_text(value)
    receipt = session.plane.fact(subject, key, value, agent=agent, origin=origin or origin_of(agent), **given(**values))
    print_receipt(receipt, as_json)


@click.command(epilog=examples('heartbeat "Writing the release notes" --agent muse --project website'))
@click.argument("focus")
@project_option
@click.option("--status", metavar="WORD", default="active", show_default=True, help="Such as active, waiting or done.")
@write_options
@pass_session
def heartbeat(session: Session, focus: str, as_json: bool, **values: Any) -> None:
    """Say what an agent is doing now."""
    print_receipt(session.plane.heartbeat(focus=focus, **given(**values)), as_json)


@click.command(epilog=examples("resolve 5f1c22ab", 'resolve 5f1c22ab --status answered --note "Friday at ten"'))
@click.argument("item")
@click.option("--status", type=click.Choice(STATUSES), default="done", show_default=True, help="How it ended.")
@click.option("--note", metavar="TEXT", help="What came of it.")
@write_options
@pass_session
def resolve(session: Session, item: str, as_json: bool, **values: Any) -> None:
    """Close an open item. ITEM is its id, or the first six characters of it or more."""
    print_receipt(session.plane.resolve(full_id(session.plane, item), **given(**values)), as_json)


@click.command(epilog=examples("assign 5f1c22ab Rob", "assign 5f1c22ab grok --agent muse"))
@click.argument("item")
@click.argument("to")
@write_options
@pass_session
def assign(session: Session, item: str, to: str, as_json: bool, **values: Any) -> None:
    """Hand an open item to an agent or person."""
    print_receipt(session.plane.assign(full_id(session.plane, item), to, **given(**values)), as_json)


@click.command(epilog=examples("snooze 5f1c22ab tomorrow", "snooze 5f1c22ab 2h", "snooze 5f1c22ab 2026-12-01"))
@click.argument("item")
@click.argument("until", type=Moment(ahead=True))
@write_options
@pass_session
def snooze(session: Session, item: str, until: Any, as_json: bool, **values: Any) -> None:
    """Hide an open item until a later time."""
    print_receipt(session.plane.snooze(full_id(session.plane, item), until, **given(**values)), as_json)


@click.command(epilog=examples("pin 5f1c22ab", "pin 5f1c22ab --off"))
@click.argument("target")
@click.option("--off", is_flag=True, help="Unpin it.")
@write_options
@pass_session
def pin(session: Session, target: str, off: bool, as_json: bool, **values: Any) -> None:
    """Pin a memory: pinned open items come first."""
    print_receipt(session.plane.pin(full_id(session.plane, target), pinned=not off, **given(**values)), as_json)


@click.command(epilog=examples('retract 5f1c22ab --reason "It was the other Rob"'))
@click.argument("target")
@click.option("--reason", metavar="TEXT", help="Why.")
@write_options
@pass_session
def retract(session: Session, target: str, as_json: bool, **values: Any) -> None:
    """Take a memory back: no page, search or answer shows it any more, history keeps it."""
    print_receipt(session.plane.retract(full_id(session.plane, target), **given(**values)), as_json)


@click.command(epilog=examples("release 5f1c22ab"))
@click.argument("target")
@write_options
@pass_session
def release(session: Session, target: str, as_json: bool, **values: Any) -> None:
    """Let a text that was held back be seen by pages, search and graph."""
    print_receipt(session.plane.release(full_id(session.plane, target), **given(**values)), as_json)
