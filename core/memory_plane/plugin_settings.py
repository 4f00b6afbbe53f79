"""`PluginSettings`: what a plugin lets people set. It stands alone, since it brings pydantic-settings."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from memory_plane.errors import ConfigurationError
from memory_plane.settings import PREFIX, Places
from memory_plane.validation import refused


class PluginSettings(BaseSettings):
    """Base of the settings of a plugin: its table `[plugin.<name>]`, and above it its environment variables.

    A subclass sets `model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_<NAME>_")`.
    """

    model_config = SettingsConfigDict(extra="forbid", frozen=True, env_ignore_empty=True, hide_input_in_errors=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse a model without a prefix: it would read `TIMEOUT` or `TOKEN` from the shell."""
        super().__pydantic_init_subclass__(**kwargs)
        if not cls.model_config.get("env_prefix", "").startswith(PREFIX):
            raise TypeError(f"{cls.__name__} needs model_config = SettingsConfigDict(env_prefix='{PREFIX}<NAME>_')")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Put the environment before the table; a subclass may add sources after these two."""
        return env_settings, init_settings


Model = TypeVar("Model", bound=PluginSettings)


def read(model: type[Model], name: str, table: Mapping[str, Any], file: Path) -> Model:
    """Return the settings of the plugin called `name` from its table in `file` and the environment."""
    prefix = model.model_config.get("env_prefix", "")
    places = Places(file, {}, _environment(model, prefix), prefix, ("plugin", name))
    try:
        return model(**table)
    except ValidationError as error:
        raise refused(error, model.model_fields, places) from None


def _environment(model: type[PluginSettings], prefix: str) -> dict[str, Any]:
    try:
        return EnvSettingsSource(model)()
    except SettingsError as error:
        start = prefix + str(error).split('"')[1].upper()
        names = (name for name in os.environ if re.fullmatch(f"{start}(__.*)?", name.upper()))
        raise ConfigurationError(f"the value is not valid JSON  ({', '.join(sorted(names))})") from None
