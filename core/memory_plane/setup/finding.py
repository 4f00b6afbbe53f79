"""What `doctor` finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "wrong"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at; `remedy` says what to do where it is `wrong`."""

    what: str
    state: State
    detail: str
    remedy: str = ""
