"""Score the days that `memory-plane-local` reads in texts, and print a table.

    python tests/benchmarks/dates.py PATH [--failures]

PATH is a file of the English date specs of Recognizers-Text (a list of {Input, Context, Results}). Counted are: dates
and date-times whose calendar day is among those resolved; texts without any time expression in which a day was found.
"""

from __future__ import annotations

import argparse
import json
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from memory_plane_local.dates import find_days
from memory_plane_local.tokens import tokenize

_REFERENCE = "2016-11-07T00:00:00"


def read(text: str, written: datetime) -> list[tuple[str, str]]:
    """Return the days found in a text as (ISO date, words)."""
    return [(day.last.isoformat(), text[day.start : day.end]) for day in find_days(tokenize(text), written)]


def expected(case: dict[str, Any]) -> list[tuple[str, set[str]]]:
    """Return the dates and date-times of a case as (words, the days that are right)."""
    found = []
    for result in case["Results"]:
        kind = (result.get("TypeName") or "").split(".")[-1]
        values = (result.get("Resolution") or {}).get("values") or []
        if kind in ("date", "datetime"):
            found.append((result["Text"], {str(value["value"])[:10] for value in values if value.get("value")}))
    return found


def main() -> None:
    """Read the options, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="DateTimeModel.json")
    parser.add_argument("--failures", action="store_true", help="list what was missed and what was made up")
    options = parser.parse_args()
    cases = json.loads(options.path.read_text("utf-8-sig"))
    right = wanted = alarms = dateless = 0
    begin = time.process_time()
    for case in cases:
        written = datetime.fromisoformat(case.get("Context", {}).get("ReferenceDateTime", _REFERENCE)[:19])
        found = read(case["Input"], written)
        for words, days in expected(case):
            hit = any(day in days for day, _ in found)
            wanted, right = wanted + 1, right + hit
            if options.failures and not hit:
                print(f"missed {words!r} = {sorted(days)}, found {found} in {case['Input']!r}, {written.date()}")
        if not case["Results"]:
            dateless, alarms = dateless + 1, alarms + bool(found)
            if options.failures and found:
                print(f"made up {found} in {case['Input']!r}")
    spent = (time.process_time() - begin) / len(cases) * 1000
    print("| right calendar day | false alarms on texts without a date | ms a text |\n|---|---|---|")
    print(f"| {right} of {wanted} = {100 * right / wanted:.1f} % | {alarms} of {dateless} | {spent:.2f} |")


if __name__ == "__main__":
    main()
