"""docs/architecture.md: its map has every module, in the order of the imports; each dependency has a reason."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORE = ROOT / "core" / "memory_plane"
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
ROWS = [re.findall(r"`(\w+)/?`", row) for row in re.findall(r"^\| (`.+?`) \|", PAGE.partition("## One write")[0], re.M)]
PLACES = {module: place for place, row in enumerate(ROWS) for module in row}


def module_of(path: Path) -> str:
    """Return the module or package right below the core that a file belongs to."""
    return path.relative_to(CORE).parts[0].removesuffix(".py")


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield what is imported of the core, but for types alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "memory_plane":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("memory_plane."):
            yield str(node.module).split(".")[1]
        yield from imports(node)


def test_map_names_every_module_and_no_other() -> None:
    assert set(PLACES) == {module_of(path) for path in CORE.rglob("*.py")} - {"__init__", "__main__"}


def test_imports_point_upwards() -> None:
    downwards = {
        f"{path.relative_to(CORE)} imports {name}"
        for path in CORE.rglob("*.py")
        for name in imports(ast.parse(path.read_text("utf-8")))
        if PLACES.get(name, 0) > PLACES.get(module_of(path), len(ROWS))
    }
    assert downwards == set()


def test_each_dependency_has_a_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = {name for row in re.findall(r"^\| ([\w, -]+) \|", PAGE, re.M) for name in row.split(", ")}
    assert {re.split(r"[^\w-]", one)[0] for one in project["dependencies"]} <= named
