"""Text made safe for a terminal: it can neither move the cursor, colour the screen, nor turn a line around."""

from __future__ import annotations

import re

# Controls but tab and newline, line separators, bidirectional overrides and isolates, halves of surrogate pairs.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str) -> str:
    """Spell unsafe characters out (`\\x1b`); tabs and newlines stay."""
    return _UNSAFE.sub(lambda match: f"\\x{ord(match[0]):02x}" if match[0] < "\u0100" else _escape(match), text)


def one_line(text: str) -> str:
    """Clean the text and fold its white space, so that it stays in its row."""
    return " ".join(clean(text).split())


def clean_json(text: str) -> str:
    """Write unsafe characters in JSON as its own escapes: the value stays exactly the same."""
    return _UNSAFE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
