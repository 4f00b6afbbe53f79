"""MCP messages as lines of JSON, forgiving of what real clients send."""

from __future__ import annotations

import json
import re

from mcp_types import INVALID_REQUEST, PARSE_ERROR, JSONRPCError, JSONRPCMessage, RequestId, jsonrpc_message_adapter
from mcp_types import ErrorData as Problem
from pydantic import ValidationError

_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


class Unreadable(Exception):
    """A line is no message; `complaint` is what to answer."""

    def __init__(self, complaint: JSONRPCError) -> None:
        super().__init__(complaint.error.message)
        self.complaint = complaint


def parse(line: bytes) -> JSONRPCMessage:
    """Return the message of a line, or raise `Unreadable`."""
    try:
        return jsonrpc_message_adapter.validate_json(_mended(line), by_name=False)
    except ValidationError as error:
        raise Unreadable(_complaint(error, line)) from None


def to_line(message: JSONRPCMessage) -> bytes:
    """Return the message as a line with its end."""
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


def _mended(line: bytes) -> bytes:
    """Put a question mark for half a character, such as a text cut inside an emoji: it is JSON, and no Unicode."""
    if not _HALF.search(line):
        return line
    try:
        return json.dumps(json.loads(line), ensure_ascii=False).encode(errors="replace")
    except (ValueError, RecursionError):
        return line


def _complaint(error: ValidationError, line: bytes) -> JSONRPCError:
    if error.errors(include_input=False)[0]["type"] == "json_invalid":
        problem = Problem(code=PARSE_ERROR, message="Parse error: a line is not JSON")
    else:
        problem = Problem(code=INVALID_REQUEST, message="Invalid request: a line is not a JSON-RPC message")
    return JSONRPCError(jsonrpc="2.0", id=_asked(line), error=problem)


def _asked(line: bytes) -> RequestId | None:
    """Return the id of a request that cannot be read otherwise, so that its client does not wait for ever."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        return None
    id = request.get("id") if isinstance(request, dict) and "method" in request else None
    return id if isinstance(id, int | str) and not isinstance(id, bool) else None
