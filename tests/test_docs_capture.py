"""docs/capture.md: its example runs and its figures are those of the labelled turns; UPDATE_DOCS=1 writes them anew."""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "capture.md"
BENCHMARK = runpy.run_path(str(Path(__file__).parent / "benchmarks" / "capture.py"))
TABLE = re.compile(r"^\| half \|.*\n(?:\|.*\n)*", re.MULTILINE)


def test_figures_are_those_of_the_labelled_turns() -> None:
    text = PAGE.read_text("utf-8")
    wanted = TABLE.sub("\n".join(BENCHMARK["rows"]()) + "\n", text)
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(wanted, "utf-8")
    assert PAGE.read_text("utf-8") == wanted, "run: UPDATE_DOCS=1 pytest tests/test_docs_capture.py"


def test_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGE.read_text("utf-8")
    ((language, block), (_, printed)) = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert language == "python"
    exec(compile(block, str(PAGE), "exec"), {})
    assert capsys.readouterr().out == printed
