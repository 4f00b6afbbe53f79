"""A morning of five agents, for tests of the pages and for pictures of them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from memory_plane import Plane

SAID: tuple[tuple[int, str, str, dict[str, Any]], ...] = (
    (2900, "muse", "Ann Lee works at Herrington. She leads the Atlas project.", {"project": "atlas"}),
    (2890, "muse", "Robert Moss works at Herrington. Robert Moss manages Ann Lee.", {"project": "atlas"}),
    (2870, "grok", "Bob Moss is working on the Atlas project.", {"project": "atlas"}),
    (2860, "claude-code", "The Atlas project is built in Python and uses PostgreSQL.", {"project": "atlas"}),
    (2850, "claude-code", "Dora Stone works at Northwind. Dora Stone knows Ann Lee.", {"project": "atlas"}),
    (2840, "codex", "Milo Berg maintains Outpost. Outpost is built in Rust.", {"project": "outpost"}),
    (2830, "codex", "Milo Berg works at Northwind. Outpost depends on SQLite.", {"project": "outpost"}),
    (2820, "instinct", "Northwind is a customer of Herrington.", {}),
    (2810, "instinct", "Jon Ortiz works at Herrington. Jon Ortiz knows Milo Berg.", {}),
    (2800, "grok", "John Ortiz manages Dora Stone.", {}),
    (1500, "claude-code", "Migrations run before the hub answers.", {"kind": "decision", "project": "atlas"}),
    (1400, "codex", "The outbox of Outpost survives kill -9 now.", {"kind": "milestone", "project": "outpost"}),
    (600, "instinct", "Can we move the review with Northwind to Thursday?", {"origin": "external"}),
    (300, "muse", "Ann Lee prefers calls before noon.", {"kind": "observation"}),
    (120, "grok", "Prices of Northwind rise by 4% in January.", {"kind": "observation", "project": "atlas"}),
    (45, "claude-code", "Indexes on dates halved the page's start.", {"kind": "milestone", "project": "atlas"}),
    (12, "codex", "Retries wait longer each time, and never at once.", {"kind": "decision", "project": "outpost"}),
)  # fmt: skip
"""Minutes ago, who, what, and what else is known of it."""

OPEN: tuple[tuple[int, int, str, str, str, dict[str, Any]], ...] = (
    (1600, -10, "muse", "commitment", "Send Northwind the offer for Atlas", {"to": "Ann Lee", "project": "atlas"}),
    (900, 30, "claude-code", "commitment", "Write the migration guide", {"project": "atlas"}),
    (700, 50, "codex", "handoff", "Take over the retry logic", {"to": "claude-code", "project": "outpost"}),
    (200, 72, "instinct", "question", "Which day suits the review with Northwind?", {"to": "user"}),
)  # fmt: skip
"""Minutes ago, due in hours, who, of what kind, what, and what else is known of it."""

DOING = (
    (3, "claude-code", "Migration guide for Atlas", "atlas"),
    (8, "codex", "Retry logic of Outpost", "outpost"),
    (21, "muse", "Reading mail about the offer", "atlas"),
    (95, "grok", "Watching prices of Northwind", "atlas"),
    (1900, "instinct", "Calendar of the week", None),
)

FACTS = (
    (2000, "Northwind", "seats", "40"),
    (400, "Northwind", "seats", "55"),
    (1900, "Atlas", "release", "2026.4"),
    (1800, "Ann Lee", "phone", "call before noon"),
)


def tell(plane: Plane, now: datetime) -> None:
    """Write the morning into a memory."""
    for minutes, agent, text, more in SAID:
        plane.post(text, agent=agent, created_at=now - timedelta(minutes=minutes), **more)
    for minutes, hours, agent, kind, text, more in OPEN:
        at, due = now - timedelta(minutes=minutes), now + timedelta(hours=hours)
        plane.post(text, agent=agent, kind=kind, due_at=due, created_at=at, **more)
    for minutes, agent, focus, project in DOING:
        plane.heartbeat(agent=agent, focus=focus, project=project, created_at=now - timedelta(minutes=minutes))
    for minutes, subject, key, value in FACTS:
        plane.fact(subject, key, value, agent="muse", created_at=now - timedelta(minutes=minutes))
    held = "Northwind asks for the offer as a spreadsheet."
    plane.post(held, agent="muse", origin="external", held=True, created_at=now - timedelta(minutes=30))
