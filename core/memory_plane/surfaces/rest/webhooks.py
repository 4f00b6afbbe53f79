"""Webhooks: an app that can send no token posts what happened to an address with a secret in it."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, Field

from memory_plane.errors import Refused, StoreError
from memory_plane.plane import Plane
from memory_plane.surfaces.gate import WEBHOOK
from memory_plane.surfaces.limits import MAX_EVENT, Growth
from memory_plane.surfaces.rest.wire import (
    ERRORS,
    TOO_DEEP,
    Answer,
    Body,
    json_object,
    known_parameters,
    told,
    too_deep,
)
from memory_plane.types import Event

NAME = "webhook"
"""The name of the event that a plugin is given."""

_ERRORS = told(
    e400="the body is no JSON object",
    e404="there is no such webhook; a token opens none",
    e413="the body is too large",
    e415="the body is not application/json, or it is compressed",
    e429="too much was posted in an hour; try again after Retry-After seconds",
)


_TAKES = {
    "required": True,
    "description": f"what the app posts, at most {MAX_EVENT:,} bytes",
    "content": {
        "application/json": {
            "schema": {"type": "object", "properties": {}},
            "example": {"type": "new-message", "data": {"guid": "A1B2", "text": "Can you review the lease?"}},
        }
    },
}


class Kept(BaseModel):
    """The event is on disk; the agent's plugin takes it in with the next round."""

    state: str = Field(examples=["kept"])


def webhooks(plane: Plane, growth: Growth) -> APIRouter:
    """Return the endpoint that apps post an agent's events to; the gate has compared the secret."""
    router = APIRouter(tags=["write"], responses=ERRORS | _ERRORS, dependencies=[known_parameters])

    @router.post(
        "/ingest/{agent}/{secret}",
        status_code=202,
        response_model=Kept,
        summary="Hand in an event of an agent by its webhook",
        openapi_extra={"requestBody": _TAKES},
    )
    def take(request: Request, agent: str, secret: str, body: Body) -> Response:
        if request.scope.get(WEBHOOK) != agent:
            raise HTTPException(404, "there is no such webhook")
        payload = json_object(body)
        if too_deep(payload):
            raise Refused(TOO_DEEP)
        growth.spend([(agent, len(body))])
        try:
            plane.spool(Event(agent=agent, name=NAME, payload=payload))
        except OSError as error:
            raise StoreError(f"the event could not be kept: {error.strerror}") from None
        return Answer({"state": "kept"}, status_code=202)

    return router
