"""A person's home with a fleet of agents in it: takes turns as these do, and notes what each agent is given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Thread
from time import monotonic, sleep, time_ns
from types import ModuleType
from typing import Any, Self

import httpx

from memory_plane import Client, hook, spool, webhooks
from memory_plane.testing.hub import HubProcess

from .day import FLEET, MESSAGES, Turn

SECONDS = 60
_OF_GROK = (("grok", "Stop"), ("claude-code", "Stop"), ("cursor", "stop"))
"""Grok also runs the hooks that it finds of Claude Code and Cursor."""
_FACTS = 80
"""How much is known at dawn: more than the page of it can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a hook gave an agent in a turn: what came into its context then."""

    turn: Turn
    event: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What a hook or a webhook delivered, and when, in nanoseconds since 1970."""

    at: int
    agent: str
    event: str
    payload: Any


class Fleet:
    """Takes turns in a home, beside a hub that may come and go."""

    def __init__(self, home: Path, database: Path) -> None:
        """Move in; `database` is an empty one."""
        self.home, self.person = home, home.parent
        muse = _fixtures("muse")
        self._messages, self._bubble = muse.Messages(self.person / "Library" / "Messages" / "chat.db"), muse.record
        self._antigravity = _fixtures("antigravity").Antigravity(self.person)
        interests = "".join(f'[agents.{name}]\ninterests = ["{form["cares for"]}"]\n' for name, form in FLEET.items())
        (home / "config.toml").write_text(f'{interests}[plugin.muse]\nchat_db = "{self._messages.path}"\n', "utf-8")
        self._webhook = webhooks.path(MESSAGES, webhooks.ensure_secret(home, MESSAGES))
        self.given: list[Given] = []
        self.sent: list[Sent] = []
        self.sizes: list[tuple[int, str, int]] = []
        self.hub = HubProcess(home, database=database)
        self._starting: Thread | None = None
        with Client(home=home) as client:
            for number in range(_FACTS):
                client.fact(
                    f"Customer {number}", "address", f"{number} Long Street, {'Springfield ' * 20}", agent="notes"
                )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._starting is not None:
            self._starting.join(SECONDS)
        self.hub.stop()
        self._messages.connection.close()

    # --- the hub -------------------------------------------------------------------------------------------------

    def restart(self) -> None:
        """Have the hub started again, and do not wait for it."""
        self._starting = Thread(target=self.hub.start)
        self._starting.start()

    def rest(self) -> None:
        """Wait until all that was said has arrived and is on the pages."""
        self._wait_for_hub()
        headers = {"authorization": f"Bearer {self.hub.token}"}
        with httpx.Client(base_url=self.hub.url, headers=headers, trust_env=False, timeout=SECONDS) as hub:
            page = "local-cache.json"  # the last one that is written
            _until(lambda: not spool.waiting(self.home) and hub.get(f"/api/pages/{page}").text == self.page(page))

    def page(self, name: str) -> str:
        """Return a page as it is on the disk, "" if there is none."""
        path = self.home / name
        return path.read_text("utf-8") if path.exists() else ""

    def _wait_for_hub(self) -> None:
        if self._starting is not None:
            self._starting.join(SECONDS)
        assert self.hub.process.poll() is None

    # --- turns ---------------------------------------------------------------------------------------------------

    def take(self, turn: Turn, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Take a turn, and note how large the pages are then; `meanwhile` happens between question and answer."""
        if turn.agent == MESSAGES:
            self._receive(turn)
            meanwhile()
        else:
            self._begin(turn)
            self._write(turn, "user", turn.prompt)
            self._run(turn, "ask")
            self._run(turn, "work")
            if turn.sort == "done" and turn.closes is not None:
                self._close(turn.closes, turn.agent)
            meanwhile()
            self._write(turn, "assistant", turn.answer)
            self._run(turn, "answer")
        for path in (self.home / "PULSE.md", self.home / "SHARED_MEMORY.md", *(self.home / "brief").glob("*.md")):
            self.sizes.append((turn.number, path.name, len(path.read_bytes())))

    def _begin(self, turn: Turn) -> None:
        if turn.source == "startup" and turn.agent == "antigravity":
            self._antigravity.summarize(turn.session, workspace_uris=[f"file:///w/{turn.agent}"])
        if turn.source:
            self._run(turn, "start")
        if turn.again is not None:
            self._run(turn.again, "answer")

    def _run(self, turn: Turn, moment: str) -> None:
        """Run an agent's hook as often as it is registered, all at once, and note what it is given."""
        event, form = FLEET[turn.agent].get(moment, ("", {}))
        if not event:
            return
        payload, environment = self._filled(form, turn), dict(os.environ)
        registered = [(turn.agent, event)] * turn.times
        if turn.agent == "grok":
            environment["GROK_HOOK_EVENT"] = payload["hookEventName"]
            registered = list(_OF_GROK) if turn.times > 1 and moment == "answer" else registered
        if payload.get("source") == "new":  # Grok reads its brief among its rules then, and listens to no hook
            self.given.append(Given(turn=turn, event=event, text=self.page("brief/grok.md")))
        self.sent.append(Sent(at=time_ns(), agent=turn.agent, event=event, payload=payload))
        for answer in _hooks(registered, payload, environment):
            if text := _added(answer):
                self.given.append(Given(turn=turn, event=event, text=text))

    def _filled(self, form: Any, turn: Turn) -> Any:
        if isinstance(form, dict):
            return {name: self._filled(value, turn) for name, value in form.items()}
        if isinstance(form, list):
            return [self._filled(value, turn) for value in form]
        words = {
            "{session}": turn.session,
            "{turn}": f"{turn.session}-{turn.number}",
            "{n}": turn.number,
            "{transcript}": str(self._transcript(turn)),
            "{folder}": f"/w/{turn.agent}",
            "{source}": turn.source,
            "{source of grok}": {"startup": "new", "resume": "load"}.get(turn.source),
            "{prompt}": turn.prompt,
            "{answer}": turn.answer,
            "{now}": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.000Z}",
        }
        return words.get(form, form) if isinstance(form, str) else form

    def _receive(self, turn: Turn) -> None:
        """Have a message come in: BlueBubbles posts it, and does not try again where no hub answers."""
        at, guid = datetime.now(UTC), f"message-{turn.number}"
        self._messages.say(turn.answer, at=at, guid=guid)
        posted = {"type": "new-message", "data": self._bubble(turn.answer, at=at, guid=guid)}
        self.sent.append(Sent(at=time_ns(), agent=MESSAGES, event="webhook", payload=posted))
        for _ in range(turn.times):
            try:
                httpx.post(f"{self.hub.url}{self._webhook}", json=posted, trust_env=False, timeout=SECONDS)
            except httpx.TransportError:
                return

    def _close(self, handed: Turn, agent: str) -> None:
        """Close what was handed to an agent, as it would by its tools."""
        self._wait_for_hub()
        with Client(home=self.home) as client:

            def found() -> str:
                items = client.items(to=agent, limit=100)
                return next((item.id for item in items if item.text == handed.kept), "")

            assert client.resolve(_until(found), agent=agent).state in ("stored", "queued")  # a busy hub may be late
        _until(lambda: not any(handed.kept in self.page(f"brief/{name}.md") for name in FLEET))

    def replay(self) -> None:
        """Leave all that was ever sent in the spool again, as the hooks and the hub left it then."""
        for number, sent in enumerate(self.sent):
            payload = hook._without_secrets(json.dumps(sent.payload, ensure_ascii=False))
            record = {"agent": sent.agent, "name": sent.event, "payload": payload}
            path = self.home / "spool" / f"{sent.at:020d}-{number:08d}.json"
            path.write_text(json.dumps(record, ensure_ascii=False), "utf-8")

    # --- transcripts of those whose plugins read them ------------------------------------------------------------

    def _transcript(self, turn: Turn) -> Path:
        if turn.agent == "antigravity":
            logs = self._antigravity.app() / "brain" / turn.session / ".system_generated" / "logs"
            return Path(logs / "transcript.jsonl")
        return self.person / ".claude" / "projects" / "-w-claude-code" / f"{turn.session}.jsonl"

    def _write(self, turn: Turn, who: str, text: str) -> None:
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
        if turn.agent == "antigravity":
            row = self._antigravity.asked if who == "user" else self._antigravity.said
            step = 2 * turn.number + (who != "user")
            # Turns of so fast a day are told apart by fractions of a second.
            self._antigravity.write(turn.session, row(step, datetime.now(UTC), text) | {"created_at": now})
        elif turn.agent == "claude-code":
            path = self._transcript(turn)
            path.parent.mkdir(parents=True, exist_ok=True)
            content = text if who == "user" else [{"type": "text", "text": text}]
            message = {"role": who, "content": content}
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"type": who, "timestamp": now, "message": message}) + "\n")


