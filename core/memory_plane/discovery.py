"""What is installed: the entry points of group `memory_plane`, and which of them the settings choose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points

from memory_plane.errors import ConfigurationError, PluginError
from memory_plane.plugin import Plugin, check_class, check_name
from memory_plane.settings import Settings, suggestion

GROUP = "memory_plane"


@dataclass
class Offer:
    """What the installed distributions offer under one name; nothing is imported before `load()`."""

    name: str
    points: list[EntryPoint] = field(default_factory=list)

    def load(self) -> type[Plugin]:
        """Import the plugin's class; whatever importing it raises goes through."""
        check_name(self.name)
        if len(self.points) > 1:
            owners = " and by ".join(repr(point.dist.name) for point in self.points if point.dist)
            raise PluginError(f"is offered by {owners}; uninstall all but one")
        return check_class(self.points[0].load())

    @cached_property
    def distribution(self) -> str:
        """The name of the distribution; reading it parses the metadata."""
        dist = self.points[0].dist
        return dist.name if dist else ""

    @cached_property
    def version(self) -> str:
        """The version of the distribution."""
        dist = self.points[0].dist
        return dist.version if dist else ""


def installed() -> dict[str, Offer]:
    """Return what is offered, by name."""
    offers: dict[str, Offer] = {}
    for point in entry_points(group=GROUP):
        offers.setdefault(point.name, Offer(point.name)).points.append(point)
    return offers


def chosen(offers: Mapping[str, Offer], settings: Settings) -> list[str]:
    """Return the names to start in calling order: the configured one, or by name with the fallback `local` last."""
    enabled, disabled = settings.plugins.enabled, settings.plugins.disabled
    names = sorted(offers, key=lambda name: (name == "local", name)) if enabled is None else dict.fromkeys(enabled)
    return [name for name in names if name in offers and name not in disabled]


def missing(offers: Mapping[str, Offer], settings: Settings) -> Iterator[tuple[str, ConfigurationError]]:
    """Yield each name that the settings speak of and nobody offers, with what to say of it."""
    choice = settings.plugins
    spoken = [("enabled", name, ("plugins", "enabled")) for name in choice.enabled or ()]
    spoken += [("disabled", name, ("plugins", "disabled")) for name in choice.disabled]
    spoken += [("configured", name, ("plugin", name)) for name in settings.plugin]
    for word, name, key in spoken:
        if name not in offers:
            hint = suggestion(name, offers) or "; install it or remove the name"
            yield name, ConfigurationError(f"{word} but not installed{hint}  ({settings.place(*key)})")
