"""docs/rest.md lists what the OpenAPI description has, and its examples are run; UPDATE_DOCS=1 writes the list anew."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from memory_plane import Plane
from memory_plane.access import agent_token
from memory_plane.surfaces.api import create_app

PAGE = Path(__file__).parents[1] / "docs" / "rest.md"
MARK = "<!-- Written by UPDATE_DOCS=1 pytest tests/test_docs_rest.py -->\n"
HUB = "http://127.0.0.1:8788"
TOKEN = "t" * 43
MUSE = agent_token(TOKEN, "muse")
ENDLESS = "/api/events"


@pytest.fixture
def hub(plane: Plane) -> TestClient:
    return TestClient(create_app(plane, token=TOKEN, port=8788), base_url=HUB, raise_server_exceptions=False)


def entries(description: dict[str, Any]) -> str:
    """Write a table of the endpoints: method and path, what may be sent, what it does."""
    rows = [
        f"| `{method.upper()} {path}` | {sent(operation)} | {about(operation)} |"
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]
    return "\n".join(["", "| endpoint | takes | answers |", "|---|---|---|", *rows, ""])


def sent(operation: dict[str, Any]) -> str:
    given = [one["name"] for one in operation.get("parameters", ()) if one["in"] != "path"]
    if "requestBody" in operation:
        given += operation["requestBody"]["content"]["application/json"]["schema"]["properties"]
    return ", ".join(f"`{name}`" for name in given) or "–"


def about(operation: dict[str, Any]) -> str:
    return str(operation.get("description") or operation["summary"]).split("\n")[0].rstrip(".").replace("|", "\\|")


def test_every_endpoint_is_listed(hub: TestClient) -> None:
    text = PAGE.read_text("utf-8")
    head, mark, _ = text.partition(MARK)
    assert mark, "the mark of the list is missing"
    listed = hub.get("/openapi.json", headers={"authorization": f"Bearer {TOKEN}"}).json()
    wanted = head + mark + entries(listed)
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(wanted, "utf-8")
    assert PAGE.read_text("utf-8") == wanted, "docs/rest.md is old; run: UPDATE_DOCS=1 pytest tests/test_docs_rest.py"


def examples() -> list[list[str]]:
    """Return the words of each curl command on the page."""
    shells = "\n".join(re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL))
    filled = shells.replace("$HUB", HUB).replace("$TOKEN", MUSE).replace("\\\n", " ")
    lines = re.findall(r"^curl .*?(?=^curl |^\w+=|\Z)", filled, re.DOTALL | re.MULTILINE)
    return [shlex.split(line) for line in lines]


def test_every_example_works_as_it_is_written(hub: TestClient) -> None:
    commands = examples()
    assert len(commands) == 6
    answers = [answered(hub, command) for command in commands if ENDLESS not in "".join(command)]
    assert [answer.status_code for answer in answers] == [200] * 5
    assert [answers[0].json()["state"], answers[1].json()["state"]] == ["stored", "stored"]
    assert answers[2].json()["hits"][0]["snippet"] == "Ask Rob for the invoice"
    assert "Ask Rob for the invoice" in answers[3].text
    assert [one["state"] for one in answers[4].json()] == ["stored", "stored"]


def answered(hub: TestClient, command: list[str]) -> Any:
    """Send what curl would send."""
    url, headers, data = "", {}, None
    words = iter(command[1:])
    for word in words:
        if word == "-H":
            name, _, value = next(words).partition(": ")
            headers[name] = value
        elif word == "-d":
            data = next(words)
        elif word.startswith("-"):
            assert word in ("-s", "-sN")
        else:
            url = word
    return hub.request("GET" if data is None else "POST", url, headers=headers, content=data)
