"""Compare `redact` with detect-secrets over the same list: pip install detect-secrets (elsewhere), then run this.

detect-secrets finds values and cuts nothing, so each value it reports is cut out of the text here.
"""

from __future__ import annotations

import json
import runpy
import tempfile
import timeit
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from memory_plane.redact import redact

OURS = runpy.run_path(str(Path(__file__).with_name("redaction.py")))
SENTENCE = "Rob from The Zebra will send the FPGA benchmark by Friday; Muse flagged it for Grok Bot this morning."

Cut = Callable[[str], str]


def by_line(text: str) -> str:
    """Cut what its scan of single lines reports, as for text that somebody types."""
    scan = import_module("detect_secrets.core.scan").scan_line
    return _without(text, [found.secret_value for line in text.splitlines() for found in scan(line)])


def by_file(text: str) -> str:
    """Cut what its scan of a file reports, as in a repository."""
    scan = import_module("detect_secrets.core.scan").scan_file
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        return _without(text, [found.secret_value for found in scan(file.name)])


def _without(text: str, values: Iterable[str | None]) -> str:
    for value in values:
        text = text.replace(value, "\0") if value else text
    return text


def row(name: str, cut: Cut) -> str:
    """Return one row of the table: missed, cut for nothing, and the price of a sentence."""
    cases: Any = json.loads(OURS["CASES"].read_text("utf-8"))
    texts = [OURS["secrets"](case["text"]) for case in cases["secrets"]]
    missed = sum(any(secret in cut(text) for secret in hidden) for text, _, hidden in texts)
    harmless = [OURS["expand"](text) for text in cases["harmless"]]
    wrong = sum(cut(text) != text for text in harmless)
    spent = min(timeit.repeat(lambda: cut(SENTENCE), number=20, repeat=3)) / 20
    return f"| {name} | {missed} of {len(texts)} | {wrong} of {len(harmless)} | {spent * 1e6:,.0f} |"


def main() -> None:
    """Print the table."""
    settings = import_module("detect_secrets.settings")
    plugins = import_module("detect_secrets.core.plugins.util").get_mapping_from_secret_type_to_class
    print("| | secrets missed | harmless texts cut | µs a sentence |\n|---|---|---|---|")
    print(row("redact", redact))
    with settings.default_settings():
        print(row("detect-secrets, line by line", by_line))
        print(row("detect-secrets, as a file", by_file))
        names = [found.__name__ for found in plugins().values()]
    known = [{"name": name} for name in names if "Entropy" not in name]
    with settings.transient_settings({"plugins_used": known}):
        print(row("detect-secrets without entropy, line by line", by_line))


if __name__ == "__main__":
    main()
