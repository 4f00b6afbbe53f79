"""Plugins: discover, choose, configure, construct, register, check, call, close. Only this module calls their code.

Each step and each call has its own guard: a plugin that fails is named in a `Failure` and skipped, and the others
go on. A strict manager raises `PluginError` instead, for authors and tests.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pluggy

from memory_plane import answers
from memory_plane.discovery import Offer, chosen, installed, missing
from memory_plane.errors import CapReached, PluginError
from memory_plane.failures import Failure, FailureLog, Failures
from memory_plane.hookspecs import Hooks
from memory_plane.patience import Patience
from memory_plane.plugin import (
    HOOKS,
    Deferred,
    Plugin,
    PluginInfo,
    PluginState,
    check_class,
    check_hook,
    check_name,
    hookimpl,
    short_name,
    told,
)
from memory_plane.settings import Settings
from memory_plane.types import AgentInfo, Event, Expansion, Extraction

if TYPE_CHECKING:
    import click

    from memory_plane.integration import Integration, Machine
    from memory_plane.plane import Plane
    from memory_plane.types import (
        AgentContext,
        Candidate,
        Classification,
        Ingested,
        Memory,
        Node,
        Poll,
        Routing,
        Snapshot,
        Tool,
        Vectors,
        View,
    )

__all__ = ["Deferred", "Failure", "Plugin", "PluginInfo", "PluginManager", "hookimpl"]

T = TypeVar("T")
QUESTION_EMBED, QUESTION_EXPAND = 6.0, 1.0
"""Seconds that a question waits for each, then it does without."""
log = logging.getLogger(__name__)


class _Call(NamedTuple):
    """One hook of one plugin, ready to be called with the parameters that it names."""

    plugin: str
    hook: str
    function: Callable[..., Any]
    parameters: tuple[str, ...]


class PluginManager:
    """The plugins of one plane, in calling order, and one typed method for each hook."""

    def __init__(self, *, strict: bool = False) -> None:
        """Begin with no plugin; `load` is what finds those that are installed."""
        self.strict = strict
        self.agents: dict[str, AgentInfo] = {}
        self.deferred: tuple[str, ...] = ()
        self.scores = self.embeds_later = False
        self._pluggy = pluggy.PluginManager("memory_plane")
        self._pluggy.add_hookspecs(Hooks)
        self._offers: dict[str, Offer] = {}
        self._classes: dict[str, type[Plugin]] = {}
        self._refused: set[str] = set()
        self._disabled: frozenset[str] = frozenset()
        self._plugins: dict[str, Plugin] = {}
        self._owners: dict[str, str] = {}
        self._hooks: dict[str, tuple[_Call, ...]] = dict.fromkeys(HOOKS, ())
        self._failures = Failures()
        self._patience = Patience()
        self._closed = False

    # --- from installed to ready ---------------------------------------------------------------------------------

    @classmethod
    def load(cls, settings: Settings, *, strict: bool | None = None) -> PluginManager:
        """Make the plugins that the settings choose ready; strict left out is `MEMORY_PLANE_STRICT`."""
        manager = cls(strict=_wants_strict() if strict is None else strict)
        manager._offers = installed()
        manager._disabled = frozenset(settings.plugins.disabled)
        manager._failures = Failures(FailureLog(settings.home / "failures.jsonl"))
        for name, error in missing(manager._offers, settings):
            manager._refuse(name, "choose", error)
        for name in chosen(manager._offers, settings):
            manager._start(name, settings)
        return manager

    def register(self, plugin: Plugin, name: str | None = None) -> None:
        """Add a plugin, called after those already there; raise `PluginError` and leave no trace if it is unfit."""
        if isinstance(plugin, type):
            raise PluginError(f"gave the class {plugin.__name__!r}, expected an instance; register {plugin.__name__}()")
        kind = check_class(type(plugin))
        name = short_name(kind) if name is None else name
        check_name(name)
        if name in self._plugins:
            raise PluginError(f"there is a plugin {name!r} already")
        for agent in kind.agents:
            if agent.id in self._owners:
                owner = self._owners[agent.id]
                raise PluginError(f"claims agent {agent.id!r}, for which plugin {owner!r} speaks; disable one of them")
        self._add_hooks(plugin, name)
        self._plugins[name] = plugin
        self._classes[name] = kind
        for agent in kind.agents:
            self.agents[agent.id] = agent
            self._owners[agent.id] = name
        self._arrange()

    def _start(self, name: str, settings: Settings) -> None:
        """Import, configure, construct and register one plugin, and check its hooks."""
        stage = "import"
        try:
            kind = self._classes[name] = self._offers[name].load()
            if kind.sends is not None and settings.plugins.enabled is None:
                return  # a key that lies in the environment is no consent; a name in the list is
            stage = "configure"
            configured = settings.for_plugin(name, kind.settings_model)
            stage = "construct"
            plugin = kind(configured)
            plugin.folder = settings.home / "plugins" / name
            stage = "check"
            self.register(plugin, name)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - an import may raise SystemExit, or anything
            self._refuse(name, stage, error)

    def _refuse(self, name: str, stage: str, error: BaseException) -> None:
        self._refused.add(name)
        failed = self._failed(name, stage, error)
        if self.strict:
            raise failed from error

    def _add_hooks(self, plugin: Plugin, name: str) -> None:
        try:
            self._pluggy.register(plugin, name)
            for caller in self._pluggy.get_hookcallers(plugin) or ():
                for implementation in caller.get_hookimpls():
                    if implementation.plugin is plugin:
                        check_hook(caller.name, implementation)
        except Exception as error:
            self._pluggy.unregister(name=name)
            raise error if isinstance(error, PluginError) else PluginError(told(error)) from error

    def _arrange(self) -> None:
        """Put the implementations of each hook in calling order once, so that a call need not."""
        order = {name: index for index, name in enumerate(self._plugins)}
        for hook in HOOKS:
            found = getattr(self._pluggy.hook, hook).get_hookimpls()
            found.sort(key=lambda one: (one.trylast, order[one.plugin_name]))
            self._hooks[hook] = tuple(_Call(one.plugin_name, hook, one.function, one.argnames) for one in found)
        asked = {call.plugin for hook in ("extract", "classify", "route") for call in self._hooks[hook]}
        self.deferred = tuple(name for name, plugin in self._plugins.items() if plugin.deferred and name in asked)
        self.scores = bool(self._inline("route"))
        self.embeds_later = any(self._plugins[call.plugin].deferred for call in self._hooks["embed"])

    # --- one method a hook ---------------------------------------------------------------------------------------

    def ingest(self, cue: Poll | Event, *, plugin: str | None = None) -> list[tuple[str, Ingested]]:
        """Return who found what: for an event its agent's owner alone, for a poll `plugin` or every one."""
        only = self._owners.get(cue.agent, "") if isinstance(cue, Event) else plugin
        calls = [call for call in self._hooks["ingest"] if only is None or call.plugin == only]
        return list(self._each(calls, {"cue": cue}, answers.ingested))

    def extract(self, memory: Memory) -> Extraction:
        """Return what all inline extractors found in a memory, united."""
        return answers.unite(*(extraction for _, extraction in self.extractions(memory)))

    def extractions(self, memory: Memory, known: Extraction | None = None) -> list[tuple[str, Extraction]]:
        """Return what each inline extractor found, as it gave it; each is shown `known` and what others found."""
        check = partial(answers.extraction, memory=memory)
        before = () if known is None else (known,)
        given: list[tuple[str, Extraction]] = []
        for call in self._inline("extract"):
            found = answers.unite(*before, *(extraction for _, extraction in given))
            answer = self._try(call, {"memory": memory, "found": found}, check)
            if answer is not None:
                given.append((call.plugin, answer))
        return given

    def classify(
        self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]
    ) -> tuple[str, Classification] | None:
        """Return the first inline answer and whose it is."""
        values = {"memory": memory, "found": found, "candidates": candidates}
        check = partial(answers.classification, memory=memory, candidates=candidates)
        return next(self._each(self._inline("classify"), values, check), None)

    def route(
        self, memory: Memory, nodes: Sequence[Node], agents: Sequence[AgentContext]
    ) -> tuple[str, Routing] | None:
        """Return the first inline answer and whose it is."""
        values = {"memory": memory, "nodes": nodes, "agents": agents}
        return next(self._each(self._inline("route"), values, partial(answers.routing, agents=agents)), None)

    def run_deferred(
        self,
        name: str,
        memory: Memory,
        found: Extraction,
        candidates: Sequence[Candidate],
        nodes: Sequence[Node],
        agents: Sequence[AgentContext],
    ) -> Deferred:
        """Ask one deferred plugin what it says of a memory; raise `PluginError` if it fails or is not running."""
        if name not in self._plugins:
            raise PluginError(f"plugin {name!r} is not running; enable it again to finish its work")
        calls = {call.hook: call for calls in self._hooks.values() for call in calls if call.plugin == name}
        values: dict[str, Any] = {"memory": memory, "found": found}

        def ask(hook: str, check: Callable[[Any], T]) -> T | None:
            return self._ask(calls[hook], values, check) if hook in calls else None

        extraction = ask("extract", partial(answers.extraction, memory=memory))
        if extraction is not None:
            values["found"] = answers.unite(found, extraction)
        values |= {"candidates": candidates, "nodes": nodes, "agents": agents}
        said = Deferred(
            extraction=extraction,
            classification=ask("classify", partial(answers.classification, memory=memory, candidates=candidates)),
            routing=ask("route", partial(answers.routing, agents=agents)),
        )
        if said != Deferred():  # who has nothing to say need not have asked
            self._failures.forget(name, ("extract", "classify", "route"))
        return said

    def render(self, snapshot: Snapshot) -> list[View]:
        """Return the pages of all plugins; a page belongs to the plugin that gave it first."""
        pages: list[View] = []
        for call in self._hooks["render"]:
            check = partial(answers.views, taken={page.path for page in pages})
            pages += self._try(call, {"snapshot": snapshot}, check) or ()
        return pages

    def embed(self, texts: Sequence[str], *, inline: bool = False, question: bool = False) -> Vectors | None:
        """Return the vectors of the first plugin that has a model, None while it fails: another's are of no use then.

        With `inline`, deferred plugins are not asked, since a write waits; a `question` waits for a while only.
        """
        check, within = partial(answers.vectors, texts=texts), QUESTION_EMBED if question else None
        for call in self._hooks["embed"]:
            if inline and self._plugins[call.plugin].deferred:
                continue
            try:
                answer = self._ask(call, {"texts": texts}, check, within)
            except PluginError:
                if self.strict:
                    raise
                return None
            if answer is not None:
                if self._plugins[call.plugin].deferred:
                    self._failures.forget(call.plugin, ("embed",))
                return answer
        return None

    def expand(self, words: Sequence[str]) -> Expansion | None:
        """Return the first answer of a plugin that is asked at once: a question waits, and not for long."""
        calls = [call for call in self._hooks["expand"] if not self._plugins[call.plugin].deferred]
        found = self._each(calls, {"words": words}, answers.expansion, within=QUESTION_EXPAND)
        return next((answer for _, answer in found), None)

    def integrate(self, machine: Machine) -> list[tuple[str, Integration]]:
        """Return how each agent is told of Memory Plane, with the plugin that says it."""
        found: list[tuple[str, Integration]] = []
        for call in self._hooks["integrate"]:
            check = partial(answers.integrations, agents=self._classes[call.plugin].agents)
            found += ((call.plugin, one) for one in self._try(call, {"machine": machine}, check) or ())
        return found

    def tools(self, plane: Plane) -> list[Tool]:
        """Return the MCP tools of all plugins, each with its plugin's name before its own."""
        found: list[Tool] = []
        for call in self._hooks["register_tools"]:
            check = partial(answers.tools, plugin=call.plugin, taken={tool.name for tool in found})
            found += self._try(call, {"plane": plane}, check) or ()
        return found

    def commands(self) -> dict[str, list[click.Command]]:
        """Return the commands of each plugin that has any."""
        found = self._each(self._hooks["register_commands"], {}, answers.commands)
        return {name: list(commands) for name, commands in found if commands}

    # --- what is known of them -----------------------------------------------------------------------------------

    @property
    def failures(self) -> list[Failure]:
        """The latest failures, oldest first."""
        return list(self._failures)

    def infos(self) -> list[PluginInfo]:
        """Describe each plugin that is running, in calling order, then each that is only installed or named.

        The failure is the latest that any process saw.
        """
        rest = sorted((self._offers.keys() | self._refused) - self._plugins.keys())
        failures = self._failures.latest()
        for name in self._plugins:  # what kept it from starting was mended, since it runs
            if name in failures and failures[name].where not in (*HOOKS, "close"):
                del failures[name]
        return [self._info(name, failures.get(name)) for name in (*self._plugins, *rest)]

    def version(self, name: str) -> str:
        """Return the version of the plugin's distribution, "0" for one registered by hand, and that of its model."""
        version = self._offers[name].version if name in self._offers else "0"
        model = self._plugins[name].model if name in self._plugins else ""
        return f"{version}+{model}" if model else version

    def close(self) -> None:
        """Close each plugin once, in calling order."""
        if self._closed:
            return
        self._closed = True
        self._patience.close()
        for name, plugin in self._plugins.items():
            try:
                plugin.close()
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                failed = self._failed(name, "close", error)
                if self.strict:
                    raise failed from error

    def _info(self, name: str, failure: Failure | None) -> PluginInfo:
        kind = self._classes.get(name, Plugin)
        offer = self._offers.get(name)
        return PluginInfo(
            name=name,
            state=self._state(name),
            distribution=offer.distribution if offer else "",
            version=offer.version if offer else "",
            hooks=tuple(hook for hook, calls in self._hooks.items() if name in {call.plugin for call in calls}),
            agents=tuple(agent.id for agent in kind.agents),
            deferred=kind.deferred,
            sends=self._plugins.get(name, kind).sends,
            failure=failure,
        )

    def _state(self, name: str) -> PluginState:
        if name in self._plugins:
            return "active"
        if name in self._refused:
            return "failed"
        return "disabled" if name in self._disabled else "not enabled"

    # --- the guards ----------------------------------------------------------------------------------------------

    def _inline(self, hook: str) -> list[_Call]:
        return [call for call in self._hooks[hook] if call.plugin not in self.deferred]

    def _each(
        self,
        calls: Sequence[_Call],
        values: Mapping[str, Any],
        check: Callable[[Any], T],
        within: float | None = None,
    ) -> Iterator[tuple[str, T]]:
        """Ask one after the other, only as far as answers are wanted."""
        for call in calls:
            answer = self._try(call, values, check, within)
            if answer is not None:
                yield call.plugin, answer

    def _try(
        self, call: _Call, values: Mapping[str, Any], check: Callable[[Any], T], within: float | None = None
    ) -> T | None:
        """Ask, and take a failure for no answer unless strict."""
        try:
            return self._ask(call, values, check, within)
        except PluginError:
            if self.strict:
                raise
            return None

    def _ask(
        self, call: _Call, values: Mapping[str, Any], check: Callable[[Any], T], within: float | None = None
    ) -> T | None:
        """Call one implementation and check its answer; a failure is recorded and raised as `PluginError`.

        One that takes longer than `within` seconds has failed too.
        """
        try:
            asked = partial(call.function, *[values[name] for name in call.parameters])
            answer = asked() if within is None else self._patience.call(call, asked, within)
            return None if answer is None else check(answer)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise self._failed(call.plugin, call.hook, error) from error

    def _failed(self, plugin: str, where: str, error: BaseException) -> PluginError:
        until = error.until if isinstance(error, CapReached) else None
        failure = Failure(plugin, where, told(error), datetime.now(UTC), until)
        self._failures.add(failure)
        log.warning("%s", failure, exc_info=error)
        return PluginError(str(failure))


def _wants_strict() -> bool:
    return os.environ.get("MEMORY_PLANE_STRICT", "").lower() in {"1", "true", "yes", "on"}
