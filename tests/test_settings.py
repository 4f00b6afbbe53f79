from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, model_validator

from memory_plane.errors import ConfigurationError
from memory_plane.plugin_settings import PluginSettings, SettingsConfigDict, variables
from memory_plane.settings import Settings


class BirdsSettings(PluginSettings):
    model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_BIRDS_")
    url: str | None = None
    token: SecretStr | None = None
    timeout: float = 2.0


@pytest.fixture
def config(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("MEMORY_PLANE_PLUGINS__ENABLED")
    return home / "config.toml"


def refusal(**overrides: Any) -> str:
    with pytest.raises(ConfigurationError) as caught:
        Settings.load(**overrides)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- where values come from --------------------------------------------------------------------------------------


def test_defaults_need_nothing(config: Path) -> None:
    settings = Settings.load()
    assert settings.home == config.parent
    assert settings.plugins.enabled is None
    assert (settings.hub.host, settings.hub.port) == ("127.0.0.1", 8788)
    assert (settings.synchronous, settings.timeout, settings.database) == ("full", 5.0, None)


def test_keyword_beats_environment_beats_file(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text("timeout = 1\nstale_after_minutes = 1\nattention_threshold = 0.1\n")
    monkeypatch.setenv("MEMORY_PLANE_TIMEOUT", "2")
    monkeypatch.setenv("MEMORY_PLANE_STALE_AFTER_MINUTES", "2")
    settings = Settings.load(timeout=3)
    assert (settings.timeout, settings.stale_after_minutes, settings.attention_threshold) == (3, 2, 0.1)


def test_tables_are_merged_key_by_key(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text('[hub]\nport = 9000\n[agents.muse]\ninterests = ["people"]\n')
    monkeypatch.setenv("MEMORY_PLANE_HUB__HOST", "::1")
    settings = Settings.load(agents={"grok": {"interests": ["rockets"]}})
    assert (settings.hub.host, settings.hub.port) == ("::1", 9000)
    assert {name: agent.interests for name, agent in settings.agents.items()} == {
        "muse": ["people"],
        "grok": ["rockets"],
    }


def test_keyword_of_none_was_not_said(config: Path) -> None:
    config.write_text("timeout = 1\n")
    assert Settings.load(home=None, timeout=None).timeout == 1


def test_empty_variable_was_not_said(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_PLANE_TIMEOUT", "")
    assert Settings.load().timeout == 5


@pytest.mark.parametrize("written", ['["jev", "local"]', "jev,local", " jev , local "])
def test_names_in_a_variable_may_be_json_or_a_list_with_commas(
    config: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", written)
    assert Settings.load().plugins.enabled == ["jev", "local"]


def test_home_moves_the_file_too(tmp_path: Path, config: Path) -> None:
    (tmp_path / "config.toml").write_text("timeout = 7\n")
    assert Settings.load(home=tmp_path).timeout == 7
    assert Settings.load(home=tmp_path).file == tmp_path / "config.toml"


def test_home_is_absolute_with_the_tilde_expanded(config: Path) -> None:
    assert Settings.load(home="~/elsewhere").home == config.parent.parent / "elsewhere"
    assert Settings.load(home="here").home == Path.cwd() / "here"
    assert Settings.load(home="~nobody-of-this-name").home == Path.cwd() / "~nobody-of-this-name"


def test_file_named_by_variable(tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = tmp_path / "мой config.toml"
    named.write_text("timeout = 9\n")
    monkeypatch.setenv("MEMORY_PLANE_CONFIG", str(named))
    assert Settings.load().timeout == 9


def test_file_with_the_mark_of_notepad_is_read(config: Path) -> None:
    config.write_bytes(b"\xef\xbb\xbftimeout = 9\r\n")
    assert Settings.load().timeout == 9


def test_settings_made_without_load_know_their_home_and_file(config: Path) -> None:
    assert Settings().home == config.parent
    assert Settings().file == config
    assert Settings(home=Path("~/elsewhere")).file == config.parent.parent / "elsewhere" / "config.toml"


def test_table_in_a_variable_is_json_and_single_keys_beat_it(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text("[hub]\nhost = '::1'\nport = 1\n")
    monkeypatch.setenv("MEMORY_PLANE_HUB", '{"port": 2, "names": ["nas.local"]}')
    monkeypatch.setenv("MEMORY_PLANE_HUB__PORT", "3")
    monkeypatch.setenv("MEMORY_PLANE_HUB__ALLOW_PLAIN", "yes")
    hub = Settings.load().hub
    assert (hub.host, hub.port, hub.names, hub.allow_plain) == ("::1", 3, ["nas.local"], True)


def test_agents_in_variables_are_set_one_by_one(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_PLANE_AGENTS__GROK__INTERESTS", "rockets, cars")
    monkeypatch.setenv("MEMORY_PLANE_AGENTS__MUSE", '{"interests": ["people"]}')
    agents = Settings.load().agents
    assert {name: agent.interests for name, agent in agents.items()} == {
        "grok": ["rockets", "cars"],
        "muse": ["people"],
    }


def test_variable_below_a_key_that_is_no_table_is_none_of_ours(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_PLANE_TIMEOUT__X", "1")
    monkeypatch.setenv("MEMORY_PLANE__PLACES", "1")
    assert Settings.load() == Settings()


def test_secrets_are_wrapped_wherever_they_come_from(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text('[sync]\ntoken = "hunter2"\n')
    monkeypatch.setenv("MEMORY_PLANE_HUB__TOKEN", "hunter3")
    settings = Settings.load()
    assert (settings.sync.token, settings.hub.token) == (SecretStr("hunter2"), SecretStr("hunter3"))
    assert "hunter" not in repr(settings)


def test_settings_do_not_change(config: Path) -> None:
    config.write_text("[hub]\nport = 9000\n")
    settings = Settings.load()
    for thing, name in ((settings, "timeout"), (settings.hub, "port")):
        with pytest.raises(AttributeError):
            setattr(thing, name, 1)


# --- what is wrong is told in one line ---------------------------------------------------------------------------


def test_named_file_that_is_missing_is_an_error(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_PLANE_CONFIG", "/nowhere/config.toml")
    assert refusal() == (
        "'/nowhere/config.toml' does not exist; create it or unset the variable  (MEMORY_PLANE_CONFIG)"
    )


def test_unknown_key_suggests_the_nearest(config: Path) -> None:
    config.write_text("[hub]\nprot = 80\n")
    assert refusal() == f"unknown key 'hub.prot'; did you mean 'hub.port'?  (hub.prot in {config})"


def test_key_outside_its_table_is_shown_its_place(config: Path) -> None:
    config.write_text('enabled = ["local"]\n')
    assert refusal() == f"unknown key 'enabled'; did you mean 'plugins.enabled'?  (enabled in {config})"


def test_unknown_key_that_resembles_nothing_is_to_be_removed(config: Path) -> None:
    config.write_text("zzz = 1\n")
    assert refusal() == f"unknown key 'zzz'; remove it  (zzz in {config})"


def test_wrong_value_names_the_variable_that_holds_it(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_PLANE_HUB__PORT", "eighty")
    assert refusal() == (
        "'hub.port' should be a valid integer, unable to parse string as an integer  (MEMORY_PLANE_HUB__PORT)"
    )


def test_wrong_keyword_is_told_apart_from_the_file(config: Path) -> None:
    config.write_text("[hub]\nport = 80\n")
    assert refusal(hub={"port": 0}).endswith("(hub.port as keyword)")


def test_several_wrong_values_are_counted(config: Path) -> None:
    config.write_text("timeout = -1\nzzz = 1\nattention_threshold = 2\n")
    assert refusal().endswith(f"(timeout in {config}) and 2 more")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = 1\nb 2\n", "is not valid TOML; correct line 2, column 3: Expected '=' after a key"),
        ("a = 1\na = 2\n", "is not valid TOML; correct line 2, column 6: Cannot overwrite a value"),
        ("a = '", "is not valid TOML; correct end of document: "),
    ],
)
def test_broken_file_names_the_line(config: Path, text: str, words: str) -> None:
    config.write_text(text)
    assert refusal().startswith(f"{str(config)!r} {words}")


def test_file_in_another_encoding_names_the_line(config: Path) -> None:
    config.write_bytes("a = 1\nb = 'Zoë'\n".encode("latin-1"))
    assert refusal() == f"{str(config)!r} is not UTF-8; save line 2 anew in that encoding"


def test_file_that_cannot_be_read_says_why(config: Path) -> None:
    config.mkdir()
    assert refusal() == f"{str(config)!r} cannot be read: Is a directory; check its permissions"


def test_variable_that_is_no_json_is_named(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_PLANE_HUB", "localhost:80")
    assert refusal() == "the value is not valid JSON  (MEMORY_PLANE_HUB)"


def test_names_that_are_broken_json_are_told_so(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", '["local"')
    assert refusal() == (
        "'plugins.enabled' is not valid JSON; write it as '[\"muse\", \"local\"]'  (MEMORY_PLANE_PLUGINS__ENABLED)"
    )


def test_table_of_a_plugin_in_the_environment_is_shown_the_right_variable(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_PLANE_PLUGIN__BIRDS__TIMEOUT", "1")
    assert refusal() == (
        "a plugin's settings are MEMORY_PLANE_<NAME>_<KEY>; set that instead  (MEMORY_PLANE_PLUGIN__BIRDS__TIMEOUT)"
    )


def test_unknown_time_zone_shows_how_to_write_one(config: Path) -> None:
    config.write_text('timezone = "Mars/Olympus"\n')
    assert refusal() == (
        f"'timezone' is no time zone: 'Mars/Olympus'; write it as 'Europe/Berlin'  (timezone in {config})"
    )


@pytest.mark.parametrize("values", [{"timeout": float("nan")}, {"timeout": 0}, {"attention_threshold": 1.1}])
def test_numbers_out_of_range_are_refused(config: Path, values: dict[str, Any]) -> None:
    assert refusal(**values).endswith(f"({next(iter(values))} as keyword)")


@pytest.mark.parametrize("key", ["growth_mb_per_hour", "port"])
def test_numbers_of_a_table_that_are_out_of_range_are_refused(config: Path, key: str) -> None:
    config.write_text(f"[hub]\n{key} = inf\n")
    assert refusal().endswith(f"(hub.{key} in {config})")


def test_home_of_another_kind_is_refused(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMORY_PLANE_HOME")
    config.write_text("home = 5\n")
    assert refusal().endswith(f"(home in {config})")


def test_table_of_an_agent_that_is_no_json_names_its_variable(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_PLANE_AGENTS__GROK", "rockets")
    assert refusal() == "the value is not valid JSON  (MEMORY_PLANE_AGENTS__GROK)"


def test_table_that_is_none_is_refused_beside_the_address_of_a_hub(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_PLANE_HUB", "[1]")
    monkeypatch.setenv("MEMORY_HUB_URL", "http://127.0.0.1:1")
    assert refusal().endswith("(MEMORY_PLANE_HUB)")


def test_localhost_is_the_one_address_that_a_hub_can_prove(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_PLANE_HUB_URL", "http://localhost:8788/")
    monkeypatch.setenv("MEMORY_PLANE_SYNC__URL", "https://localhost:8788")
    settings = Settings.load()
    assert settings.hub.url == "http://127.0.0.1:8788"
    assert settings.sync.url == "https://localhost:8788"  # its certificate says who it is


# --- settings of a plugin ----------------------------------------------------------------------------------------


def test_environment_of_a_plugin_beats_its_table(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text('[plugin.birds]\ntimeout = 1\nurl = "http://127.0.0.1"\n')
    monkeypatch.setenv("MEMORY_PLANE_BIRDS_TIMEOUT", "9")
    birds = Settings.load().for_plugin("birds", BirdsSettings)
    assert (birds.timeout, birds.url) == (9, "http://127.0.0.1")


class ClockSettings(PluginSettings):
    model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_CLOCK_")
    timezone: str | None = None


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("", None),
        ('timezone = "Asia/Tokyo"\n', "Asia/Tokyo"),
        ('timezone = "Asia/Tokyo"\n[plugin.clock]\ntimezone = "Europe/Rome"\n', "Europe/Rome"),
    ],
)
def test_plugin_that_has_a_time_zone_takes_that_of_the_core(config: Path, text: str, zone: str | None) -> None:
    config.write_text(text)
    assert Settings.load().for_plugin("clock", ClockSettings).timezone == zone
    assert Settings.load().for_plugin("birds", BirdsSettings).timeout == 2.0


def test_model_of_a_plugin_reads_its_environment_alone_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_PLANE_BIRDS_TIMEOUT", "9")
    assert BirdsSettings.model_validate({"timeout": 1}).timeout == 9


@pytest.mark.parametrize(
    ("table", "variable", "message"),
    [
        ("tmeout = 1", "", "unknown key 'plugin.birds.tmeout'; did you mean 'plugin.birds.timeout'?  "
         "(plugin.birds.tmeout in {config})"),
        ("timeout = 'x'", "", "'plugin.birds.timeout' should be a valid number, unable to parse string as a number  "
         "(plugin.birds.timeout in {config})"),
        ("timeout = 1", "x", "'plugin.birds.timeout' should be a valid number, unable to parse string as a number  "
         "(MEMORY_PLANE_BIRDS_TIMEOUT)"),
    ],
)  # fmt: skip
def test_wrong_setting_of_a_plugin_names_its_place(
    config: Path, monkeypatch: pytest.MonkeyPatch, table: str, variable: str, message: str
) -> None:
    config.write_text(f"[plugin.birds]\n{table}\n")
    monkeypatch.setenv("MEMORY_PLANE_BIRDS_TIMEOUT", variable)
    with pytest.raises(ConfigurationError) as caught:
        Settings.load().for_plugin("birds", BirdsSettings)
    assert str(caught.value) == message.format(config=config)


def test_model_may_read_foreign_variables_after_its_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class OwlSettings(BirdsSettings):
        @model_validator(mode="before")
        @classmethod
        def _above_foreign_variables(cls, table: dict[str, Any]) -> dict[str, Any]:
            return {**variables(cls, "OWL_"), **table}

    monkeypatch.setenv("OWL_URL", "http://owl")
    monkeypatch.setenv("OWL_TIMEOUT", "7")
    owl = OwlSettings.model_validate({"timeout": 1})
    assert (owl.url, owl.timeout) == ("http://owl", 1)


def test_variable_of_a_list_is_json(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class NestSettings(BirdsSettings):
        names: tuple[str, ...] = ()

    monkeypatch.setenv("MEMORY_PLANE_BIRDS_NAMES", '["wren"]')
    assert Settings.load().for_plugin("birds", NestSettings).names == ("wren",)
    monkeypatch.setenv("MEMORY_PLANE_BIRDS_NAMES", "[wren")
    with pytest.raises(ConfigurationError, match=r"^the value is not valid JSON  \(MEMORY_PLANE_BIRDS_NAMES\)$"):
        Settings.load().for_plugin("birds", NestSettings)


def test_model_without_a_prefix_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Loose needs model_config = .*env_prefix='MEMORY_PLANE_<NAME>_'"):
        type("Loose", (PluginSettings,), {})


# --- secrets and weight ------------------------------------------------------------------------------------------


def test_secrets_are_in_no_repr_and_no_message(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text(
        'database = "postgresql://me:hunter2@db/x"\n[plugin.birds]\ntoken = "hunter2"\ntimeout = "hunter2"\n'
    )
    settings = Settings.load()
    with pytest.raises(ConfigurationError) as caught:
        settings.for_plugin("birds", BirdsSettings)
    monkeypatch.setenv("MEMORY_PLANE_BIRDS_TIMEOUT", "1")
    said = f"{settings!r} {settings} {settings.for_plugin('birds', BirdsSettings)!r} {caught.value} {caught.value!r}"
    assert "hunter2" not in said


HEAVY = ("pydantic", "pydantic_settings", "pluggy", "sqlalchemy")


def imported(code: str, heavy: Sequence[str] = HEAVY) -> set[str]:
    """Return which of the heavy modules a process has loaded after it ran the code."""
    code = f"import sys\n{code}\nprint(*({set(heavy)} & set(sys.modules)))"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_package_and_types_import_no_settings() -> None:
    assert imported("import memory_plane, memory_plane.types") == set()


def test_plugins_that_are_only_loaded_bring_nothing_that_their_hooks_need() -> None:
    ours = "one.distribution.startswith('memory-plane-')"
    load = f"from memory_plane.discovery import installed; [one.load() for one in installed().values() if {ours}]"
    hooks = ("capture", "importers", "integration", "notes", "remote_model", "spending")
    assert imported(load, ("click", "httpx", *(f"memory_plane.{name}" for name in hooks))) == set()


def test_nothing_set_needs_no_check(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = "from memory_plane.settings import Settings; Settings.load()"
    assert imported(load) == set()
    monkeypatch.setenv("MEMORY_PLANE_LOCAL_JOIN_THRESHOLD", "0.8")
    monkeypatch.setenv("MEMORY_PLANE_HOME", str(tmp_path / "elsewhere"))
    assert imported(load) == set()
    monkeypatch.setenv("MEMORY_PLANE_TIMEOUT", "7")
    assert imported(load) == {"pydantic"}


def test_plugin_without_variables_of_its_own_costs_no_second_library(config: Path) -> None:
    code = "from memory_plane import Plugin\nPlugin()"
    assert imported(code) == {"pydantic", "pluggy"}
