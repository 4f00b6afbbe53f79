"""The one spelling under which names, subjects and keys are compared."""

from __future__ import annotations

import unicodedata


def folded(name: str) -> str:
    """Return a name without differences of case, width and spacing; accents stay, since they tell people apart."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
