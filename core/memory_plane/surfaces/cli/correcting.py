"""Commands that correct what the memory holds: what was written, who is who, and who is called what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from memory_plane.surfaces.cli.group import Group
from memory_plane.surfaces.cli.options import (
    examples,
    full_id,
    given,
    json_option,
    limit_option,
    pass_session,
    read_text,
    write_options,
)
from memory_plane.surfaces.cli.output import print_json, print_receipt, print_table, short_id
from memory_plane.surfaces.cli.text import one_line
from memory_plane.surfaces.cli.writing import forget

if TYPE_CHECKING:
    from memory_plane.client import Client
    from memory_plane.reports import Preview
    from memory_plane.surfaces.cli.session import Session
    from memory_plane.types import Node, Review

_NODE = "a name, a slug such as node:person:rob-2, or an id"


def _correction(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of every correction."""
    dry_run = click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
    return dry_run(write_options(command))


@click.group(
    cls=Group,
    epilog=examples(
        "correct review",
        "correct merge Jose José --dry-run",
        'correct distinct "Rob Smith" "Rob Jones"',
        'correct alias add "Robert Smith" Bobby',
        'correct supersede 5f1c22ab "Rob is at Acme"',
    ),
)
def correct() -> None:
    """Put right what is wrong: entries, who is who, who is called what.

    Every correction can be tried with --dry-run. A supersede, merge, split, distinct or alias can be taken back:
    "correct retract ID" with the id that it printed. A retract or release cannot, nor a forget.
    """


@correct.command("review", epilog=examples("correct review", "correct review --json"))
@limit_option(20)
@json_option
@pass_session
def review(session: Session, limit: int, as_json: bool) -> None:
    """List pairs that may be one and the same, likeliest first; "merge" or "distinct" answers one."""
    found = session.client.reviews(limit=limit)
    if as_json:
        print_json(found)
        return
    headers = ("SURE", "ONE", "KNOWN", "OTHER", "KNOWN", "SINCE ENTRY")
    print_table(headers, (_review(one) for one in found), empty="nothing to judge")


def _review(one: Review) -> tuple[object, ...]:
    known = ["; ".join(words) for words in one.known]
    evidence = ", ".join(short_id(id) for id in one.evidence[:2])
    return (one.probability, _called(one.one), known[0], _called(one.other), known[1], evidence)


def _called(node: Node) -> str:
    return f"{node.name} ({node.slug})"


@correct.command("merge", epilog=examples("correct merge Jose José", "correct merge node:person:rob-2 node:person:rob"))
@click.argument("node")
@click.argument("into")
@_correction
@pass_session
def merge(session: Session, node: str, into: str, **values: Any) -> None:
    """Say that two are one: INTO stands for both. Each is a name, a slug such as node:person:rob-2, or an id."""
    ids = [_node(session.client, name) for name in (node, into)]
    _write(session, "merge", {"node": ids[0], "into": ids[1]}, **values)


@correct.command("split", epilog=examples("correct split 9c2e41d0", "correct split Rob 5f1c22ab 77a0c3de"))
@click.argument("node")
@click.argument("memories", nargs=-1)
@_correction
@pass_session
def split(session: Session, node: str, memories: Sequence[str], **values: Any) -> None:
    """Take apart what is two: what these MEMORIES name is another than NODE. Or give the id of a merge alone."""
    if not memories:
        try:
            id = full_id(session.client, node)
        except click.ClickException:
            told = f"{node!r} is no id of a merge; to take a node apart, name the memories that are another's too"
            raise click.ClickException(told) from None
        _write(session, "retract", {"target": id}, **values)
        return
    ids = [full_id(session.client, one) for one in memories]
    _write(session, "split", {"node": _node(session.client, node), "memories": ids}, **values)


