"""What results look like: JSON, a table on a terminal, aligned text in a pipe."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from memory_plane.surfaces.cli.text import clean, clean_json, one_line

if TYPE_CHECKING:
    from rich.console import Console

    from memory_plane.types import Receipt

Progress = Callable[[int, int | None], None]

# Columns that keep their width on a narrow terminal, where the long ones wrap.
_SHORT = frozenset({"ID", "WHEN", "DUE", "SINCE", "UNTIL", "AGENT", "KIND", "STATE", "VERSION", "SCORE", "SURE", "NEW"})


_TEXT = 40
"""Columns that a long text has at least, or it goes below its row."""


def plain(value: Any) -> Any:
    """Turn dataclasses, times, paths and sequences into what JSON knows."""
    from dataclasses import fields, is_dataclass
    from datetime import UTC, datetime
    from pathlib import Path

    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, Path) else value


def print_json(value: Any) -> None:
    """Print one JSON document."""
    ascii_only = (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8"
    click.echo(clean_json(json.dumps(plain(value), ensure_ascii=ascii_only, indent=2)))


def print_receipt(receipt: Receipt, as_json: bool) -> None:
    """Print what became of a write; a refused one ends the command with exit code 1."""
    if as_json:
        print_json(receipt)
    elif receipt.state != "refused":
        click.echo(one_line(f"{receipt.state} {receipt.id} {receipt.detail}"))
    if receipt.state == "refused":
        raise click.ClickException(receipt.detail)


def print_page(text: str) -> None:
    """Print a text of several lines; on a terminal as the Markdown that it is."""
    if not on_terminal():
        click.echo(clean(text), nl=not text.endswith("\n"))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(clean(text)))


def print_pairs(pairs: Iterable[tuple[str, object]]) -> None:
    """Print names and values below each other."""
    rows = [(name, one_line(_cell(value))) for name, value in pairs]
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        click.echo(f"{name.ljust(width)}  {value}".rstrip())


def print_table(headers: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
    """Print rows below their headers; where there are none, say so on stderr."""
    cells = [[one_line(_cell(value)) for value in row] for row in rows]
    if not cells:
        click.echo(empty, err=True)
    elif on_terminal():
        _print_rich(headers, cells)
    else:
        _print_aligned([list(headers), *cells])


def write_lines(lines: Iterable[str], output: str | None) -> None:
    """Write lines to a file, put in place when it is whole, or to stdout."""
    if output in (None, "-"):
        terminal = on_terminal()
        for line in lines:
            sys.stdout.buffer.write((clean_json(line) if terminal else line).encode() + b"\n")
    else:
        _write_file(str(output), lines)


def on_terminal() -> bool:
    """Whether a person is looking at stdout."""
    return sys.stdout.isatty()


def short_id(id: str) -> str:
    """Return as much of an id as a person needs; in a pipe, all of it."""
    memory, dot, place = id.partition(".")
    return f"{memory[:8]}{dot}{place}" if on_terminal() else id


@contextmanager
def progress(label: str, *, shown: bool = True) -> Iterator[Progress]:
    """Yield a function that moves a bar on a terminal's stderr, and does nothing elsewhere."""
    if not (shown and sys.stderr.isatty()):
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _write_file(output: str, lines: Iterable[str]) -> None:
    import tempfile
    from pathlib import Path

    path = Path(output)
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(line + "\n" for line in lines)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise click.ClickException(f"cannot write {str(path)!r}: {error.strerror}") from None


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return "" if value is None else str(value)


def _print_rich(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    widths = [max(cell_len(row[column]) for row in (headers, *rows)) for column in range(len(headers))]
    if headers[-1] == "TEXT" and console.width - sum(widths[:-1]) - 2 * len(widths) < min(_TEXT, widths[-1]):
        _print_below(console, headers, rows, widths)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in headers:
        table.add_column(header, no_wrap=header in _SHORT, overflow="fold")
    for row in rows:
        # Text, not str: what looks like markup in a memory is only text.
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def _print_below(
    console: Console, headers: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]
) -> None:
    """Print the text of each row in lines of its own, where beside the other columns it would be a word wide."""
    from rich.cells import set_cell_size
    from rich.padding import Padding
    from rich.text import Text

    for row in (headers, *rows):
        line = "  ".join(map(set_cell_size, row[:-1], widths)).rstrip()
        console.print(Text(line, style="bold" if row is headers else ""), overflow="fold")
        if row is not headers:
            console.print(Padding(Text(row[-1]), (0, 0, 0, 4)))


def _print_aligned(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = (cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(padded).rstrip())


def _width(text: str) -> int:
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)
