"""Take the pictures of the pages that README and docs show.

make screenshots
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from .stage import browser, enter, morning

IMAGES = Path(__file__).parents[2] / "docs/images"
PICTURES = {"pulse": "/", "graph": "/graph?about=Ann+Lee"}


def main() -> None:
    """Tell a morning to a new memory, and look at it."""
    os.environ["MEMORY_PLANE_PLUGINS__ENABLED"] = '["local"]'
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, morning(Path(folder) / "home") as hub, browser() as chromium:
        page = chromium.new_page(base_url=hub.url, viewport={"width": 1280, "height": 680})
        enter(page, hub)
        for name, path in PICTURES.items():
            take(page, name, path)


def take(page: Page, name: str, path: str) -> None:
    """Write one picture."""
    page.goto(path)
    if name == "graph":
        page.locator("body[data-graph=rests]").wait_for()
        page.locator("g.node").first.focus()
    page.wait_for_timeout(500)
    page.screenshot(path=IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
