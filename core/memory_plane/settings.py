"""Settings: keyword before environment before TOML. What is wrong is told in one line, with the key and its place.

They are plain dataclasses that pydantic checks once something is set; a command that finds nothing set never loads it.
The `metadata` of a field holds the constraints that pydantic is to check.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

from memory_plane.errors import ConfigurationError

if TYPE_CHECKING:
    from pydantic import SecretStr

    from memory_plane.plugin_settings import PluginSettings

PREFIX = "MEMORY_PLANE_"
HUB_URL = ("MEMORY_PLANE_HUB_URL", "MEMORY_HUB_URL")
"""Other names of the variable that sets `hub.url`, the first of them that is set counts."""

Model = TypeVar("Model", bound="PluginSettings")
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


def known_zone(name: str) -> str:
    """Return the name of a time zone; raise `ValueError` for one that is none."""
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        raise ValueError(f"is no time zone: {name!r}; write it as 'Europe/Berlin'") from None
    return name


def _url(url: str) -> str:
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ValueError("is no address of a hub; write it as 'http://127.0.0.1:8788'")
    if parts.scheme == "http" and parts.hostname == "localhost":  # it may be ::1 too, where a stranger may listen
        url = url.replace("localhost", "127.0.0.1", 1)
    return url.rstrip("/")


@dataclass(frozen=True)
class _Through:
    """Put a value through a function after pydantic's own check, or `first`."""

    function: Callable[[Any], Any]
    first: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        schemas = core_schema.no_info_after_validator_function, core_schema.no_info_before_validator_function
        return schemas[self.first](self.function, handler(source))


class _Secret:
    """Check for pydantic's `SecretStr`, which nobody need import to say that there is none."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic import SecretStr

        return handler.generate_schema(SecretStr)


Names = Annotated[list[str], _Through(_names, first=True)]
OptionalNames = Annotated[list[str] | None, _Through(_names, first=True)]
OptionalFile = Annotated[Path, _Through(_absolute)] | None
OptionalUrl = Annotated[str, _Through(_url)] | None
if TYPE_CHECKING:
    OptionalSecret = SecretStr | None
else:
    OptionalSecret = Annotated[Any, _Secret()] | None


class _Section:
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {
        "extra": "forbid",
        "hide_input_in_errors": True,
        "allow_inf_nan": False,
    }


@dataclass(frozen=True)
class PluginChoice(_Section):
    """Which plugins run, in calling order; `enabled` left out means every installed one that sends nothing."""

    enabled: OptionalNames = None
    disabled: Names = field(default_factory=list)


@dataclass(frozen=True)
class AgentSettings(_Section):
    """What the person says of one agent; its interests decide what deserves its attention, its threshold how much."""

    interests: OptionalNames = None
    attention_threshold: float | None = field(default=None, metadata={"ge": 0, "le": 1})


@dataclass(frozen=True)
class HubSettings(_Section):
    """Where the hub listens, what it lets in, and how clients reach it."""

    host: str = "127.0.0.1"
    port: int = field(default=8788, metadata={"ge": 1, "le": 65535})
    names: Names = field(default_factory=list)
    certificate: OptionalFile = None
    key: OptionalFile = None
    allow_plain: bool = False
    growth_mb_per_hour: float = field(default=200.0, metadata={"gt": 0})
    url: OptionalUrl = None
    token: OptionalSecret = None


@dataclass(frozen=True)
class ClientSettings(_Section):
    """How long a client waits for the hub, in seconds, before it goes on without."""

    connect_local: float = field(default=0.3, metadata={"gt": 0})
    connect_remote: float = field(default=2.0, metadata={"gt": 0})
    answer: float = field(default=10.0, metadata={"gt": 0})
    retry_after: float = field(default=30.0, metadata={"ge": 0})


@dataclass(frozen=True)
class RecallSettings(_Section):
    """What each reason to find a memory counts; `least_meaning` and `floor` are what a hit must have of likeness."""

    words: float = field(default=1.0, metadata={"ge": 0})
    meaning: float = field(default=1.0, metadata={"ge": 0})
    beside: float = field(default=1.5, metadata={"ge": 0})
    speaker: float = field(default=0.35, metadata={"ge": 0})
    user: float = field(default=1.3, metadata={"ge": 0})
    thread: float = field(default=0.3, metadata={"ge": 0})
    linked: float = field(default=0.2, metadata={"ge": 0})
    decay: float = field(default=0.05, metadata={"ge": 0, "le": 1})
    least_meaning: float = field(default=0.35, metadata={"ge": 0, "le": 1})
    floor: float = field(default=0.15, metadata={"ge": 0, "le": 1})


@dataclass(frozen=True)
class SyncSettings(_Section):
    """The hub on another machine that this memory converges with."""

    url: OptionalUrl = None
    token: OptionalSecret = None
    certificate: OptionalFile = None


@dataclass(frozen=True)
class Settings(_Section):
    """Everything that can be configured; docs/configuration.md explains each key. Build it with `load()`."""

    home: Path = field(default_factory=lambda: _home(None))
    database: str | None = field(default=None, repr=False)  # the address of a server may hold a password
    synchronous: Literal["full", "normal"] = "full"
    timeout: float = field(default=5.0, metadata={"gt": 0})
    plugins: PluginChoice = field(default_factory=PluginChoice)
    plugin: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)
    agents: dict[str, AgentSettings] = field(default_factory=dict)
    hub: HubSettings = field(default_factory=HubSettings)
    client: ClientSettings = field(default_factory=ClientSettings)
    sync: SyncSettings = field(default_factory=SyncSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    hold_external: bool = False
    relations: Names = field(default_factory=list)
    min_confidence: float = field(default=0.0, metadata={"ge": 0, "le": 1})
    max_hops: int = field(default=5, metadata={"ge": 1, "le": 10})
    attention_threshold: float = field(default=0.5, metadata={"ge": 0, "le": 1})
    stale_after_minutes: int = field(default=60, metadata={"gt": 0})
    timezone: Annotated[str, _Through(known_zone)] | None = None

    _places: Places = field(init=False, repr=False, compare=False)

    @classmethod
    def load(cls, **overrides: Any) -> Settings:
        """Read keywords (None is not said), environment and file, or raise `ConfigurationError` for any of them."""
        said = {name: value for name, value in overrides.items() if value is not None}
        file = _file(said.get("home"))
        places = Places(file, said, _environment())
        values = _merged(_read(file), places.environment, said)
        if values.keys() <= {"home"} and isinstance(values.get("home", file), str | Path):
            settings = cls(**values)
        else:
            from memory_plane.validation import checked

            settings = checked(values, places)
        object.__setattr__(settings, "_places", places)
        return settings

    def __post_init__(self) -> None:
        """Know the file's place even when the settings were not loaded from it."""
        object.__setattr__(self, "home", _absolute(Path(self.home)))
        object.__setattr__(self, "_places", Places(self.home / "config.toml"))

    @property
    def file(self) -> Path:
        """The configuration file, which need not exist."""
        return self._places.file

    @property
    def elsewhere(self) -> str | None:
        """The address of the hub that has the memory, None where this machine keeps it."""
        kept_here = self.database is not None or (self.home / "memory.db").exists()
        return None if kept_here else self.hub.url

    def place(self, *key: str) -> str:
        """Say where the value of a key was read, as every error does."""
        return self._places.of(key)

    def threshold(self, agent: str) -> float:
        """Return from which score on a memory deserves an agent's attention."""
        said = {name.lower(): one.attention_threshold for name, one in self.agents.items()}.get(agent.lower())
        return self.attention_threshold if said is None else said

    def for_plugin(self, name: str, model: type[Model]) -> Model:
        """Return the settings of one plugin, or raise `ConfigurationError`; one that has a `timezone` takes ours."""
        from memory_plane.plugin_settings import read

        ours = {"timezone": self.timezone} if self.timezone and "timezone" in model.model_fields else {}
        return read(model, name, {**ours, **self.plugin.get(name, {})}, self.file)

    @classmethod
    def known_keys(cls) -> tuple[str, ...]:
        """Return each key that can be set, written as in `hub.port`."""
        return tuple(_keys(cls))


