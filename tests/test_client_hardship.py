"""What goes wrong on the client's own machine costs no write: settings, the home, tokens, threads, forks."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import pytest
from pydantic import SecretStr

from memory_plane import Client, Plane
from memory_plane.access import agent_token, ensure_token, renew_token
from memory_plane.errors import StoreError
from memory_plane.settings import ClientSettings, HubSettings, Settings
from memory_plane.testing.hub import HubProcess

PATIENT = ClientSettings(answer=20.0, retry_after=0.0)
NOBODY = "http://127.0.0.1:1"

Open = Callable[..., Client]


@pytest.fixture
def open_client(home: Path) -> Iterator[Open]:
    """Open clients, of the home unless another one is named; they are closed at the end."""
    opened: list[Client] = []

    def open_(url: str | None = NOBODY, token: str | None = "x" * 40, *, of: Path = home, **hub: Any) -> Client:
        secret = SecretStr(token) if token else None
        opened.append(Client(Settings(home=of, hub=HubSettings(url=url, token=secret, **hub), client=PATIENT)))
        return opened[-1]

    yield open_
    for one in opened:
        one.close()


def test_hub_that_cannot_even_be_called_costs_no_write(open_client: Open, tmp_path: Path) -> None:
    broken: list[tuple[str, str, dict[str, Any]]] = [
        ("http://[::1", "x" * 40, {}),
        ("no address", "x" * 40, {}),
        (NOBODY, "é" * 40, {}),
        (NOBODY, "x" * 40, {"certificate": tmp_path / "none.pem"}),
    ]
    for waiting, (url, token, more) in enumerate(broken, 1):
        mine = open_client(url, token, **more)
        receipt = mine.post("kept all the same", agent="muse")
        assert (receipt.state, receipt.detail) == ("queued", f"{waiting} waiting"), url
        assert mine.trouble is not None
        assert token not in mine.trouble


def test_damaged_token_file_costs_no_write(open_client: Open, home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "token").write_text("short", "utf-8")
    mine = open_client(NOBODY, None)
    assert mine.post("kept all the same", agent="muse").state == "queued"
    assert mine.trouble is not None
    assert "holds no token" in mine.trouble


def test_home_that_cannot_be_made_needs_only_a_hub(hub: HubProcess, open_client: Open, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    mine = open_client(hub.url, hub.token, of=tmp_path / "file" / "home")
    assert mine.post("Ann likes tea", agent="muse").state == "stored"
    assert [one.text for one in mine.thoughts()] == ["Ann likes tea"]
    hub.stop()
    assert mine.post("nowhere to keep it", agent="muse").state == "refused"


def test_agents_with_tokens_of_their_own_share_a_home_and_none_sends_what_another_wrote(
    hub: HubProcess, open_client: Open
) -> None:
    muse, grok = (open_client(hub.url, agent_token(hub.token, name)) for name in ("muse", "grok"))
    hub.stop()
    for writer, agent in ((muse, "muse"), (grok, "grok"), (muse, "muse")):
        assert writer.post(f"{agent} says", agent=agent).state == "queued"
    hub.start()
    assert muse.post("muse goes on", agent="muse").state == "stored"
    assert (muse.outbox.depth(), muse.outbox.dead()) == (1, [])
    assert grok.flush() == 0
    assert (muse.outbox.depth(), muse.outbox.dead()) == (0, [])
    with Plane(Settings(home=hub.home)) as plane:
        assert sorted(one.text for one in plane.thoughts()) == ["grok says", "muse goes on", "muse says", "muse says"]


def test_queued_operation_is_found_by_any_spelling_of_its_id(open_client: Open) -> None:
    mine = open_client()
    id = mine.post("Ann likes tea", agent="muse").id
    for spelling in (id, id.upper(), id.replace("-", ""), f"urn:uuid:{id}"):
        found = mine.get(spelling)
        assert found is not None
        assert found["id"] == id


def test_forget_is_queued_also_while_its_target_cannot_be_taken_out(
    open_client: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = open_client()
    id = mine.post("a secret", agent="muse").id

    def purge(target: str) -> int:
        raise StoreError("outbox: the disk is full")

    monkeypatch.setattr(mine.outbox, "purge", purge)
    receipt = mine.forget(id, agent="muse")
    assert (receipt.state, receipt.detail) == ("queued", "2 waiting")


def test_threads_of_one_client_lose_nothing_while_the_token_changes(hub: HubProcess, open_client: Open) -> None:
    mine = open_client(None, None, of=hub.home)

    def write(number: int) -> str:
        if number == 30:
            renew_token(hub.home)
        return mine.post(f"thought {number}", agent="muse").state

    with ThreadPoolExecutor(6) as threads:
        states = list(threads.map(write, range(60)))
    assert set(states) <= {"stored", "duplicate"}  # by the hub, or beside it in the same database
    hub.token = ensure_token(hub.home)
    assert mine.stats().thoughts_by_kind == {"thought": 60}


def _write_some(mine: Client, name: str, count: int) -> None:
    for number in range(count):
        receipt = mine.post(f"{name} {number}", agent="muse")
        assert receipt.state == "stored"
        found = mine.get(receipt.id)
        assert found is not None
        assert found["body"]["text"] == f"{name} {number}"


def test_copy_of_a_home_writes_to_itself_while_the_hub_of_the_original_is_up(
    hub: HubProcess, open_client: Open, tmp_path: Path
) -> None:
    kept = ignore_patterns("hub.sock", "memory.db-*")
    copy = copytree(hub.home, tmp_path / "copy", ignore=kept)
    assert open_client(None, None, of=copy).post("only here", agent="muse").state == "stored"
    for home, count in ((hub.home, 0), (copy, 1)):
        with Plane(Settings(home=home)) as plane:
            assert len(plane.thoughts()) == count


@pytest.mark.parametrize("by_hub", [True, False])
def test_forked_processes_do_not_hear_each_others_answers(by_hub: bool, open_client: Open, request: Any) -> None:
    fork = multiprocessing.get_context("fork")
    mine = open_client(None, None, of=request.getfixturevalue("hub").home) if by_hub else open_client(None, None)
    _write_some(mine, "before", 1)
    children = [fork.Process(target=_write_some, args=(mine, f"child {number}", 10)) for number in range(3)]
    for child in children:
        child.start()
    _write_some(mine, "parent", 10)
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0, 0, 0]
    assert mine.stats().thoughts_by_kind == {"thought": 41}


def test_database_that_takes_no_write_is_read_all_the_same(open_client: Open) -> None:
    mine = open_client(None)
    assert mine.post("Ann likes tea", agent="muse").state == "stored"
    with mine.plane.database.writing() as connection:
        full = "RAISE(ABORT, 'database or disk is full')"
        connection.exec_driver_sql(f"CREATE TRIGGER t BEFORE INSERT ON operations BEGIN SELECT {full}; END")
    assert mine.post("Bob likes tea", agent="muse").state == "queued"
    assert mine.trouble is not None
    assert "full" in mine.trouble
    assert [hit.snippet for hit in mine.recall("Ann").hits] == ["Ann likes tea"]
    assert mine.status().operations == 1
