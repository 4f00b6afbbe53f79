"""An MCP server of the official SDK with one tool that does nothing: what the protocol itself costs in a call."""

from __future__ import annotations

from mcp.server import MCPServer

server = MCPServer(name="noop", version="1")


@server.tool()
def noop() -> str:
    """Answer at once."""
    return "ok"


if __name__ == "__main__":
    server.run("stdio")
