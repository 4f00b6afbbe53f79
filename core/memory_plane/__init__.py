"""Memory Plane: one memory for all of a person's AI agents, on the person's own machine."""

from __future__ import annotations

TYPE_CHECKING = False  # the one in typing takes as long to import as half an interpreter
if TYPE_CHECKING:
    from memory_plane.client import Client
    from memory_plane.plane import Plane
    from memory_plane.plugin_settings import PluginSettings, SettingsConfigDict
    from memory_plane.plugins import Plugin, hookimpl

__version__ = "0.1.0"
__all__ = ["Client", "Plane", "Plugin", "PluginSettings", "SettingsConfigDict", "hookimpl"]

_HOMES = {
    "Client": "client",
    "Plane": "plane",
    "Plugin": "plugins",
    "PluginSettings": "plugin_settings",
    "SettingsConfigDict": "plugin_settings",
    "hookimpl": "plugins",
}


def __getattr__(name: str) -> object:
    """Load a public name when it is first used (PEP 562): importing the package costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"memory_plane.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
