"""Commands that take a lot in or out at once, with a progress bar on a terminal."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from memory_plane.errors import HubUnreachable
from memory_plane.surfaces.cli.guard import tell
from memory_plane.surfaces.cli.importing import import_ as import_  # it belongs to the same section of the help
from memory_plane.surfaces.cli.options import (
    agent_option,
    examples,
    json_option,
    origin_of,
    origin_option,
    pass_session,
    project_option,
    read_text,
)
from memory_plane.surfaces.cli.output import on_terminal, print_json, print_pairs, print_table, progress, write_lines

if TYPE_CHECKING:
    from memory_plane.client import Client
    from memory_plane.plane import Plane
    from memory_plane.surfaces.cli.session import Session


class Source(NamedTuple):
    """One text to take in: its words, from when they are, what it is called, and the file that it is."""

    text: str
    at: datetime | None
    name: str
    path: str | None = None


@click.command(
    epilog=examples(
        'ingest "Alice leads the website project. Rob owes her the logo."',
        "ingest --file notes.md --file minutes.txt --project website",
        "ingest - < notes.md",
        "ingest --spool",
    )
)
@click.argument("text", required=False)
@click.option(
    "--file", "paths", multiple=True, type=click.Path(exists=True, dir_okay=False), help="Read a file; may be repeated."
)
@click.option("--spool", is_flag=True, help="Take in what hooks left, poll the plugins and work the queue.")
@project_option
@origin_option
@agent_option
@json_option
@pass_session
def ingest(
    session: Session, text: str | None, paths: tuple[str, ...], spool: bool, as_json: bool, **values: Any
) -> None:
    """Store each paragraph as an observation and show what was found in it. TEXT may be - for stdin."""
    if spool == bool(text or paths) or (text and paths):
        raise click.UsageError("give one of TEXT, --file and --spool", click.get_current_context())
    if text and _is_file(text):
        raise click.UsageError(f"{text!r} is a file; read it with --file", click.get_current_context())
    if spool:
        _drain(session, as_json)
    else:
        memory = session.plane if session.settings.elsewhere is None else session.client
        _take_in(memory, list(_sources(text, paths)), as_json, **values)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or no name at all
        return False


def _drain(session: Session, as_json: bool) -> None:
    report = session.take_in()
    if session.settings.elsewhere is not None:
        session.client.flush()
    if as_json:
        print_json(report)
    else:
        print_pairs([(name, getattr(report, name)) for name in ("events", "polled", "stored", "enriched")])
    for failure in report.failures:
        tell(failure)


def _sources(text: str | None, paths: Iterable[str]) -> Iterator[Source]:
    if text is not None:
        yield Source(read_text(text), None, "text")
    for path in map(Path, paths):
        try:
            content = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise click.ClickException(f"cannot read {str(path)!r}: {reason}; nothing was stored") from None
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        yield Source(content, changed, path.name, str(path.resolve()))


def _take_in(
    plane: Plane | Client, sources: list[Source], as_json: bool, *, agent: str, origin: str | None, **values: Any
) -> None:
    before, told = _counts(plane), []
    for one in sources:
        with progress("Reading") as advance:
            receipts = plane.ingest_text(
                one.text,
                agent=agent,
                origin=origin or origin_of(agent),
                source=one.path,
                created_at=one.at,
                progress=advance,
                **values,
            )
        told += [(f"{one.name}, paragraph {number}", receipt) for number, receipt in enumerate(receipts, 1)]
    receipts = [receipt for _, receipt in told]
    found = {name: count for name, count in (_counts(plane) - before).items()}
    if as_json:
        print_json({"receipts": receipts, "found": [{"what": w, "type": t, "new": n} for (w, t), n in found.items()]})
    else:
        _print_found(Counter(receipt.state for receipt in receipts), found)
    refused = [(place, receipt) for place, receipt in told if receipt.state == "refused"]
    for place, receipt in refused:
        tell(f"{place} was refused: {receipt.detail}")
    if refused:
        raise click.exceptions.Exit(1)


def _counts(plane: Plane | Client) -> Counter[tuple[str, str]]:
    try:
        stats = plane.stats()
    except HubUnreachable:  # what is queued is looked through when it arrives
        return Counter()
    nodes = {("node", name): count for name, count in stats.nodes_by_type.items()}
    return Counter(nodes | {("link", name): count for name, count in stats.edges_by_relation.items()})


def _print_found(states: Counter[str], found: dict[tuple[str, str], int]) -> None:
    click.echo(", ".join(f"{count} {state}" for state, count in states.items()) or "nothing to store")
    print_table(
        ("FOUND", "TYPE", "NEW"), ((*name, count) for name, count in sorted(found.items())), empty="nothing new found"
    )


@click.command(epilog=examples("export --output memory.jsonl", "export | gzip > memory.jsonl.gz"))
@click.option("--output", metavar="FILE", type=click.Path(dir_okay=False), help="Write here.  [default: stdout]")
@click.option("--json", is_flag=True, expose_value=False, help="Taken as everywhere: what is written is JSON anyway.")
@pass_session
def export(session: Session, output: str | None) -> None:
    """Write the whole memory as JSON lines: the same memory gives the same bytes."""
    to_file = output not in (None, "-")
    with progress("Exporting", shown=to_file or not on_terminal()) as advance:
        write_lines(session.plane.export(advance), output)


@click.command(epilog=examples("backup", "backup --keep 7", "backup /mnt/usb/memory.db"))
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--keep", type=click.IntRange(min=1), help="Then remove all but so many of the copies in that folder.")
@json_option
@pass_session
def backup(session: Session, path: Path | None, keep: int | None, as_json: bool) -> None:
    """Copy the database while others write, and verify the copy. PATH is a new file or a folder.

    Without PATH it goes into `backups` in the home, named after the time.
    """
    from memory_plane import backup as backups

    if keep is not None and path is not None and not path.is_dir():
        raise click.UsageError("--keep needs a folder", click.get_current_context())
    session.check_here()
    with progress("Copying") as advance:
        made = backups.make(session.settings, path, keep=keep, progress=advance)
    if as_json:
        print_json(made)
    else:
        click.echo(f"{made.path}  ({made.operations} operations, {made.bytes} bytes)")


@click.command(epilog=examples("restore ~/.memory-plane/backups/20261031T120000.000000Z.db"))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@pass_session
def restore(session: Session, file: Path, yes: bool, as_json: bool) -> None:
    """Put a copy in the place of the database; what was there is kept beside it.

    Nothing else may have the database open: stop the hub and the agents first.
    """
    from memory_plane import backup as backups
    from memory_plane import presence

    session.check_here()
    settings = session.settings
    with presence.claimed(settings.home):
        found = backups.verify(file)
        if not yes:
            _confirm(f"Replace the memory in {settings.home} by the {found.operations} operations of {file}?")
        restored = backups.restore(settings, file)
        session.plane.render()
        session.close()
    if as_json:
        print_json(restored)
        return
    click.echo(f"restored {restored.operations} operations")
    if restored.kept is not None:
        click.echo(f"what was there before is kept as {restored.kept}")


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise click.UsageError("nobody can be asked here; give --yes", click.get_current_context())
    click.confirm(question, abort=True, err=True)
