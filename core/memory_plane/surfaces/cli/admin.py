"""Commands for the health of the plane: counts, plugins, tables and schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from memory_plane.errors import HubUnreachable
from memory_plane.surfaces.cli.fleet import hint
from memory_plane.surfaces.cli.group import Group
from memory_plane.surfaces.cli.guard import tell
from memory_plane.surfaces.cli.options import examples, json_option, pass_session
from memory_plane.surfaces.cli.output import plain, print_json, print_pairs, print_table, progress
from memory_plane.surfaces.cli.text import one_line

if TYPE_CHECKING:
    from memory_plane.database import Database
    from memory_plane.surfaces.cli.session import Session


@click.command(epilog=examples("status", "status --json"))
@json_option
@pass_session
def status(session: Session, as_json: bool) -> None:
    """Show where the memory lives, how much it holds and what waits."""
    try:
        found = session.client.status()
    except HubUnreachable as error:
        raise HubUnreachable(f"{error}; {session.client.queued()[0]} writes wait: memory-plane outbox list") from error
    if as_json:
        print_json(found)
        return
    counts: dict[str, Any] = plain(found)
    del counts["agents"], counts["failures"]
    print_pairs((name.replace("_", " "), value) for name, value in counts.items() if value is not None)
    if found.agents:
        click.echo()
        print_table(("AGENT", "LAST WRITE"), ((agent, session.local(at)) for agent, at in found.agents), empty="")
    for failure in found.failures:
        tell(failure)


@click.command(epilog=examples("doctor", "doctor --ask", "doctor --ask grok", "doctor --json"))
@click.argument("agents", metavar="[AGENT]...", nargs=-1)
@click.option(
    "--ask", is_flag=True, help="Ask the agents too what they loaded: starts each, which writes files of its own."
)
@json_option
@pass_session
def doctor(session: Session, agents: Sequence[str], ask: bool, as_json: bool) -> None:
    """Look for what is wrong and say what to do about it; exit 1 when there is anything.

    With AGENT at these agents alone.
    """
    from memory_plane.setup.agents import known
    from memory_plane.setup.doctor import examine

    ids = known(session.settings.home, session.plugins) if agents else []
    for agent in agents:
        if agent not in ids:
            raise click.UsageError(f"no plugin speaks for {agent!r}{hint(agent, ids)}", click.get_current_context())
    findings = []
    with progress("Looking") as advance:  # an agent may take ten seconds to answer
        for finding in examine(session.settings, session.plugins, ask=ask, only=agents):
            findings.append(finding)
            advance(len(findings), None)
    if as_json:
        print_json(findings)
    else:
        rows = ((one.state, one.what, one.detail, one.remedy) for one in findings)
        print_table(("STATE", "WHAT", "DETAIL", "REMEDY"), rows, empty="")
    if any(one.state == "wrong" for one in findings):
        raise click.exceptions.Exit(1)


@click.command(epilog=examples("stats", "stats --json"))
@json_option
@pass_session
def stats(session: Session, as_json: bool) -> None:
    """Count nodes, links, thoughts and operations."""
    found = session.client.stats()
    if as_json:
        print_json(found)
        return
    rows = [
        (what, name, count)
        for what, counts in (
            ("nodes", found.nodes_by_type),
            ("links", found.edges_by_relation),
            ("thoughts", found.thoughts_by_kind),
            ("operations", found.operations_by_agent),
            ("answers", found.answers_by_plugin),
        )
        for name, count in counts.items()
    ]
    print_table(("WHAT", "NAME", "COUNT"), [*rows, ("bytes", "", found.bytes)], empty="")


@click.command(epilog=examples("plugins", "plugins --json"))
@json_option
@pass_session
def plugins(session: Session, as_json: bool) -> None:
    """List the plugins, their hooks and their last failure; works with a broken store."""
    infos = session.plugins.infos()
    if as_json:
        print_json(infos)
        return
    print_table(
        ("NAME", "VERSION", "STATE", "HOOKS", "LAST FAILURE"),
        ((info.name, info.version, info.state, " ".join(info.hooks), info.failure) for info in infos),
        empty="no plugins are installed",
    )


@click.command(epilog=examples("rebuild", "rebuild --rederive"))
@click.option("--rederive", is_flag=True, help="Ask the plugins again instead of folding what they answered.")
@json_option
@pass_session
def rebuild(session: Session, rederive: bool, as_json: bool) -> None:
    """Fold every table again from the log; what was there comes out again."""
    with progress("Rebuilding") as advance:
        report = session.plane.rebuild(rederive=rederive, progress=advance)
    if as_json:
        print_json(report)
        return
    print_pairs([("operations", report.operations), ("derivations", report.derivations)])
    print_table(("CHANGED",), ((change,) for change in report.changed), empty="nothing changed")


@click.group(cls=Group, epilog=examples("db revision", "db check", "db upgrade"))
def db() -> None:
    """Check or upgrade the database."""


@db.command(epilog=examples("db check", "db check --json"))
@json_option
@pass_session
def check(session: Session, as_json: bool) -> None:
    """Check the file, the tables and the search index; exit 1 when something is wrong."""
    from memory_plane import schema

    with _database(session) as database:
        if not _is_there(database):
            raise click.ClickException(f"there is no {str(database.path)!r}; run: memory-plane db upgrade")
        complaints = schema.check(database)
    if as_json:
        print_json({"sound": not complaints, "complaints": complaints})
    else:
        for line in complaints or ["the database is sound"]:
            click.echo(one_line(line))
    if complaints:
        raise click.exceptions.Exit(1)


@db.command(epilog=examples("db upgrade"))
@json_option
@pass_session
def upgrade(session: Session, as_json: bool) -> None:
    """Bring the database to this version; an older SQLite file is copied first."""
    from memory_plane import schema

    with _database(session) as database:
        schema.ensure(database)
    _print_revisions(session, as_json)


@db.command(epilog=examples("db revision", "db revision --json"))
@json_option
@pass_session
def revision(session: Session, as_json: bool) -> None:
    """Show the revision of the database and the newest one."""
    _print_revisions(session, as_json)


def _print_revisions(session: Session, as_json: bool) -> None:
    from memory_plane import schema

    with _database(session) as database:
        current = schema.current(database) if _is_there(database) else None
    revisions = {"current": current, "head": schema.head()}
    if as_json:
        print_json(revisions)
    else:
        print_pairs([("current", current or "none"), ("head", revisions["head"])])


@contextmanager
def _database(session: Session) -> Iterator[Database]:
    """Open the database as it is: a plane would upgrade it."""
    from memory_plane.database import Database

    with closing(Database.of(session.settings)) as database:
        yield database


def _is_there(database: Database) -> bool:
    """Whether there is anything to open: connecting to an SQLite file would make it."""
    return database.path is None or database.path.exists()
