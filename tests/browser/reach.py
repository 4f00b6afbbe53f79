"""What axe-core finds wrong with the pages for people who see little or use no mouse: nothing serious."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import BrowserContext

from memory_plane.client import Client

AXE = Path(__file__).parents[2] / ".clients/browser/node_modules/axe-core/axe.min.js"
FAULTS = """async () => {
  const found = await axe.run(document, { resultTypes: ["violations"] });
  return found.violations.filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.target.join(" ")).join("; ")}`);
}"""


@pytest.fixture(scope="module")
def paths(client: Client) -> list[str]:
    """Every kind of page."""
    memory, node = client.thoughts()[0].id, client.search("Ann Lee")[0].id
    menu = ["/", "/search", "/graph", "/facts", "/nodes", "/review", "/doctor"]
    return [*menu, "/search?q=Who+leads+Atlas%3F", "/?since=soon", f"/memories/{memory}", f"/nodes/{node}"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(
    context: Callable[..., BrowserContext], paths: list[str], scheme: Literal["light", "dark"]
) -> None:
    page = context(color_scheme=scheme).new_page()
    faults = {}
    for path in paths:
        page.goto(path)
        if path == "/graph":
            page.locator("body[data-graph=rests]").wait_for()
            page.locator("g.node").first.focus()
        page.evaluate(AXE.read_text("utf-8"))
        if found := page.evaluate(FAULTS):
            faults[path] = found
    assert faults == {}
