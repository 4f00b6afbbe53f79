"""Mermaid's own parser takes a drawing of the graph for what it is: run by `make test-clients`, which installs it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from uuid import UUID

import pytest

from memory_plane.drawings import mermaid
from memory_plane.types import EPOCH, Edge, Node

MODULES = Path(__file__).parents[2] / ".clients" / "node_modules"
READER = Path(__file__).with_name("mermaid.mjs")
SECONDS = 60
NAMES = (
    "Ann", 'O"Neill & Söhne <b>', "back\\slash\\", "王伟", "ab[c](d){e}|f|", '"];evil;n0["', "-->end; subgraph x",
    "&amp; &#34; #quot; #35;", "%% comment", "`code` **bold** _it_", "🦀 zero\u200dwidth", "ไทย हिन्दी", "end",
    "1. first", "- item", ":::external", "@{ shape: circle }", "<script>alert(1)</script>",
)  # fmt: skip


@pytest.mark.skipif(not (MODULES / "mermaid").exists(), reason="make test-clients installs Mermaid")
def test_mermaid_reads_what_was_written() -> None:
    nodes = [Node(id=str(UUID(int=number)), type="Tool", name=name, origin="external" if number % 2 else "user")
             for number, name in enumerate(NAMES, 1)]  # fmt: skip
    edges = [Edge(source=node, relation='SAYS_"HI"', target=nodes[0], probability=0.5, method="local", evidence=(),
                  known_since=EPOCH, origin=node.origin) for node in nodes[1:]]  # fmt: skip
    text = "\n".join(mermaid(nodes, edges))
    command = ["node", str(READER), str(MODULES)]
    done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr.decode()
    read = json.loads(done.stdout)
    assert read["type"].startswith("flowchart")
    assert read["nodes"] == [
        [f"n{node.id.replace('-', '')}", f"{node.name} (Tool)", "external" if node.origin == "external" else ""]
        for node in nodes
    ]
    assert [(text, stroke) for _, text, _, stroke in read["edges"]] == [
        ('SAYS_"HI" 0.50', "dotted" if edge.origin == "external" else "normal") for edge in edges
    ]
