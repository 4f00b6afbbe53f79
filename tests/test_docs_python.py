"""docs/python.md: every block runs, in order and in one namespace, and every public method of `Plane` is there."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from memory_plane import Plane

PAGE = Path(__file__).parents[1] / "docs" / "python.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_every_block_runs(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGE.read_text("utf-8")
    names: dict[str, Any] = {}
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], str(PAGE), "exec"), names)  # traces then name the line of the page
    assert "the kitchen" in capsys.readouterr().out
    assert names["plane"].home == home


@pytest.mark.parametrize("name", [name for name in dir(Plane) if not name.startswith("_")])
def test_every_method_is_on_the_page(name: str) -> None:
    assert re.search(rf"\b{name}\(|`plane\.{name}`", PAGE.read_text("utf-8"))


@pytest.mark.parametrize("name", ["post", "fact", "heartbeat", "resolve", "assign", "snooze", "pin", "retract",
                                  "release", "recall", "ask", "items", "thoughts", "facts", "graph"])  # fmt: skip
def test_every_parameter_is_on_the_page(name: str) -> None:
    known = [parameter for parameter in inspect.signature(getattr(Plane, name)).parameters if parameter != "self"]
    row = re.search(rf"^\| `{name}\((.*?)\)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert row is not None
    told = [part for part in row[1].split(", ") if part != "*"]
    assert told == [parameter for parameter in known if parameter not in ("created_at", "id")]
