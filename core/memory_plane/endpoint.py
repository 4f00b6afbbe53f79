"""Where a model is that a plugin may ask. It stands apart from the asking: most commands only check the settings."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from pydantic import SecretStr


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is: the address that paths are added to, the key if one is needed, seconds until an answer."""

    url: str
    key: SecretStr | None = None
    deadline: float = 5.0


def check_address(url: str, *, allow_plain: bool = False) -> str:
    """Return the address of a model without a slash at its end; raise `ValueError` for one that is none or not safe."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ValueError("is no address of a server; write it as 'https://api.example.com'")
    if parts.scheme == "http" and not allow_plain and not is_loopback(url):
        raise ValueError("would send memories in the clear; write https://, or set allow_plain = true")
    return url.rstrip("/")


def check_key(key: SecretStr | None) -> SecretStr | None:
    """Return the key, None for an empty one; raise `ValueError` where it cannot stand in a header."""
    text = "" if key is None else key.get_secret_value().strip()
    if not text:
        return None
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("is no key: it holds spaces or what is not ASCII; copy it again")
    return type(cast("SecretStr", key))(text)


def is_loopback(url: str) -> bool:
    """Return whether an address is of this machine."""
    host = urlsplit(url).hostname or ""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"
