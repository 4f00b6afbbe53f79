"""Commands that run until they are stopped, and the script for the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memory_plane.surfaces.cli.options import examples, pass_session

if TYPE_CHECKING:
    from memory_plane.surfaces.cli.session import Session


@click.command(epilog=examples("mcp --agent muse", "mcp --agent muse --tools", "mcp --agent muse --tools graph"))
@click.option(
    "--agent", envvar="MEMORY_PLANE_AGENT", show_envvar=True, metavar="NAME", required=True, help="Who connects."
)
@click.option(
    "--tools",
    metavar="[KINDS]",
    is_flag=False,
    flag_value="plugins",
    help="Offer more tools: those of plugins, or KINDS of plugins,graph.",
)
@pass_session
def mcp(session: Session, agent: str, tools: str | None) -> None:
    """Serve one agent over stdio; its configuration names this command."""
    from memory_plane.surfaces import stdio
    from memory_plane.surfaces.bridge import TOOLS

    kinds = set(tools.split(",")) if tools else set()
    if unknown := kinds - TOOLS.keys():
        raise click.UsageError(f"--tools: {min(unknown)!r} is unknown; give {' or '.join(TOOLS)}")
    offered = sum(TOOLS[kind] for kind in kinds)
    # Before the plane is made, so that nothing which a plugin prints gets on the wire.
    wire = stdio.claim()
    from memory_plane.surfaces.mcp_server import serve_stdio
    from memory_plane.surfaces.mirror import kept
    from memory_plane.surfaces.rounds import arrivals_of

    with arrivals_of(session), kept(session.settings, agent):
        serve_stdio(session.client, agent, tools=offered, wire=wire)


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog=examples("hook claude-code SessionStart < payload.json", "hook codex Stop < payload.json"),
)
@click.argument("said", metavar="AGENT EVENT", nargs=-1, type=click.UNPROCESSED)
@pass_session
def hook(session: Session, said: tuple[str, ...]) -> None:
    """Keep what an agent's hook says on stdin and answer it with one JSON object; whatever comes, exit with 0.

    Agents run the file hook.py of this package instead, which does the same alone and starts faster.
    """
    from memory_plane import hook as shim

    shim.main(list(said[:2]), session.home)


@click.command(
    epilog=examples("completion bash >> ~/.bashrc", "completion fish > ~/.config/fish/completions/memory-plane.fish")
)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands in your shell."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    program = kind(ctx.find_root().command, {}, "memory-plane", "_MEMORY_PLANE_COMPLETE")
    click.echo(program.source())
