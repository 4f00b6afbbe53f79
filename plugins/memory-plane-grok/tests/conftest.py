from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memory_plane.integration import Machine
from memory_plane.testing.machines import bare_machine
from memory_plane.types import Event

RECORDED = Path(__file__).with_name("recorded")
"""What Grok Build 1.0.41 left in true turns against a scripted model; only the home was renamed."""
GROUP = "%2Fhome%2Fme%2Fw%2Fherrington.ai"

MakeMachine = Callable[..., Machine]
Put = Callable[..., Path]
Hook = Callable[..., Event]
Slice = Callable[..., Path]


def id_of(name: str) -> str:
    """Return the session that a recording is of."""
    found: str = json.loads((RECORDED / name / "summary.json").read_text("utf-8"))["info"]["id"]
    return found


@pytest.fixture
def machine(tmp_path: Path) -> MakeMachine:
    """Return a machine with a home in which nothing is."""

    return partial(bare_machine, tmp_path)


@pytest.fixture
def grok(tmp_path: Path) -> Path:
    """The folder of Grok Build, with no session in it."""
    folder = tmp_path / "ein Ort é" / ".grok"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def put(grok: Path) -> Put:
    """Put recorded sessions into Grok's folder, as of a time; return the stream of the last."""

    def put(*names: str, at: datetime | None = None) -> Path:
        for name in names:
            session = grok / "sessions" / GROUP / id_of(name)
            shutil.copytree(RECORDED / name, session, dirs_exist_ok=True)
            if at is not None:
                os.utime(session / "updates.jsonl", (at.timestamp(), at.timestamp()))
        return session / "updates.jsonl"

    return put


@pytest.fixture
def hook(grok: Path) -> Hook:
    """Return a recorded event; it names the session where that is now. `None` leaves a field out."""
    recorded = json.loads((RECORDED / "hooks.json").read_text("utf-8"))

    def hook(name: str, **changes: Any) -> Event:
        text = json.dumps(recorded[name]).replace("/home/me/.grok/sessions", str(grok / "sessions"))
        payload = {key: value for key, value in (json.loads(text) | changes).items() if value is not None}
        return Event(agent="grok", name=payload.get("hook_event_name", "Stop"), payload=payload)

    return hook


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    """The folder with the chats that the app of Grok Bot keeps."""
    folder = tmp_path / "Grok Bot" / "sand-client-persistence"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def slice_of(bots: Path) -> Slice:
    """Write a slice as the app does: its key in base32, lower case and unpadded."""

    def slice_of(key: str, value: object, version: object = 1) -> Path:
        name = base64.b32encode(f"sand.client.slice.{key}".encode()).decode().rstrip("=").lower()
        path = bots / f"{name}.blob"
        path.write_text(json.dumps({"schemaVersion": version, "value": value}), "utf-8")
        return path

    return slice_of
