"""The writes: an endpoint for every operation, and one that takes many as an outbox or another store has them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, HTTPException, Response
from pydantic import BaseModel, Field, create_model

from memory_plane.bodies import BODIES, Agent, NewWords, TextToIngest, Time, Uuid, checked
from memory_plane.errors import Refused
from memory_plane.graphs import MEMORIES
from memory_plane.operations import FORGET, agent_id, make_operation
from memory_plane.plane import Plane
from memory_plane.surfaces.gate import not_yours
from memory_plane.surfaces.limits import MAX_BODY, MAX_SYNC_BODY, Growth
from memory_plane.surfaces.rest.wire import (
    ERRORS,
    TOO_DEEP,
    Answer,
    Body,
    Identity,
    NamedAgent,
    bearer,
    json_object,
    known_parameters,
    speaks_for,
    told,
    too_deep,
)
from memory_plane.types import Found, Operation, Receipt
from memory_plane.writes import Writes

MAX_OPERATIONS = 1_000
PERSONS_ALONE = "op: to forget cannot be undone and needs the token of the hub; an agent's own may retract"
_ENVELOPE = ("agent", "created_at", "id")

EXAMPLES: dict[str, dict[str, Any]] = {
    "thought": {"agent": "muse", "text": "Ask Rob for the invoice", "kind": "commitment", "to": "rob"},
    "fact": {"agent": "muse", "subject": "Rob", "key": "role", "value": "CTO of Acme"},
    "heartbeat": {"agent": "muse", "focus": "invoices", "project": "billing"},
    "resolve": {"agent": "muse", "item": "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10", "status": "done"},
    "assign": {"agent": "muse", "item": "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10", "to": "grok"},
    "snooze": {"agent": "muse", "item": "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10", "until": "2026-11-02T08:00:00Z"},
    "pin": {"agent": "muse", "target": "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10"},
    "retract": {"agent": "muse", "target": "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10", "reason": "it was a test"},
    "release": {"agent": "muse", "target": "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10"},
    "merge": {
        "agent": "muse",
        "node": "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10",
        "into": "0b5c6b0e-7d53-5c7e-9f2b-2f6f6f0e9a11",
    },
    "split": {
        "agent": "muse",
        "node": "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10",
        "memories": ["0b5c6b0e-7d53-5c7e-9f2b-2f6f6f0e9a11"],
    },
    "distinct": {
        "agent": "muse",
        "nodes": ["6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10", "0b5c6b0e-7d53-5c7e-9f2b-2f6f6f0e9a11"],
    },
    "alias": {"agent": "muse", "node": "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10", "name": "Bob"},
    "forget": {"agent": "muse", "target": "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10"},
}
SUPERSEDE = {"agent": "muse", "target": "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10", "text": "Ask Rob for both invoices"}
INGEST = {"agent": "muse", "text": "Alice leads the website project.\n\nRob owes her the logo.", "origin": "user"}

_WRITE_ERRORS = told(
    e400="the body is no JSON object",
    e403="the token is that of another agent",
    e413="the body is too large",
    e415="the body is not application/json, or it is compressed",
    e429="the agent has written too much in an hour; try again after Retry-After seconds",
)


class Written(BaseModel):
    """The receipt of one operation."""

    id: str = Field(examples=["6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10"])
    state: str = Field(examples=["stored"], description="stored, duplicate or refused")
    detail: str = Field(default="", description="why it was refused, or what else the writer should know")


class Ingestion(BaseModel):
    """The receipt of each paragraph of a text, and what was found in those that are stored."""

    receipts: list[Written]
    found: Found


class Record(BaseModel):
    """An operation as the export has it."""

    id: str | None = None
    op: str = Field(examples=["thought"])
    agent: str = Field(examples=["muse"])
    created_at: str = Field(examples=["2026-10-31T12:00:00.000000Z"])
    effective_at: str | None = None
    body: dict[str, Any] = Field(examples=[{"text": "Moved the invoices to the new system"}])


class Sync(BaseModel):
    """Operations of an outbox, or of another store, `peer`, together with what its plugins made of them."""

    operations: list[Record] = Field(max_length=MAX_OPERATIONS)
    derivations: list[dict[str, Any]] = []
    peer: str | None = None


def writes(plane: Plane, growth: Growth) -> APIRouter:
    """Return the endpoints that write."""
    router = APIRouter(
        prefix="/api", tags=["write"], responses=ERRORS | _WRITE_ERRORS, dependencies=[known_parameters, bearer]
    )
    for op, model in BODIES.items():
        router.add_api_route(
            f"/{op}",
            _writer(plane, growth, op),
            methods=["POST"],
            operation_id=f"write_{op}",
            summary=op,
            description=_about(op),
            response_model=Written,
            responses={422: {"model": Written, "description": "refused, and why"}},
            openapi_extra=_takes(_flat(op, model), EXAMPLES.get(op), MAX_BODY),
        )
    router.add_api_route(
        "/supersede",
        _superseder(plane, growth),
        methods=["POST"],
        operation_id="supersede",
        summary="supersede",
        description=_about("supersede"),
        response_model=Written,
        responses={422: {"model": Written, "description": "refused, and why"}},
        openapi_extra=_takes(NewWords, SUPERSEDE, MAX_BODY),
    )
    router.add_api_route(
        "/ingest",
        _ingester(plane, growth),
        methods=["POST"],
        operation_id="ingest",
        summary="Store each paragraph of a text",
        response_model=Ingestion,
        openapi_extra=_takes(TextToIngest, INGEST, MAX_BODY),
    )
    router.add_api_route(
        "/sync",
        _syncer(plane, growth),
        methods=["POST"],
        operation_id="sync",
        summary="Write many operations at once",
        response_model=list[Written],
        openapi_extra=_takes(Sync, None, MAX_SYNC_BODY),
    )
    return router


def _about(op: str) -> str:
    """Return what the method for an operation says of it."""
    method = getattr(Writes, {"thought": "post", "merge": "merge_nodes"}.get(op, op))
    return str(method.__doc__).partition("\n")[0]


def _flat(op: str, model: type[BaseModel]) -> type[BaseModel]:
    """Return the fields of an operation beside those of its envelope."""
    envelope: dict[str, Any] = {
        "agent": (Agent | None, None),
        "created_at": (Time | None, None),
        "id": (Uuid | None, None),
    }
    return create_model(f"{op.capitalize()}Write", __base__=model, **envelope)


def _takes(model: type[BaseModel], example: Mapping[str, Any] | None, limit: int) -> dict[str, Any]:
    """Describe a body that the endpoint reads itself, so that all surfaces refuse in the same words."""
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    inline = _inlined(schema, schema.pop("$defs", {}))
    content = {"schema": inline} | ({"example": dict(example)} if example else {})
    return {
        "requestBody": {
            "required": True,
            "description": f"at most {limit:,} bytes",
            "content": {"application/json": content},
        }
    }


def _inlined(schema: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inlined(one, definitions) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    return {name: _inlined(one, definitions) for name, one in schema.items()}


def _writer(plane: Plane, growth: Growth, op: str) -> Callable[..., Response]:
    def write(body: Body, identity: Identity, header: NamedAgent) -> Response:
        record = json_object(body)
        try:
            operation = _operation(op, record, header, identity, hold_external=plane.settings.hold_external)
        except Refused as error:
            return _receipt(_refusal(record.get("id"), str(error)))
        costs = [(operation.agent, len(body))]
        (receipt,) = growth.keep(costs, lambda: plane.store([operation], strict=True))
        return _receipt(receipt)

    return write


def _superseder(plane: Plane, growth: Growth) -> Callable[..., Response]:
    def supersede(body: Body, identity: Identity, header: NamedAgent) -> Response:
        record = json_object(body)
        try:
            given = checked(NewWords, record)
            agent = _author(given.agent, header, identity)
        except Refused as error:
            return _receipt(_refusal(record.get("id"), str(error)))
        growth.spend([(agent, len(body))])
        return _receipt(plane.supersede(**given.model_dump() | {"agent": agent}))

    return supersede


def _ingester(plane: Plane, growth: Growth) -> Callable[..., Ingestion]:
    def ingest(body: Body, identity: Identity, header: NamedAgent) -> Ingestion:
        """Store a text of any length, each paragraph as an observation, and tell what was found in it.

        The words are somebody else's unless `origin` says otherwise. What is known from the same `source` is a
        duplicate.
        """
        given = checked(TextToIngest, json_object(body))
        agent = _author(given.agent, header, identity)
        growth.spend([(agent, len(body))])
        receipts = plane.ingest_text(**given.model_dump() | {"agent": agent})
        if not receipts:
            raise Refused("text: must not be empty")
        stored = [receipt.id for receipt in receipts if receipt.state == "stored"]
        return Ingestion(
            receipts=[Written(**asdict(receipt)) for receipt in receipts], found=plane.found(stored[:MEMORIES])
        )

    return ingest


def _operation(
    op: str, record: Mapping[str, Any], header: str | None, identity: str | None, *, hold_external: bool
) -> Operation:
    if too_deep(record):
        raise Refused(TOO_DEEP)
    if op == FORGET and identity is not None:
        raise HTTPException(403, PERSONS_ALONE)
    body = {name: value for name, value in record.items() if name not in _ENVELOPE}
    agent = _author(record.get("agent"), header, identity)
    at, id = record.get("created_at"), record.get("id")
    return make_operation(op, body, agent=agent, created_at=at, id=id, hold_external=hold_external)


def _author(given: Any, header: str | None, identity: str | None) -> Any:
    """Return whose operation it is: the token says it, else the body or the header."""
    for name in (given, header):
        if name is not None and not speaks_for(identity, name):
            raise HTTPException(403, not_yours(identity))
    if given is not None and header is not None and given != header:
        raise Refused("agent: body and header name different ones")
    agent = identity or given or header
    if agent is None:
        raise Refused("agent: missing; say who writes")
    return agent


def _receipt(receipt: Receipt) -> Response:
    return Answer(asdict(receipt), status_code=422 if receipt.state == "refused" else 200)


def _refusal(id: Any, detail: str) -> Receipt:
    return Receipt(id=id if isinstance(id, str) else "", state="refused", detail=detail)


def _syncer(plane: Plane, growth: Growth) -> Callable[..., Response]:
    def sync(body: Body, identity: Identity) -> Response:
        """Write operations in one transaction and in any order; each is answered, and a bad one hurts no other."""
        operations, derivations, peer = _batch(json_object(body))
        if identity is not None and (derivations or peer is not None):
            raise HTTPException(403, "derivations and peer need the token of the hub; an agent's own is not enough")
        refusals = [_unacceptable(record, identity) for record in operations]
        accepted = [record for record, refusal in zip(operations, refusals, strict=True) if refusal is None]
        costs = [(agent_id(str(record.get("agent"))) or "", len(json.dumps(record))) for record in accepted]
        receipts = iter(growth.keep(costs, lambda: plane.merge(accepted, derivations, peer=peer)))
        return Answer([asdict(refusal or next(receipts)) for refusal in refusals])

    return sync


def _batch(given: Mapping[str, Any]) -> tuple[list[Any], list[Any], str | None]:
    """Return operations, derivations and peer of a request; raise `Refused` for what is none."""
    unknown = sorted(set(given) - set(Sync.model_fields))
    if unknown:
        raise Refused(f"{unknown[0][:80]}: unknown field; known are {', '.join(Sync.model_fields)}")
    operations, derivations, peer = given.get("operations"), given.get("derivations") or [], given.get("peer")
    if not isinstance(operations, list):
        raise Refused("operations: must be a list")
    if len(operations) > MAX_OPERATIONS:
        raise HTTPException(413, f"operations: {len(operations):,} are too many; send {MAX_OPERATIONS:,} at a time")
    if not isinstance(derivations, list):
        raise Refused("derivations: must be a list")
    if too_deep(derivations):
        raise Refused(TOO_DEEP)
    if peer is not None and not isinstance(peer, str):
        raise Refused("peer: must be the id of a store")
    return operations, derivations, peer


def _unacceptable(record: Any, identity: str | None) -> Receipt | None:
    """Return the refusal of a record that must not reach the store."""
    if not isinstance(record, dict):
        return _refusal(None, "operation: must be an object")
    if too_deep(record):
        return _refusal(record.get("id"), TOO_DEEP)
    if not speaks_for(identity, record.get("agent")):
        return _refusal(record.get("id"), not_yours(identity))
    if record.get("op") == FORGET and identity is not None:
        return _refusal(record.get("id"), PERSONS_ALONE)
    return None
