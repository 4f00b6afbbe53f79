"""What axe-core finds wrong with the pages for people who see little or use no mouse: nothing serious."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from memory_plane.client import Client

AXE = Path(__file__).parents[2] / ".clients/browser/node_modules/axe-core/axe.min.js"
FAULTS = """async (only) => {
  const found = await axe.run(document, { resultTypes: ["violations"], ...only });
  return found.violations.filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.target.join(" ")).join("; ")}`);
}"""
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
"""What alone may differ in the dark."""


@pytest.fixture(scope="module")
def paths(client: Client) -> list[str]:
    """Every kind of page."""
    memory, node = client.thoughts()[0].id, client.search("Ann Lee")[0].id
    menu = ["/", "/search", "/graph", "/facts", "/nodes", "/review", "/doctor"]
    return [*menu, "/search?q=Who+leads+Atlas%3F", "/?since=soon", f"/memories/{memory}", f"/nodes/{node}"]


def test_axe_finds_no_serious_fault_in_light_and_dark(page: Page, paths: list[str]) -> None:
    faults = {}
    for path in paths:
        page.emulate_media(color_scheme="light", reduced_motion="reduce")  # colours change at once
        page.goto(path)
        if path == "/graph":
            page.locator("body[data-graph=rests]").wait_for()
            page.locator("g.node").first.focus()
        page.evaluate(AXE.read_text("utf-8"))
        found = page.evaluate(FAULTS, {})
        page.emulate_media(color_scheme="dark")
        if found := found + page.evaluate(FAULTS, COLOURS):
            faults[path] = found
    assert faults == {}
