"""The commands `memory-plane jev check` and `memory-plane jev compare`."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from memory_plane.errors import ConfigurationError, ModelUnavailable
from memory_plane_jev import attention, comparison
from memory_plane_jev.systemone import Choice, Noul, Question, Score, SystemOne, expected

if TYPE_CHECKING:
    from memory_plane.inquiry import Inquiry
    from memory_plane_jev import JevPlugin
    from memory_plane_jev.comparison import Comparison

_STATE = {"text": "Mia moved to Lisbon"}
_QUESTIONS: dict[str, Question] = {
    "noul": Noul("Does `text` say where Mia lives?", "it does", "it does not"),
    "choice": Choice("What is Lisbon?", {"Place": "a city or country", "Person": "a person"}),
    "score": Score("How lasting is what `text` says?", ("a moment", "days", "months", "years")),
}
_SHOWN = 12
_UNSAID: tuple[object, ...] = ("", None, [])


def commands(plugin: JevPlugin) -> Iterator[click.Command]:
    """Yield the commands of one plugin."""

    @click.command("check")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    def check(as_json: bool) -> None:
        """Ask the server one question of each kind, about a made-up sentence, and say what works."""
        from memory_plane.surfaces.cli.output import print_json, print_pairs

        report = _checked(plugin, _server(plugin))
        if as_json:
            print_json(report)
        else:
            print_pairs((name, _text(value)) for name, value in report.items() if value not in _UNSAID)
        if report["trouble"]:
            raise click.ClickException(f"jev does not work: {report['trouble']}")

    @click.command("compare")
    @click.option("--last", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many memories.")
    @click.option("--all", "everything", is_flag=True, help="Show also what both agree on.")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    @click.pass_context
    def compare(ctx: click.Context, last: int, everything: bool, as_json: bool) -> None:
        """Send the newest memories to the server, and show where it and local differ; nothing is changed by it."""
        server = _server(plugin)
        threshold = ctx.obj.settings.attention_threshold
        found: list[Comparison] = []
        trouble = ""
        for inquiry in ctx.obj.plane.inquiries(limit=last):
            try:
                found += _compared(plugin, server, inquiry, threshold)
            except ModelUnavailable as error:
                trouble = str(error)
                break
        _print(found, everything=everything, as_json=as_json)
        if trouble:
            raise click.ClickException(f"broke off: {trouble}")

    yield check
    yield compare


def _server(plugin: JevPlugin) -> SystemOne:
    if plugin.server is None:
        raise ConfigurationError(
            "jev has no server to ask; set MEMORY_PLANE_JEV_BASE_URL or TYPESAFE_API_KEY  (plugin.jev in config.toml)"
        )
    return plugin.server


def _checked(plugin: JevPlugin, server: SystemOne) -> dict[str, Any]:
    report: dict[str, Any] = {
        "server": server.remote.endpoint.url,
        "key": "set" if server.remote.endpoint.key else "none",
        "models": [],
    }
    try:
        report["models"] = server.models()
    except ModelUnavailable as error:
        report["models_trouble"] = str(error)
    server.remote.rouse()
    report |= {"model": server.model, "answered_by": "", "milliseconds": None, "noul": "", "choice": "", "score": ""}
    began = perf_counter()
    trouble = ""
    try:
        answers = server.ask(_STATE, _QUESTIONS)
        report["answered_by"] = server.answered_by
        report["milliseconds"] = round((perf_counter() - began) * 1000)
        report |= {kind: _told(kind, answers[kind]) for kind in answers}
        missing = [kind for kind in _QUESTIONS if kind not in answers]
        trouble = f"it gave no usable answer to {', '.join(missing)}" if missing else ""
    except ModelUnavailable as error:
        trouble = str(error)
    if report.get("models_trouble") == trouble:
        del report["models_trouble"]
    report["spent_today"] = server.remote.spending.today()
    report["daily_tokens"] = plugin.settings.daily_tokens
    return report | {"trouble": trouble}


def _told(kind: str, said: dict[str, float]) -> str:
    if kind == "score":
        return f"{expected(said):.2f}"
    best = max(said, key=said.__getitem__)
    return f"{best} ({said[best]:.2f})"


def _compared(plugin: JevPlugin, server: SystemOne, inquiry: Inquiry, threshold: float) -> Iterator[Comparison]:
    reading = plugin.read(inquiry.memory, inquiry.found, inquiry.candidates)
    if questions := reading.questions():
        yield from comparison.compared(inquiry, reading, server.ask(reading.state(), questions))
    if inquiry.agents:
        told = attention.state(inquiry.memory, inquiry.nodes, inquiry.agents)
        answers = server.ask(told, attention.questions(inquiry.agents))
        yield from comparison.heard(inquiry, answers, threshold)


def _print(found: list[Comparison], *, everything: bool, as_json: bool) -> None:
    from memory_plane.surfaces.cli.output import print_json, print_pairs, print_table, short_id

    shown = [one for one in found if everything or not one.same]
    agreed = {
        asked: (sum(one.same for one in found if one.asked == asked), sum(one.asked == asked for one in found))
        for asked in dict.fromkeys(one.asked for one in found)
    }
    if as_json:
        totals = {asked: {"same": same, "asked": total} for asked, (same, total) in agreed.items()}
        print_json({"agreed": totals, "comparisons": shown})
        return
    rows = [
        (short_id(one.memory), one.asked, one.about, one.local, one.local_sure, one.jev, one.jev_sure) for one in shown
    ]
    headers = ("MEMORY", "ASKED", "ABOUT", "LOCAL", "SURE", "JEV", "SURE")
    print_table(headers, rows, empty="they differ in nothing" if found else "nothing could be compared")
    print_pairs((asked, f"{same} of {total} the same") for asked, (same, total) in agreed.items())


def _text(value: object) -> object:
    if isinstance(value, list):
        more = f" and {len(value) - _SHOWN} more" if len(value) > _SHOWN else ""
        return ", ".join(value[:_SHOWN]) + more
    return value
