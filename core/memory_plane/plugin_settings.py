"""`PluginSettings`: what a plugin lets people set. It stands alone, since it brings pydantic."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator

from memory_plane.errors import ConfigurationError
from memory_plane.settings import PREFIX, Places, known_zone
from memory_plane.validation import refused

Zone = Annotated[str, AfterValidator(lambda name: name and known_zone(name))]
"""The name of a time zone, as in `Europe/Berlin`; a plugin's field `timezone` takes the core's where it is not set."""


class SettingsConfigDict(ConfigDict, total=False):
    """What pydantic may be told of a model, and how the variables begin that set it."""

    env_prefix: str


class PluginSettings(BaseModel):
    """Base of the settings of a plugin: its table `[plugin.<name>]`, and above it its environment variables.

    A subclass sets `model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_<NAME>_")`.
    """

    model_config = SettingsConfigDict(extra="forbid", frozen=True, validate_default=True, hide_input_in_errors=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse a model without a prefix: it would read `TIMEOUT` or `TOKEN` from the shell."""
        super().__pydantic_init_subclass__(**kwargs)
        if not _prefix(cls).startswith(PREFIX):
            raise TypeError(f"{cls.__name__} needs model_config = SettingsConfigDict(env_prefix='{PREFIX}<NAME>_')")

    @model_validator(mode="before")
    @classmethod
    def _below_the_environment(cls, table: Any) -> Any:
        return {**table, **variables(cls, _prefix(cls))} if isinstance(table, Mapping) else table


Model = TypeVar("Model", bound=PluginSettings)


def read(model: type[Model], name: str, table: Mapping[str, Any], file: Path) -> Model:
    """Return the settings of the plugin called `name` from its table in `file` and the environment."""
    prefix = _prefix(model)
    places = Places(file, {}, variables(model, prefix), prefix, ("plugin", name))
    try:
        return model.model_validate(table)
    except ValidationError as error:
        raise refused(error, model.model_fields, places) from None


def variables(model: type[PluginSettings], prefix: str) -> dict[str, Any]:
    """Return what the variables that begin with `prefix` set; raise `ConfigurationError` for one that is no JSON."""
    names = {f"{prefix}{name}".upper() for name in model.model_fields}
    if names.isdisjoint(map(str.upper, os.environ)):
        return {}
    from pydantic_settings import EnvSettingsSource, SettingsError  # a twelfth of a command that writes, seldom needed

    try:
        return EnvSettingsSource(cast(Any, model), env_prefix=prefix, env_ignore_empty=True)()
    except SettingsError as error:
        start = prefix + str(error).split('"')[1].upper()
        said = (name for name in os.environ if re.fullmatch(f"{start}(__.*)?", name.upper()))
        raise ConfigurationError(f"the value is not valid JSON  ({', '.join(sorted(said))})") from None


def _prefix(model: type[PluginSettings]) -> str:
    return model.model_config.get("env_prefix", "")
