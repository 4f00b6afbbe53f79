"""What was said in a record of Claude Code's transcripts: its importer and its plugin read them alike."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_INJECTED = re.compile(r"<(?:local-command|command|system-reminder|bash|task|user-prompt)[\w-]*>|Caveat: ")
"""How what Claude Code itself puts among the person's words begins."""


def said_in(record: Mapping[str, Any]) -> str:
    """Return what the person or the agent said in a record, "" where it is anything else."""
    if record.get("type") not in ("user", "assistant") or not isinstance(record.get("message"), Mapping):
        return ""
    if any(record.get(flag) for flag in ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage")):
        return ""
    content = record["message"].get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    known = [block for block in blocks if isinstance(block, Mapping)]
    if any(block.get("type") == "tool_result" for block in known):
        return ""
    texts = [block.get("text") for block in known if block.get("type") == "text"]
    said = (text for text in texts if isinstance(text, str) and not _INJECTED.match(text.lstrip()))
    return "\n\n".join(said).strip()
