"""What the lines of the outbox say: an operation each, or a dead letter with its reason."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

from memory_plane.errors import Refused
from memory_plane.operations import FORGET, agent_id, iso, parse_operation, record_of
from memory_plane.redact import redact
from memory_plane.types import NAMESPACE, Operation

_FIELDS = {"id", "op", "agent", "created_at", "body"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """What cannot be delivered, and since when (None where the line does not say so).

    `operation` is None for a line that cannot be read, and `line` is what it says.
    """

    id: str
    at: datetime | None
    reason: str
    operation: Operation | None = None
    line: str = ""


def write(operation: Operation) -> bytes:
    """Return the line of an operation; raise `Refused` for one that JSON cannot hold."""
    try:
        return _json(record_of(operation))
    except (TypeError, ValueError) as error:
        raise Refused(f"body: cannot be written as JSON: {error}") from None


def read(line: bytes) -> Operation:
    """Read a line; raise `Refused` for what is no operation. What we wrote ourselves is not redacted once more."""
    found = _object(line)
    if found is None:
        raise Refused("it is no JSON object, or only a part of one")
    return _as_we_write(found) or parse_operation(found)


def id_of(line: bytes) -> str:
    """Return the id of the operation in a line, or one made of the line where it has none."""
    found = _object(line) or {}
    id = found.get("id")
    return id if isinstance(id, str) else str(uuid5(NAMESPACE, f"line:{_text(line)}"))


def agent_of(line: bytes) -> str | None:
    """Return whose operation is in a line, None where there is none in it."""
    agent = (_object(line) or {}).get("agent")
    return agent if isinstance(agent, str) else None


def write_dead(reason: str, operation: Operation) -> bytes:
    """Return the line of a dead letter."""
    return _json(_stamp(reason) | {"id": operation.id, "operation": record_of(operation)})


def write_unreadable(reason: str, line: bytes) -> bytes:
    """Return the line of a dead letter that keeps a line of the outbox as it was found, but for secrets in it."""
    return _json(_stamp(reason) | {"id": id_of(line), "line": redact(_text(line))})


def read_dead(line: bytes) -> DeadLetter:
    """Read a dead letter; a line that is none is a letter about itself."""
    found = _object(line) or {}
    id, at, reason = found.get("id"), _moment(found.get("at")), found.get("reason")
    if not isinstance(id, str) or not isinstance(reason, str):
        return DeadLetter(id=id_of(line), at=at, reason="this dead letter cannot be read", line=_text(line))
    kept = found.get("line")
    source = kept if isinstance(kept, str) else json.dumps(found.get("operation"))
    try:
        return DeadLetter(id=id, at=at, reason=reason, operation=read(source.encode("utf-8", "backslashreplace")))
    except Refused:
        return DeadLetter(id=id, at=at, reason=reason, line=source)


def is_about(line: bytes, target: str) -> bool:
    """Whether a line holds the operation `target`, something said about it, or nothing that can be read.

    The word to forget it tells nothing of it.
    """
    found = _object(line) or {}
    operation = found.get("operation") if "reason" in found else found
    body = operation.get("body") if isinstance(operation, dict) else None
    if not isinstance(operation, dict) or not isinstance(body, dict):
        return True
    named = (operation.get("id"), body.get("item"), body.get("target"))
    return target in named and operation.get("op") != FORGET


def _as_we_write(found: dict[str, Any]) -> Operation | None:
    """Read the exact form that `write` gives, for a twentieth of what `parse_operation` costs."""
    if found.keys() != _FIELDS:
        return None
    from memory_plane import bodies

    id, op, agent, at, body = (found[name] for name in ("id", "op", "agent", "created_at", "body"))
    try:
        created_at = datetime.fromisoformat(at)
        exact = (str(UUID(id)), agent_id(agent), iso(created_at)) == (id, agent, at)
        bodies.body_of(op, body)
    except (AttributeError, KeyError, TypeError, ValueError, Refused):
        return None
    return Operation(id=id, op=op, agent=agent, created_at=created_at, body=body) if exact else None


def _stamp(reason: str) -> dict[str, Any]:
    return {"at": iso(datetime.now(UTC)), "reason": reason}


def _moment(text: Any) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return at if at.tzinfo is not None else None


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False).encode()


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _text(line: bytes) -> str:
    return line.decode("utf-8", "backslashreplace")
