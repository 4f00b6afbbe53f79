"""How each agent of the table is told of the memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from memory_plane.integration import (
    ALL,
    INSTRUCTIONS,
    Beyond,
    Block,
    Check,
    Copy,
    Edit,
    Element,
    Entry,
    Integration,
    Machine,
    OwnFile,
    first_found,
)
from memory_plane_clients import table, trust
from memory_plane_clients.table import Row, filled


def integration(agent: str, row: Row, machine: Machine) -> Integration:
    """Declare what an agent gets: a server, and hooks, instructions and files of ours where it takes them."""
    base = table.folder(row, machine)
    program = machine.which(row["program"]) if "program" in row else None
    marks = [base / name for name in row.get("sure_by", [])] or [base]
    missing = row.get("instead", {}).get(machine.platform)
    return Integration(
        agent=agent,
        name=row["name"],
        found=first_found(program, *marks),
        edits=tuple(_edits(agent, row, base, machine)),
        checks=tuple(_checks(agent, row, program, machine)),
        steps=(missing,) if missing else tuple(row.get("steps", ())),
        hooks=not missing and not row.keys().isdisjoint(("hooks", "scripts", "files")),
        serves=True,
    )


def _edits(agent: str, row: Row, base: Path, machine: Machine) -> Iterator[Edit]:
    command = machine.mcp(agent)
    server = row["server"]
    words = {"{command}": command[0], "{args}": list(command[1:]), "{line}": list(command)}
    place = table.file(server["file"], base, machine)
    yield Entry(
        path=place, pointer=tuple(server["pointer"]), value=filled(server["entry"], words), reads=_reads(server)
    )
    if machine.platform not in row.get("instead", {}):
        yield from _hooks(agent, row.get("hooks"), base, machine)
        yield from _scripts(agent, row.get("scripts"), base, machine)
        for name, source in row.get("files", {}).items():
            text = _own(table.resource(source), agent, machine)
            yield OwnFile(path=table.file(name, base, machine), text=text)
    if "instructions" in row:
        yield Block(path=base / row["instructions"], text=INSTRUCTIONS)
    if "rules" in row:
        place = table.file(row["rules"], base, machine)
        yield Copy(path=place, page=f"brief/{agent}.md", preface=f"{INSTRUCTIONS}\n\n")


def _hooks(agent: str, hooks: Row | None, base: Path, machine: Machine) -> Iterator[Edit]:
    if hooks is None:
        return
    place = table.file(hooks["file"], base, machine)
    for key, value in hooks.get("beside", {}).items():
        yield Entry(path=place, pointer=(key,), value=value, stays=True, reads=_reads(hooks))
    for event in hooks["events"]:
        value = filled(hooks["entry"], {"{hook}": machine.hook(agent, event)})
        yield Element(path=place, pointer=("hooks", event), value=value, reads=_reads(hooks))


def _reads(file: Row) -> Beyond:
    return tuple(file.get("reads", ALL))


def _scripts(agent: str, scripts: Row | None, base: Path, machine: Machine) -> Iterator[Edit]:
    if scripts is None:
        return
    for event in scripts["events"]:
        place = table.file(f"{scripts['folder']}/{event}", base, machine)
        yield OwnFile(path=place, text=f"#!/bin/sh\nexec {machine.hook(agent, event)}\n", executable=True)


def _own(text: str, agent: str, machine: Machine) -> str:
    """Fill in how the shim is called, as a list that JavaScript reads; the event comes before the last word."""
    return text.replace("__SHIM__", json.dumps(machine.shim(agent)))


def _checks(agent: str, row: Row, program: str | None, machine: Machine) -> Iterator[Check]:
    if program and (check := row.get("check")):
        yield Check(
            what=f"{row['name']} lists the server",
            command=(program, *check["command"]),
            shows=check["shows"],
            remedy=f"memory-plane setup {agent}",
            folder=machine.home,
        )
    if program and (trusts := row.get("trust")):
        lines = (machine.hook(agent, event) for event in row["hooks"]["events"])
        yield Check(
            what=trusts["what"],
            command=(machine.python, "-I", trust.__file__, program, *lines),
            shows=trust.TRUSTED,
            remedy=trusts["remedy"],
            folder=machine.home,
            by_hand=True,
        )
