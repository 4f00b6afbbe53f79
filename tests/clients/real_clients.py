"""Real agents find and start Memory Plane: run by `make test-clients`, which installs them; `make test` does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CLIENTS = Path(__file__).parents[2] / ".clients" / "node_modules" / ".bin"
SERVER = Path(sys.executable).with_name("memory-plane")
SECONDS = 120


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A home of its own for the client and, since it hands HOME on, for the memory too."""
    home = tmp_path / "a home"
    home.mkdir()
    return home


def run(home: Path, client: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a client as a person in that home would; it must succeed."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "NO_COLOR": "1"}
    done = subprocess.run(
        [CLIENTS / client, *arguments], cwd=home, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{client} {' '.join(arguments)}: {done.stdout}\n{done.stderr}"
    return done


def state(listing: subprocess.CompletedProcess[str]) -> str:
    """Return what a client's listing says of our server; Gemini CLI prints it to stderr."""
    lines = (listing.stdout + listing.stderr).splitlines()
    return next(line for line in lines if "memory-plane:" in line)


def trust(home: Path) -> None:
    """Gemini CLI starts no server in a folder that its user has not trusted."""
    (home / ".gemini").mkdir()
    (home / ".gemini" / "trustedFolders.json").write_text(json.dumps({str(home): "TRUST_FOLDER"}), "utf-8")


def claude(home: Path, *command: str) -> str:
    run(home, "claude", "mcp", "add", "--scope", "user", "memory-plane", "--", *command)
    return state(run(home, "claude", "mcp", "list"))


def gemini(home: Path, *command: str) -> str:
    trust(home)
    run(home, "gemini", "mcp", "add", "--scope", "user", "memory-plane", command[0], "--", *command[1:])
    return state(run(home, "gemini", "mcp", "list"))


def grok(home: Path, *command: str) -> dict[str, Any]:
    run(home, "grok", "mcp", "add", "memory-plane", "--", *command)
    servers: list[dict[str, Any]] = json.loads(run(home, "grok", "mcp", "doctor", "--json").stdout)["servers"]
    return next(server for server in servers if server["name"] == "memory-plane")


def test_claude_code_connects(scratch: Path) -> None:
    assert "Connected" in claude(scratch, str(SERVER), "mcp", "--agent", "claude-code")
    assert (scratch / ".memory-plane" / "memory.db").exists()


def test_gemini_cli_connects(scratch: Path) -> None:
    assert "Connected" in gemini(scratch, str(SERVER), "mcp", "--agent", "gemini-cli")
    assert (scratch / ".memory-plane" / "memory.db").exists()


def test_grok_build_connects_and_discovers_the_tools(scratch: Path) -> None:
    server = grok(scratch, str(SERVER), "mcp", "--agent", "grok")
    assert server["healthy"], server
    assert any("tools discovered" in check["label"] and check["passed"] for check in server["checks"]), server
    assert (scratch / ".memory-plane" / "memory.db").exists()


def test_codex_lists_the_server_as_enabled(scratch: Path) -> None:
    run(scratch, "codex", "mcp", "add", "memory-plane", "--", str(SERVER), "mcp", "--agent", "codex")
    (server,) = json.loads(run(scratch, "codex", "mcp", "list", "--json").stdout)
    assert (server["name"], server["enabled"]) == ("memory-plane", True)
    assert server["transport"]["command"] == str(SERVER)
    assert server["transport"]["args"] == ["mcp", "--agent", "codex"]


def test_bundle_of_claude_desktop_is_valid(scratch: Path) -> None:
    bundle = scratch / "memory-plane.mcpb"
    subprocess.run([SERVER, "claude", "bundle", bundle], env={"HOME": str(scratch)}, check=True, timeout=SECONDS)
    run(scratch, "mcpb", "unpack", str(bundle), str(scratch / "bundle"))
    run(scratch, "mcpb", "validate", str(scratch / "bundle" / "manifest.json"))


@pytest.mark.parametrize("connect", [claude, gemini])
def test_a_server_that_does_not_start_is_seen_as_such(scratch: Path, connect: Any) -> None:
    assert "Connected" not in connect(scratch, sys.executable, "-c", "raise SystemExit(1)")


@pytest.mark.parametrize(("text", "is_read"), [('{"mcpServers": {}} // mine', True), ('{"mcpServers": {},}', False)])
def test_gemini_cli_reads_what_setup_thinks_it_reads(scratch: Path, text: str, is_read: bool) -> None:
    trust(scratch)
    (scratch / ".gemini" / "settings.json").write_text(text, "utf-8")
    environment = {"HOME": str(scratch), "PATH": os.environ["PATH"]}
    said = subprocess.run(
        [CLIENTS / "gemini", "mcp", "list"], env=environment, cwd=scratch, capture_output=True, text=True, check=False
    )
    assert ("Error in" in said.stdout + said.stderr) is not is_read
    done = subprocess.run(
        [SERVER, "setup", "gemini-cli", "--dry-run"], env=environment,
        capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert (done.returncode == 0, "does not read" in done.stdout) == (is_read, not is_read)


def test_looking_at_claude_code_leaves_its_home_as_it_is(scratch: Path) -> None:
    run(scratch, "claude", "mcp", "add", "--scope", "user", "memory-plane", "--", "/by/hand")
    before = {path: path.read_bytes() for path in scratch.rglob("*") if path.is_file()}
    path = f"{CLIENTS}:{os.environ['PATH']}"
    for command in (
        ("setup", "claude-code", "--dry-run"),
        ("setup", "claude-code", "--dry-run", "--take-over"),
        ("doctor",),
    ):
        subprocess.run([SERVER, *command], env={"HOME": str(scratch), "PATH": path}, check=False, timeout=SECONDS)
        after = {path: path.read_bytes() for path in scratch.rglob("*") if path.is_file()}
        assert {path: data for path, data in after.items() if ".memory-plane" not in path.parts} == before
