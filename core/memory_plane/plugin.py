"""What a plugin is: its base class, the hooks it may implement, and what the core says of it."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import pluggy

from memory_plane.errors import MemoryPlaneError, PluginError
from memory_plane.failures import Failure
from memory_plane.hookspecs import Hooks
from memory_plane.plugin_settings import PluginSettings
from memory_plane.settings import suggestion
from memory_plane.types import AgentInfo, Classification, Extraction, Routing

hookimpl = pluggy.HookimplMarker("memory_plane")

HOOKS: Mapping[str, tuple[str, ...]] = {
    name: tuple(inspect.signature(spec).parameters)[1:]
    for name, spec in vars(Hooks).items()
    if not name.startswith("_")
}
"""The name of each hook with those of its parameters."""

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_AGENT = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

PluginState = Literal["active", "disabled", "not enabled", "failed"]


class Plugin:
    """Base of every plugin. The attributes are data; the hooks are methods marked with `@hookimpl`.

    `deferred` plugins are asked after the write, from a queue. `sends` says what leaves the machine and where to; a
    class that sends runs only when `plugins.enabled` names it; its object may say it more exactly, as it is set.
    `folder` is for files of its own, below the home and made when it is needed; None where there is no home. `model`
    names what answered last, and is kept with each answer.
    """

    settings_model: ClassVar[type[PluginSettings]] = PluginSettings
    agents: ClassVar[tuple[AgentInfo, ...]] = ()
    deferred: ClassVar[bool] = False
    sends: str | None = None

    settings: PluginSettings
    folder: Path | None = None
    model: str = ""

    def __init__(self, settings: PluginSettings | None = None) -> None:
        """Keep the settings; a plugin opens files and connections when a hook needs them."""
        self.settings = self.settings_model() if settings is None else settings

    def close(self) -> None:
        """Give back what the plugin holds; a second call does nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deferred:
    """What a deferred plugin says of one memory."""

    extraction: Extraction | None = None
    classification: Classification | None = None
    routing: Routing | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginInfo:
    """What `memory-plane plugins` lists: `failure` is the latest, also of an active plugin."""

    name: str
    state: PluginState
    distribution: str = ""
    version: str = ""
    hooks: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    deferred: bool = False
    sends: str | None = None
    failure: Failure | None = None


def short_name(plugin: type[Plugin]) -> str:
    """Return the name that a class stands for: `my_thing` for `MyThingPlugin`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plugin.__name__.removesuffix("Plugin")).lower()


def check_name(name: str) -> None:
    """Raise `PluginError` unless everything that follows from the name would be valid too."""
    if not _NAME.fullmatch(name):
        raise PluginError(f"{name!r} is no name for a plugin; use lower-case words, digits and single underscores")


def check_class(plugin: object) -> type[Plugin]:
    """Return the plugin class, or raise `PluginError` for anything else or for attributes that are wrong."""
    if not isinstance(plugin, type) or not issubclass(plugin, Plugin):
        raise PluginError(f"gave {plugin!r}, expected a subclass of memory_plane.Plugin")
    if not isinstance(plugin.agents, tuple) or not all(isinstance(agent, AgentInfo) for agent in plugin.agents):
        raise PluginError(f"agents is {plugin.agents!r}, expected a tuple of AgentInfo")
    for agent in plugin.agents:
        if not isinstance(agent.id, str) or not _AGENT.fullmatch(agent.id):
            raise PluginError(f"{agent.id!r} is no agent id; use lower-case letters, digits, '.', '_' and '-'")
        if not isinstance(agent.interests, tuple) or not all(isinstance(word, str) for word in agent.interests):
            raise PluginError(f"the interests of agent {agent.id!r} are {agent.interests!r}, expected a tuple of str")
    if not isinstance(plugin.sends, str | None):
        raise PluginError(f"sends is {plugin.sends!r}, expected None or what is sent and where to")
    if not isinstance(plugin.settings_model, type) or not issubclass(plugin.settings_model, PluginSettings):
        raise PluginError(f"settings_model is {plugin.settings_model!r}, expected a subclass of PluginSettings")
    return plugin


def check_hook(hook: str, implementation: pluggy.HookImpl) -> None:
    """Raise `PluginError` if the core could not call the implementation as the contract says."""
    if hook not in HOOKS:
        if implementation.optionalhook:
            return
        raise PluginError(f"there is no hook {hook!r}{suggestion(hook, HOOKS) or '; see docs/hooks.md'}")
    for option in ("tryfirst", "hookwrapper", "wrapper"):
        if getattr(implementation, option):
            raise PluginError(f"{hook!r} is marked {option}, which would overrule the order that the user configured")
    if inspect.iscoroutinefunction(inspect.unwrap(implementation.function)):
        raise PluginError(f"{hook!r} is a coroutine function; hooks are plain functions")
    for parameter in inspect.signature(implementation.function).parameters.values():
        if parameter.kind not in _POSITIONAL or parameter.default is not parameter.empty:
            raise PluginError(f"parameter '{parameter}' of {hook!r} must be positional and have no default")


def told(error: BaseException) -> str:
    """Return an error as one bounded line: our own as it is, any other with its type, even one that has no text."""
    ours = type(error).__module__ == MemoryPlaneError.__module__
    text = str(error) if ours else "".join(traceback.format_exception_only(error))
    return re.sub(r"\s*\n\s*", " ", text.strip())[:300]
