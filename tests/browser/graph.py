"""The graph in a browser: it comes to rest, can be read, opened, walked and saved."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import BrowserContext, Page, expect

RESTS = "body[data-graph=rests]"
OVERLAPPING = """() => {
  const labels = [...document.querySelectorAll("g.node .label")];
  const boxes = labels.map((one) => [one.textContent, one.getBoundingClientRect()]);
  const apart = ([, a], [, b]) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
  return boxes.flatMap((a, place) => boxes.slice(place + 1).filter((b) => !apart(a, b)).map((b) => [a[0], b[0]]));
}"""
PLACES = "() => [...document.querySelectorAll('g.node')].map((one) => one.getAttribute('transform')).join()"


@pytest.fixture
def drawn(page: Page) -> Page:
    """The graph, at rest."""
    page.goto("/graph")
    page.locator(RESTS).wait_for()
    return page


def test_no_label_lies_on_another_and_nothing_moves(drawn: Page) -> None:
    assert drawn.locator("g.node").count() > 8
    assert drawn.evaluate(OVERLAPPING) == []
    before = drawn.evaluate(PLACES)
    drawn.wait_for_timeout(400)
    assert drawn.evaluate(PLACES) == before


def test_a_way_is_picked_by_keyboard_and_told(drawn: Page) -> None:
    drawn.get_by_role("button", name="Dora Stone, Person").focus()
    expect(drawn.locator("#details h2")).to_have_text("Dora Stone")
    drawn.keyboard.press("p")
    drawn.get_by_role("button", name="PostgreSQL").focus()
    drawn.keyboard.press("p")
    expect(drawn.locator("#way")).to_contain_text("Dora Stone →[KNOWS]→ Ann Lee")
    assert drawn.locator("g.edge.way").count() == 3
    assert drawn.locator("#details a[href^='/memories/']").count() >= 3
    drawn.keyboard.press("Escape")
    expect(drawn.locator("g.edge.way")).to_have_count(0)


def test_arrows_go_from_node_to_node(drawn: Page) -> None:
    first = drawn.get_by_role("button", name="Ann Lee, Person")
    first.focus()
    reached = set()
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        first.focus()
        drawn.keyboard.press(key)
        reached.add(drawn.evaluate("document.activeElement.querySelector('title').textContent"))
    assert len(reached) >= 3


def test_a_node_opens_what_hangs_on_it_and_folds_it_away(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto("/graph?about=PostgreSQL&type=Project")
    page.locator(RESTS).wait_for()
    page.evaluate("files.elements.type.value = ''")
    before = page.locator("g.node").count()
    page.evaluate("ask({}).then((data) => take(data))")
    node = page.get_by_role("button", name="more").first
    node.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#way")).to_contain_text("more shown")
    assert page.locator("g.node").count() > before
    assert page.evaluate(OVERLAPPING) == []
    page.keyboard.press("f")
    expect(page.locator("#way")).to_contain_text("folded away")


def test_a_node_is_dragged_and_the_view_is_enlarged(drawn: Page) -> None:
    node = drawn.get_by_role("button", name="Ann Lee, Person")
    before = node.get_attribute("transform")
    box = node.locator("circle").bounding_box()
    assert box is not None
    drawn.mouse.move(box["x"] + 5, box["y"] + 5)
    drawn.mouse.down()
    drawn.mouse.move(box["x"] + 60, box["y"] + 40, steps=4)
    drawn.mouse.up()
    assert node.get_attribute("transform") != before
    world = drawn.locator("#graph > g")
    scale = world.get_attribute("transform")
    drawn.get_by_role("button", name="Larger").click()
    expect(world).not_to_have_attribute("transform", scale or "")


@pytest.mark.parametrize("format", ["SVG", "Mermaid", "JSON"])
def test_what_is_seen_is_saved(drawn: Page, tmp_path: Path, format: str) -> None:
    nodes, edges = drawn.locator("g.node").count(), drawn.locator("g.edge").count()
    with drawn.expect_download() as download:
        drawn.get_by_role("button", name=format, exact=True).click()
    path = tmp_path / "graph"
    download.value.save_as(path)
    text = path.read_text("utf-8")
    if format == "JSON":
        found = json.loads(text)
        assert (len(found["nodes"]), len(found["edges"])) == (nodes, edges)
    elif format == "Mermaid":
        assert text.startswith("flowchart")
        assert sum(line.count('["') for line in text.splitlines()) == nodes
    else:
        circles = ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}circle")
        assert len(list(circles)) == nodes


def test_who_wants_no_motion_gets_none(context: Callable[..., BrowserContext]) -> None:
    page = context(reduced_motion="reduce").new_page()
    page.goto("/graph")
    page.locator(RESTS).wait_for()
    page.get_by_role("button", name="Larger").click()
    first = page.locator("#graph > g").get_attribute("transform")
    page.wait_for_timeout(200)
    assert page.locator("#graph > g").get_attribute("transform") == first
