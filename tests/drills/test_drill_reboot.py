"""The article's second journey, word for word: the Mac mini reboots while an agent logs two decisions and a fact.

The agent is the MCP project's own client, over stdio; nobody calls again after the hub is back.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import anyio
from mcp import Client as Agent
from mcp.client.stdio import StdioServerParameters, stdio_client

from memory_plane import Plane
from memory_plane.outbox import Outbox
from memory_plane.testing.hub import HubProcess

Sized = Callable[[Any, Any], Any]

HEARTBEAT = 30.0
"""Seconds after which the article wants the outbox to be empty."""
QUICK = "from memory_plane import client, entry; client.FLUSH_EVERY = 0.5; entry.main()"
"""The command `memory-plane` with a quicker heartbeat."""
DECISIONS = ("We ship the gateway on Friday", "Rob owns the FPGA timing report")


async def call(agent: Agent, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool, which must not fail, and return its structured answer."""
    answer = await agent.call_tool(tool, arguments)
    assert not answer.is_error, answer
    found: dict[str, Any] = answer.structured_content
    return found


def wait_until_empty(home: Path) -> float:
    """Return after how many seconds nothing waited any more."""
    start, tick, outbox = monotonic(), Event(), Outbox(home)
    while outbox.depth() > 0:
        assert monotonic() - start < 2 * HEARTBEAT, f"{outbox.depth()} still wait"
        tick.wait(0.02)
    return monotonic() - start


async def journey(command: StdioServerParameters, hub: HubProcess, home: Path) -> tuple[datetime, float]:
    """Play it; return when the hub came back, and after how many seconds the outbox was empty."""
    async with Agent(stdio_client(command)) as agent:
        said = await call(agent, "memory_post_thought", text="All is well")
        assert said["state"] == "stored"
        hub.kill()
        for waiting, text in enumerate(DECISIONS, 1):
            said = await call(agent, "memory_post_thought", text=text, kind="decision")
            assert (said["state"], said["detail"]) == ("queued", f"{waiting} waiting")
        fact = {"subject": "gateway", "key": "ship_day", "value": "Friday"}
        said = await call(agent, "memory_upsert_fact", **fact)
        assert (said["state"], said["detail"]) == ("queued", "3 waiting")
        seen = str(await call(agent, "memory_get_pulse"))
        assert all(text in seen for text in DECISIONS)
        found = str(await call(agent, "memory_recall", query="ship day"))
        assert "Friday" in found
        await anyio.to_thread.run_sync(hub.start)
        back = datetime.now(UTC)
        took = await anyio.to_thread.run_sync(wait_until_empty, home)
        said = await call(agent, "memory_post_thought", text="All is well again")
        assert said["state"] == "stored"
    return back, took


def test_hub_reboots_while_an_agent_logs_two_decisions_and_a_fact(hub: HubProcess, home: Path, sized: Sized) -> None:
    code = sized(["-c", QUICK], ["-m", "memory_plane"])
    environment = {
        "MEMORY_PLANE_HOME": str(home),
        "MEMORY_PLANE_HUB_URL": hub.url,
        "MEMORY_PLANE_HUB__TOKEN": hub.token,
        "MEMORY_PLANE_CLIENT__RETRY_AFTER": sized("0.2", "30"),
        "MEMORY_PLANE_PLUGINS__ENABLED": "[]",
    }
    server = StdioServerParameters(
        command=sys.executable, args=[*code, "mcp", "--agent", "antigravity"], env=environment
    )
    back, took = anyio.run(journey, server, hub, home)
    assert took <= HEARTBEAT
    outbox = Outbox(home)
    assert (outbox.depth(), outbox.dead()) == (0, [])
    assert not (home / "memory.db").exists()
    with Plane(home=hub.home) as plane:
        thoughts = list(reversed(plane.thoughts()))
        assert [one.text for one in thoughts] == ["All is well", *DECISIONS, "All is well again"]
        assert [one.value for one in plane.facts(history=True)] == ["Friday"]
        assert plane.status().operations == 5
        assert all(one.created_at < back for one in thoughts[:3])
        assert {one.agent for one in thoughts} == {"antigravity"}
