"""The command `import`: our own export, or what another program knows."""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from datetime import datetime
from io import BytesIO
from pathlib import Path
from shutil import copyfileobj
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from memory_plane.errors import MemoryPlaneError, StoreError
from memory_plane.surfaces.cli.guard import tell
from memory_plane.surfaces.cli.options import examples, json_option, pass_session
from memory_plane.surfaces.cli.output import print_json, print_pairs, print_table, progress
from memory_plane.surfaces.cli.times import Moment

if TYPE_CHECKING:
    from memory_plane.importers.driver import Outcome, Source
    from memory_plane.importers.log import Imported
    from memory_plane.plane import Plane
    from memory_plane.surfaces.cli.session import Session

# Spelt out, since importing the importers would double the time that `--help` takes; a test compares.
KINDS = ("claude", "chatgpt", "claude-code", "memory-json", "memory-graph", "markdown", "log")
_LOG = "log"
_STATES = ("new", "imported", "already there", "skipped", "refused")
_SAMPLE = 100


@click.command(
    "import",
    epilog=examples(
        "import ~/Downloads/claude-export.zip --dry-run",
        "import ~/.claude/projects --since 30d",
        "import ~/Notes --from markdown",
        "import memory.jsonl",
        "import - < memory.jsonl",
    ),
)
@click.argument("source", type=click.Path())
@click.option("--from", "kind", type=click.Choice(KINDS), help="What SOURCE is.  [default: what it looks like]")
@click.option("--dry-run", is_flag=True, help="Show what would come, and store nothing.")
@click.option("--since", type=Moment(), help="Leave out what is older.")
@click.option("--project", metavar="NAME", help="Leave out what is of another project, or of none.")
@json_option
@pass_session
def import_(session: Session, source: str, kind: str | None, as_json: bool, **wanted: Any) -> None:
    """Take in what another program knows, or a file that `export` wrote.

    SOURCE is a zip, folder or file: an export of claude.ai or ChatGPT, transcripts of Claude Code, memory.json of the
    MCP memory server, the database of agent-memory-graph, notes in Markdown, or our own export, also - for stdin.
    What is here already stays as it is; an import that was interrupted goes on where it was.
    """
    from memory_plane.importers.files import Files

    session.settings  # noqa: B018 - before anything is read
    path = Path(source).expanduser()
    if not source:  # as of a variable that is not set: it would be the whole folder in which the command runs
        raise click.UsageError("SOURCE is empty; name a file or folder, . for this one", click.get_current_context())
    if source != "-" and not path.exists():
        raise click.ClickException(f"{source!r} does not exist")
    if source == "-" or not (path.is_file() or path.is_dir()):
        _take_in_log(session, source, as_json, kind=kind, **wanted)
        return
    with _told(source):
        files = Files(path)
    with files:
        with _told(source):
            chosen = _recognised(files, kind)
        if chosen is not None:
            _take_in(session, source, chosen, as_json, **wanted)
            return
    _take_in_log(session, str(path), as_json, kind=kind, **wanted)


def _recognised(files: Any, kind: str | None) -> Source | None:
    """Return a source as it was recognised or named, None for our own log."""
    from memory_plane.importers import sources
    from memory_plane.importers.driver import Source

    if kind is None and sources.is_log(files):
        return None
    found = sources.named(files, kind) if kind else sources.recognise(files)
    return Source(kind=found, files=files) if found else None


@contextmanager
def _told(source: str, *, after: str = "; nothing was stored") -> Iterator[None]:
    """Say of which source it is that something is wrong."""
    try:
        yield
    except StoreError:
        raise
    except MemoryPlaneError as error:
        raise click.ClickException(f"{source!r}: {error}{after}") from None


# --- another program's --------------------------------------------------------------------------------------------


def _take_in(
    session: Session,
    name: str,
    source: Source,
    as_json: bool,
    *,
    dry_run: bool,
    since: datetime | None,
    project: str | None,
) -> None:
    from dataclasses import replace

    from memory_plane.importers import driver

    if not dry_run:
        session.check_here()
    source = replace(source, zone=session.zone, since=since, project=project)
    with _told(name):
        total = driver.count(source)
        if dry_run:
            _report(source, list(driver.preview(source, _memory(session))), as_json)
            return
    plane = session.plane
    with progress("Importing") as advance, _told(name, after="; run it again to go on"):
        outcomes = list(driver.take_in(plane, source, total, advance))
    _report(source, outcomes, as_json)