def _hooks(registered: Sequence[tuple[str, str]], payload: Any, environment: dict[str, str]) -> Iterator[Any]:
    """Run the shim once for each registration, and yield what each prints."""
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    shim = (sys.executable, "-S", hook.__file__)
    started = [subprocess.Popen([*shim, *line], env=environment, **pipes) for line in registered]
    for process in started:
        output, errors = process.communicate(json.dumps(payload, ensure_ascii=False).encode(), timeout=SECONDS)
        assert (process.returncode, errors) == (0, b"")
        yield json.loads(output)


def _added(answer: dict[str, Any]) -> str:
    """Return what an agent takes into its context from the answer of a hook."""
    if "injectSteps" in answer:
        return str(answer["injectSteps"][0]["ephemeralMessage"])
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def _until(condition: Callable[[], Any]) -> Any:
    """Ask until the answer is one, and return it."""
    deadline = monotonic() + SECONDS
    while not (found := condition()):
        assert monotonic() < deadline, "what was waited for did not happen"
        sleep(0.1)
    return found


def _fixtures(plugin: str) -> ModuleType:
    """Return the fixtures of a plugin's own tests, which write what its agent writes."""
    path = Path(__file__).parents[2] / "plugins" / f"memory-plane-{plugin}" / "tests" / "conftest.py"
    spec = spec_from_file_location(f"fixtures_of_{plugin}", path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
