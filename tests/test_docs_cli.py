"""docs/cli.md is written from the live command line; run with UPDATE_DOCS=1 to write it anew."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from memory_plane.surfaces.cli import main

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"

HEAD = """\
# The command line

`memory-plane` writes to, reads from and looks after the memory. Every command explains itself with `--help`; this
page is made from those texts (`UPDATE_DOCS=1 pytest tests/test_docs_cli.py`).

- **Output.** A table on a terminal, aligned plain text in a pipe, JSON with `--json`. Results go to stdout; progress,
  notes and errors to stderr. Control characters in a memory are spelt out (`\\x1b`): no text can repaint your terminal.
- **Exit codes.** 0: done. 1: failed or refused. 2: wrong usage or configuration. 130: stopped with Ctrl-C. 141: the
  reader of the pipe went away.
- **Ids.** Where a command takes the id of something, its first six characters or more are enough.
- **Times.** `2026-11-03`, `"2026-11-03 14:00"`, an ISO 8601 time with its offset, `now`, `today`, `yesterday`,
  `tomorrow`, `eod`, a weekday, `last`, `this` or `next` with a weekday, `week`, `month` or `year`, or a span such as
  `30m`, `2h`, `3d`, `1w`. A weekday or span is back from now, or ahead for `--due`, `--valid-until` and `snooze`;
  `2h ago` and `in 3 days` say which. A day, week, month or year counts to its end for `--until`, `--due`,
  `--valid-until` and `--as-of`. Times are yours: in the machine's zone, or in `timezone` of the settings.
- **Who writes.** You do, as `user`. Agents name themselves with `--agent` or `MEMORY_PLANE_AGENT`.
- **Completion.** `memory-plane completion bash >> ~/.bashrc`, also for `zsh` and `fish`.
- **Log.** Traces of unexpected failures are in `memory-plane.log` in the home; `--verbose` shows log lines on stderr.
"""


def commands(group: click.Group, names: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every command, in the order of the help page."""
    yield names
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from commands(command, (*names, name))
            else:
                yield (*names, name)


def section(names: tuple[str, ...]) -> str:
    result = CliRunner().invoke(main, [*names, "--help"])
    assert result.exit_code == 0, result.stderr
    lines = "\n".join(line.rstrip() for line in result.stdout.splitlines())
    return f"\n## {' '.join(('memory-plane', *names))}\n\n```text\n{lines}\n```\n"


def test_page_is_what_the_commands_say() -> None:
    text = HEAD + "".join(section(names) for names in commands(main))
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(text, "utf-8")
    assert PAGE.read_text("utf-8") == text, "docs/cli.md is old; run: UPDATE_DOCS=1 pytest tests/test_docs_cli.py"


def test_every_command_has_an_example() -> None:
    for names in commands(main):
        assert "Examples:\n    memory-plane " in section(names), names
