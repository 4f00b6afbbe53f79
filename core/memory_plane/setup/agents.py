"""What `doctor` says of each agent: whether it is told of the memory still, and whether it was heard."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory_plane import seen
from memory_plane.integration import Access, Call, Check, Edit, Integration, Machine
from memory_plane.setup import calls, edits, files, manifest
from memory_plane.setup.errors import Broken, Kept
from memory_plane.setup.finding import Finding
from memory_plane.setup.manifest import Manifest

if TYPE_CHECKING:
    from memory_plane.plugins import PluginManager


def known(home: Path, plugins: PluginManager) -> list[str]:
    """Return the ids of all agents that can be looked at: those of plugins, and those that were set up."""
    declared = [one.agent for _, one in plugins.integrate(Machine.here(home))]
    return list(dict.fromkeys((*declared, *manifest.load(home).agents)))


def examine(
    home: Path, plugins: PluginManager, *, ask: bool = False, only: Collection[str] = (), start: bool = True
) -> Iterator[Finding]:
    """Look at every agent that is here or was set up, or at those with the ids in `only`.

    To `ask` an agent is to start its program, which may write files of its own; side by side, since some take seconds.
    Unless programs may be `start`ed, what no file tells is left out.
    """
    held = manifest.load(home)
    declared = {one.agent: one for _, one in plugins.integrate(Machine.here(home))}
    for agent in (one for one in held.agents.keys() - declared.keys() if not only or one in only):
        detail = "is set up, but no plugin speaks for it"
        remedy = f"memory-plane uninstall {agent}, or install its plugin"
        yield Finding(what=f"agent {agent}", state="wrong", detail=detail, remedy=remedy)
    looked_at = [
        one for one in declared.values() if (one.agent in only if only else one.found or one.agent in held.agents)
    ]
    with seen.undisturbed(home), ThreadPoolExecutor(max_workers=8) as pool:
        for found in pool.map(lambda one: list(_agent(one, held, home, ask=ask, start=start)), looked_at):
            yield from found


def _agent(integration: Integration, held: Manifest, home: Path, *, ask: bool, start: bool) -> Iterator[Finding]:
    what, agent = f"agent {integration.agent}", integration.agent
    last = seen.last(home, agent)
    if not integration.edits and not integration.checks:
        yield _by_hand(integration, last)
        return
    if agent in held.leaving:
        detail = f"the uninstall of {integration.name} is unfinished; what is left is noted"
        yield Finding(what=what, state="wrong", detail=detail, remedy=f"memory-plane uninstall {agent}")
        return
    if agent not in held.agents and not integration.found:
        yield Finding(what=what, state="note", detail=f"{integration.name} is not on this machine")
        return
    if agent not in held.agents:
        detail = f"{integration.name} is here ({integration.found}), and not connected"
        yield Finding(what=what, state="note", detail=detail, remedy=f"memory-plane setup {agent}")
        return
    if not integration.found:
        detail = f"{integration.name} is gone from this machine"
        yield Finding(what=what, state="wrong", detail=detail, remedy=f"memory-plane uninstall {agent}")
        return
    complaints = list(_complaints(integration, ask=ask, start=start))
    for detail, remedy in complaints:
        yield Finding(what=what, state="wrong", detail=detail, remedy=remedy)
    if not complaints:
        yield _heard(integration, last)


def _complaints(integration: Integration, *, ask: bool, start: bool) -> Iterator[tuple[str, str]]:
    """Yield what does not stand as it was written, what the agent does not see, and what cannot be read."""
    again = f"memory-plane setup {integration.agent}"
    looked_at = [one for one in (*integration.edits, *integration.checks) if _is_looked_at(one, ask=ask, start=start)]
    with ThreadPoolExecutor(max_workers=max(1, len(looked_at))) as pool:
        for one, complaint in zip(looked_at, pool.map(_complaint, looked_at), strict=True):
            if complaint:
                what = str(one.path) if isinstance(one, edits.FileEdit) else one.what
                yield f"{what}: {complaint}", one.remedy if isinstance(one, Check | Access) else again


def _is_looked_at(one: Edit | Check | Access, *, ask: bool, start: bool) -> bool:
    match one:
        case Check():
            return start and (ask or one.harmless)
        case Call():
            return start or bool(one.sets)  # what it sets stands in a file
        case _:
            return True


def _complaint(one: Edit | Check | Access) -> str:
    """Return what is wrong with an edit, or with what an agent sees; "" where nothing is."""
    match one:
        case Call():
            return calls.complaint(one)
        case Check():
            return calls.passes(one)
        case Access():
            return _of_access(one)
        case _:
            return _of_edit(one)


def _of_edit(edit: edits.FileEdit) -> str:
    try:
        stands = edits.stands(edit, files.read(edit.path))
    except (Broken, Kept) as error:
        return str(error).removeprefix(f"{edit.path}: ")
    return "" if stands else "what was written there is gone, changed, or of an older version"


def _of_access(access: Access) -> str:
    """Return why a file or folder of the agent cannot be read, "" if it can; one that is not there is no fault."""
    try:
        if access.path.is_dir():
            next(access.path.iterdir(), None)
        else:
            access.path.open("rb").close()
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{access.path} cannot be read: {error.strerror}"
    return ""


def _heard(integration: Integration, last: seen.Seen) -> Finding:
    """Say when the agent's hooks and its session were last heard; one that never was may be wrong, or new."""
    what, agent, heard = f"agent {integration.agent}", integration.name, []
    if last.hook:
        heard.append(f"hook {_when(last.hook)}{f' ({last.event})' if last.event else ''}")
    if last.mcp:
        heard.append(f"MCP {_when(last.mcp)}")
    silent = [name for name, due, at in _due(integration, last) if due and at is None]
    if silent:
        told = f", only {' and '.join(heard)}" if heard else ""
        detail = f"{agent} is connected; no {' and no '.join(silent)} was heard yet{told}"
        remedy = f"{_first(integration)}, take a turn, and look again, or have it asked: memory-plane doctor --ask"
        return Finding(what=what, state="note", detail=detail, remedy=remedy)
    last_heard = f"; last heard: {', '.join(heard)}" if heard else ""
    return Finding(what=what, state="ok", detail=f"{agent} is connected{last_heard}")


def _first(integration: Integration) -> str:
    """Say what a person does before an agent can be heard: where its hooks wait for trust, a restart is not enough."""
    by_hand = (one.remedy for one in integration.checks if isinstance(one, Check) and one.by_hand)
    return next(by_hand, f"restart {integration.name}")


def _by_hand(integration: Integration, last: seen.Seen) -> Finding:
    """Say when an agent was heard that nothing on this machine connects: whether a person has is not to be seen."""
    what, agent, name = f"agent {integration.agent}", integration.agent, integration.name
    if heard := [_when(at) for at in (last.hook, last.mcp) if at]:
        return Finding(what=what, state="ok", detail=f"{name}, connected by hand; last heard: {max(heard)}")
    detail = f"{name} is connected by hand, elsewhere; last heard: never"
    return Finding(what=what, state="note", detail=detail, remedy=f"memory-plane setup {agent} tells the steps")


def _due(integration: Integration, last: seen.Seen) -> Iterable[tuple[str, bool, datetime | None]]:
    return ("hook", integration.hooks, last.hook), ("MCP session", integration.serves, last.mcp)


def _when(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
