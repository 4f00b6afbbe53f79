"""The story that Memory Plane was made for, told by real agents' connections: one process each, one memory."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

CONFIG = """
[agents.grok]
interests = ["FPGA", "research", "investment", "startups", "AI models", "technical strategy"]
"""

MILESTONE = "Shipped the new case study page on herrington.ai, with the memory plane write-up"
INTRODUCTION = (
    "Rob introduced Daniel to The Zebra: Daniel <> Rob, about controllable AI models on FPGA hardware. "
    "The Zebra pilot depends on the FPGA hardware."
)
COMMITMENT = "Daniel promised Rob to send the FPGA benchmark by Friday"


Entry = dict[str, Any]


@dataclass
class Story:
    """What each agent got to know, in the order in which it happened."""

    home: Path
    ids: dict[str, str] = field(default_factory=dict)
    recent: dict[str, Entry] = field(default_factory=dict)
    focus: dict[str, str] = field(default_factory=dict)
    edges: list[Entry] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    noticed: dict[str, Entry] = field(default_factory=dict)
    evidence: dict[str, Entry] = field(default_factory=dict)
    open_before: dict[str, set[str]] = field(default_factory=dict)
    open_after: dict[str, set[str]] = field(default_factory=dict)


@asynccontextmanager
async def connected(home: Path, *agents: str) -> AsyncIterator[list[Client]]:
    """Connect each agent through a process of its own, the older and the newer generation in turn."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMORY_")}
    environment |= {"MEMORY_PLANE_HOME": str(home), "MEMORY_PLANE_PLUGINS__ENABLED": '["local"]'}
    async with AsyncExitStack() as stack:
        clients = []
        for number, agent in enumerate(agents):
            command = ["-m", "memory_plane", "mcp", "--agent", agent]
            server = StdioServerParameters(command=sys.executable, args=command, env=environment)
            mode = ("legacy", "auto")[number % 2]
            clients.append(await stack.enter_async_context(Client(stdio_client(server), mode=mode)))
        yield clients


async def use(agent: Client, tool: str, **arguments: Any) -> Entry:
    result = await agent.call_tool(tool, arguments)
    assert not result.is_error, result.content
    structure: Entry = result.structured_content
    return structure


async def all_of(agent: Client, section: str, tool: str, **arguments: Any) -> list[Entry]:
    page = await use(agent, tool, **arguments)
    found: list[Entry] = page[section]
    while "next_cursor" in page:
        page = await use(agent, tool, **arguments, cursor=page["next_cursor"])
        found += page[section]
    return found


async def open_items(agent: Client) -> set[str]:
    return {item["id"] for item in await all_of(agent, "open_items", "memory_get_pulse")}


async def write(antigravity: Client, muse: Client) -> dict[str, str]:
    """Let both agents say what they have to say, and return the ids."""
    post = "memory_post_thought"
    seen = {"origin": "external", "source": "iMessage"}
    focus = {"project": "herrington.ai", "focus": "Shipping herrington.ai"}
    milestone = await use(antigravity, post, text=MILESTONE, kind="milestone", **focus)
    introduction = await use(muse, post, text=INTRODUCTION, kind="observation", **seen)
    commitment = await use(muse, post, text=COMMITMENT, kind="commitment", **seen)
    return {"milestone": milestone["id"], "introduction": introduction["id"], "commitment": commitment["id"]}


async def read(grok: Client, story: Story) -> None:
    """Let Grok look around; nobody told it anything."""
    story.recent = {entry["id"]: entry for entry in await all_of(grok, "recent", "memory_get_pulse")}
    rows = await all_of(grok, "agents", "memory_get_pulse")
    story.focus = {row["agent"]: row.get("focus", "") for row in rows}
    story.edges = await all_of(grok, "edges", "memory_get_graph")
    story.names = {node["name"] for node in await all_of(grok, "nodes", "memory_get_graph")}
    noticed = await all_of(grok, "attention", "memory_get_graph", min_attention=0.75)
    story.noticed = {entry["id"]: entry for entry in noticed}
    for id in {id for edge in story.edges for id in edge["evidence"]}:
        (story.evidence[id],) = (await use(grok, "memory_recall", query=id))["hits"]


async def tell(story: Story) -> None:
    agents = ("antigravity", "muse", "grok")
    async with connected(story.home, *agents) as clients:
        antigravity, muse, grok = clients
        story.ids = await write(antigravity, muse)
        await read(grok, story)
        for agent, client in zip(agents, clients, strict=True):
            story.open_before[agent] = await open_items(client)
        await use(grok, "memory_resolve_item", item=story.ids["commitment"], note="Sent on Thursday")
        for agent, client in zip(agents, clients, strict=True):
            story.open_after[agent] = await open_items(client)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    home = tmp_path_factory.mktemp("story")
    (home / "config.toml").write_text(CONFIG, "utf-8")
    story = Story(home)
    anyio.run(tell, story)
    return story


def test_grok_knows_what_the_others_did_without_being_told(story: Story) -> None:
    milestone, introduction = story.recent[story.ids["milestone"]], story.recent[story.ids["introduction"]]
    assert (milestone["agent"], milestone["source"]) == ("antigravity", "agent, herrington.ai")
    assert (introduction["agent"], introduction["source"]) == ("muse", "external")
    assert story.focus["antigravity"] == "Shipping herrington.ai"


@pytest.mark.parametrize(("relation", "least"), [("INTRODUCED_TO", 0.85), ("DEPENDS_ON", 0.75)])
def test_grok_sees_how_people_and_projects_are_linked(story: Story, relation: str, least: float) -> None:
    told = [edge for edge in story.edges if edge["relation"] == relation]
    assert told, f"no {relation} among {[edge['relation'] for edge in story.edges]}"
    best = max(told, key=lambda edge: float(edge["probability"]))
    assert best["probability"] >= least
    assert story.ids["introduction"] in best["evidence"]


def test_everybody_in_the_introduction_is_in_the_graph(story: Story) -> None:
    assert {"Rob", "Daniel", "The Zebra"} <= story.names


def test_the_evidence_of_a_link_can_be_looked_up(story: Story) -> None:
    entry = story.evidence[story.ids["introduction"]]
    assert (entry["text"], entry["agent"]) == (INTRODUCTION, "muse")
    assert entry["source"] == "external, iMessage"


def test_the_introduction_reaches_grok_by_its_interests(story: Story) -> None:
    entry = story.noticed[story.ids["introduction"]]
    assert entry["attention"] >= 0.85
    assert entry["reason"]
    assert story.ids["milestone"] not in story.noticed


@pytest.mark.parametrize("agent", ["antigravity", "muse", "grok"])
def test_an_item_resolved_by_one_is_closed_for_all(story: Story, agent: str) -> None:
    assert story.ids["commitment"] in story.open_before[agent]
    assert story.ids["commitment"] not in story.open_after[agent]


def test_agents_that_read_files_learn_the_same(story: Story) -> None:
    pulse = (story.home / "PULSE.md").read_text("utf-8")
    assert "Shipped the new case study page" in pulse
    assert "controllable AI models on FPGA hardware" in pulse
