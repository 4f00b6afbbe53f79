"""docs/security.md names a test for each threat; each of them exists, and no rule of the gate goes without."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "security.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`(\w+\.py)::(\w+)`", PAGE)))


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[name for _, name in NAMED])
def test_each_test_that_is_named_exists(file: str, name: str) -> None:
    assert re.search(rf"^(async )?def {name}\(", (TESTS / file).read_text("utf-8"), re.MULTILINE)


def test_each_threat_has_a_test() -> None:
    rows = [row for row in re.findall(r"^\|.*\|$", PAGE, re.MULTILINE) if not row.startswith(("|---", "| threat"))]
    assert len(rows) > 25
    assert [row for row in rows if "::test_" not in row.rsplit("|", 2)[1]] == []


@pytest.mark.parametrize("section", ["Text from memory", "Forget", "What nothing stops"])
def test_the_sections_are_there(section: str) -> None:
    assert f"\n## {section}\n" in PAGE
