"""`doctor` names each thing that is wrong, with what to do about it, and changes nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pydantic import SecretStr

from memory_plane import Plane, Plugin, hookimpl
from memory_plane.access import ensure_token
from memory_plane.outbox import Outbox
from memory_plane.plugins import PluginManager
from memory_plane.settings import HubSettings, Settings, SyncSettings
from memory_plane.setup.doctor import examine
from memory_plane.setup.finding import Finding
from memory_plane.spending import Spending
from memory_plane.surfaces.cli import main
from memory_plane.surfaces.cli.session import Session
from memory_plane.testing.hub import HubProcess
from memory_plane.types import (
    AgentInfo,
    Candidate,
    Classification,
    Event,
    Extraction,
    Memory,
    Mention,
    Operation,
    Resolution,
    new_node_id,
)


class BrokenPlugin(Plugin):
    """Fails at what it is for."""

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        raise ValueError("no")


class WirePlugin(Plugin):
    """Speaks for an agent."""

    agents = (AgentInfo(id="wire"),)


def look(settings: Settings, plugins: PluginManager | None = None) -> dict[str, Finding]:
    """Return the findings by what was looked at."""
    return {one.what: one for one in examine(settings, plugins or PluginManager())}


def wrong(settings: Settings) -> dict[str, str]:
    """Return what is wrong, with its remedy."""
    return {name: one.remedy for name, one in look(settings).items() if one.state == "wrong"}


def test_fresh_machine_is_well(home: Path) -> None:
    settings = Settings.load()
    assert wrong(settings) == {}
    assert not list(home.iterdir())


def test_sound_memory_is_well(plane: Plane) -> None:
    plane.post("Ann likes tea", agent="muse")
    found = look(plane.settings)
    assert {name: one.state for name, one in found.items()} == {
        "files": "ok", "database": "ok", "hub": "note", "outbox": "ok", "spool": "ok"
    }  # fmt: skip


def test_memory_that_a_hub_elsewhere_does_not_hear_of_is_noted(plane: Plane) -> None:
    plane.post("Ann likes tea", agent="muse")
    url, token = "http://nas.invalid", SecretStr("x" * 40)
    found = look(Settings(home=plane.home, hub=HubSettings(url=url, token=token)))
    assert "stays in the database" in found["database"].detail
    assert found["hub"].remedy.startswith("start that hub, ")
    both = Settings(home=plane.home, hub=HubSettings(url=url), sync=SyncSettings(url=url, token=token))
    assert "is sound" in look(both)["database"].detail


def test_damaged_database_is_named(plane: Plane) -> None:
    plane.database.close()
    (plane.home / "memory.db").write_bytes(b"no database at all" * 300)
    assert "database" in wrong(plane.settings)


class NamePlugin(Plugin):
    """Takes a text for a name."""

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        return Extraction(mentions=(Mention(text=memory.text, type="Person", start=0, end=9, confidence=1),))

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
        new = [Resolution(mention=one, node=new_node_id(memory.id, one), probability=1) for one in found.mentions]
        return Classification(resolutions=tuple(new))


def test_memory_from_before_other_spellings_is_to_be_rebuilt(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane(NamePlugin())
    plane.post("José Ruiz", agent="muse")
    assert look(plane.settings)["database"].state == "ok"
    with plane.database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM aliases WHERE name < ' '")
    found = look(plane.settings)["database"]
    assert (found.state, found.remedy) == ("note", "memory-plane rebuild, once")
    assert "'José Ruiz'" in found.detail
    plane.rebuild()
    assert look(plane.settings)["database"].state == "ok"


def test_links_that_cannot_both_hold_are_noted(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("local")
    plane.post("Ann Lee works at Acme.", agent="muse")
    assert "graph" not in look(plane.settings)
    plane.post("Ann Lee works at Evil Corp.", agent="muse", origin="external")
    noted = look(plane.settings)["graph"]
    assert noted.state == "note"
    assert noted.detail.endswith("'Ann Lee WORKS_AT Evil Corp' beside 'Ann Lee WORKS_AT Acme'")


def test_what_waits_too_long_and_what_is_dead_are_named(home: Path, operation: Callable[..., Operation]) -> None:
    outbox = Outbox(home)
    outbox.append(operation(text="long ago", created_at=datetime.now(UTC) - timedelta(hours=1)))
    settings = Settings.load()
    assert wrong(settings) == {"outbox": "memory-plane sync"}
    with (home / "outbox.jsonl").open("ab") as file:
        file.write(b"not an operation\n")
    outbox.flush(lambda batch: [])
    assert wrong(settings)["outbox"]
    assert outbox.depth()


def test_new_word_that_waits_is_only_noted(home: Path, operation: Callable[..., Operation]) -> None:
    Outbox(home).append(operation(text="just now", created_at=datetime.now(UTC)))
    assert look(Settings.load())["outbox"].state == "note"


def test_event_that_nobody_could_take_in_is_named(home: Path) -> None:
    (home / "spool").mkdir()
    (home / "spool" / "1.bad").write_text("?")
    old = home / "spool" / "2.json"
    old.write_text("{}")
    os.utime(old, (1, 1))
    found = [one for one in examine(Settings.load(), PluginManager()) if one.what == "spool"]
    assert [one.state for one in found] == ["wrong", "wrong"]
    assert found[1].remedy == "memory-plane ingest --spool"


def test_event_of_an_agent_that_no_plugin_speaks_for_says_what_is_missing(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane(WirePlugin())
    for agent in ("wire", "heron", "heron", "агент"):
        plane.spool(Event(agent=agent, name="said", payload={}))
    for path in (plane.home / "spool").iterdir():
        os.utime(path, (1, 1))
    found = [one for one in examine(plane.settings, plane.plugins) if one.what == "spool"]
    assert [one.state for one in found] == ["wrong"] * 3
    ours, heron, other = (f"{one.detail}: {one.remedy}" for one in found)
    assert ours.endswith(": memory-plane ingest --spool")
    assert heron.startswith(
        "2 events of 'heron', for which no plugin speaks, wait since 1970-01-01 00:00 UTC: pip install"
    )
    assert "'агент'" in other
    assert "plugins.enabled" in other


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_file_that_others_may_read_is_named(home: Path) -> None:
    ensure_token(home)
    (home / "token").chmod(0o644)
    assert wrong(Settings.load()) == {"files": f"chmod 600 '{home / 'token'}'"}
    assert (home / "token").stat().st_mode & 0o777 == 0o644


def test_hubs_are_tried_and_must_prove_that_they_are_ours(home: Path, hub: HubProcess) -> None:
    mine = HubSettings(url=hub.url, token=SecretStr(hub.token))
    other = SyncSettings(url=hub.url, token=SecretStr("x" * 43))
    settings = Settings(home=home, hub=mine, sync=other)
    found = look(settings)
    assert (found["hub"].state, found["sync"].state) == ("ok", "wrong")
    assert "not our hub" in found["sync"].detail
    hub.stop()
    assert set(wrong(settings)) == {"hub", "sync"}


def test_failure_of_a_plugin_is_named(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane(BrokenPlugin(), strict=False)
    plane.post("Ann likes tea", agent="muse")
    found = look(plane.settings, plane.plugins)["plugin broken"]
    assert (found.state, "no" in found.detail) == ("wrong", True)


def test_cap_that_is_used_up_is_a_state(make_plane: Callable[..., Plane]) -> None:
    class SpentPlugin(Plugin):
        @hookimpl
        def extract(self) -> None:
            Spending(None, 5).reserve(6)

    plane = make_plane(SpentPlugin(), strict=False)
    plane.post("Ann likes tea", agent="muse")
    found = look(plane.settings, plane.plugins)["plugin spent"]
    assert found.state == "note"
    assert found.detail.startswith("cap of 5 tokens a day (daily_tokens) used up, local answers until 2")
    assert plane.status().failures == ()


def test_command_exits_with_1_when_something_is_wrong(home: Path) -> None:
    def run(*arguments: str) -> Any:
        return CliRunner().invoke(main, ["doctor", *arguments], obj=Session())

    assert run().exit_code == 0
    (home / "spool").mkdir()
    (home / "spool" / "1.bad").write_text("?")
    assert run().exit_code == 1
    findings = json.loads(run("--json").stdout)
    assert [one["what"] for one in findings if one["state"] == "wrong"] == ["spool"]
