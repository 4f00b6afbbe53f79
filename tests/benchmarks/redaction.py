"""Count what `redact` misses and what it cuts for nothing: python tests/benchmarks/redaction.py."""

from __future__ import annotations

import base64
import json
import random
import re
import string
import timeit
from collections.abc import Iterator
from pathlib import Path

from memory_plane.redact import redact

CASES = Path(__file__).parents[1] / "data" / "redaction.json"
ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "_-",
    "base58": "".join(sign for sign in string.ascii_letters + string.digits if sign not in "0OIl"),
    "hex": "0123456789abcdef",
    "upper": string.ascii_uppercase + "234567",
    "digits": string.digits,
}
WORDS = {
    "pw": "Tr0ub4dor" + "&3x",
    "word": "sword" + "fish",
    "dashes": "-" * 5,
    "basic": base64.b64encode(b"rob:" + b"open-sesame").decode(),
    "private": "PRIVATE" + " KEY",
    "at": "@",
    "lb": "(",
    "rb": ")",
}


def expand(template: str) -> str:
    """Fill in {alnum:36} and the like, the same for the same template."""
    source = random.Random(template)
    return re.sub(r"\{(\w+)((?::[^}]*)?)\}", lambda part: _part(source, part[1], part[2][1:].split(":")), template)


def secrets(template: str) -> tuple[str, str, list[str]]:
    """Return the text, the text with each «secret» replaced by a NUL, and the secrets."""
    text = expand(template)
    return re.sub("[«»]", "", text), re.sub("«.*?»", "\0", text, flags=re.DOTALL), re.findall("(?s)«(.*?)»", text)


def _part(source: random.Random, name: str, arguments: list[str]) -> str:
    if name in WORDS:
        return WORDS[name]
    if name == "card":
        prefix, length, *separator = arguments
        return _grouped(_card(source, prefix, int(length)), 4, "".join(separator))
    if name == "amex":
        card = _card(source, "37", 15)
        return f"{card[:4]} {card[4:10]} {card[10:]}"
    if name == "iban":
        country, length, *separator = arguments
        return _grouped(_iban(source, country, int(length)), 4, "".join(separator))
    if name not in ALPHABETS:
        return "{" + ":".join([name, *filter(None, arguments)]) + "}"
    drawn = "".join(source.choices(ALPHABETS[name], k=int(arguments[0])))
    return drawn if name in ("digits", "upper") or len(drawn) < 6 else f"{drawn[:2]}a7{drawn[4:]}"


def _card(source: random.Random, prefix: str, length: int) -> str:
    body = prefix + "".join(source.choices(string.digits, k=length - len(prefix) - 1))
    total = sum(sum(divmod(int(sign) * (2 - place % 2), 10)) for place, sign in enumerate(reversed(body)))
    return body + str(-total % 10)


def _iban(source: random.Random, country: str, length: int) -> str:
    body = ("WEST" if country == "GB" else "") + "".join(source.choices(string.digits, k=length))
    body = body[:length]
    value = int("".join(str(int(sign, 36)) for sign in f"{body}{country}00"))
    return f"{country}{98 - value % 97:02d}{body}"


def _grouped(number: str, size: int, separator: str) -> str:
    return separator.join(number[at : at + size] for at in range(0, len(number), size))


def measured() -> Iterator[tuple[str, int, int, list[str]]]:
    """Yield (what, wrong, of, which ones)."""
    cases = json.loads(CASES.read_text("utf-8"))
    for title, wanted in (("secrets missed", False), ("hard secrets missed", True)):
        chosen = [secrets(case["text"]) for case in cases["secrets"] if ("hard" in case) is wanted]
        missed = [text for text, _, hidden in chosen if any(secret in redact(text) for secret in hidden)]
        yield title, len(missed), len(chosen), missed
    harmless = [expand(text) for text in cases["harmless"]]
    cut = [f"{text} -> {redact(text)}" for text in harmless if redact(text) != text]
    yield "harmless texts cut", len(cut), len(harmless), cut


def main() -> None:
    """Print the counts, each failure, and the time of an ordinary sentence."""
    for title, wrong, of, which in measured():
        print(f"{title:24} {wrong:4} of {of}")
        for text in which:
            print(f"    {text!r}")
    sentence = "Rob from The Zebra will send the FPGA benchmark by Friday; Muse flagged it for Grok Bot this morning."
    spent = timeit.timeit(lambda: redact(sentence), number=20_000) / 20_000
    print(f"{len(sentence)} characters of prose  {spent * 1e6:.1f} µs")


if __name__ == "__main__":
    main()
