"""Two machines converge through a hub, both ways, whatever happened in between."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from memory_plane import Client, Plane
from memory_plane.errors import HubUnreachable, MemoryPlaneError
from memory_plane.remote import Hub
from memory_plane.reports import SyncReport
from memory_plane.settings import Settings
from memory_plane.surfaces.cli import main
from memory_plane.surfaces.cli.session import Session
from memory_plane.sync import exchange
from memory_plane.testing.hub import HubProcess


@pytest.fixture
def there(hub: HubProcess) -> Iterator[Hub]:
    """The hub as this machine reaches it."""
    with Hub(hub.url, hub.token, answer=60) as found:
        yield found


def exported(home: Path) -> list[str]:
    with Plane(Settings(home=home)) as plane:
        return list(plane.export())


def test_laptop_and_hub_converge_both_ways(plane: Plane, hub: HubProcess, there: Hub) -> None:
    asked = plane.post("Who feeds the cat?", agent="muse", kind="question")
    plane.fact("cat", "name", "Miso", agent="muse")
    with Plane(Settings(home=hub.home)) as other:
        other.post("The boiler is fixed", agent="grok", kind="milestone")
        other.fact("cat", "name", "Ramen", agent="grok")
    assert exchange(plane, there) == SyncReport(pulled=2, pushed=2)
    assert [fact.value for fact in plane.facts()] == ["Ramen"]
    assert list(plane.export()) == exported(hub.home)
    assert exchange(plane, there) == SyncReport()
    with Plane(Settings(home=hub.home)) as other:
        other.resolve(asked.id, agent="grok", status="answered")
    assert exchange(plane, there) == SyncReport(pulled=1)
    assert plane.items() == []
    assert list(plane.export()) == exported(hub.home)


def test_third_machine_hears_through_the_hub_what_the_first_one_said(
    plane: Plane, hub: HubProcess, there: Hub, tmp_path: Path
) -> None:
    plane.post("The key is under the mat", agent="muse")
    exchange(plane, there)
    with Plane(Settings(home=tmp_path / "third")) as third:
        assert exchange(third, there) == SyncReport(pulled=1)
        third.post("Not any more", agent="grok")
        exchange(third, there)
        assert exchange(plane, there) == SyncReport(pulled=1)
        assert list(third.export()) == list(plane.export()) == exported(hub.home)


def test_what_was_forgotten_goes_on_the_other_machine_too(plane: Plane, hub: HubProcess, there: Hub) -> None:
    secret = plane.post("The surprise party is on Saturday", agent="muse")
    exchange(plane, there)
    plane.forget(secret.id, agent="muse")
    assert exchange(plane, there) == SyncReport(pushed=1)
    with Plane(Settings(home=hub.home)) as other:
        assert other.recall("surprise party").hits == ()
        assert list(other.export()) == list(plane.export())
    assert "surprise" not in "".join(exported(hub.home))


def test_hub_that_was_restored_from_an_older_copy_gets_back_what_it_lost(
    plane: Plane, hub: HubProcess, there: Hub, tmp_path: Path
) -> None:
    plane.post("before", agent="muse")
    exchange(plane, there)
    hub.stop()
    shutil.copytree(hub.home, tmp_path / "copy")
    hub.start()
    plane.post("after", agent="muse")
    with Plane(Settings(home=hub.home)) as other:
        other.post("after, too", agent="grok")
    exchange(plane, there)
    hub.stop()
    shutil.rmtree(hub.home)
    shutil.copytree(tmp_path / "copy", hub.home)
    hub.start()
    assert "after" not in "".join(exported(hub.home))
    exchange(plane, there)
    assert list(plane.export()) == exported(hub.home)
    assert sum('"op":' in line for line in exported(hub.home)) == 3


def test_copy_of_a_memory_needs_an_identity_of_its_own(plane: Plane, tmp_path: Path) -> None:
    plane.post("the same", agent="muse")
    assert plane.store_id
    plane.database.close()
    shutil.copytree(plane.home, tmp_path / "copy")
    with Plane(Settings(home=tmp_path / "copy")) as copy:
        with pytest.raises(MemoryPlaneError, match="the same identity, as a copy has"):
            exchange(copy, plane)
        copy.renew_identity()
        copy.post("a new word", agent="grok")
        assert exchange(copy, plane) == SyncReport(pushed=1)
        assert list(copy.export()) == list(plane.export())


def test_sync_breaks_off_where_the_hub_is_gone_and_goes_on_later(plane: Plane, hub: HubProcess, there: Hub) -> None:
    plane.post("first", agent="muse")
    hub.kill()
    with pytest.raises(HubUnreachable, match="does not answer"):
        exchange(plane, there)
    hub.start()
    assert exchange(plane, there) == SyncReport(pushed=1)


def test_command_makes_no_database_where_the_memory_is_elsewhere(
    home: Path, hub: HubProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_PLANE_HUB_URL", hub.url)
    monkeypatch.setenv("MEMORY_PLANE_HUB__TOKEN", hub.token)
    done = CliRunner().invoke(main, ["sync"], obj=Session())
    assert (done.exit_code, done.stdout.split()) == (0, ["waiting", "0", "taken", "in", "0"])
    assert not (home / "memory.db").exists()

    hub.kill()
    with Client(Settings.load(home=home)) as client:
        assert client.post("Ann likes tea", agent="muse").state == "queued"
    assert CliRunner().invoke(main, ["sync"], obj=Session()).exit_code == 1


def test_command_sends_takes_in_and_exchanges(plane: Plane, hub: HubProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    plane.post("from the laptop", agent="muse")
    runner = CliRunner()
    failed = runner.invoke(main, ["sync", hub.url], obj=Session())
    assert failed.exit_code == 2
    assert "MEMORY_PLANE_SYNC__TOKEN" in failed.stderr
    monkeypatch.setenv("MEMORY_PLANE_SYNC__TOKEN", hub.token)
    done = runner.invoke(main, ["sync", hub.url], obj=Session())
    assert (done.exit_code, done.stderr) == (0, "")
    assert dict(line.rsplit(None, 1) for line in done.stdout.splitlines()) == {
        "waiting": "0", "taken in": "0", "pulled": "0", "pushed": "1", "refused": "0"
    }  # fmt: skip
    assert "from the laptop" in "".join(exported(hub.home))
