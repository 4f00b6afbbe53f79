"""The kinds of sources, and which of them something is."""

from __future__ import annotations

from typing import Any

from memory_plane.errors import MemoryPlaneError
from memory_plane.importers import chatgpt, claude_code, claude_export, graph_memory, markdown, memory_json
from memory_plane.importers.documents import lines
from memory_plane.importers.driver import Source, preview
from memory_plane.importers.files import Files, readable
from memory_plane.importers.item import Kind

LOG = "log"
KINDS: dict[str, Kind] = {
    module.KIND.name: module.KIND
    for module in (graph_memory, claude_export, chatgpt, memory_json, claude_code, markdown)
}
"""Every kind but our own log, in the order in which they are looked for."""

_LOG_FIELDS = ({"id", "op", "agent"}, {"memory", "plugin", "answer"})

_LOG_LINES = "lines of memory-plane export"
_BEGINNING = 4_096


def is_log(files: Files) -> bool:
    """Whether a file begins as what `memory-plane export` writes; an empty memory makes an empty one."""
    if not files.alone:
        return False
    with files.open(files.names[0]) as stream:
        first: Any = next(lines(stream), {})
    return first == {} or (isinstance(first, dict) and any(fields <= first.keys() for fields in _LOG_FIELDS))


def _begins(files: Files, mark: bytes) -> bool:
    with files.open(files.names[0]) as stream:
        return mark in stream.read(_BEGINNING)


def named(files: Files, name: str) -> Kind | None:
    """Return the kind that a source is said to be, None for our own log; raise `MemoryPlaneError` where it is not that.

    One that is damaged says itself what is wrong with it.
    """
    kind = KINDS.get(name)
    with readable():
        if is_log(files) if kind is None else kind.found(files):
            return kind
        fits = _name_of(files)
    if fits is None and ((kind is None and files.alone) or (kind is not None and _gives(kind, files))):
        return kind
    looked_for = kind.looks_for if kind else _LOG_LINES
    advice = f"; it looks like {fits}: give --from {fits}" if fits else ""
    raise MemoryPlaneError(f"there is nothing of {name!r} in it; looked for {looked_for}{advice}")


def _gives(kind: Kind, files: Files) -> bool:
    """Whether anything comes of a source that does not begin as its kind does."""
    return any(outcome.state == "new" for outcome in preview(Source(kind=kind, files=files)))


def _name_of(files: Files) -> str | None:
    if is_log(files) and _begins(files, b"{"):
        return LOG
    return next((kind.name for kind in KINDS.values() if kind.found(files)), None)


def recognise(files: Files) -> Kind:
    """Return what a source is, or raise `MemoryPlaneError` with all that was looked for."""
    with readable():
        for kind in KINDS.values():
            if kind.found(files):
                return kind
    if files.alone and _begins(files, b"\x1f\x8b"):
        raise MemoryPlaneError("it is compressed; unpack it first, as with: gunzip")
    if files.alone and _begins(files, b'"export_url"'):
        raise MemoryPlaneError("it only lists an export; download what it lists into one folder, and give that")
    known = "; ".join(f"{kind.looks_for} ({kind.name})" for kind in KINDS.values())
    raise MemoryPlaneError(f"it is nothing known here; looked for {known}; {_LOG_LINES} ({LOG})")
