from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_plane.errors import PluginError
from memory_plane.plugins import PluginInfo, PluginManager
from memory_plane.settings import Settings

Install = Callable[..., str]

PLUGIN = """
from memory_plane import Plugin, hookimpl
class ThePlugin(Plugin):
    {body}
"""
QUIET = PLUGIN.format(body="pass")
SENDING = PLUGIN.format(body="sends = 'everything, to the moon'")


@pytest.fixture
def free(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home where the choice of plugins is left out; what the tester has installed does not count."""
    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__DISABLED", json.dumps(installed_before()))
    monkeypatch.delenv("MEMORY_PLANE_PLUGINS__ENABLED")
    return home


def installed_before() -> list[str]:
    from memory_plane.discovery import installed

    return list(installed())


def load(**plugins: list[str]) -> PluginManager:
    settings = Settings.load(plugins=plugins) if plugins else Settings.load()
    return PluginManager.load(settings, strict=False)


def info(manager: PluginManager, name: str) -> PluginInfo:
    return next(info for info in manager.infos() if info.name == name)


def active(manager: PluginManager) -> list[str]:
    return [info.name for info in manager.infos() if info.state == "active"]


def the_failure(manager: PluginManager) -> str:
    (failure,) = manager.failures
    return str(failure)


# --- discover ----------------------------------------------------------------------------------------------------


def test_installed_plugin_is_found_with_its_distribution_and_version(home: Path, install_plugin: Install) -> None:
    install_plugin("birds", PLUGIN.format(body="@hookimpl\n    def extract(self, memory): pass"))
    assert info(load(enabled=["birds"]), "birds") == PluginInfo(
        name="birds", state="active", distribution="memory-plane-birds", version="1.2.3", hooks=("extract",)
    )


def test_two_distributions_with_one_name_fail_together(home: Path, install_plugin: Install) -> None:
    install_plugin("birds", QUIET)
    install_plugin("birds", QUIET, "acme-birds")
    manager = load(enabled=["birds"])
    assert active(manager) == []
    assert "is offered by 'acme-birds' and by 'memory-plane-birds'; uninstall all but one" in the_failure(manager)


@pytest.mark.parametrize("name", ["Birds", "my-birds", "birds_", "9birds", "птицы"])
def test_name_from_which_nothing_could_follow_is_refused(home: Path, install_plugin: Install, name: str) -> None:
    install_plugin(name, QUIET, "acme")
    manager = load(enabled=[name])
    assert f"{name!r} is no name for a plugin" in the_failure(manager)
    assert info(manager, name).state == "failed"


def test_no_installed_plugin_loads_in_a_test_that_names_none(home: Path, install_plugin: Install) -> None:
    module = install_plugin("birds", "raise RuntimeError")
    assert active(load()) == []
    assert module not in sys.modules


# --- choose ------------------------------------------------------------------------------------------------------


def test_left_out_means_all_by_name_with_local_last(free: Path, install_plugin: Install) -> None:
    for name in ("zebra", "birds"):
        install_plugin(name, QUIET)
    manager = load()
    assert active(manager) == ["birds", "zebra"]
    assert manager.failures == []


def test_local_is_the_last_by_default(home: Path, install_plugin: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    others = [name for name in installed_before() if name != "local"]
    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__DISABLED", json.dumps(others))
    monkeypatch.delenv("MEMORY_PLANE_PLUGINS__ENABLED")
    if "local" not in installed_before():
        install_plugin("local", QUIET)
    install_plugin("zebra", QUIET)
    assert active(load()) == ["zebra", "local"]


def test_enabled_gives_the_order_and_disabled_takes_away(home: Path, install_plugin: Install) -> None:
    for name in ("birds", "mice", "zebra"):
        install_plugin(name, QUIET)
    manager = load(enabled=["zebra", "birds", "mice", "zebra"], disabled=["birds"])
    assert active(manager) == ["zebra", "mice"]
    assert info(manager, "birds").state == "disabled"


def test_plugin_that_is_not_enabled_is_listed_and_not_imported(home: Path, install_plugin: Install) -> None:
    module = install_plugin("birds", QUIET)
    assert info(load(), "birds").state == "not enabled"
    assert module not in sys.modules


def test_plugin_that_sends_runs_only_when_named(free: Path, install_plugin: Install) -> None:
    install_plugin("moon", SENDING)
    unnamed = info(load(), "moon")
    assert (unnamed.state, unnamed.sends) == ("not enabled", "everything, to the moon")
    assert info(load(enabled=["moon"]), "moon").state == "active"


def test_enabled_but_not_installed_names_the_nearest(home: Path, install_plugin: Install) -> None:
    install_plugin("jev", QUIET)
    manager = load(enabled=["jevv"])
    place = "plugins.enabled as keyword"
    assert the_failure(manager) == f"plugin 'jevv' is enabled but not installed; did you mean 'jev'?  ({place})"
    assert info(manager, "jevv").state == "failed"


@pytest.mark.parametrize(
    ("toml", "what", "key"),
    [
        ('[plugins]\nenabled = ["owls"]', "enabled", "plugins.enabled"),
        ('[plugins]\nenabled = []\ndisabled = ["owls"]', "disabled", "plugins.disabled"),
        ("[plugins]\nenabled = []\n[plugin.owls]\ntimeout = 1", "configured", "plugin.owls"),
    ],
)
def test_name_that_nobody_offers_is_told_with_its_place(
    home: Path, monkeypatch: pytest.MonkeyPatch, toml: str, what: str, key: str
) -> None:
    monkeypatch.delenv("MEMORY_PLANE_PLUGINS__ENABLED")
    (home / "config.toml").write_text(toml)
    wanted = (
        f"plugin 'owls' is {what} but not installed; install it or remove the name  ({key} in {home / 'config.toml'})"
    )
    assert the_failure(load()) == wanted


# --- import, configure, construct --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "where", "words"),
    [
        ("import nothing_of_this_name", "import", "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("raise SystemExit(3)", "import", "SystemExit: 3"),
        ("class Rude(BaseException): pass\nraise Rude('no')", "import", "Rude: no"),
        ("def broken(:", "import", "SyntaxError"),
        ("", "import", "has no attribute 'ThePlugin'"),
        ("ThePlugin = object()", "import", "expected a subclass of memory_plane.Plugin"),
        ("class ThePlugin: pass", "import", "expected a subclass of memory_plane.Plugin"),
        (PLUGIN.format(body="agents = ['muse']"), "import", "agents is ['muse'], expected a tuple of AgentInfo"),
        (PLUGIN.format(body="settings_model = dict"), "import", "expected a subclass of PluginSettings"),
        (PLUGIN.format(body="def __init__(self, settings): 1 / 0"), "construct", "ZeroDivisionError"),
        (PLUGIN.format(body="def __init__(self): pass"), "construct", "TypeError"),
        (PLUGIN.format(body="@hookimpl\n    def extrakt(self): pass"), "check", "did you mean 'extract'?"),
    ],
)
def test_plugin_that_does_not_load_is_named_and_the_next_loads(
    home: Path, install_plugin: Install, source: str, where: str, words: str
) -> None:
    install_plugin("bad", source)
    install_plugin("good", QUIET)
    manager = load(enabled=["bad", "good"])
    assert active(manager) == ["good"]
    assert the_failure(manager).startswith(f"plugin 'bad' failed in {where!r} and was skipped: ")
    assert words in the_failure(manager)
    assert info(manager, "bad").state == "failed"
    assert info(manager, "bad").version == "1.2.3"


def test_wrong_setting_is_a_failure_of_its_plugin_alone(home: Path, install_plugin: Install) -> None:
    install_plugin("birds", QUIET)
    install_plugin("mice", QUIET)
    settings = Settings.load(plugins={"enabled": ["birds", "mice"]}, plugin={"birds": {"sound": "tweet"}})
    manager = PluginManager.load(settings, strict=False)
    assert active(manager) == ["mice"]
    assert "'configure' and was skipped: unknown key 'plugin.birds.sound'; remove it" in the_failure(manager)


def test_strict_manager_raises_for_the_first_plugin_that_does_not_load(home: Path, install_plugin: Install) -> None:
    install_plugin("bad", "raise SystemExit")
    with pytest.raises(PluginError, match="plugin 'bad' failed in 'import'"):
        PluginManager.load(Settings.load(plugins={"enabled": ["bad"]}), strict=True)


def test_strict_is_taken_from_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not PluginManager.load(Settings.load()).strict
    monkeypatch.setenv("MEMORY_PLANE_STRICT", "1")
    assert PluginManager.load(Settings.load()).strict


def test_interrupt_while_importing_is_the_users(home: Path, install_plugin: Install) -> None:
    install_plugin("slow", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        load(enabled=["slow"])


def test_second_plugin_that_claims_an_agent_is_refused(home: Path, install_plugin: Install) -> None:
    claim = "from memory_plane.types import AgentInfo\n" + PLUGIN.format(body="agents = (AgentInfo(id='muse'),)")
    install_plugin("muse", claim)
    install_plugin("poet", claim)
    manager = load(enabled=["muse", "poet"])
    assert active(manager) == ["muse"]
    assert "claims agent 'muse', for which plugin 'muse' speaks; disable one of them" in the_failure(manager)
