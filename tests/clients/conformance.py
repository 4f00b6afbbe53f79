"""The MCP project's own conformance suite against `/mcp` of a real hub: run by `make test-clients`, which installs it.

The suite cannot send a token. So it talks to the hub through a proxy of this file, which adds the header
`Authorization` to each request and changes nothing else: `Host` and `Origin` arrive as the suite has sent them, and
it is the hub that turns away a foreign one. Since they hold the port of the proxy, the hub is told of that name by
`hub.names`, as by anybody who puts a proxy before it.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from memory_plane.testing.hub import HubProcess

SUITE = Path(__file__).parents[2] / ".clients" / "node_modules" / ".bin" / "conformance"
SECONDS = 120
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
OF_THE_CONNECTION = {"connection", "keep-alive", "transfer-encoding"}


class Proxy(ThreadingHTTPServer):
    """Passes requests on to a hub with the token that opens it, or without any."""

    daemon_threads = True
    port = 0
    token: str | None = None

    def handle_error(self, *_: Any) -> None:
        """Say nothing: the suite hangs up when it has seen enough, and tells what it missed."""


class Passing(BaseHTTPRequestHandler):
    """One connection from the suite."""

    protocol_version = "HTTP/1.1"
    server: Proxy

    def pass_on(self) -> None:
        """Send the request to the hub and its answer back."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        with closing(HTTPConnection("127.0.0.1", self.server.port, timeout=SECONDS)) as hub:
            hub.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in OF_THE_CONNECTION:
                    hub.putheader(name, value)
            if self.server.token is not None:
                hub.putheader("Authorization", f"Bearer {self.server.token}")
            hub.endheaders(body)
            answer = hub.getresponse()
            content = answer.read()
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in {*OF_THE_CONNECTION, "content-length"}:
                self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = pass_on

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    """Listen for the suite; nothing is passed on before a hub is named."""
    with Proxy(("127.0.0.1", 0), Passing) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


@pytest.fixture
def behind(proxy: Proxy, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubProcess]:
    """Start a hub that answers to the proxy's name too."""
    monkeypatch.setenv("MEMORY_PLANE_HUB__NAMES", f'["127.0.0.1:{proxy.server_port}"]')
    hub = HubProcess(tmp_path / "the hub's home é")
    proxy.port, proxy.token = hub.port, hub.token
    yield hub
    hub.stop()


def run(proxy: Proxy, scenario: str, folder: Path) -> list[dict[str, Any]]:
    """Run a scenario and return its checks."""
    url = f"http://127.0.0.1:{proxy.server_port}/mcp"
    command = [str(SUITE), "server", "--url", url, "--scenario", scenario, "--output-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    (written,) = folder.glob("*/checks.json")
    checks: list[dict[str, Any]] = json.loads(written.read_text("utf-8"))
    assert done.returncode == any(one["status"] == "FAILURE" for one in checks), done.stderr
    return checks


def states(checks: list[dict[str, Any]]) -> set[str]:
    """Return what came of the checks; what only informs says nothing."""
    return {str(one["status"]) for one in checks} - {"INFO"}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_hub_conforms(behind: HubProcess, proxy: Proxy, tmp_path: Path, scenario: str) -> None:
    checks = run(proxy, scenario, tmp_path / "results")
    assert states(checks) == {"SUCCESS"}, checks


def test_it_is_the_hub_that_turns_a_foreign_host_away(behind: HubProcess, proxy: Proxy, tmp_path: Path) -> None:
    checks = run(proxy, "dns-rebinding-protection", tmp_path / "results")
    told = {one["id"]: one["details"] for one in checks}
    assert told["localhost-host-rebinding-rejected"]["statusCode"] == 421
    assert "does not belong to Memory Plane" in told["localhost-host-rebinding-rejected"]["body"]["error"]
    assert told["localhost-host-valid-accepted"]["statusCode"] == 200


def test_suite_gets_nowhere_without_the_token(behind: HubProcess, proxy: Proxy, tmp_path: Path) -> None:
    proxy.token = None
    assert states(run(proxy, "server-initialize", tmp_path / "results")) == {"FAILURE"}
