"""Score the days that `memory-plane-local` reads in texts, and print a table.

    python tests/benchmarks/dates.py [PATH] [--failures]

By default the notes of tests/data/days.tsv are read, each when and where it says; nobody reads the failures of its
part three. PATH is a file of the English date specs of Recognizers-Text instead (a list of {Input, Context, Results}).
Counted are days that are right, and texts without any in which one was found.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from memory_plane_local.dates import Day, find_days
from memory_plane_local.tokens import tokenize

DATA = Path(__file__).parents[1] / "data" / "days.tsv"
UNREAD = "3"
_REFERENCE = "2016-11-07T00:00:00"


@dataclass(frozen=True)
class Case:
    """A text of a part, when it was written, and the words of each day with what tells whether it is right."""

    part: str
    text: str
    written: datetime
    wanted: tuple[tuple[str, Callable[[Day], bool]], ...]
    dateless: bool


def specs(path: Path) -> Iterator[Case]:
    """Yield the cases of Recognizers-Text: dates and date-times, right if the calendar day is among those resolved."""
    for case in json.loads(path.read_text("utf-8-sig")):
        written = datetime.fromisoformat(case.get("Context", {}).get("ReferenceDateTime", _REFERENCE)[:19])
        told = _resolved(case["Results"])
        wanted = tuple((f"{result['Text']} = {sorted(days)}", _among(days)) for result, days in told)
        yield Case("specs", case["Input"], written, wanted, not case["Results"])


def _resolved(results: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], set[str]]]:
    for result in results:
        values = (result.get("Resolution") or {}).get("values") or []
        if (result.get("TypeName") or "").split(".")[-1] in ("date", "datetime"):
            yield result, {str(value["value"])[:10] for value in values if value.get("value")}


def _among(days: set[str]) -> Callable[[Day], bool]:
    return lambda day: day.last.isoformat() in days


def notes() -> Iterator[Case]:
    """Yield our own notes."""
    written = datetime.fromisoformat(_REFERENCE)
    for line in DATA.read_text("utf-8").splitlines():
        if line.startswith("@"):
            _, moment, zone = line.split()
            written = datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone))
        elif line and not line.startswith("#"):
            part, text, told = (*line.split("\t"), "")[:3]
            yield Case(part, text, written, ((told, _told(told)),) if told else (), not told)


def _told(told: str) -> Callable[[Day], bool]:
    """Read "day", "~day" or "first..last"."""
    first, *last = map(date.fromisoformat, told.lstrip("~").split(".."))
    if told.startswith("~"):
        return lambda day: day.first <= first <= day.last
    return lambda day: day.last == (last or [first])[-1] and (not last or day.first == first)


def main() -> None:
    """Read the options, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, nargs="?", help="DateTimeModel.json")
    parser.add_argument("--failures", action="store_true", help="list what was missed and what was made up")
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    cases = list(specs(options.path) if options.path else notes())
    begin = time.process_time()
    for case in cases:
        failed = judge(counts.setdefault(case.part, Counter()), case)
        if failed and options.failures and case.part != UNREAD:
            print(failed)
    spent = (time.process_time() - begin) / len(cases) * 1000
    print("| part | right day | false alarms on texts without a date |\n|---|---|---|")
    for part, count in counts.items():
        share = f"{count['right']} of {count['wanted']} = {100 * count['right'] / max(count['wanted'], 1):.1f} %"
        print(f"| {part} | {share} | {count['alarms']} of {count['dateless']} |")
    print(f"{spent:.2f} ms a text")


def judge(count: Counter[str], case: Case) -> str:
    """Count one text and return what is not right in it."""
    found = list(find_days(tokenize(case.text), case.written))
    missed = [words for words, right in case.wanted if not any(map(right, found))]
    alarm = case.dateless and bool(found)
    count.update(wanted=len(case.wanted), right=len(case.wanted) - len(missed), dateless=case.dateless, alarms=alarm)
    said = [(f"{day.first}..{day.last}", case.text[day.start : day.end]) for day in found]
    return f"missed {missed}, found {said} in {case.text!r}, {case.written.date()}" if missed or alarm else ""


if __name__ == "__main__":
    main()
