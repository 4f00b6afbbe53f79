"""The real Codex, which runs a hook only once its person trusts it: run by `make test-clients`, which installs it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from .endpoint import Endpoint
from .people import AGENTS, CLIENTS, COMMAND, Person

CODEX = AGENTS["codex"]
SHIPPED = "Shipped the login page of herrington.ai to production"
WAIT = "hooks wait for your trust"


def asked(person: Person, *requests: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Ask Codex as its own user interfaces do; return the answers."""
    path = f"{CLIENTS / 'node_modules' / '.bin'}:{CLIENTS / 'node' / 'bin'}:{os.environ['PATH']}"
    environment = {"HOME": str(person.home), "PATH": path, **person.environment}
    answers = []
    with subprocess.Popen(
        ["codex", "app-server"], env=environment, cwd=person.home,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        begin = ("initialize", {"clientInfo": {"name": "person", "version": "1"}})
        for number, (method, parameters) in enumerate((begin, *requests)):
            server.stdin.write(f"{json.dumps({'id': number, 'method': method, 'params': parameters})}\n")
            server.stdin.flush()
            answers.append(next(said for said in map(json.loads, server.stdout) if said.get("id") == number))
    return [answer["result"] for answer in answers[1:]]


def trust(person: Person) -> None:
    """Trust every hook, as `/hooks` does."""
    (listed,) = asked(person, ("hooks/list", {"cwds": [str(person.home)]}))
    state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in listed["data"][0]["hooks"]}
    edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
    asked(person, ("config/batchWrite", {"edits": [edit]}))


def test_hooks_run_once_they_are_trusted_and_doctor_says_that_they_wait(tmp_path: Path) -> None:
    person = Person(tmp_path)
    with Endpoint([f"{SHIPPED}."]) as endpoint:
        CODEX.prepare(person, endpoint.url)
        person.plane("setup", "codex", "--yes")
        assert f"3 of 3 {WAIT}" in person.run(str(COMMAND), "doctor", "--ask", fails=True)
        trust(person)
        assert WAIT not in person.plane("doctor", "--ask")
        person.run("codex", "exec", "--skip-git-repo-check", "Please ship the login page of herrington.ai")
    person.plane("ingest", "--spool")
    assert [hit["agent"] for hit in person.told("recall", "login page herrington")["hits"]] == ["codex"]
    person.plane("uninstall", "codex", "--yes")
    assert "[mcp_servers" not in (tmp_path / ".codex" / "config.toml").read_text("utf-8")  # where Codex noted the trust
