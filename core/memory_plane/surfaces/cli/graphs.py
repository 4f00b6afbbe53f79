"""Commands over the graph: what is linked with what, how, in which groups, and all of it as a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from memory_plane.surfaces.cli.group import Group
from memory_plane.surfaces.cli.options import Decorator, examples, given, json_option, limit_option, pass_session
from memory_plane.surfaces.cli.output import print_json, print_table, write_lines
from memory_plane.surfaces.cli.times import Moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_plane.surfaces.cli.session import Session
    from memory_plane.types import Edge, Graph, Node

FORMATS = ("mermaid", "dot", "graphml", "json", "csv")

_about = click.option("--about", metavar="NAME", help="What is around this name.")
_hops: Decorator = click.option(
    "--hops", type=click.IntRange(1, 10), default=1, show_default=True, help="How far around the name."
)


def _as_known(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say which links count."""
    for option in (
        click.option("--known-at", type=Moment(end=True), help="What was known then.  [default: as of then]"),
        click.option("--as-of", type=Moment(end=True), help="As it was then."),
        click.option("--min-confidence", type=click.FloatRange(0, 1), help="Only links as sure as this."),
    ):
        command = option(command)
    return command


@click.group(
    cls=Group,
    invoke_without_command=True,
    epilog=examples(
        "graph",
        "graph --about Alice --hops 2",
        "graph --agent muse --min-attention 0.5 --as-of 2026-10-01",
        "graph path Alice PostgreSQL",
        "graph export dot --output memory.dot",
    ),
)
@click.option("--agent", metavar="NAME", help="What matters to this agent.")
@_about
@_hops
@click.option(
    "--min-attention", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="How much it matters."
)
@_as_known
@limit_option(40)
@json_option
@pass_session
def graph(session: Session, as_json: bool, about: str | None, **values: Any) -> None:
    """Show people, projects and things, and how they are linked."""
    if click.get_current_context().invoked_subcommand is not None:
        return
    found = session.client.graph(**given(about=about, **values))
    if about is not None and not found.nodes and not session.client.nodes(about):
        raise click.ClickException(f"about: nothing in the graph is called {about!r}; look with search")
    if as_json:
        print_json(found)
    else:
        _print_graph(session, found)


@click.command(epilog=examples("path Alice PostgreSQL", "path Alice Bob --max-hops 3 --as-of 2026-10-01 --json"))
@click.argument("source")
@click.argument("target")
@click.option("--max-hops", type=click.IntRange(1, 10), help="How many links at most.  [default: max_hops]")
@_as_known
@json_option
@pass_session
def path(session: Session, source: str, target: str, as_json: bool, **values: Any) -> None:
    """Show how two names hang together: the likeliest short way, links taken whichever way they point."""
    found = session.client.path(source, target, **given(**values))
    if as_json:
        print_json(found)
    elif not found.nodes:
        more = "" if found.complete else "; too much is around them to look at all of it"
        click.echo(f"no way from {source!r} to {target!r} was found{more}", err=True)
    elif not found.edges:
        click.echo(f"{source!r} and {target!r} are one", err=True)
    else:
        from memory_plane.ask.wording import chain
        from memory_plane.surfaces.cli.text import one_line

        click.echo(one_line(chain(found.edges, found.nodes[0].id)))


@click.command(epilog=examples("search Rust", 'search "nexus" --kind organization', 'search "databases" --meaning'))
@click.argument("text")
@click.option("--kind", metavar="TYPE", help="Only this type: person, organization, tool …")
@click.option("--meaning", is_flag=True, help="Also by what is said of them.")
@limit_option(20)
@json_option
@pass_session
def search(session: Session, text: str, as_json: bool, **values: Any) -> None:
    """Find people, projects and things by their names."""
    found = session.client.search(text, **given(**values))
    if as_json:
        print_json(found)
    else:
        _print_nodes(found)


@click.command(epilog=examples("graph communities", "graph communities --limit 5 --json"))
@click.option("--min-confidence", type=click.FloatRange(0, 1), help="Only links as sure as this.")
@click.option("--as-of", type=Moment(end=True), help="As it was then.")
@limit_option(20)
@json_option
@pass_session
def communities(session: Session, as_json: bool, **values: Any) -> None:
    """Show groups of names that are linked more with each other than with the rest."""
    found = session.client.communities(**given(**values))
    if as_json:
        print_json(found)
        return
    print_table(
        ("NAMES", "LINKS", "BEST LINKED"),
        ((one.size, one.edges, ", ".join(node.name for node in one.nodes)) for one in found),
        empty="no groups of three or more",
    )


