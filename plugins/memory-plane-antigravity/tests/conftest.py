"""A home in which Antigravity has run: its folders, transcripts and databases, in the forms that versions gave them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_plane.types import Event

Row = dict[str, Any]

EARLY = {
    "conversation_id": "TEXT PRIMARY KEY",
    "title": "TEXT NOT NULL DEFAULT ''",
    "preview": "TEXT NOT NULL DEFAULT ''",
    "last_modified_time": "TEXT NOT NULL",
    "last_user_input_time": "TEXT NOT NULL DEFAULT ''",
    "workspace_uris": "TEXT NOT NULL DEFAULT ''",
}
USUAL = {
    "conversation_id": "TEXT",
    "title": 'TEXT NOT NULL DEFAULT ""',
    "preview": 'TEXT NOT NULL DEFAULT ""',
    "step_count": "INTEGER NOT NULL DEFAULT 0",
    "last_modified_time": "DATETIME NOT NULL",
    "workspace_uris": "TEXT NOT NULL DEFAULT ''",
    "status": 'TEXT NOT NULL DEFAULT ""',
    "source": 'TEXT NOT NULL DEFAULT ""',
    "project_id": 'TEXT NOT NULL DEFAULT ""',
    "agent_name": 'TEXT NOT NULL DEFAULT ""',
    "parent_conversation_id": 'TEXT NOT NULL DEFAULT ""',
    "nesting_depth": "INTEGER NOT NULL DEFAULT 0",
    "battle_id": 'TEXT NOT NULL DEFAULT ""',
    "winning_conversation_id": 'TEXT NOT NULL DEFAULT ""',
    "not_fully_idle": "NUMERIC NOT NULL DEFAULT false",
    "killed": "NUMERIC NOT NULL DEFAULT false",
    "last_user_input_time": "DATETIME NOT NULL DEFAULT ''",
    "last_user_input_step_index": "INTEGER NOT NULL DEFAULT -1",
    "app_data_dir": 'TEXT NOT NULL DEFAULT ""',
}
LATE = USUAL | {"raw_summary": "BLOB", "group_id": 'TEXT NOT NULL DEFAULT ""'}
SCHEMAS = {"early": EARLY, "usual": USUAL, "late": LATE}


class Antigravity:
    """Writes what Antigravity writes. `now` is a whole second, so that times survive every way of writing them."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.now = datetime.now(UTC).replace(microsecond=0)

    def at(self, minutes: float) -> datetime:
        """Return the moment so many minutes ago."""
        return self.now - timedelta(minutes=minutes)

    def app(self, name: str = "antigravity-cli") -> Path:
        """Return the folder of an app, made if it is missing."""
        folder = self.home / ".gemini" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def write(
        self,
        conversation: str,
        *rows: Row | str,
        app: str = "antigravity-cli",
        name: str = "transcript.jsonl",
        end: str = "\n",
    ) -> Path:
        """Append rows to a transcript, or lines that are none; return the file."""
        path = self.app(app).joinpath("brain", conversation, ".system_generated", "logs", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        with path.open("a", encoding="utf-8", newline="") as file:
            file.write("\n".join(lines) + end)
        return path

    def database(self, app: str = "antigravity-cli") -> Path:
        """Return where an app's database is."""
        return self.app(app) / "conversation_summaries.db"

    def summarize(
        self, conversation: str, *, app: str = "antigravity-cli", schema: str = "usual", **columns: Any
    ) -> None:
        """Write a row of the database, which is made if it is missing, in WAL mode as Antigravity has it."""
        values = {"conversation_id": conversation, "last_modified_time": self.stamp(self.now)} | columns
        if isinstance(values.get("workspace_uris"), list):
            values["workspace_uris"] = json.dumps(values["workspace_uris"])
        with closing(sqlite3.connect(self.database(app))) as database, database:
            database.execute("PRAGMA journal_mode = WAL")
            kinds = ", ".join(f"{name} {kind}" for name, kind in SCHEMAS[schema].items())
            database.execute(f"CREATE TABLE IF NOT EXISTS conversation_summaries ({kinds})")
            database.execute("DELETE FROM conversation_summaries WHERE conversation_id = ?", (conversation,))
            names, marks = ", ".join(values), ", ".join("?" * len(values))
            row = tuple(values.values())
            database.execute(f"INSERT INTO conversation_summaries ({names}) VALUES ({marks})", row)

    def event(self, name: str, conversation: str, *, app: str = "antigravity-cli", **fields: Any) -> Event:
        """Return what a hook delivers."""
        logs = self.app(app).joinpath("brain", conversation, ".system_generated", "logs")
        own: dict[str, dict[str, Any]] = {
            "PreInvocation": {"invocationNum": 0, "initialNumSteps": 3},
            "Stop": {"executionNum": 0, "terminationReason": "NO_TOOL_CALL", "error": "", "fullyIdle": True},
        }
        payload = {
            "artifactDirectoryPath": str(self.app(app) / "brain" / conversation),
            "conversationId": conversation,
            "modelName": "gemini-3.8-flash-high",
            "transcriptPath": str(logs / "transcript.jsonl"),
            "workspacePaths": ["/w/shop"],
        }
        return Event(agent="antigravity", name=name, payload=payload | own[name] | fields)

    @staticmethod
    def stamp(at: datetime) -> str:
        """Write a moment as the database has it: with nanoseconds."""
        return f"{at:%Y-%m-%d %H:%M:%S}.002530482+00:00"

    @staticmethod
    def asked(step: int, at: datetime, text: str, *, wrapped: bool = True) -> Row:
        """Return the row of a prompt, with what Antigravity adds to it."""
        added = "<ADDITIONAL_METADATA>\nThe current local time is: 2026-11-20T10:00:00Z.\n</ADDITIONAL_METADATA>"
        content = f"<USER_REQUEST>\n{text}\n</USER_REQUEST>\n{added}" if wrapped else text
        return Antigravity._row(step, at, "USER_EXPLICIT", "USER_INPUT", content)

    @staticmethod
    def said(
        step: int, at: datetime, text: str = "", calls: Sequence[tuple[str, Mapping[str, Any]]] = (), **more: Any
    ) -> Row:
        """Return the row of what the agent said, and of the tools that it asked for: values are JSON in strings."""
        row = Antigravity._row(step, at, "MODEL", "PLANNER_RESPONSE", text) | more
        if calls:
            encoded = [(tool, {name: json.dumps(value) for name, value in given.items()}) for tool, given in calls]
            row["tool_calls"] = [{"name": tool, "args": given} for tool, given in encoded]
        return row

    @staticmethod
    def system(step: int, at: datetime, kind: str, text: str) -> Row:
        """Return a row of Antigravity's own: CHECKPOINT, SYSTEM_MESSAGE, EPHEMERAL_MESSAGE and others."""
        return Antigravity._row(step, at, "SYSTEM", kind, text)

    @staticmethod
    def result(step: int, at: datetime, kind: str, text: str) -> Row:
        """Return the row of what a tool gave back: it comes from the model, too."""
        return Antigravity._row(step, at, "MODEL", kind, text)

    @staticmethod
    def _row(step: int, at: datetime, source: str, kind: str, content: str) -> Row:
        created = f"{at:%Y-%m-%dT%H:%M:%S}Z"
        head = {"step_index": step, "source": source, "type": kind, "status": "DONE"}
        return head | {"created_at": created, "content": content}


@pytest.fixture
def antigravity(home: Path) -> Antigravity:
    """Make a person's home in which Antigravity is about to write."""
    return Antigravity(home.parent)
