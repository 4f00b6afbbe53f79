"""The lazy group: a table of names, modules and short help stands in for the commands until one is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from memory_plane.surfaces.cli.guard import BROKEN_PIPE, guarded
from memory_plane.surfaces.cli.session import Session

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


_WITHOUT_COMMANDS = {
    "not enabled": "is not enabled; name it in plugins.enabled",
    "disabled": "is disabled; take it out of plugins.disabled",
}


_SENTENCE = 400
"""More characters than the first sentence of a help has."""


class Section(NamedTuple):
    """The commands of one module, as `--help` lists them: name and short help."""

    title: str
    module: str
    commands: Mapping[str, str]


class Group(click.Group):
    """A group whose help says of each command a whole sentence, however long."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(_SENTENCE)) for name, one in commands if one is not None])


class LazyGroup(click.Group):
    """A group that imports a command when it is called, and plugins only for a name it does not know."""

    def __init__(self, *args: Any, sections: Sequence[Section] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections = sections

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line; in standalone mode every failure ends as one line and an exit code."""
        session = extra.setdefault("obj", Session())
        call = partial(super().main, args, prog_name or "memory-plane", complete_var, standalone_mode=False, **extra)
        if not standalone_mode:
            return call()
        try:
            code = guarded(call, session)
        finally:
            session.close_log()
        raise SystemExit(code)

    def invoke(self, ctx: click.Context) -> None:
        """Run the command and drop what it returns: only `ctx.exit` sets the exit code."""
        try:
            super().invoke(ctx)
        except BrokenPipeError:
            # Nobody reads on, which is no failure of the command: end as other programs do that are piped into `head`.
            ctx.exit(BROKEN_PIPE)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help page."""
        return [name for section in self.sections for name in section.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the named command, or make a group of the commands of the plugin with that name."""
        for section in self.sections:
            if cmd_name in section.commands:
                attribute = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
                command: click.Command = getattr(import_module(section.module), attribute)
                return command
        if ctx.resilient_parsing:
            # Completion must answer at once, so it looks for no plugin: what follows an unknown name stays as it is.
            return click.Command(cmd_name, add_help_option=False)
        return _plugin_group(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or fail with the name that was probably meant."""
        if self.get_command(ctx, args[0]) is None:
            ctx.fail(
                _why_none(ctx, args[0]) or f"no command and no plugin is called {args[0]!r}{self._hint(ctx, args[0])}"
            )
        return super().resolve_command(ctx, args)

    def _hint(self, ctx: click.Context, name: str) -> str:
        from difflib import get_close_matches

        close = get_close_matches(name, self.list_commands(ctx), n=1)
        return f"; did you mean {close[0]!r}?" if close else ""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands from the short help, importing none of them."""
        width = max(len(name) for name in self.list_commands(ctx))
        for section in self.sections:
            with formatter.section(section.title):
                formatter.write_dl([(name.ljust(width), text) for name, text in section.commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete command names from the table, options from the group itself."""
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=text)
            for section in self.sections
            for name, text in section.commands.items()
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)


def _why_none(ctx: click.Context, name: str) -> str:
    """Return why a plugin that is known offers no commands, "" where none has that name."""
    info = next((one for one in ctx.obj.plugins.infos() if one.name == name), None)
    if info is None:
        return ""
    if info.state == "failed" and info.failure:
        return str(info.failure)
    return f"the plugin {name!r} {_WITHOUT_COMMANDS.get(info.state, 'has no commands')}"


def _plugin_group(ctx: click.Context, name: str) -> Group | None:
    commands = ctx.obj.plugins.commands().get(name)
    if not commands:
        return None
    return Group(name, commands=list(commands), help=f"Commands of the plugin {name!r}.")