@click.command(epilog=examples("graph contradictions", "graph contradictions --json"))
@limit_option(20)
@json_option
@pass_session
def contradictions(session: Session, as_json: bool, **values: Any) -> None:
    """Show links that cannot both hold though nobody said that one is over: two employers of one person."""
    found = session.client.contradictions(**given(**values))
    if as_json:
        print_json(found)
        return
    print_table(
        ("STANDS", "AGAINST", "UNTIL"),
        ((_said(one.stands), _said(one.against), _until(session, one.against)) for one in found),
        empty="nothing contradicts anything",
    )


def _until(session: Session, edge: Edge) -> str | None:
    return session.local(edge.valid_until) if edge.valid_until is not None else None


def _said(edge: Edge) -> str:
    told = f"{edge.source.name} {edge.relation} {edge.target.name}"
    return f"{told} (external)" if edge.origin == "external" else told


def _visualize(session: Session, format: str, output: str | None, values: dict[str, Any]) -> None:
    write_lines(session.client.visualize(format, **given(**values)), output)


def _drawn(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of what is drawn, and where to."""
    for option in (
        limit_option(80),
        _as_known,
        _hops,
        click.option("--about", metavar="NAME", help="Only what is around this name.  [default: all]"),
        click.option(
            "--output", metavar="FILE", type=click.Path(dir_okay=False), help="Write here.  [default: stdout]"
        ),
    ):
        command = option(command)
    return command


@click.command(epilog=examples("visualize", "visualize --format dot --about Alice --hops 2 | dot -Tsvg > alice.svg"))
@click.option("--format", type=click.Choice(FORMATS), default="mermaid", show_default=True, help="What to write.")
@_drawn
@pass_session
def visualize(session: Session, format: str, output: str | None, **values: Any) -> None:
    """Write the graph, or what is around a name, for a program that draws it."""
    _visualize(session, format, output, values)


@click.command(epilog=examples("graph export graphml --output memory.graphml", "graph export csv --about Alice"))
@click.argument("format", type=click.Choice(FORMATS))
@_drawn
@pass_session
def export(session: Session, format: str, output: str | None, **values: Any) -> None:
    """Write the graph, or what is around a name, for another program."""
    _visualize(session, format, output, values)


@click.command(epilog=examples("graph stats", "graph stats --json"))
@json_option
@pass_session
def stats(session: Session, as_json: bool) -> None:
    """Count names and links by their types, and show who is linked most."""
    found = session.client.stats()
    counts = {
        "nodes": found.nodes_by_type,
        "links": found.edges_by_relation,
        "origin": found.nodes_by_origin,
        "most linked": found.most_linked,
    }
    if as_json:
        print_json(counts)
        return
    rows = [(what, name, count) for what, named in counts.items() for name, count in named.items()]
    print_table(("WHAT", "NAME", "COUNT"), rows, empty="nothing in the graph")


for each in (path, search, communities, contradictions, stats, export):
    graph.add_command(each)


def _print_graph(session: Session, found: Graph) -> None:
    if not (found.nodes or found.attention):
        click.echo("nothing in the graph", err=True)
    if found.edges:
        _print_edges(session, found)
    linked = {node.id for edge in found.edges for node in (edge.source, edge.target)}
    alone = [node for node in found.nodes if node.id not in linked]
    if alone:
        click.echo()
        _print_nodes(alone)
    if found.attention:
        click.echo()
        print_table(
            ("SCORE", "WHEN", "AGENT", "REASON", "TEXT"),
            ((t.attention, session.local(t.created_at), t.agent, t.reason, t.text) for t in found.attention),
            empty="",
        )


def _print_nodes(nodes: list[Node]) -> None:
    rows = ((node.name, node.type, node.origin, node.slug) for node in nodes)
    print_table(("NAME", "TYPE", "ORIGIN", "SLUG"), rows, empty="nothing is called so")


def _print_edges(session: Session, found: Graph) -> None:
    print_table(
        ("SOURCE", "RELATION", "TARGET", "SURE", "BY", "ORIGIN", "SINCE"),
        (
            (
                e.source.name,
                e.relation,
                e.target.name,
                e.probability,
                e.method,
                e.origin,
                session.local(e.valid_from or e.known_since),
            )
            for e in found.edges
        ),
        empty="",
    )
