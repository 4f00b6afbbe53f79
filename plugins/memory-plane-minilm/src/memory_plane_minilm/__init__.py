"""Vectors of a sentence encoder that runs on this machine, such as all-MiniLM-L6-v2, asked after the write."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from pydantic import Field, field_validator

from memory_plane.plugin_settings import PluginSettings, SettingsConfigDict
from memory_plane.plugins import Plugin, hookimpl
from memory_plane.types import Vectors
from memory_plane_minilm.encoder import MODEL, TOKENIZER, Encoder

__version__ = "0.1.0"
__all__ = ["MinilmPlugin", "MinilmSettings"]


class MinilmSettings(PluginSettings):
    """`model`: the folder of the encoder, none: it is not asked. `tokens`: so much of a text is read.

    `threads`: how many of the machine's cores it may use.
    """

    model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_MINILM_")

    model: Path | None = None
    tokens: int = Field(default=256, ge=8, le=8192)
    threads: int = Field(default=1, ge=1, le=64)

    @field_validator("model")
    @classmethod
    def _complete(cls, folder: Path | None) -> Path | None:
        if folder is None:
            return None
        missing = [name for name in (MODEL, TOKENIZER) if not (folder.expanduser() / name).is_file()]
        if missing:
            raise ValueError(f"there is no {' and no '.join(missing)} in {str(folder)!r}")
        return folder.expanduser()


class MinilmPlugin(Plugin):
    """Says what memories mean in the rounds of the hub, and what is searched for at once."""

    settings_model = MinilmSettings
    settings: MinilmSettings
    deferred = True

    @cached_property
    def encoder(self) -> Encoder | None:
        """The encoder, read when a text is first embedded; None where no folder is set."""
        if self.settings.model is None:
            return None
        return Encoder(self.settings.model, tokens=self.settings.tokens, threads=self.settings.threads)

    @hookimpl
    def embed(self, texts: Sequence[str]) -> Vectors | None:
        """Say what texts mean."""
        if self.encoder is None:
            return None
        return Vectors(model=self.encoder.name, rows=self.encoder.embed(texts))
