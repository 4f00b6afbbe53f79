"""The MCP server: the tools of `mcp_tools`, two resources and a prompt, for one agent or for many over HTTP."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)

from memory_plane import __version__, garbage, seen
from memory_plane.errors import ConfigurationError, MemoryPlaneError, Refused
from memory_plane.integration import INSTRUCTIONS
from memory_plane.surfaces.bridge import TOOLS
from memory_plane.surfaces.callers import AGENT_KEY, agent_id
from memory_plane.surfaces.catch_up import catch_up
from memory_plane.surfaces.fit import encode
from memory_plane.surfaces.mcp_tools import CORE, by_name
from memory_plane.surfaces.once import Ticket, once
from memory_plane.surfaces.spec import Spec, check

if TYPE_CHECKING:
    from memory_plane.client import Client
    from memory_plane.plane import Plane
    from memory_plane.surfaces.stdio import Wire

logger = logging.getLogger(__name__)

NOTED = 60.0
"""Seconds between two notes that an agent was seen."""

RESOURCES = {
    "memory://pulse": ("PULSE.md", "What every agent is doing: focus, open items, recent entries"),
    "memory://facts": ("SHARED_MEMORY.md", "Current facts by subject, with source and date"),
}

Context = ServerRequestContext[Any, Any]
Answer = TypeVar("Answer")


def build(plane: Plane | Client, agent: str | None, *, tools: int = 0, threads: bool = False) -> Server[Any]:
    """Return the server. `agent` fixes who is writing; None takes it from each HTTP request.

    `tools` adds those of `TOOLS`; `threads` keeps slow calls off the event loop, for processes with many clients. The
    calls of one agent happen one after the other all the same, in the order in which they came.
    """
    specs = by_name([*CORE, *_graph_specs(tools), *(_plugin_specs(plane) if tools & TOOLS["plugins"] else ())])
    surface = _Surface(plane, agent, specs, threads=threads)
    return Server(
        "memory-plane",
        version=__version__,
        title="Memory Plane",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=lambda name: specs[name].input_schema if name in specs else None,
        on_list_tools=surface.list_tools,
        on_call_tool=surface.call_tool,
        on_list_resources=surface.list_resources,
        on_read_resource=surface.read_resource,
        on_list_prompts=surface.list_prompts,
        on_get_prompt=surface.get_prompt,
    )


def serve_stdio(plane: Plane | Client, agent: str, *, tools: int = 0, wire: Wire | None = None) -> None:
    """Serve one agent on stdin and stdout until it leaves or a signal comes; the caller closes the plane.

    Pass the `wire` of `stdio.claim()` when it was called before the plane was made, so that plugins cannot print on it.
    """
    from memory_plane.surfaces import stdio

    try:
        agent = agent_id(agent)
    except Refused as error:
        raise ConfigurationError(f"--{error}") from None
    wire = wire or stdio.claim()
    plane.warm_up()
    garbage.settle()
    anyio.run(stdio.serve, build(plane, agent, tools=tools), wire)


class _Surface:
    """The request handlers of one server."""

    def __init__(self, plane: Plane | Client, agent: str | None, specs: Mapping[str, Spec], *, threads: bool) -> None:
        self._plane = plane
        self._agent = agent
        self._specs = specs
        self._threads = threads
        self._turns = anyio.CapacityLimiter(1) if threads and agent is not None else None
        self._tools = [_tool(spec) for spec in specs.values()]
        self._noted: dict[str, float] = {}

    async def list_tools(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        self._caller(context)
        return ListToolsResult(tools=self._tools)

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        spec = self._specs.get(params.name)
        if spec is None:
            raise MCPError(INVALID_PARAMS, f"unknown tool {params.name!r}")
        plane, ticket = self._plane, context.request
        if isinstance(ticket, Ticket):
            if ticket.again and spec.open_world:
                return _failed(
                    f"the hub restarted while {spec.name} ran; look whether it was done before you try again"
                )
            plane = once(plane, ticket)
        return await self._run(partial(answer, plane, self._caller(context), spec, params.arguments or {}))

    async def list_resources(self, context: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        return ListResourcesResult(
            resources=[
                Resource(uri=uri, name=page, description=about, mime_type="text/markdown")
                for uri, (page, about) in RESOURCES.items()
            ]
        )

    async def read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        if params.uri not in RESOURCES:
            raise MCPError(INVALID_PARAMS, f"unknown resource {params.uri!r}; there are {', '.join(RESOURCES)}")
        text = await self._run(partial(_readable, self._plane.page, RESOURCES[params.uri][0]))
        return ReadResourceResult(contents=[TextResourceContents(uri=params.uri, mime_type="text/markdown", text=text)])

    async def list_prompts(self, context: Context, params: PaginatedRequestParams | None) -> ListPromptsResult:
        since = PromptArgument(name="since", description="24h, 3d or an ISO 8601 date or time; default 24h")
        about = "What the other agents did, decided and promised since a time"
        return ListPromptsResult(prompts=[Prompt(name="catch_up", description=about, arguments=[since])])

    async def get_prompt(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        if params.name != "catch_up":
            raise MCPError(INVALID_PARAMS, f"unknown prompt {params.name!r}; there is 'catch_up'")
        since = (params.arguments or {}).get("since", "")
        text = await self._run(partial(_readable, catch_up, self._plane, since, datetime.now(UTC)))
        return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=text))])

    def _caller(self, context: Context) -> str | None:
        """Return who asks, and note now and then that it did."""
        agent = self._agent
        if agent is None and context.request is not None:
            agent = context.request.scope.get(AGENT_KEY)
        if agent is not None and monotonic() - self._noted.get(agent, -NOTED) >= NOTED:
            self._noted[agent] = monotonic()
            seen.over_mcp(self._plane.home, agent)
        return agent

    async def _run(self, call: Callable[[], Answer]) -> Answer:
        return await anyio.to_thread.run_sync(call, limiter=self._turns) if self._threads else call()


def answer(plane: Plane | Client, agent: str | None, spec: Spec, arguments: Mapping[str, Any]) -> CallToolResult:
    """Call one tool and return its result as MCP wants it; what goes wrong is told to the model, never raised."""
    try:
        given = dict(arguments) if spec.checks_itself else check(spec, arguments)
        result = spec.call(plane, agent, given)
    except Refused as error:
        return _failed(str(error))
    except MemoryPlaneError as error:
        logger.warning("%s failed: %s", spec.name, error)
        return _failed(str(error))
    except Exception as error:
        logger.exception("%s failed", spec.name)
        return _failed(f"{spec.name} failed unexpectedly ({type(error).__name__}); the log of Memory Plane has more")
    if isinstance(result, str):
        return CallToolResult(content=[TextContent(text=result)])
    return CallToolResult(content=[TextContent(text=encode(result))], structured_content=result)


def _failed(reason: str) -> CallToolResult:
    written = reason.encode(errors="backslashreplace").decode()  # it may quote what no JSON holds
    return CallToolResult(content=[TextContent(text=written)], is_error=True)


def _readable(call: Callable[..., Answer], *arguments: Any) -> Answer:
    try:
        return call(*arguments)
    except MemoryPlaneError as error:
        raise MCPError(INVALID_PARAMS if isinstance(error, Refused) else INTERNAL_ERROR, str(error)) from error


def _tool(spec: Spec) -> Tool:
    return Tool(
        name=spec.name,
        description=spec.description,
        input_schema=spec.input_schema,
        output_schema=dict(spec.output) if spec.output else None,
        annotations=ToolAnnotations(
            read_only_hint=spec.read_only,
            destructive_hint=spec.destructive,
            idempotent_hint=spec.idempotent,
            open_world_hint=spec.open_world,
        ),
    )


def _graph_specs(tools: int) -> tuple[Spec, ...]:
    if not tools & TOOLS["graph"]:
        return ()
    from memory_plane.surfaces.graph_tools import GRAPH

    return GRAPH


def _plugin_specs(plane: Plane | Client) -> list[Spec]:
    from memory_plane.client import Client
    from memory_plane.surfaces.plugin_tools import plugin_specs

    if not isinstance(plane, Client):
        return plugin_specs(plane)
    if (there := plane.settings.elsewhere) is not None:
        logger.warning("the tools of plugins work on a database of this machine alone, and the memory is at %r", there)
        return []
    return plugin_specs(plane.plane)