@dataclass(frozen=True, repr=False)
class Places:
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
    from difflib import get_close_matches

    close = get_close_matches(word, list(words), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _home(home: Path | str | None) -> Path:
    return _absolute(Path(home or os.environ.get(f"{PREFIX}HOME") or "~/.memory-plane"))


def _file(home: Path | str | None) -> Path:
    named = os.environ.get(f"{PREFIX}CONFIG")
    if not named:
        return _home(home) / "config.toml"
    file = _absolute(Path(named))
    if not file.exists():
        raise ConfigurationError(f"{str(file)!r} does not exist; create it or unset the variable  ({PREFIX}CONFIG)")
    return file


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


def _environment() -> dict[str, Any]:
    """Return what the environment sets."""
    values: dict[str, Any] = {}
    for variable, said in sorted(os.environ.items()):  # a whole table comes before its single keys
        if said and variable.upper().startswith(PREFIX):
            values = _merged(values, _of_variable(variable, said))
    url = next(filter(None, map(os.environ.get, HUB_URL)), None)
    return _merged({"hub": {"url": url}}, values) if url else values


def _of_variable(variable: str, said: str) -> dict[str, Any]:
    """Return what one variable sets, nothing where it is no setting of the core."""
    key = variable[len(PREFIX) :].lower().split("__")
    kind = _kinds(Settings).get(key[0])
    table = is_dataclass(kind) or get_origin(kind) is dict
    if kind is None or (len(key) > 1 and not table):
        return {}
    if key[0] == "plugin":  # here a list would stay a string
        raise ConfigurationError(f"a plugin's settings are {PREFIX}<NAME>_<KEY>; set that instead  ({variable})")
    value: Any = said
    if table and len(key) <= (2 if key[0] == "agents" else 1):  # the whole of a table
        try:
            value = json.loads(said)
        except ValueError:
            raise ConfigurationError(f"the value is not valid JSON  ({variable})") from None
    for part in reversed(key):
        value = {part: value}
    return dict(value)


def _kinds(section: type) -> dict[str, Any]:
    """Return the type of each key of a section."""
    kinds = get_type_hints(section)
    return {each.name: kinds[each.name] for each in fields(section) if each.init}


def _keys(section: type) -> Iterator[str]:
    for name, kind in _kinds(section).items():
        yield name
        inner, prefix = (get_args(kind)[1], f"{name}.<id>") if get_origin(kind) is dict else (kind, name)
        if isinstance(inner, type) and is_dataclass(inner):
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
