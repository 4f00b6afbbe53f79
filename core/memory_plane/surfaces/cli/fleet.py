"""Commands that tell the agents of this machine of Memory Plane, and take that back."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memory_plane.errors import MemoryPlaneError
from memory_plane.surfaces.cli.guard import tell
from memory_plane.surfaces.cli.options import examples, json_option, pass_session
from memory_plane.surfaces.cli.output import print_json
from memory_plane.surfaces.cli.text import clean, one_line

if TYPE_CHECKING:
    from memory_plane.integration import Integration
    from memory_plane.setup.files import Found
    from memory_plane.setup.manifest import Manifest
    from memory_plane.setup.plan import Change, Plan
    from memory_plane.surfaces.cli.session import Session

_dry_run = click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
_yes = click.option("--yes", is_flag=True, help="Do not ask.")


@click.command(epilog=examples("setup", "setup --dry-run", "setup claude-code grok --yes"))
@click.argument("agents", metavar="[AGENT]...", nargs=-1)
@_dry_run
@_yes
@click.option("--take-over", is_flag=True, help="Replace entries of our name that somebody else made.")
@json_option
@pass_session
def setup(session: Session, agents: Sequence[str], dry_run: bool, yes: bool, take_over: bool, as_json: bool) -> None:
    """Connect the agents of this machine: show the change of every file, ask, back up, write, read back.

    Without AGENT all that are found. A second run changes nothing; `uninstall` takes it all back.
    """
    from memory_plane import seen
    from memory_plane.copies import Copies
    from memory_plane.setup import apply, plan

    chosen = _chosen(agents, _integrations(session))
    home = session.settings.home
    with _manifest(session, locked=not dry_run) as manifest:
        with seen.undisturbed(home):
            plans = plan.setups(chosen, manifest, take_over=take_over)
        report = [_report(one, "would change" if dry_run else "set up") for one in plans]
        if not as_json:
            _show(plans, {one.agent: one.found for one in chosen})
        if not dry_run:
            _ask(plans, yes, as_json)
            with seen.undisturbed(home):
                for one, told in zip(plans, report, strict=True):
                    _attempt(one, told, partial(apply.setup, one, manifest))
                Copies(home).write()
                _read_back(chosen, report)
    _finish(report, as_json)
    if not dry_run and not as_json:
        click.echo("\nSee whether they hear each other: memory-plane doctor")


@click.command(epilog=examples("uninstall", "uninstall grok --dry-run"))
@click.argument("agents", metavar="[AGENT]...", nargs=-1)
@_dry_run
@_yes
@json_option
@pass_session
def uninstall(session: Session, agents: Sequence[str], dry_run: bool, yes: bool, as_json: bool) -> None:
    """Take out of the agents' files what is still ours there; where nothing else changed, they are as they were.

    Without AGENT of all that were set up. The memory itself stays.
    """
    from memory_plane import seen
    from memory_plane.setup import apply, plan

    names = {one.agent: one.name for one in _integrations(session)}
    with _manifest(session, locked=not dry_run) as manifest:
        for agent in agents:
            if agent not in manifest.agents:
                raise click.UsageError(f"agent {agent!r} is not set up{hint(agent, manifest.agents)}")
        plans = plan.uninstalls({one: names.get(one, one) for one in agents or manifest.agents}, manifest)
        report = [_report(one, "would change" if dry_run else "taken out") for one in plans]
        if not as_json:
            _show(plans, {})
        if not dry_run:
            _ask(plans, yes, as_json)
            with seen.undisturbed(session.settings.home):
                for one, told in zip(plans, report, strict=True):
                    _attempt(one, told, partial(apply.uninstall, one, manifest))
    if not report and not as_json:
        tell("no agent is set up")
    _finish(report, as_json)


# --- which agents ------------------------------------------------------------------------------------------------


def _integrations(session: Session) -> list[Integration]:
    from memory_plane.integration import Machine

    return [one for _, one in session.plugins.integrate(Machine.here(session.settings.home))]


def _chosen(agents: Sequence[str], known: Iterable[Integration]) -> list[Integration]:
    by_id = {one.agent: one for one in known}
    for agent in agents:
        if agent not in by_id:
            raise click.UsageError(f"no plugin can set up {agent!r}{hint(agent, by_id)}")
    if missing := [agent for agent in agents if not by_id[agent].found]:
        raise MemoryPlaneError(f"{by_id[missing[0]].name} is not on this machine; install it first")
    chosen = [by_id[agent] for agent in dict.fromkeys(agents)] or [one for one in by_id.values() if one.found]
    if not chosen:
        looked = ", ".join(one.name for one in by_id.values()) or "none: install a plugin of an agent"
        raise MemoryPlaneError(f"no agent was found on this machine; looked for {looked}")
    return chosen


def hint(agent: str, known: Iterable[str]) -> str:
    """Return what may have been meant instead of an agent that is none."""
    close = get_close_matches(agent, list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(known)}" if known else ""


@contextmanager
def _manifest(session: Session, *, locked: bool) -> Iterator[Manifest]:
    from memory_plane.setup import apply, manifest

    if not locked:
        yield manifest.load(session.settings.home)
        return
    with apply.manifest_of(session.settings.home) as held:
        yield held


# --- asking and doing --------------------------------------------------------------------------------------------


def _ask(plans: Sequence[Plan], yes: bool, as_json: bool) -> None:
    """Ask once for all that was shown; go on where there is nothing to ask about, refuse where nobody can be asked."""
    busy = [one for one in plans if not one.is_idle]
    if yes or not busy:
        return
    if as_json or not sys.stdin.isatty():
        where = "with --json" if as_json else "here"
        message = f"nobody can be asked {where}; give --yes, or --dry-run to look"
        raise click.UsageError(message, click.get_current_context())
    files, runs = sum(len(one.changes) for one in busy), sum(len(one.calls) for one in busy)
    counts = (("agent", len(busy)), ("file", files), ("command", runs))
    told = ", ".join(f"{count} {what}{'' if count == 1 else 's'}" for what, count in counts if count)
    if not click.confirm(f"{told}. Do this?", err=True):
        tell("nothing was changed")
        raise click.exceptions.Exit(1)


def _attempt(planned: Plan, told: dict[str, Any], do: Callable[[], list[str] | None]) -> None:
    from memory_plane.setup.errors import Kept

    if planned.refused:
        return
    if not planned.is_idle and sys.stderr.isatty():
        click.echo(f"{one_line(planned.name)} …", err=True)
    before = planned.touched()
    try:
        told["notes"] += do() or ()
    except Kept as error:
        told["state"] = "refused"
        told["refused"].append(str(error))
    told["commands_changed"] = [{"path": one.path, "diff": one.diff()} for one in _since(before)]


def _since(before: Iterable[Found]) -> Iterator[Change]:
    """Yield what has changed in files meanwhile."""
    from memory_plane.setup import files
    from memory_plane.setup.errors import Kept
    from memory_plane.setup.plan import Change

    for found in before:
        with suppress(Kept):
            if (data := files.read(found.place)) != found.data:
                yield Change(found.place, found, data, found.mode)


def _read_back(integrations: Sequence[Integration], report: Sequence[dict[str, Any]]) -> None:
    """Ask the agents side by side what they really loaded, and name what only a person can do."""
    from concurrent.futures import ThreadPoolExecutor

    from memory_plane.integration import Check
    from memory_plane.setup import calls

    pairs = [(one, told) for one, told in zip(integrations, report, strict=True) if told["state"] != "refused"]
    asked = [
        (told, check) for one, told in pairs for check in one.checks if isinstance(check, Check) and not check.by_hand
    ]
    with ThreadPoolExecutor(max_workers=8) as pool:
        complaints = list(pool.map(lambda pair: calls.passes(pair[1]), asked))
    for (told, check), complaint in zip(asked, complaints, strict=True):
        told["checks"].append({"what": check.what, "passed": not complaint, "detail": complaint})
    for integration, told in pairs:
        told["steps"] = list(integration.steps)


# --- telling -----------------------------------------------------------------------------------------------------


def _show(plans: Sequence[Plan], found: dict[str, str]) -> None:
    """Show all that would be done, and after it in a line for each agent which files that are."""
    for one in plans:
        at = f", found at {found[one.agent]}" if one.agent in found else ""
        click.secho(one_line(f"{one.name} ({one.agent}){at}"), bold=True)
        for change in one.changes:
            _show_diff(clean(change.diff()))
        done = [command for call in one.calls for command in (call.do if one.agent in found else call.undo)]
        for command in (*(command for call in one.first_undone for command in call.undo), *done):
            click.echo(f"  will run: {one_line(_line(command))}")
        for change in one.foretold:
            click.echo(
                "  " + one_line(f"these are to change {change.path} about so; what they did is shown afterwards:")
            )
            _show_diff(clean(change.diff()))
        if one.is_idle and not one.refused:
            click.echo("  nothing to change")
        click.echo()
    busy = [one for one in plans if not one.is_idle]
    for one in busy:
        click.echo(one_line(f"{one.name}: {'; '.join(_touched(one))}"))
    if busy:
        click.echo()


def _touched(planned: Plan) -> Iterator[str]:
    """Yield which files of a plan are written, and which its commands change."""
    if planned.changes:
        yield ", ".join(_short(change.path) for change in planned.changes)
    if touched := planned.touched():
        yield f"by its commands {', '.join(_short(found.place) for found in touched)}"


def _short(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)


def _show_diff(diff: str) -> None:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in diff.splitlines():
        click.secho(line, fg=None if line.startswith(("+++", "---")) else colours.get(line[:1]))


def _line(command: Sequence[str]) -> str:
    """Write a command as a person types it, its secrets cut."""
    from memory_plane.redact import redact

    return redact(shlex.join((Path(command[0]).name, *command[1:])))


def _report(planned: Plan, state: str) -> dict[str, Any]:
    return {
        "agent": planned.agent,
        "state": "refused" if planned.refused else "unchanged" if planned.is_idle else state,
        "files": [change.path for change in planned.changes],
        "calls": [call.what for call in planned.calls],
        "commands_changed": [],
        "refused": list(dict.fromkeys(planned.refused)),
        "notes": list(planned.notes),
        "checks": [],
        "steps": [],
    }


def _finish(report: Sequence[dict[str, Any]], as_json: bool) -> None:
    """Say what became of each agent; one that was refused, or does not see us, ends the command with 1."""
    if as_json:
        print_json(report)
    for told in report if not as_json else ():
        click.echo(one_line(f"{told['agent']}: {told['state']}"))
        for change in told["commands_changed"]:
            click.echo("  " + one_line(f"its commands changed {change['path']}:"))
            _show_diff(clean(change["diff"]))
        for line in (*told["refused"], *told["notes"]):
            click.echo(f"  {one_line(line)}")
        for check in told["checks"]:
            passed = "ok" if check["passed"] else "WRONG"
            click.echo("  " + one_line(f"{passed}: {check['what']} {check['detail']}"))
    steps = [] if as_json else [(told["agent"], step) for told in report for step in told["steps"]]
    if steps:
        click.echo("\nLeft to you:")
    for agent, step in steps:
        click.echo(f"  {agent}: {one_line(step)}")
    if any(told["state"] == "refused" or not all(one["passed"] for one in told["checks"]) for told in report):
        raise click.exceptions.Exit(1)
