"""Commands that read: each asks the plane once and prints the answer."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from memory_plane.surfaces.cli.options import (
    examples,
    full_id,
    given,
    json_option,
    limit_option,
    pass_session,
)
from memory_plane.surfaces.cli.output import plain, print_json, print_page, print_pairs, print_table, short_id
from memory_plane.surfaces.cli.text import clean, one_line
from memory_plane.surfaces.cli.times import Moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory_plane.surfaces.cli.session import Session
    from memory_plane.types import Hit


@click.command(epilog=examples("pulse", "pulse --json"))
@json_option
@pass_session
def pulse(session: Session, as_json: bool) -> None:
    """Show what is going on now: who does what, what is open, what was said last."""
    if as_json:
        print_json(session.client.pulse())
    else:
        print_page(session.client.page("PULSE.md"))


@click.command(epilog=examples('ask "Who works at Acme?"', 'ask "What changed since Monday?" --json'))
@click.argument("question")
@click.option("--as-of", type=Moment(end=True), help="As it was then.")
@json_option
@pass_session
def ask(session: Session, question: str, as_json: bool, **values: Any) -> None:
    """Answer a question in plain words, with the memories that say so; "I don't know" where none does."""
    found = session.client.ask(question, **given(**values))
    if as_json:
        print_json(found)
        return
    click.echo(clean(found.text))
    if not found.known:
        why = "nothing says so" if found.understood else "not every word was understood"
        click.echo(f"{why}; to search instead: memory-plane recall {shlex.quote(one_line(question))}", err=True)
    if found.findings:
        click.echo()
        rows = ((short_id(one.evidence[0]), session.local(one.at), one.text) for one in found.findings if one.evidence)
        print_table(
            ("ID", "WHEN", "BECAUSE"),
            dict.fromkeys(rows),
            empty="",
        )


@click.command(
    epilog=examples(
        'recall "who owns the invoice"',
        "recall deploy --agent muse --since 3d --json",
        "recall invoice --kind decision --until yesterday",
    )
)
@click.argument("query")
@click.option("--agent", metavar="NAME", help="Only what this agent wrote.")
@click.option("--kind", metavar="KIND", help="Only this kind: thought, decision … or fact.")
@click.option("--project", metavar="NAME", help="Only this project.")
@click.option("--person", metavar="NAME", help="Only what mentions this person.")
@click.option("--since", type=Moment(), help="Not older than this.")
@click.option("--until", type=Moment(end=True), help="Not newer than this.")
@limit_option(8)
@click.option("--cursor", metavar="TEXT", help="Go on after the last page.")
@click.option("--explain", is_flag=True, help="Say what made each score.")
@click.option("--tokens", type=click.IntRange(1), metavar="NUMBER", help="Show what was said around, for that many.")
@json_option
@pass_session
def recall(session: Session, query: str, as_json: bool, **values: Any) -> None:
    """Search the memory in plain words, best answers first."""
    found = session.client.recall(query, **given(**values))
    if as_json:
        print_json(found)
        return
    why = ("WHY",) if values["explain"] else ()
    print_table(
        ("ID", "WHEN", "AGENT", "KIND", "SOURCE", *why, "TEXT"),
        (row for hit in found.hits for row in _rows(session, hit, explained=bool(why))),
        empty="nothing found",
    )
    if found.cursor:
        click.echo(f"more: --cursor {found.cursor}", err=True)


def _rows(session: Session, hit: Hit, *, explained: bool) -> Iterator[tuple[object, ...]]:
    """Yield the row of a hit, and those of what was said around it."""
    why = ("; ".join(f"{name} {value:g}" for name, value in (hit.why or {}).items()),) if explained else ()
    yield short_id(hit.id), session.local(hit.created_at), hit.agent, hit.kind, hit.source, *why, hit.snippet
    for one in hit.beside:
        row = short_id(one.id), session.local(one.created_at), one.agent, "beside", ""
        yield (*row, *([""] if explained else []), one.snippet)


@click.command(epilog=examples("facts", 'facts "Alice Moreau"', "facts website --key deploy_day --history"))
@click.argument("subject", required=False)
@click.option("--key", metavar="NAME", help="Only this key.")
@click.option("--as-of", type=Moment(end=True), help="What was true then.")
@click.option("--known-at", type=Moment(end=True), help="As if nothing had been written later.")
@click.option("--history", is_flag=True, help="Show replaced values too.")
@limit_option(200)
@json_option
@pass_session
def facts(session: Session, as_json: bool, **values: Any) -> None:
    """List what is true now, or was."""
    found = session.client.facts(**given(**values))
    if as_json:
        print_json(found)
        return
    print_table(
        ("ID", "SUBJECT", "KEY", "VALUE", "SURE", "SINCE", "UNTIL", "AGENT"),
        (
            (
                short_id(fact.id),
                fact.subject,
                fact.key,
                fact.value,
                fact.confidence,
                session.local(fact.valid_from),
                *[session.local(end) if end else "" for end in (fact.superseded_at or fact.valid_until,)],
                fact.agent,
            )
            for fact in found
        ),
        empty="no facts",
    )


@click.command(epilog=examples("items", "items --to muse --json"))
@click.option("--agent", metavar="NAME", help="Only what this agent opened.")
@click.option("--to", metavar="NAME", help="Only what is for this agent or person.")
@limit_option(50)
@json_option
@pass_session
def items(session: Session, as_json: bool, **values: Any) -> None:
    """List the open items, due first."""
    found = session.client.items(**given(**values))
    if as_json:
        print_json(found)
        return
    print_table(
        ("ID", "KIND", "DUE", "FROM", "TO", "TEXT"),
        (
            (short_id(i.id), i.kind, session.local(i.due_at) if i.due_at else "", i.owner or i.agent, i.to, i.text)
            for i in found
        ),
        empty="nothing is open",
    )


@click.command(epilog=examples("held", "held --json"))
@limit_option(50)
@json_option
@pass_session
def held(session: Session, as_json: bool, **values: Any) -> None:
    """List what is held back from pages, search and graph; "release ID" lets one be seen."""
    found = session.client.held(**given(**values))
    if as_json:
        print_json(found)
        return
    print_table(
        ("ID", "WHEN", "AGENT", "KIND", "ORIGIN", "TEXT"),
        ((short_id(m.id), session.local(m.created_at), m.agent, m.kind, m.origin, m.text) for m in found),
        empty="nothing is held back",
    )


@click.command(epilog=examples("get 5f1c22ab", "get 5f1c22ab --json"))
@click.argument("id")
@json_option
@pass_session
def get(session: Session, id: str, as_json: bool) -> None:
    """Show one operation by its id, or the first six characters of it or more."""
    record = session.client.get(full_id(session.client, id))
    if record is None:
        raise click.ClickException(f"no operation has the id {id!r}")
    if as_json:
        print_json(record)
        return
    fields = plain(record)
    inner = {name: value for part in ("body", "state") for name, value in fields.pop(part, {}).items()}
    several = inner.pop("items", {})
    of_each = ("item", "object", "owner", "to", "due_at", "status", "snoozed_until") if several else ()
    print_pairs((name, value) for name, value in (fields | inner).items() if name not in of_each)
    if several:
        click.echo()
        rows = (
            (short_id(each), one["status"], one["item"], one["owner"], one["object"]) for each, one in several.items()
        )
        print_table(("ID", "STATUS", "KIND", "FROM", "TEXT"), rows, empty="")
