"""Commands that write one operation each; the plane judges the input, the receipt is the answer."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from memory_plane.errors import MemoryPlaneError
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
from memory_plane.surfaces.cli.output import print_json, print_receipt, print_table, short_id
from memory_plane.surfaces.cli.text import one_line
from memory_plane.surfaces.cli.times import Moment

_SHOWN = 80
"""Characters of an item in the line that says that it is closed."""

if TYPE_CHECKING:
    from memory_plane.reports import Loss
    from memory_plane.surfaces.cli.session import Session
    from memory_plane.types import Operation, Receipt


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
    receipt = session.client.post(text, agent=agent, origin=origin or origin_of(agent), **given(**values))
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
@click.option("--held", is_flag=True, default=None, help="Store it, but show it nowhere until it is released.")
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
    receipt = session.client.fact(
        subject, key, value, agent=agent, origin=origin or origin_of(agent), **given(**values)
    )
    print_receipt(receipt, as_json)


@click.command(epilog=examples('heartbeat "Writing the release notes" --agent muse --project website'))
@click.argument("focus")
@project_option
@click.option("--status", metavar="WORD", default="active", show_default=True, help="Such as active, waiting or done.")
@write_options
@pass_session
def heartbeat(session: Session, focus: str, as_json: bool, **values: Any) -> None:
    """Say what an agent is doing now."""
    print_receipt(session.client.heartbeat(focus=focus, **given(**values)), as_json)


@click.command(epilog=examples("resolve 5f1c22ab", 'resolve 5f1c22ab --status answered --note "Friday at ten"'))
@click.argument("item")
@click.option("--status", type=click.Choice(STATUSES), default="done", show_default=True, help="How it ended.")
@click.option("--note", metavar="TEXT", help="What came of it.")
@write_options
@pass_session
def resolve(session: Session, item: str, as_json: bool, **values: Any) -> None:
    """Close an open item. ITEM is its id, or the first six characters of it or more."""
    id = full_id(session.client, item)
    _print_change(session, id, "closed", session.client.resolve(id, **given(**values)), as_json)


def _print_change(session: Session, id: str, done: str, receipt: Receipt, as_json: bool) -> None:
    """Say what was done to which item."""
    if as_json or receipt.state == "refused":
        print_receipt(receipt, as_json)
        return
    with suppress(MemoryPlaneError):  # where nothing can be read now, the id has to do
        id = f"{short_id(id)}: {_short(_words_of(session.client.get(id)))}"
    click.echo(one_line(f"{done if receipt.state == 'stored' else receipt.state} {id} {receipt.detail}"))


def _words_of(record: Mapping[str, Any] | None) -> str:
    return str((record.get("state") or {}).get("object") or record["body"].get("text", "")) if record else ""


def _short(text: str) -> str:
    text = one_line(text)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


@click.command(epilog=examples("assign 5f1c22ab Rob", "assign 5f1c22ab grok --agent muse"))
@click.argument("item")
@click.argument("to")
@write_options
@pass_session
def assign(session: Session, item: str, to: str, as_json: bool, **values: Any) -> None:
    """Hand an open item to an agent or person."""
    id = full_id(session.client, item)
    _print_change(session, id, f"handed to {to}:", session.client.assign(id, to, **given(**values)), as_json)


@click.command(epilog=examples("snooze 5f1c22ab tomorrow", "snooze 5f1c22ab 2h", "snooze 5f1c22ab 2026-12-01"))
@click.argument("item")
@click.argument("until", type=Moment(ahead=True))
@write_options
@pass_session
def snooze(session: Session, item: str, until: Any, as_json: bool, **values: Any) -> None:
    """Hide an open item until a later time."""
    id = full_id(session.client, item)
    done = f"put off until {session.local(until)}:"
    _print_change(session, id, done, session.client.snooze(id, until, **given(**values)), as_json)


@click.command(epilog=examples("pin 5f1c22ab", "pin 5f1c22ab --off"))
@click.argument("target")
@click.option("--off", is_flag=True, help="Unpin it.")
@write_options
@pass_session
def pin(session: Session, target: str, off: bool, as_json: bool, **values: Any) -> None:
    """Pin a memory: pinned open items come first."""
    print_receipt(session.client.pin(full_id(session.client, target), pinned=not off, **given(**values)), as_json)


@click.command(epilog=examples('retract 5f1c22ab --reason "It was the other Rob"'))
@click.argument("target")
@click.option("--reason", metavar="TEXT", help="Why.")
@write_options
@pass_session
def retract(session: Session, target: str, as_json: bool, **values: Any) -> None:
    """Take a memory back: no page, search or answer shows it any more, history keeps it."""
    print_receipt(session.client.retract(full_id(session.client, target), **given(**values)), as_json)


@click.command(epilog=examples("release 5f1c22ab"))
@click.argument("target")
@write_options
@pass_session
def release(session: Session, target: str, as_json: bool, **values: Any) -> None:
    """Let a text that was held back be seen by pages, search and graph."""
    print_receipt(session.client.release(full_id(session.client, target), **given(**values)), as_json)


_WORDS = ("text", "value", "focus", "note", "reason", "to")


@click.command(epilog=examples("forget 5f1c22ab --dry-run", "forget 5f1c22ab", "forget 5f1c22ab --yes --json"))
@click.argument("target")
@click.option("--dry-run", is_flag=True, help="Show what would go, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@write_options
@pass_session
def forget(session: Session, target: str, dry_run: bool, yes: bool, as_json: bool, **values: Any) -> None:
    """Take a thought, fact or heartbeat off the disk for good: text, pages, search, graph, and what was said about it.

    Backups and exports that were made before keep it. Other machines forget it when they sync.
    """
    id = full_id(session.client, target)
    if dry_run or not yes:
        loss = session.client.loss(id)
        if not loss.operations:
            raise click.ClickException(f"{id} is nothing to forget: give the id of a thought, fact or heartbeat")
        print_json(loss) if as_json and dry_run else _print_loss(session, loss)
        if dry_run:
            return
        _confirm()
    print_receipt(session.client.forget(id, **given(**values)), as_json)


def _print_loss(session: Session, loss: Loss) -> None:
    print_table(
        ("ID", "WHEN", "AGENT", "KIND", "TEXT"),
        ((short_id(one.id), session.local(one.created_at), one.agent, one.op, _words(one)) for one in loss.operations),
        empty="",
    )
    counts = (f"{loss.derivations} derivations", f"{loss.nodes} nodes", f"{loss.edges} edges")
    click.echo(f"and what was found in it: {', '.join(counts)}", err=True)


def _words(operation: Operation) -> str:
    return next((str(operation.body[name]) for name in _WORDS if name in operation.body), "")


def _confirm() -> None:
    """Ask a person; where there is none to ask, nothing is forgotten."""
    if not _can_ask():
        raise click.UsageError("nobody can be asked here: add --yes, or --dry-run", click.get_current_context())
    if not click.confirm("Forget it? This cannot be undone", err=True):
        raise click.ClickException("nothing was forgotten")


def _can_ask() -> bool:
    return sys.stdin.isatty()
