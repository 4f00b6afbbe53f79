"""Addresses that hold a secret: an app that can send no token posts an agent's events there.

The secret of an agent is kept as a token is, in a folder of its own; without one nothing of that agent is let in.
"""

from __future__ import annotations

import hmac
import logging
from pathlib import Path

from memory_plane.access import ensure_token, read_token, renew_token
from memory_plane.errors import ConfigurationError
from memory_plane.operations import agent_id

logger = logging.getLogger(__name__)

FOLDER = "webhooks"


def ensure_secret(home: Path, agent: str) -> str:
    """Return the secret of an agent's webhook, making it at the first use."""
    return ensure_token(_folder(home, agent, make=True))


def renew_secret(home: Path, agent: str) -> str:
    """Put a new secret in place, which ends the old address at once; return it."""
    return renew_token(_folder(home, agent, make=True)).read_text("ascii").strip()


def opens(home: Path, agent: str, given: str) -> bool:
    """Tell whether `given` is the secret of an agent's webhook, in a time that says nothing about it."""
    if agent_id(agent) != agent or not given.isascii():
        return False
    try:
        secret = read_token(_folder(home, agent))
    except ConfigurationError as error:
        logger.warning("the webhook of agent %r is closed: %s", agent, error)
        return False
    return secret is not None and hmac.compare_digest(secret, given)


def path(agent: str, secret: str) -> str:
    """Return the path of an agent's webhook at the hub."""
    return f"/ingest/{agent}/{secret}"


def _folder(home: Path, agent: str, *, make: bool = False) -> Path:
    if make:
        (home / FOLDER).mkdir(mode=0o700, parents=True, exist_ok=True)
    return home / FOLDER / agent
