"""The command `memory-plane llm check`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from memory_plane.errors import ModelUnavailable
from memory_plane.types import Extraction, Item, Memory
from memory_plane_llm import chat, embeddings

if TYPE_CHECKING:
    from memory_plane.reports import Stats
    from memory_plane_llm import LlmPlugin

_TEXT = "Mia left Initech and now leads the Platform team at Acme. Tom will send her the plan by Friday"
_SHOWN = 12
_UNSAID: tuple[object, ...] = ("", None, [])


def commands(plugin: LlmPlugin) -> Iterator[click.Command]:
    """Yield the commands of one plugin."""

    @click.command("check")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    @click.pass_context
    def check(ctx: click.Context, as_json: bool) -> None:
        """Have the model read a made-up sentence, and say what works and how often it was asked."""
        from memory_plane.surfaces.cli.output import print_json, print_pairs

        report = _asked(ctx.obj.client.stats()) | _checked(plugin)
        if as_json:
            print_json(report)
        else:
            print_pairs(
                (name, "; ".join(value) if isinstance(value, list) else value)
                for name, value in report.items()
                if value not in _UNSAID
            )
        if report["trouble"]:
            raise click.ClickException(f"llm does not work: {report['trouble']}")

    yield check


def _checked(plugin: LlmPlugin) -> dict[str, Any]:
    remote = plugin.remote
    report: dict[str, Any] = {
        "server": remote.endpoint.url,
        "key": "set" if plugin.settings.api_key else "none",
        "extractor": plugin.settings.extractor,
        "models": [],
    }
    try:
        report["models"] = chat.models(remote.fetch(chat.MODELS))[:_SHOWN]
    except ModelUnavailable as error:
        report["models_trouble"] = str(error)
    remote.rouse()
    report["model"] = plugin.settings.model
    trouble = ""
    try:
        report |= _read(plugin)
        report |= _embedded(plugin)
    except ModelUnavailable as error:
        trouble = str(error)
    if report.get("models_trouble") == trouble:
        del report["models_trouble"]
    spent = {"spent_today": remote.spending.today(), "daily_tokens": plugin.settings.daily_tokens}
    return report | spent | {"trouble": trouble}


def _read(plugin: LlmPlugin) -> dict[str, Any]:
    """Have a sentence read, and say what was found in it and what of the answer was refused."""
    memory = Memory(id="", agent="memory-plane", kind="thought", text=_TEXT, created_at=datetime.now(UTC))
    began = perf_counter()
    name, written = plugin.remote.ask(chat.PATH, plugin.question(memory), chat.read)
    milliseconds = round((perf_counter() - began) * 1000)
    reading = plugin.read(memory, Extraction())
    found = reading.extraction(written)
    return {
        "answered_by": name,
        "milliseconds": milliseconds,
        "found": [f"{one.subject.text} {one.relation} {one.object.text}" for one in found.claims],
        "open_items": [_told(item) for item in found.items],
        "refused": [f"{why} ({count})" for why, count in reading.refused.items()],
    }


def _told(item: Item) -> str:
    parts = (item.kind, item.owner and f"of {item.owner}", item.to and f"to {item.to}", f"“{item.object}”")
    due = item.due_at and f"due {item.due_at.astimezone():%Y-%m-%d}"
    return " ".join(part for part in (*parts, due) if part)


def _embedded(plugin: LlmPlugin) -> dict[str, Any]:
    """Have a sentence embedded, where that is set, and say by which model."""
    model = plugin.settings.embeddings
    return {} if not model else {"vectors": embeddings.embed(plugin.remote, model, [_TEXT]).model}


def _asked(stats: Stats) -> dict[str, Any]:
    """Say about how many of the memories the model was asked."""
    total = max(stats.answers_by_plugin.values(), default=0)
    asked = stats.answers_by_plugin.get("llm", 0)
    share = f" ({100 * asked / total:.0f} %)" if total else ""
    return {"asked": f"about {asked} of {total} memories{share}"}
