"""Identity (noul), relations and types (choice) and attention (score) by a System One server, after the write."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from memory_plane.endpoint import Endpoint, check_address, check_key
from memory_plane.plugin_settings import PluginSettings, SettingsConfigDict
from memory_plane.plugins import Plugin, hookimpl
from memory_plane.types import AgentContext, Candidate, Classification, Extraction, Memory, Node, Routing

if TYPE_CHECKING:
    import click

    from memory_plane_jev.reading import Reading
    from memory_plane_jev.systemone import SystemOne

__version__ = "0.1.0"
__all__ = ["JevPlugin", "JevSettings"]

HOSTED = "https://api.typesafe.ai"


def _variable(name: str) -> str | None:
    return os.environ.get(name, "").strip() or None


def _key() -> SecretStr | None:
    said = _variable("TYPESAFE_API_KEY")
    return None if said is None else SecretStr(said)


class JevSettings(PluginSettings):
    """Where the server is and what it may cost; with neither `base_url` nor `api_key` nothing is asked.

    `timeout`: seconds for one answer with all its tries. `daily_tokens`: what a day may cost. `accept` and `refuse`:
    from which probability on an answer is taken, and what was found at once is thrown away.
    """

    model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_JEV_")

    base_url: str | None = Field(default_factory=lambda: _variable("TYPESAFE_BASE_URL"))
    api_key: SecretStr | None = Field(default_factory=_key)
    model: str = Field(default_factory=lambda: _variable("TYPESAFE_DEFAULT_MODEL") or "jev-latest")
    timeout: float = Field(default=5.0, gt=0, le=60)
    daily_tokens: int = Field(default=2_000_000, ge=0)
    accept: float = Field(default=0.7, ge=0.5, le=1)
    refuse: float = Field(default=0.85, ge=0.5, le=1)
    allow_plain: bool = False

    @field_validator("api_key")
    @classmethod
    def _usable(cls, key: SecretStr | None) -> SecretStr | None:
        return check_key(key)

    @model_validator(mode="after")
    def _safe(self) -> Self:
        if self.base_url is not None:
            check_address(self.base_url, allow_plain=self.allow_plain)
        return self

    @property
    def url(self) -> str | None:
        """The address that is asked, None where there is none."""
        return self.base_url.rstrip("/") if self.base_url else HOSTED if self.api_key else None


class JevPlugin(Plugin):
    """Refines what was found at once; while its server is away that stays as it is."""

    settings_model = JevSettings
    settings: JevSettings
    deferred = True
    sends: str | None = (
        "redacted texts of memories, names and what is known of them to [plugin.jev] base_url, else to Jev's own server"
    )

    def __init__(self, settings: PluginSettings | None = None) -> None:
        """Say where the settings send what."""
        super().__init__(settings)
        url = self.settings.url
        self.sends = None if url is None else f"redacted texts, names and what is known of them to {url}"

    @cached_property
    def server(self) -> SystemOne | None:
        """The server, None while no address and no key is set."""
        if self.settings.url is None:
            return None
        from memory_plane.remote_model import RemoteModel
        from memory_plane.spending import Spending
        from memory_plane_jev.systemone import SystemOne

        endpoint = Endpoint(url=self.settings.url, key=self.settings.api_key, deadline=self.settings.timeout)
        return SystemOne(RemoteModel(endpoint, Spending(self.folder, self.settings.daily_tokens)), self.settings.model)

    def close(self) -> None:
        """Close the connections."""
        server = vars(self).get("server")
        if server is not None:
            server.remote.close()

    def read(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Reading:
        """Return the memory with the questions about it."""
        from memory_plane_jev.reading import Reading

        return Reading.of(memory, found, candidates, accept=self.settings.accept, refuse=self.settings.refuse)

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification | None:
        """Ask what each name is, whom it means, and which relations the text states: all in one request."""
        if self.server is None:
            return None
        reading = self.read(memory, found, candidates)
        questions = reading.questions()
        if not questions:
            return None
        answers = self.server.ask(reading.state(), questions)
        self.model = self.server.answered_by
        return reading.classification(answers)

    @hookimpl
    def route(self, memory: Memory, nodes: Sequence[Node], agents: Sequence[AgentContext]) -> Routing | None:
        """Ask how much each agent should care: all in one request."""
        if self.server is None or not agents or not memory.text.strip():
            return None
        from memory_plane_jev import attention

        answers = self.server.ask(attention.state(memory, nodes, agents), attention.questions(agents))
        self.model = self.server.answered_by
        return attention.routing(answers)

    @hookimpl
    def register_commands(self) -> Iterable[click.Command]:
        """Offer `memory-plane jev check` and `memory-plane jev compare`."""
        from memory_plane_jev.commands import commands

        return commands(self)
