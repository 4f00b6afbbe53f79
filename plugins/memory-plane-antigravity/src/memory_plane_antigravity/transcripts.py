"""Read the last turns of a conversation from its transcript: one JSON object a line, appended while we read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from memory_plane_antigravity.places import TRANSCRIPTS
from memory_plane_antigravity.values import moment, number, parsed, text

TAIL = 512 * 1024
"""How many bytes of a transcript are read from its end; eight times as many where no prompt is among them."""

Row = Mapping[str, Any]

_REQUEST = re.compile(r"<USER_REQUEST>(.*?)(?:</USER_REQUEST>|\Z)", re.DOTALL)
_ADDED = re.compile(r"<(?:ADDITIONAL_METADATA|USER_SETTINGS_CHANGE)\b.*", re.DOTALL)
_CUT = re.compile(r"<truncated \d[\d,]* \w+>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What a person asked, and what came of it.

    `id` is the agent's step and its time, "" if the prompt is not known; `at` is when the last step was written;
    `before` is what the agent had answered last before the prompt;
    `task` and `folder` are what the agent said it works on and where. `settled`: the agent spoke last, and asked for
    no tool; `closed`: the next prompt follows.
    """

    id: str = ""
    at: datetime | None = None
    prompt: str = ""
    answer: str = ""
    before: str = ""
    task: str = ""
    folder: str = ""
    settled: bool = False
    closed: bool = False


def read(transcript: Path) -> tuple[Exchange, ...]:
    """Return the last exchanges, oldest first; nothing for a file that cannot be read."""
    rows = _rows(transcript, TAIL)
    if not any(_prompt(row) for row in rows):
        rows = _rows(transcript, 8 * TAIL)
    groups = _groups(rows)
    whole = partial(_whole, _originals(transcript, [row for group in groups for row in group]))
    found: list[Exchange] = []
    for group in groups:
        before = found[-1].answer if found else ""
        found.append(_exchange([whole(row) for row in group], before, closed=group is not groups[-1]))
    return tuple(found)


def arguments(call: Any) -> dict[str, Any]:
    """Return what a tool was called with: each value is JSON once more, a string in a string."""
    given = call.get("args") if isinstance(call, Mapping) else None
    given = parsed(given) if isinstance(given, str) else given
    return {name: _decoded(value) for name, value in given.items()} if isinstance(given, Mapping) else {}


def _decoded(value: Any) -> Any:
    inner = parsed(value) if isinstance(value, str) else None
    return value if inner is None else inner


# --- lines -------------------------------------------------------------------------------------------------------


def _rows(transcript: Path, most: int) -> list[Row]:
    """Return what stands on the last whole lines: what is left of one that was begun before, or torn, is no JSON."""
    try:
        with transcript.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - most))
            lines = file.read(most).decode("utf-8", "replace").split("\n")
    except OSError:
        return []
    values = (parsed(line) for line in lines)
    return [value for value in values if isinstance(value, dict)]


def _originals(transcript: Path, rows: Sequence[Row]) -> Mapping[int, Row]:
    """Return rows of the full transcript by their step, if one of these was cut short."""
    if not any(_is_cut(row) for row in rows):
        return {}
    full = _rows(transcript.with_name(TRANSCRIPTS[1]), 8 * TAIL)
    return {step: row for row in full if (step := number(row.get("step_index"))) is not None}


def _whole(originals: Mapping[int, Row], row: Row) -> Row:
    step = number(row.get("step_index"))
    original = originals.get(step, row) if step is not None and _is_cut(row) else row
    return original if original.get("type") == row.get("type") else row


def _is_cut(row: Row) -> bool:
    return bool(row.get("truncated_fields"))


# --- turns -------------------------------------------------------------------------------------------------------


def _prompt(row: Row) -> str:
    """Return what the person wrote, without what Antigravity adds to it; "" for any other row."""
    if (row.get("source"), row.get("type")) != ("USER_EXPLICIT", "USER_INPUT"):
        return ""
    content = text(row.get("content"))
    request = _REQUEST.search(content)
    return _plain(request[1] if request else _ADDED.sub("", content))


def _is_answer(row: Row) -> bool:
    """Whether the agent itself speaks here; what tools gave back comes from the model too, but is of another type."""
    return (row.get("source"), row.get("type")) == ("MODEL", "PLANNER_RESPONSE")


def _groups(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows of each exchange, its prompt first; what stands before the first prompt counts if it is all."""
    groups: list[list[Row]] = [[]]
    for row in rows:
        if _prompt(row):
            groups.append([row])
        elif _is_answer(row):
            groups[-1].append(row)
    return groups[1:] or [group for group in groups if group]


def _exchange(rows: Sequence[Row], before: str, *, closed: bool) -> Exchange:
    first, answers = rows[0], [row for row in rows if _is_answer(row)]
    calls = [call for row in answers for call in _calls(row)]
    last = answers[-1] if answers else {}
    asked = {name for name, _ in _calls(last)} - {"notify_user"}
    written = [at for row in rows if (at := moment(row.get("created_at")))]
    prompt, step = _prompt(first), number(first.get("step_index"))
    return Exchange(
        id=f"{step}@{text(first.get('created_at'), 64)}" if prompt and step is not None else "",
        at=max(written, default=None),
        prompt=prompt,
        answer=next((said for row in reversed(answers) if (said := _said(row))), ""),
        before=before,
        task=_latest(calls, "task_boundary", "TaskName"),
        folder=_latest(calls, "run_command", "Cwd"),
        settled=bool(answers) and _is_done(last) and not asked,
        closed=closed,
    )


def _calls(row: Row) -> Iterator[tuple[str, dict[str, Any]]]:
    calls = row.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, Mapping):
            yield text(call.get("name")), arguments(call)


def _is_done(row: Row) -> bool:
    return text(row.get("status")) in ("", "DONE")


def _said(row: Row) -> str:
    """Return what the person can read of it: in its task view the agent speaks by a tool only."""
    told = _latest(list(_calls(row)), "notify_user", "Message")
    return told or (_plain(text(row.get("content"))) if _is_done(row) else "")


def _latest(calls: Sequence[tuple[str, dict[str, Any]]], tool: str, argument: str) -> str:
    values = [value for name, given in calls if name == tool and (value := text(given.get(argument)))]
    return next((_plain(value) for value in reversed(values) if value != "%SAME%"), "")


def _plain(content: str) -> str:
    return _CUT.sub("", content).strip()
