"""Options and arguments that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from memory_plane.operations import id_of
from memory_plane.surfaces.cli.session import Session
from memory_plane.surfaces.cli.times import Moment

if TYPE_CHECKING:
    from memory_plane.client import Client

Decorator = Callable[[Callable[..., None]], Callable[..., None]]

# Spelt out, since importing them from types.py would double the time that `--help` takes; a test compares.
KINDS = ("thought", "decision", "milestone", "question", "commitment", "handoff", "observation")
ORIGINS = ("user", "agent", "external")
STATUSES = ("done", "dropped", "answered", "acknowledged")

PERSON = "user"
_SHORTEST_PREFIX = 6

pass_session: Decorator = click.make_pass_decorator(Session)
json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
agent_option: Decorator = click.option(
    "--agent",
    envvar="MEMORY_PLANE_AGENT",
    show_envvar=True,
    metavar="NAME",
    default=PERSON,
    show_default=True,
    help="Who writes.",
)
origin_option: Decorator = click.option(
    "--origin", type=click.Choice(ORIGINS), help="Whose words these are.  [default: user, or agent with --agent]"
)
project_option: Decorator = click.option("--project", metavar="NAME", help="The project that it is about.")


def limit_option(default: int) -> Decorator:
    """Make `--limit` with its default."""
    return click.option(
        "--limit", type=click.IntRange(min=1), default=default, show_default=True, help="Show at most this many."
    )


def write_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of every write."""
    for option in (
        json_option,
        click.option("--id", metavar="UUID", help="The id to store it under; a second write with it changes nothing."),
        click.option("--created-at", type=Moment(), help="When it happened.  [default: now]"),
        agent_option,
    ):
        command = option(command)
    return command


def examples(*lines: str) -> str:
    """Return the examples below a command's options."""
    return "\b\nExamples:\n" + "\n".join(f"  memory-plane {line}" for line in lines)


def origin_of(agent: str) -> str:
    """Return whose words these are when nobody says: the person's, or the named agent's."""
    return "user" if agent == PERSON else "agent"


def read_text(text: str) -> str:
    """Return the text, read from stdin where it is `-`."""
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise click.ClickException("text: stdin is not UTF-8") from None


def full_id(client: Client, text: str) -> str:
    """Complete the beginning of an id; a whole id passes unseen."""
    try:
        return id_of(text)
    except ValueError:
        prefix = text.strip().lower()
    if len(prefix) < _SHORTEST_PREFIX:
        raise click.UsageError(
            f"{text!r} is too short for an id: give at least {_SHORTEST_PREFIX} characters", click.get_current_context()
        )
    found = client.find(prefix)
    if len(found) == 1:
        return found[0]
    if found:
        raise click.ClickException(f"{text!r} begins {len(found)} ids, give more of one: {', '.join(found)}")
    raise click.ClickException(f"no id begins with {text!r}; see: memory-plane items")


def given(**values: Any) -> dict[str, Any]:
    """Drop what was not given, so that the plane's own defaults hold."""
    return {name: value for name, value in values.items() if value is not None}
