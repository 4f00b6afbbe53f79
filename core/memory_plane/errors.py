"""The exception tree. A message says what happened, to which thing, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class MemoryPlaneError(Exception):
    """Base of every error that Memory Plane raises on purpose."""


class ConfigurationError(MemoryPlaneError):
    """A setting is wrong; the message names the key and where it was read. The CLI exits 2."""


class PluginError(MemoryPlaneError):
    """A plugin failed and the manager is strict; otherwise the failure is only recorded."""


class SchemaError(MemoryPlaneError):
    """The database is at a revision that this version cannot work with."""


class StoreError(MemoryPlaneError):
    """The database cannot be used now: locked, full, read-only, corrupt or gone."""


class StoreBusy(StoreError):
    """Another process has held the database for too long; it is sound, and free again soon."""


class HubUnreachable(MemoryPlaneError):
    """No hub that is ours answers."""


class HubBusy(HubUnreachable):
    """The hub takes nothing more of an agent for a while, which wrote too much; that passes."""


class Refused(MemoryPlaneError):
    """The input of a write is not acceptable; the message begins with the field's name."""


def half_a_character(error: UnicodeEncodeError) -> Refused:
    """Return what to raise for a text with a lone surrogate, as in an argument that is no UTF-8: no file holds one."""
    return Refused(f"{error.object[:80]!r} holds half a character (a lone surrogate)")


class ModelUnavailable(MemoryPlaneError):
    """A model of somebody else does not answer now, or may not be asked: local answers do until it is asked again.

    `until` is when that is. `blames` the question where it may be what the model cannot take.
    """

    def __init__(self, message: str, *, until: datetime, blames: bool = False) -> None:
        super().__init__(message)
        self.until = until
        self.blames = blames


class CapReached(ModelUnavailable):
    """What a model may cost in a day is used up: nothing is broken, and it is asked again `until` then."""
