"""Who is behind a number or an address: what dossiers and contacts say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

_UNSAID = re.compile(r"[:“”\"\x00-\x1f\x7f]+")
_DIGITS = 10
"""How many of the last digits of a number tell it from others: countries are written in more ways than one."""
_SHORTEST = 7
MOST = 5_000

Ask = Callable[[Iterable[str]], Mapping[str, str]]
"""Asks for the names of addresses; what it does not know is left out."""


def key_of(address: str) -> str:
    """Return the one spelling of a number or address, "" for what is none."""
    low = address.strip().lower()
    if "@" in low:
        return low
    digits = re.sub(r"\D", "", low)
    return digits[-_DIGITS:] if len(digits) >= 3 else low


def is_machine(address: str) -> bool:
    """Tell whether an address is a short code or the name of a business: a program writes from there."""
    low = address.strip().lower()
    return bool(low) and "@" not in low and (low.startswith("urn:") or len(re.sub(r"\D", "", low)) < _SHORTEST)


def plain(name: object) -> str:
    """Return a name that can stand in the head of a note."""
    words = " ".join(_UNSAID.sub(" ", name).split()) if isinstance(name, str) else ""
    return words[:60].strip()


class Names:
    """Names by address: those given first count, the others are asked for once."""

    def __init__(self, ask: Ask | None = None) -> None:
        self._ask = ask
        self._known: dict[str, str] = {}
        self._asked: set[str] = set()

    def learn(self, address: str, name: str) -> None:
        """Remember a name for an address."""
        if (key := key_of(address)) and (said := plain(name)) and len(self._known) < MOST:
            self._known[key] = said

    def of(self, address: str) -> str:
        """Return the name behind an address, the address itself where nobody knows."""
        key = key_of(address)
        if self._ask is not None and key and key not in self._known and key not in self._asked:
            self._asked.add(key)
            for known, name in self._ask([address]).items():
                if key_of(known) not in self._known:
                    self.learn(known, name)
        return self._known.get(key) or plain(address) or "somebody"
