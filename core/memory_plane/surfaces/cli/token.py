"""The tokens that open the hub, for whoever sets up an agent that reaches it over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memory_plane.surfaces.cli.options import examples, json_option, pass_session

if TYPE_CHECKING:
    from pathlib import Path

    from memory_plane.surfaces.cli.session import Session


@click.command(epilog=examples("token muse", "token --renew"))
@click.argument("agent", required=False)
@click.option("--renew", is_flag=True, help="Make a new token of the hub; the old one and all made from it end.")
@json_option
@pass_session
def token(session: Session, agent: str | None, renew: bool, as_json: bool) -> None:
    """Print an agent's own token: whoever sends it writes as AGENT and as nobody else.

    It is made from the token of the hub, which is in the file `token` in the home, and lasts until that is renewed. Run
    this on the machine that has the memory.
    """
    if renew == (agent is not None):
        raise click.UsageError("give one of AGENT and --renew", click.get_current_context())
    session.check_here()
    home = session.settings.home
    shown = _renewed(home) if agent is None else {"agent": agent, "token": _own(home, agent)}
    if as_json:
        from memory_plane.surfaces.cli.output import print_json

        print_json(shown)
    else:
        click.echo(shown.get("token") or f"{shown['file']} holds a new token; give every agent its own anew")


def _own(home: Path, agent: str) -> str:
    from memory_plane.access import agent_token, ensure_token
    from memory_plane.operations import agent_id

    name = agent_id(agent)
    if name is None:
        raise click.UsageError(
            f"{agent!r} is no agent's name; give letters, digits, '.', '_' or '-', at most 64",
            click.get_current_context(),
        )
    return agent_token(ensure_token(home), name)


def _renewed(home: Path) -> dict[str, str]:
    from memory_plane.access import renew_token

    try:
        return {"file": str(renew_token(home))}
    except OSError as error:
        raise click.ClickException(f"cannot write a new token into {str(home)!r}: {error.strerror}") from None
