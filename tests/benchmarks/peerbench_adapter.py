"""Memory Plane for the peerbench harness, which must be importable: see peers.py."""

# The harness is not installed where types are checked.
# mypy: disable-error-code="import-not-found, misc"

from __future__ import annotations

import json
import time
from asyncio import to_thread
from pathlib import Path
from typing import Any, ClassVar, Self

from peerbench.adapters import McpAdapter
from peerbench.corpus import Fact
from peerbench.mcp_stdio import McpClient, PeerError

from memory_plane.testing.hub import HubProcess

NOOP_SERVER = Path(__file__).with_name("noop_server.py")


class MemoryPlane(McpAdapter):
    """`memory-plane mcp`; target: the Python that has it installed."""

    label = "memory-plane"
    noop_call: tuple[str, dict[str, Any]] | None = ("memory_sync_status", {})

    def __init__(self, target: Path, home: Path) -> None:
        super().__init__(target, home)
        self.write_ms: list[float] = []

    def command(self) -> list[str]:
        return [str(self.target), "-m", "memory_plane", "mcp", "--agent", "bench"]

    def environment(self) -> dict[str, str]:
        environment: dict[str, str] = super().environment()
        return environment | {"MEMORY_PLANE_HOME": str(self.home)}

    async def write(self, fact: Fact) -> None:
        begin = time.perf_counter()
        receipt = json.loads(await self.client.call("memory_post_thought", text=fact.text))
        self.write_ms.append((time.perf_counter() - begin) * 1000)
        if receipt["state"] != "stored":
            raise PeerError(str(receipt))

    async def search(self, words: str) -> str:
        answer: str = await self.client.call("memory_recall", query=words)
        return answer

    async def holds(self, fact: Fact) -> bool:
        return fact.text in await self.search(fact.text) or await self.links(fact)

    async def links(self, fact: Fact) -> bool:
        """Whether the graph itself has the fact as an edge."""
        edges = json.loads(await self.client.call("memory_get_graph", about=fact.subject)).get("edges", [])
        wanted = (fact.subject, fact.relation, fact.object)
        return any((edge["source"], edge["relation"], edge["target"]) == wanted for edge in edges)

    async def extract(self, text: str) -> dict[str, Any]:
        """Take in free text; the graph is read in process by quality.py, so only the time counts here."""
        await self.client.call("memory_post_thought", text=text)
        return {}


class BehindHub(MemoryPlane):
    """The same with a hub up in the home, so that `memory-plane mcp` only passes bytes on."""

    label = "behind a hub"
    hubs: ClassVar[dict[Path, tuple[HubProcess, list[Self]]]] = {}

    async def __aenter__(self) -> Self:
        if self.home not in self.hubs:
            self.hubs[self.home] = (await to_thread(HubProcess, self.home), [])
        self.hubs[self.home][1].append(self)
        await super().__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await super().__aexit__(*exc)
        hub, users = self.hubs[self.home]
        users.remove(self)
        if not users:
            del self.hubs[self.home]
            await to_thread(hub.stop)


class BesideSdk(MemoryPlane):
    """The same, with the SDK's own no-op timed beside it, in the same minute and on the same machine."""

    def __init__(self, target: Path, home: Path) -> None:
        super().__init__(target, home)
        command = [str(target), str(NOOP_SERVER)]
        log = home.parent / "noop.log"
        self.sdk = McpClient(command, env=self.environment(), cwd=home.parent, log=log)

    async def __aenter__(self) -> Self:
        await self.sdk.__aenter__()
        await super().__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await super().__aexit__(*exc)
        await self.sdk.close()

    async def noop(self) -> str:
        answer: str = await self.sdk.call("noop")
        return answer
