"""The edge of what another store tells: records of JSON in, operations and what came along out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from memory_plane.errors import Refused
from memory_plane.operations import parse_operation
from memory_plane.store.feed import Delivery
from memory_plane.types import EPOCH, Operation, Receipt


def read(
    operations: Sequence[Mapping[str, Any]], derivations: Sequence[Mapping[str, Any]], peer: str | None
) -> tuple[list[Operation | Receipt], Delivery]:
    """Return each operation, or its refusal, in order, and the delivery of stamps and derivations by memory.

    Raise `Refused` for a `peer` that is no id; a derivation of no memory is left out.
    """
    stamps: dict[str, datetime] = {}
    checked: list[Operation | Receipt] = []
    for record in operations:
        try:
            operation, stamp = _operation(record)
        except Refused as error:
            id = record.get("id") if isinstance(record, Mapping) else None
            checked.append(Receipt(id=id if isinstance(id, str) else "", state="refused", detail=str(error)))
            continue
        checked.append(operation)
        if stamp is not None:
            stamps[operation.id] = stamp
    answers: dict[str, list[Mapping[str, Any]]] = {}
    for derivation in derivations:
        memory = derivation.get("memory") if isinstance(derivation, Mapping) else None
        if isinstance(memory, str) and _is_id(memory):
            answers.setdefault(memory.lower(), []).append(derivation)
    if peer is not None and not _is_id(peer):
        raise Refused("peer: is no id of a store (a UUID)")
    return checked, Delivery(peer=peer, stamps=stamps, answers=answers)


def _operation(record: Mapping[str, Any]) -> tuple[Operation, datetime | None]:
    if not isinstance(record, Mapping):
        raise Refused("operation: must be an object")
    rest = dict(record)
    given = rest.pop("effective_at", None)
    operation = parse_operation(rest)
    if given is None:
        return operation, None
    try:
        stamp = datetime.fromisoformat(given)
        stamp = stamp.astimezone(UTC) if stamp.tzinfo else EPOCH
    except (TypeError, ValueError, OverflowError):
        raise Refused("effective_at: is no ISO 8601 time") from None
    if stamp <= EPOCH:
        raise Refused("effective_at: is out of range, or has no time zone")
    if stamp >= operation.created_at:
        raise Refused("effective_at: is not before created_at")
    return operation, stamp


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False
