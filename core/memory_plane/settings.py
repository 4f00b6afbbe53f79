"""Settings: keyword before environment before TOML. What is wrong is told in one line, with the key and its place."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
)
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from memory_plane.errors import ConfigurationError

PREFIX = "MEMORY_PLANE_"
HUB_URL = ("MEMORY_PLANE_HUB_URL", "MEMORY_HUB_URL")
"""Other names of the variable that sets `hub.url`, the first of them that is set counts."""

Model = TypeVar("Model", bound=BaseSettings)
Key = tuple[str, ...]


def _names(value: Any) -> Any:
    """Accept what people write into a variable, `muse, local`, beside the JSON that is documented."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            raise ValueError('is not valid JSON; write it as \'["muse", "local"]\'') from None
    return [name.strip() for name in value.split(",") if name.strip()]


def _absolute(path: Path) -> Path:
    with suppress(RuntimeError):  # `~nobody` stays as it is, like in a shell
        path = path.expanduser()
    return path.absolute()


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        raise ValueError(f"is no time zone: {name!r}; write it as 'Europe/Berlin'") from None
    return name


def _url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ValueError("is no address of a hub; write it as 'http://127.0.0.1:8788'")
    return url.rstrip("/")


Names = Annotated[list[str], NoDecode, BeforeValidator(_names)]
OptionalNames = Annotated[list[str] | None, NoDecode, BeforeValidator(_names)]


OptionalFile = Annotated[Path, AfterValidator(_absolute)] | None
OptionalUrl = Annotated[str, AfterValidator(_url)] | None


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class PluginChoice(_Section):
    """Which plugins run, in calling order; `enabled` left out means every installed one that sends nothing."""

    enabled: OptionalNames = None
    disabled: Names = []


class AgentSettings(_Section):
    """What the person says of one agent; its interests decide what deserves its attention."""

    interests: Names = []


class HubSettings(_Section):
    """Where the hub listens, what it lets in, and how clients reach it."""

    host: str = "127.0.0.1"
    port: int = Field(default=8788, ge=1, le=65535)
    names: Names = []
    certificate: OptionalFile = None
    key: OptionalFile = None
    allow_plain: bool = False
    growth_mb_per_hour: float = Field(default=200.0, gt=0)
    url: OptionalUrl = None
    token: SecretStr | None = None


class ClientSettings(_Section):
    """How long a client waits for the hub, in seconds, before it goes on without."""

    connect_local: float = Field(default=0.3, gt=0)
    connect_remote: float = Field(default=2.0, gt=0)
    answer: float = Field(default=10.0, gt=0)
    retry_after: float = Field(default=30.0, ge=0)


class SyncSettings(_Section):
    """The hub on another machine that this memory converges with."""

    url: OptionalUrl = None
    token: SecretStr | None = None


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


class Settings(BaseSettings):
    """Everything that can be configured; docs/configuration.md explains each key. Build it with `load()`."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        allow_inf_nan=False,
    )

    home: Annotated[Path, AfterValidator(_absolute)] = Field(default=Path("~/.memory-plane"), validate_default=True)
    database: str | None = Field(default=None, repr=False)  # the address of a server may hold a password
    synchronous: Literal["full", "normal"] = "full"
    timeout: float = Field(default=5.0, gt=0)
    plugins: PluginChoice = PluginChoice()
    plugin: dict[str, dict[str, Any]] = Field(default={}, repr=False)
    agents: dict[str, AgentSettings] = {}
    hub: HubSettings = HubSettings()
    client: ClientSettings = ClientSettings()
    sync: SyncSettings = SyncSettings()
    attention_threshold: float = Field(default=0.5, ge=0, le=1)
    stale_after_minutes: int = Field(default=60, gt=0)
    timezone: Annotated[str, AfterValidator(_zone)] | None = None

    _places: _Places = PrivateAttr()

    @classmethod
    def load(cls, **overrides: Any) -> Settings:
        """Read keywords (None is not said), environment and file, or raise `ConfigurationError` for any of them."""
        said = {name: value for name, value in overrides.items() if value is not None}
        file = _file(said.get("home"))
        places = _Places(file, said, _environment(cls))
        settings = _build(cls, _merged(_read(file), places.environment, said), places)
        settings._places = places
        return settings

    def model_post_init(self, context: Any, /) -> None:
        """Know the file's place even when the settings were not loaded from it."""
        self._places = _Places(self.home / "config.toml")

    @property
    def file(self) -> Path:
        """The configuration file, which need not exist."""
        return self._places.file

    def place(self, *key: str) -> str:
        """Say where the value of a key was read, as every error does."""
        return self._places.of(key)

    def for_plugin(self, name: str, model: type[Model]) -> Model:
        """Return the settings of one plugin, or raise `ConfigurationError`."""
        places = _Places(self.file, {}, _environment(model), model.model_config.get("env_prefix", ""), ("plugin", name))
        return _build(model, self.plugin.get(name, {}), places)

    @classmethod
    def known_keys(cls) -> tuple[str, ...]:
        """Return each key that can be set, written as in `hub.port`."""
        return tuple(_keys(cls))