@correct.command("distinct", epilog=examples('correct distinct "Rob Smith" "Rob Jones"'))
@click.argument("nodes", nargs=-1, required=True)
@_correction
@pass_session
def distinct(session: Session, nodes: Sequence[str], **values: Any) -> None:
    """Say that NODES are not one and the same; nothing joins them from then on."""
    _write(session, "distinct", {"nodes": [_node(session.client, name) for name in nodes]}, **values)


@correct.group("alias", epilog=examples('correct alias add "Robert Smith" Bobby', "correct alias remove Acme Ace"))
def alias() -> None:
    """Say how something is called too, or that it is not called so."""


@alias.command("add", epilog=examples('correct alias add "Robert Smith" Bobby'))
@click.argument("node")
@click.argument("name")
@_correction
@pass_session
def add(session: Session, node: str, name: str, **values: Any) -> None:
    """Give NODE another NAME, under which it is found and known."""
    _write(session, "alias", {"node": _node(session.client, node), "name": name}, **values)


@alias.command("remove", epilog=examples("correct alias remove Acme Ace"))
@click.argument("node")
@click.argument("name")
@_correction
@pass_session
def remove(session: Session, node: str, name: str, **values: Any) -> None:
    """Say that NODE is not called NAME, whoever said so."""
    _write(session, "alias", {"node": _node(session.client, node), "name": name, "remove": True}, **values)


@correct.command("supersede", epilog=examples('correct supersede 5f1c22ab "Rob is at Acme, not at Apex"'))
@click.argument("target")
@click.argument("text")
@_correction
@pass_session
def supersede(session: Session, target: str, text: str, dry_run: bool, as_json: bool, **values: Any) -> None:
    """Put TEXT in the place of a thought's words or a fact's value. TEXT may be - for stdin."""
    id, text = full_id(session.client, target), read_text(text)
    if dry_run:
        _show(session.client.preview("supersede", {"target": id, "text": text}), as_json)
    else:
        print_receipt(session.client.supersede(id, text, **given(**values)), as_json)


@correct.command("retract", epilog=examples('correct retract 5f1c22ab --reason "It was the other Rob"'))
@click.argument("target")
@click.option("--reason", metavar="TEXT", help="Why.")
@_correction
@pass_session
def retract(session: Session, target: str, reason: str | None, **values: Any) -> None:
    """Take back a memory or a correction: nothing shows it any more, history keeps it."""
    _write(session, "retract", {"target": full_id(session.client, target), **given(reason=reason)}, **values)


@correct.command("release", epilog=examples("correct release 5f1c22ab --dry-run"))
@click.argument("target")
@_correction
@pass_session
def release(session: Session, target: str, **values: Any) -> None:
    """Let a text that was held back be seen by pages, search and graph."""
    _write(session, "release", {"target": full_id(session.client, target)}, **values)


correct.add_command(forget)


def _write(
    session: Session, op: str, body: dict[str, Any], *, dry_run: bool, as_json: bool, agent: str, **values: Any
) -> None:
    if dry_run:
        _show(session.client.preview(op, body), as_json)
    else:
        print_receipt(session.client.write(op, body, agent=agent, **given(**values)), as_json)


def _show(preview: Preview, as_json: bool) -> None:
    if preview.refusal:
        raise click.ClickException(preview.refusal)
    lines = [*(f"- {line}" for line in preview.gone), *(f"+ {line}" for line in preview.new)]
    if as_json:
        print_json(preview)
        return
    for line in lines:
        click.echo(one_line(line))
    if not lines:
        click.echo("nothing would change", err=True)


def _node(client: Client, name: str) -> str:
    """Return the id of the one node that a name, slug or id means."""
    from memory_plane.surfaces.corrections import named  # what other commands do without

    found = named(client.nodes(name), name)
    if len(found) == 1:
        return found[0].id
    if not found:
        raise click.ClickException(f"nothing is called {name!r}; give {_NODE}")
    choices = ", ".join(one_line(_called(node)) for node in found)
    raise click.ClickException(f"{name!r} may be {len(found)} nodes, give the slug or the id of one: {choices}")