def _memory(session: Session) -> Plane | None:
    """Return the memory of this machine to look into, None where there is none yet: to open it would make it."""
    from memory_plane.database import Database

    if session.settings.elsewhere is not None:
        return None
    with closing(Database.of(session.settings)) as database:
        is_there = database.path is None or database.path.exists()
    session.takes_in = False
    return session.plane if is_there else None


def _report(source: Source, outcomes: list[Outcome], as_json: bool) -> None:
    counts: Counter[str] = Counter(one.state for one in outcomes)
    if as_json:
        states = {state.replace(" ", "_"): counts[state] for state in _STATES if state in counts}
        print_json({"kind": source.kind.name, "items": outcomes, **states})
    else:
        rows = ((one.item, one.state, one.stored, one.reason[:_SAMPLE]) for one in outcomes)
        print_table(("ITEM", "STATE", "NEW", "TEXT" if counts["new"] else "WHY"), rows, empty="there is nothing in it")
        click.echo(f"{source.kind.name}: {_sum(counts)}", err=True)
    if counts["refused"]:
        raise click.exceptions.Exit(1)


def _sum(counts: Counter[Any]) -> str:
    return ", ".join(f"{counts[state]} {state}" for state in _STATES if counts[state]) or "nothing"


# --- our own ------------------------------------------------------------------------------------------------------


def _take_in_log(session: Session, file: str, as_json: bool, *, kind: str | None, **wanted: Any) -> None:
    from memory_plane.importers import log

    given = [f"--{name.replace('_', '-')}" for name, value in wanted.items() if value]
    if given or kind not in (None, _LOG):
        what = given[0] if given else f"--from {kind}"
        raise click.UsageError(f"{what} does not go with {file!r}", click.get_current_context())
    with _opened(file, session.settings.home) as (operations, derivations):
        with _told("stdin" if file == "-" else file):
            contents = log.check(operations)
        with progress("Importing") as advance:
            imported = log.take_in(session.plane, operations, derivations, contents, advance)
    _report_log(imported, as_json)


def _report_log(imported: Imported, as_json: bool) -> None:
    counts: dict[str, Any] = {state: imported.states[state] for state in ("stored", "duplicate", "refused")}
    counts["derivations"] = imported.derivations
    if as_json:
        print_json(counts | {"reasons": imported.reasons})
    else:
        print_pairs(counts.items())
    for reason in imported.reasons:
        tell(f"refused {reason}")
    if counts["refused"] > len(imported.reasons):
        tell(f"refused {counts['refused'] - len(imported.reasons)} more")
    if counts["refused"]:
        raise click.exceptions.Exit(1)


@contextmanager
def _opened(file: str, home: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Open a file twice, each to be read from its own place; what cannot be read twice is copied first."""
    path = Path(file)
    try:
        if file != "-" and path.is_file():
            with path.open("rb") as first, path.open("rb") as second:
                yield first, second
            return
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(dir=home, prefix=".import-")
        with os.fdopen(descriptor, "w+b") as first, Path(name).open("rb") as second:
            try:
                Path(name).unlink()  # nothing is left of it, whatever happens
                with nullcontext(sys.stdin.buffer) if file == "-" else path.open("rb") as pipe:
                    _copy(pipe, first, "stdin" if file == "-" else file)
                first.seek(0)
                yield first, second
            finally:
                Path(name).unlink(missing_ok=True)  # where an open file cannot be removed
    except OSError as error:
        raise click.ClickException(f"cannot read {file!r}: {error.strerror}") from None


def _copy(pipe: BinaryIO, file: BinaryIO, name: str) -> None:
    """Copy what can be read once only; a device may have no end, so what does not begin as an export is refused."""
    from memory_plane.importers import log

    first = pipe.readline(log.LONGEST_LINE + 1)
    with _told(name):
        log.check(BytesIO(first))
    file.write(first)
    copyfileobj(pipe, file)
