"""What every endpoint needs: JSON in and out, who is calling, and errors as answers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException as StarletteHTTPException

from memory_plane.errors import MemoryPlaneError, Refused, SchemaError, StoreError
from memory_plane.operations import agent_id
from memory_plane.surfaces.gate import AGENT_HEADER, IDENTITY
from memory_plane.surfaces.limits import TooFast

RETRY_AFTER = 5
"""Seconds after which a client may ask again when the database could not be used."""
DEEPEST = 40
"""How deep objects and lists may lie in each other."""
TOO_DEEP = "body: its objects and lists lie too deep in each other"


class Error(BaseModel):
    """What went wrong, in one line."""

    error: str = Field(examples=["since: has no time zone; write it as 2026-10-31T12:00:00Z or with an offset"])


Responses = dict[int | str, dict[str, Any]]


def told(**errors: str) -> Responses:
    """Describe answers by their status, as in `told(e404="there is none")`."""
    schema = {"schema": {"$ref": "#/components/schemas/Error"}}
    return {
        int(status[1:]): {"description": about, "content": {"application/json": schema}}
        for status, about in errors.items()
    }


# One names the model, which brings it into the description; each time costs as much as a whole endpoint.
_UNKNOWN: Responses = {401: {"model": Error, "description": "no token, or a wrong one"}}
ERRORS = _UNKNOWN | told(
    e422="a parameter is wrong; the line begins with its name",
    e503="too much is asked at a time, or the database cannot be used now; try again after Retry-After seconds",
)
FORBIDDEN = told(e403="the token is that of an agent")


class Answer(Response):
    """JSON, also of text that is no valid Unicode: a caller may send half a character and be told of it."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Write the content as UTF-8."""
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")


async def _body(request: Request) -> bytes:
    return await request.body()


def _identity(request: Request) -> str | None:
    identity: str | None = request.scope[IDENTITY]
    return identity


def _master(request: Request) -> None:
    if request.scope[IDENTITY] is not None:
        raise HTTPException(403, "this needs the token of the hub; an agent's own does not open it")


def _header(request: Request) -> str | None:
    names = set(request.headers.getlist(AGENT_HEADER))
    if len(names) > 1:
        raise HTTPException(400, f"agent: {AGENT_HEADER} names different ones")
    return names.pop() if names else None


def _known_parameters(request: Request) -> None:
    """Refuse a parameter that does not exist, or comes twice: a filter that is not applied shows too much."""
    known = {field.alias for field in request.scope["route"].dependant.query_params}
    given = [name for name, _ in request.query_params.multi_items()]
    for name in given:
        if name not in known:
            raise Refused(f"{name[:80]}: unknown parameter; known are {', '.join(sorted(known)) or 'none'}")
        if given.count(name) > 1:
            raise Refused(f"{name}: given more than once")


Body = Annotated[bytes, Depends(_body)]
Identity = Annotated[str | None, Depends(_identity)]
NamedAgent = Annotated[str | None, Depends(_header)]
master_only = Depends(_master)
known_parameters = Depends(_known_parameters)
bearer = Depends(HTTPBearer(auto_error=False, description="the hub's token, or an agent's own"))
"""Only says in the description what the gate has checked already."""


def json_object(body: bytes) -> dict[str, Any]:
    """Read a JSON object; any other body is answered with 400."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        what = str(error) if isinstance(error, json.JSONDecodeError) else "its values are out of bounds"
        raise HTTPException(400, f"body: is no JSON that can be read: {what}") from None
    if not isinstance(value, dict):
        raise HTTPException(400, "body: must be a JSON object")
    return value


def too_deep(value: Any) -> bool:
    """Tell whether objects and lists lie deeper in each other than anything honest does."""
    layer = [value]
    for _ in range(DEEPEST):
        layer = [inner for outer in layer for inner in _inner(outer)]
        if not layer:
            return False
    return True


def _inner(value: Any) -> list[Any]:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [one for one in inside if isinstance(one, dict | list)]


def speaks_for(identity: str | None, name: Any) -> bool:
    """Tell whether the bearer of a token may write under a name."""
    return identity is None or (isinstance(name, str) and agent_id(name) == identity)


def add_handlers(app: FastAPI) -> None:
    """Answer every error as JSON of one line."""
    handlers: dict[type[Exception], Callable[[Request, Any], Awaitable[Response]]] = {
        StarletteHTTPException: _refused_by_http,
        RequestValidationError: _refused_by_fastapi,
        MemoryPlaneError: _failed,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


async def _refused_by_http(request: Request, error: StarletteHTTPException) -> Response:
    return Answer({"error": error.detail}, status_code=error.status_code, headers=error.headers)


async def _refused_by_fastapi(request: Request, error: RequestValidationError) -> Response:
    first = error.errors()[0]
    name = first["loc"][-1]
    return Answer({"error": f"{name}: {first['msg'][0].lower()}{first['msg'][1:]}"}, status_code=422)


async def _failed(request: Request, error: MemoryPlaneError) -> Response:
    match error:
        case TooFast():
            return Answer({"error": str(error)}, status_code=429, headers={"retry-after": str(error.seconds)})
        case Refused():
            return Answer({"error": str(error)}, status_code=422)
        case StoreError() | SchemaError():
            return Answer({"error": str(error)}, status_code=503, headers={"retry-after": str(RETRY_AFTER)})
    return Answer({"error": str(error)}, status_code=500)
