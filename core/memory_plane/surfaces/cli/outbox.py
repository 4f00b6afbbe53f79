"""Commands for what waits to be delivered; they work with a broken store and without one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from memory_plane.surfaces.cli.group import Group
from memory_plane.surfaces.cli.guard import tell
from memory_plane.surfaces.cli.options import examples, json_option, limit_option, pass_session
from memory_plane.surfaces.cli.output import print_json, print_table, short_id
from memory_plane.surfaces.cli.text import one_line

if TYPE_CHECKING:
    from memory_plane.letters import DeadLetter
    from memory_plane.outbox import Outbox
    from memory_plane.surfaces.cli.session import Session
    from memory_plane.types import Operation

_SHORTEST_PREFIX = 6
_WORDS = 60
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


@click.group(
    cls=Group, epilog=examples("outbox list", "outbox list --dead", "outbox retry --all", "outbox drop 5f1c22ab")
)
def outbox() -> None:
    """Show and mend what waits to be delivered.

    These are the writes that were made while neither hub nor database could take them.
    """


@outbox.command("list", epilog=examples("outbox list", "outbox list --dead", "outbox list --json"))
@click.option("--dead", is_flag=True, help="List what cannot be delivered, and why.")
@limit_option(50)
@json_option
@pass_session
def list_(session: Session, dead: bool, limit: int, as_json: bool) -> None:
    """List what waits, in the order in which it will be sent."""
    queue = _outbox(session)
    if dead:
        _list_dead(queue.dead(), limit, as_json)
    else:
        _list_waiting(queue, limit, as_json)


def _list_waiting(queue: Outbox, limit: int, as_json: bool) -> None:
    from memory_plane.operations import record_of

    waiting = queue.pending()
    if as_json:
        print_json([record_of(operation) for operation in waiting[:limit]])
    else:
        rows = [(*_row(operation), _age(operation.created_at), _words(operation)) for operation in waiting[:limit]]
        print_table(("ID", "AGENT", "KIND", "AGE", "WORDS"), rows, empty="nothing waits")
    _tell_rest(len(waiting) - limit)
    if (torn := queue.depth() - len(waiting)) > 0:
        tell(f"{torn} more cannot be read and will be set aside as dead letters when the others are sent")
    if letters := len(queue.dead()):
        tell(f"{letters} more cannot be delivered; see: memory-plane outbox list --dead")


def _list_dead(letters: Sequence[DeadLetter], limit: int, as_json: bool) -> None:
    from memory_plane.operations import record_of

    if as_json:
        print_json(
            [
                {"id": letter.id, "at": letter.at, "reason": letter.reason}
                | ({"operation": record_of(letter.operation)} if letter.operation else {"line": letter.line})
                for letter in letters[:limit]
            ]
        )
    else:
        rows = [(*_row(letter.operation, letter.id), letter.reason, _dead_words(letter)) for letter in letters[:limit]]
        print_table(("ID", "AGENT", "KIND", "REASON", "WORDS"), rows, empty="no dead letters")
    _tell_rest(len(letters) - limit)


@outbox.command(epilog=examples("outbox retry 5f1c22ab", "outbox retry --all"))
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Retry every dead letter that can be read.")
@json_option
@pass_session
def retry(session: Session, ids: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Put dead letters back at the end of the queue. An ID may be its first six characters or more."""
    if bool(ids) == everything:
        raise click.UsageError("give either ids or --all", click.get_current_context())
    queue = _outbox(session)
    letters = {letter.id: letter for letter in queue.dead()}
    wanted = list(letters) if everything else _full_ids(ids, letters, "no dead letter")
    back = queue.retry(wanted) if wanted else []
    left = [id for id in wanted if id not in back]
    if as_json:
        print_json({"queued": back, "unreadable": left})
    else:
        _say("queued", ((id, letters[id].operation) for id in back))
    for id in left:
        tell(f"{id} cannot be read, so it cannot be sent; see it with --json, then: memory-plane outbox drop {id}")
    if left:
        raise click.exceptions.Exit(1)
    if not back and not as_json:
        click.echo("no dead letters", err=True)


@outbox.command(epilog=examples("outbox drop 5f1c22ab", "outbox drop 5f1c22ab 77aa01c3 --json"))
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@json_option
@pass_session
def drop(session: Session, ids: tuple[str, ...], as_json: bool) -> None:
    """Delete what waits, or dead letters, for ever.

    --json prints all of what was deleted. An ID may be its first six characters or more.
    """
    from memory_plane.operations import record_of

    queue = _outbox(session)
    known: dict[str, Operation | None] = {letter.id: letter.operation for letter in queue.dead()}
    known |= {operation.id: operation for operation in queue.pending()}
    gone = queue.drop(_full_ids(ids, known, "nothing in the outbox"))
    if as_json:
        print_json([record_of(operation) if (operation := known[id]) else {"id": id} for id in gone])
    else:
        _say("dropped", ((id, known[id]) for id in gone))


def _outbox(session: Session) -> Outbox:
    from memory_plane.outbox import Outbox

    return Outbox(session.settings.home, session.settings.timeout)


def _full_ids(texts: Sequence[str], known: Iterable[str], none: str) -> list[str]:
    """Complete the beginnings of ids; all of them, or nothing is done."""
    return list(dict.fromkeys(_full_id(text.strip().lower(), known, none) for text in texts))


def _full_id(text: str, known: Iterable[str], none: str) -> str:
    if len(text) < _SHORTEST_PREFIX:
        raise click.UsageError(
            f"{text!r} is too short for an id: give at least {_SHORTEST_PREFIX} characters", click.get_current_context()
        )
    found = [id for id in known if id.startswith(text)]
    if len(found) == 1:
        return found[0]
    if found:
        raise click.ClickException(f"{text!r} begins {len(found)} ids, give more of one: {', '.join(found[:10])}")
    raise click.ClickException(f"{none} has an id that begins with {text!r}; see: memory-plane outbox list")


def _say(what: str, entries: Iterable[tuple[str, Operation | None]]) -> None:
    for id, operation in entries:
        words = _words(operation) if operation else "a line that cannot be read"
        click.echo(one_line(f"{what} {id} {words}"))


def _tell_rest(count: int) -> None:
    if count > 0:
        tell(f"{count} more are not shown; see: --limit")


def _row(operation: Operation | None, id: str = "") -> tuple[str, str, str]:
    if operation is None:
        return short_id(id), "", ""
    return short_id(operation.id), operation.agent, str(operation.body.get("kind", operation.op))


def _dead_words(letter: DeadLetter) -> str:
    return _words(letter.operation) if letter.operation else _cut(letter.line)


def _words(operation: Operation) -> str:
    """Return the first words of an operation: its text, or whatever else it says."""
    body: dict[str, Any] = {**operation.body}
    if operation.op == "fact":
        return _cut(f"{body['subject']} {body['key']}: {body['value']}")
    said = next((body[name] for name in ("text", "focus", "note", "reason", "item", "target") if name in body), None)
    return _cut(str(said or body))


def _cut(text: str) -> str:
    line = one_line(text[: 4 * _WORDS])
    return line if len(line) <= _WORDS else f"{line[: _WORDS - 1]}…"


def _age(at: datetime) -> str:
    """Return how long ago a moment was, in its largest unit; a clock that was set back makes it 0."""
    seconds = max(0, int((datetime.now(UTC) - at).total_seconds()))
    return next((f"{seconds // size} {unit}" for size, unit in _UNITS if seconds >= size), "0 s")