@dataclass(frozen=True, repr=False)
class _Places:
    """The layers that were read, kept to say of any key which of them gave its value."""

    file: Path
    overrides: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    prefix: str = PREFIX
    section: Key = ()

    def of(self, key: Key) -> str:
        """Return the place of a key: keyword, variable or file."""
        name = self.name(key)
        if _holds(self.overrides, key):
            return f"{name} as keyword"
        if _holds(self.environment, key):
            return self.variable(key)
        return f"{name} in {self.file}"

    def name(self, key: Key) -> str:
        """Return the key as the file writes it."""
        return ".".join((*self.section, *key))

    def variable(self, key: Key) -> str:
        """Return the variable that sets the key, or the nearest above it."""
        names = [self.prefix + "__".join(key[:depth]).upper() for depth in range(len(key), 0, -1)]
        if key == ("hub", "url"):
            names[1:1] = HUB_URL
        return next((name for name in names if name in os.environ), names[0])


def suggestion(word: str, words: Iterable[str]) -> str:
    """Return `; did you mean 'muse'?` if one of the words is close, else nothing."""
    close = get_close_matches(word, list(words), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _file(home: Path | str | None) -> Path:
    named = os.environ.get(f"{PREFIX}CONFIG")
    if named:
        file = _absolute(Path(named))
        if not file.exists():
            raise ConfigurationError(f"{str(file)!r} does not exist; create it or unset the variable  ({PREFIX}CONFIG)")
        return file
    return _absolute(Path(home or os.environ.get(f"{PREFIX}HOME") or "~/.memory-plane")) / "config.toml"


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8-sig"))  # Notepad begins a file with a mark
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigurationError(f"{str(file)!r} cannot be read: {error.strerror}; check its permissions") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(f"{str(file)!r} is not UTF-8; save line {line} anew in that encoding") from error
    except tomllib.TOMLDecodeError as error:
        what, _, where = str(error).rpartition(" (at ")
        raise ConfigurationError(f"{str(file)!r} is not valid TOML; correct {where.rstrip(')')}: {what}") from error


def _environment(model: type[BaseSettings]) -> dict[str, Any]:
    """Return what the environment sets. A plugin's table is not read from it: there a list would stay a string."""
    prefix = model.model_config.get("env_prefix", "")
    try:
        values = EnvSettingsSource(model)()
    except SettingsError as error:
        start = prefix + str(error).split('"')[1].upper()
        raise ConfigurationError(f"the value is not valid JSON  ({_variables(start)})") from None
    if model is Settings and "plugin" in values:
        variables = _variables(f"{PREFIX}PLUGIN")
        raise ConfigurationError(f"a plugin's settings are {PREFIX}<NAME>_<KEY>; set that instead  ({variables})")
    if model is Settings and (url := next(filter(None, map(os.environ.get, HUB_URL)), None)):
        values["hub"] = {"url": url, **values.get("hub", {})}
    return values


def _variables(start: str) -> str:
    return ", ".join(sorted(name for name in os.environ if re.fullmatch(f"{start}(__.*)?", name.upper())))


def _build(model: type[Model], values: Mapping[str, Any], places: _Places) -> Model:
    try:
        return model(**values)
    except ValidationError as error:
        first, *more = error.errors(include_url=False, include_input=False)
        key = tuple(str(part) for part in first["loc"])
        others = f" and {len(more)} more" if more else ""
        raise ConfigurationError(f"{_explain(first, model, places)}  ({places.of(key)}){others}") from None


def _explain(error: ErrorDetails, model: type[BaseSettings], places: _Places) -> str:
    name = places.name(tuple(str(part) for part in error["loc"]))
    match error["type"]:
        case "extra_forbidden":
            known = (places.name((key,)) for key in _keys(model))
            return f"unknown key {name!r}{suggestion(name, known) or '; remove it'}"
        case "missing":
            return f"{name!r} is missing; set it"
    message = error["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{name!r} {message[0].lower()}{message[1:]}".replace("\n", " ")


def _keys(model: type[BaseModel]) -> Iterator[str]:
    for name, information in model.model_fields.items():
        inner = information.annotation
        prefix = name
        if len(arguments := get_args(inner)) == 2 and arguments[0] is str:
            inner, prefix = arguments[1], f"{name}.<id>"
        yield name
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from (f"{prefix}.{key}" for key in _keys(inner))


def _merged(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Lay each over the one before, table by table."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            below = merged.get(key)
            if isinstance(below, Mapping) and isinstance(value, Mapping):
                merged[key] = _merged(below, value)
            else:
                merged[key] = value
    return merged


def _holds(layer: Mapping[str, Any], key: Key) -> bool:
    """Tell whether a layer has the key, or a value where the key's table would be."""
    for part in key:
        if not isinstance(layer, Mapping):
            return True
        if part not in layer:
            return False
        layer = layer[part]
    return True
