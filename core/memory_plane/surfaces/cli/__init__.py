"""The command `memory-plane`: importing this costs click alone, a command's module is loaded when it is named."""

from __future__ import annotations

import click

from memory_plane import __version__
from memory_plane.surfaces.cli.group import LazyGroup, Section

_SECTIONS = (
    Section(
        "Connect agents",
        f"{__name__}.fleet",
        {
            "setup": "Connect the agents of this machine.",
            "uninstall": "Take out of the agents' files what is ours.",
        },
    ),
    Section(
        "Write",
        f"{__name__}.writing",
        {
            "post": "Write down a thought, decision, question, commitment or handoff.",
            "fact": "Set what is true of a subject.",
            "heartbeat": "Say what an agent is doing now.",
            "resolve": "Close an open item.",
            "assign": "Hand an open item to somebody.",
            "snooze": "Hide an open item until a later time.",
            "pin": "Pin a memory: pinned open items come first.",
            "retract": "Take a memory back; history keeps it.",
            "release": "Let a text that was held back be seen.",
            "forget": "Take a memory off the disk for good.",
        },
    ),
    Section(
        "Correct",
        f"{__name__}.correcting",
        {
            "correct": "Put right entries, who is who, and who is called what.",
        },
    ),
    Section(
        "Read",
        f"{__name__}.reading",
        {
            "pulse": "Show what is going on now.",
            "ask": "Answer a question in plain words.",
            "recall": "Search the memory.",
            "facts": "List what is true now, or was.",
            "items": "List the open items.",
            "held": "List what is held back.",
            "get": "Show one operation by its id.",
        },
    ),
    Section(
        "Graph",
        f"{__name__}.graphs",
        {
            "graph": "Show people, projects and how they are linked.",
            "path": "Show how two names hang together.",
            "search": "Find people, projects and things by their names.",
            "visualize": "Write the graph for a program that draws it.",
        },
    ),
    Section(
        "Look after",
        f"{__name__}.admin",
        {
            "status": "Show the state of the plane.",
            "doctor": "Find what is wrong, and say what to do about it.",
            "stats": "Count what the memory holds.",
            "plugins": "List the plugins and their failures.",
            "rebuild": "Fold every table again from the log.",
            "db": "Check or upgrade the database.",
        },
    ),
    Section(
        "Move",
        f"{__name__}.moving",
        {
            "ingest": "Take in text, files, or what agents left in the spool.",
            "export": "Write the whole memory as JSON lines.",
            "import": "Take in what another program knows, or export wrote.",
            "backup": "Copy the database while others write.",
            "restore": "Put a copy in the place of the database.",
        },
    ),
    Section(
        "Run the hub",
        f"{__name__}.service",
        {
            "up": "Run the hub, in the foreground or in the background.",
            "open": "Open the hub's page in a browser.",
            "down": "Stop the hub.",
            "service": "Have the system start the hub.",
        },
    ),
    Section(
        "Access",
        f"{__name__}.token",
        {
            "token": "Print the token of an agent, or renew them all.",
        },
    ),
    Section(
        "Sync",
        f"{__name__}.syncing",
        {
            "sync": "Bring the memory up to date, also with another machine.",
        },
    ),
    Section(
        "Queue",
        f"{__name__}.outbox",
        {
            "outbox": "Show and mend what waits to be delivered.",
        },
    ),
    Section(
        "Serve",
        f"{__name__}.serving",
        {
            "mcp": "Serve an agent over stdio.",
            "hook": "Answer the hook of an agent and keep what it said.",
            "completion": "Print the script that completes commands in your shell.",
        },
    ),
)


@click.group(
    "memory-plane",
    cls=LazyGroup,
    sections=_SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="\b\nExamples:\n"
    "  memory-plane setup\n"
    '  memory-plane post "Ask Rob for the invoice" --kind commitment --due tomorrow\n'
    '  memory-plane recall "who owns the invoice"\n'
    "  memory-plane pulse\n\n"
    "Plugins add commands of their own: memory-plane PLUGIN COMMAND.",
)
@click.option("--home", metavar="PATH", help="Where the memory lives.  [default: ~/.memory-plane]")
@click.option("--verbose", is_flag=True, help="Show log lines on stderr.")
@click.version_option(__version__, prog_name="memory-plane", message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context, home: str | None, verbose: bool) -> None:
    """One memory for all of your AI agents, on your own machine."""
    ctx.obj.home = home or ctx.obj.home
    ctx.obj.verbose = verbose or ctx.obj.verbose
    ctx.call_on_close(ctx.obj.close)
