"""Names, relations and open items by a large model, after the write, for texts that rules do not read well."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from datetime import tzinfo
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import Field, SecretStr, field_validator, model_validator

from memory_plane.endpoint import Endpoint, check_address, check_key
from memory_plane.plugin_settings import PluginSettings, SettingsConfigDict, Zone
from memory_plane.plugins import Plugin, hookimpl
from memory_plane.types import Extraction, Memory, Vectors

if TYPE_CHECKING:
    import click

    from memory_plane.remote_model import RemoteModel
    from memory_plane_llm.reading import Reading

__version__ = "0.1.0"
__all__ = ["LlmPlugin", "LlmSettings"]

QUERY = 3.0
"""Seconds at most until one text has its vector: somebody may wait for what a search finds."""
LOCAL, HOSTED = "http://127.0.0.1:20128/v1", "https://api.openai.com/v1"


def _variable(*names: str) -> str | None:
    return next((said for name in names if (said := os.environ.get(name, "").strip())), None)


def _key() -> SecretStr | None:
    said = _variable("MEMORY_GRAPH_API_KEY", "OPENAI_API_KEY")
    return None if said is None else SecretStr(said)


logger = logging.getLogger(__name__)


class LlmSettings(PluginSettings):
    """Which texts a model is asked about, where it is, and what it may cost.

    `extractor`: none of them, those that rules do not read well, or all. `confidence`: how sure one is of the model.
    `json_object`: whether the server can have a model write JSON alone. `embeddings`: the model of vectors, if any.
    `timezone`: where "tomorrow" begins; by default where the machine is.
    """

    model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_LLM_")

    extractor: Literal["local", "hybrid", "llm"] = "hybrid"
    base_url: str | None = Field(default_factory=lambda: _variable("MEMORY_GRAPH_BASE_URL", "OPENAI_BASE_URL"))
    api_key: SecretStr | None = Field(default_factory=_key)
    model: str = Field(default_factory=lambda: _variable("MEMORY_GRAPH_MODEL") or "gpt-4o-mini")
    confidence: float = Field(default=0.75, gt=0, le=1)
    timeout: float = Field(default=30.0, gt=0, le=300)
    daily_tokens: int = Field(default=1_000_000, ge=0)
    json_object: bool = True
    embeddings: str | None = None
    timezone: Zone | None = None
    allow_plain: bool = False

    @field_validator("api_key")
    @classmethod
    def _usable(cls, key: SecretStr | None) -> SecretStr | None:
        return check_key(key)

    @model_validator(mode="after")
    def _safe(self) -> Self:
        check_address(self.url, allow_plain=self.allow_plain)
        return self

    @property
    def url(self) -> str:
        """The address that is asked: a key without an address is for the vendor's own."""
        return (self.base_url or (HOSTED if self.api_key else LOCAL)).rstrip("/")

    @property
    def zone(self) -> tzinfo | None:
        """The zone of the writer, None for that of the machine."""
        return ZoneInfo(self.timezone) if self.timezone else None

    @property
    def sends(self) -> str | None:
        """What goes where, None for nothing."""
        which = {"hybrid": "redacted texts that rules do not read well", "llm": "redacted texts of all memories"}
        texts = which.get(self.extractor)
        if self.embeddings:
            texts = "redacted texts of all memories and of what is searched for"
        return None if texts is None else f"{texts} to {self.url}"


class LlmPlugin(Plugin):
    """Reads again what was read at once; it adds to that, and takes nothing away."""

    settings_model = LlmSettings
    settings: LlmSettings
    deferred = True
    sends: str | None = "redacted texts of memories that rules do not read well, to [plugin.llm] base_url"

    def __init__(self, settings: PluginSettings | None = None) -> None:
        """Say where the settings send what."""
        super().__init__(settings)
        self.sends = self.settings.sends

    @cached_property
    def remote(self) -> RemoteModel:
        """The model."""
        return self._asked_within(self.settings.timeout)

    @cached_property
    def hurried(self) -> RemoteModel:
        """The same server for whom somebody waits; it rests apart, so that no search waits for what a queue met."""
        return self._asked_within(min(QUERY, self.settings.timeout))

    def close(self) -> None:
        """Close the connections."""
        for remote in (vars(self).get("remote"), vars(self).get("hurried")):
            if remote is not None:
                remote.close()

    def asks(self, memory: Memory, found: Extraction) -> str:
        """Say why the model is asked about a memory, "" where it is not."""
        if self.settings.extractor == "local" or not any(map(str.isalpha, memory.text)):
            return ""
        if self.settings.extractor == "llm":
            return "every text is asked about"
        from memory_plane_llm.complexity import complexity

        return complexity(memory, found)

    def question(self, memory: Memory) -> dict[str, Any]:
        """Return what is asked about a memory."""
        from memory_plane_llm import chat

        return chat.question(self.settings.model, memory, self.settings.zone, json_object=self.settings.json_object)

    def read(self, memory: Memory, found: Extraction) -> Reading:
        """Return what reads an answer about a memory."""
        from memory_plane_llm.reading import Reading

        return Reading(memory, found, self.settings.confidence, self.settings.zone)

    @hookimpl
    def extract(self, memory: Memory, found: Extraction) -> Extraction | None:
        """Ask what the text says, unless rules have read it well; an empty answer is one too, and counted."""
        if not self.asks(memory, found):
            return None
        from memory_plane_llm import chat

        self.model, written = self.remote.ask(chat.PATH, self.question(memory), chat.read)
        reading = self.read(memory, found)
        extraction = reading.extraction(written)
        if reading.refused:
            logger.info("of what the model said of memory %s was refused: %s", memory.id, dict(reading.refused))
        return extraction

    @hookimpl
    def embed(self, texts: Sequence[str]) -> Vectors | None:
        """Ask for vectors, where a model of them is set."""
        if not self.settings.embeddings:
            return None
        from memory_plane_llm import embeddings

        remote = self.hurried if len(texts) == 1 else self.remote
        return embeddings.embed(remote, self.settings.embeddings, texts)

    @hookimpl
    def register_commands(self) -> Iterable[click.Command]:
        """Offer `memory-plane llm check`."""
        from memory_plane_llm.commands import commands

        return commands(self)

    def _asked_within(self, seconds: float) -> RemoteModel:
        from memory_plane.remote_model import RemoteModel
        from memory_plane.spending import Spending

        key = self.settings.api_key or SecretStr("sk-local")
        endpoint = Endpoint(url=self.settings.url, key=key, deadline=seconds)
        return RemoteModel(endpoint, Spending(self.folder, self.settings.daily_tokens))
