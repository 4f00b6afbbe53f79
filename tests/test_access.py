from __future__ import annotations

import base64
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memory_plane.access import (
    TokenFile,
    agent_of,
    agent_token,
    code,
    ensure_token,
    key_id,
    named,
    opens,
    proof,
    read_token,
    renew_token,
    token_path,
    verify,
)
from memory_plane.errors import ConfigurationError, MemoryPlaneError

SECONDS = 30
MASTER = "t" * 43
HUB = "127.0.0.1:8788"


def test_the_token_is_made_once_and_closed_to_others(tmp_path: Path) -> None:
    home = tmp_path / "home"
    token = ensure_token(home)
    assert len(token) >= 43
    assert ensure_token(home) == read_token(home) == token
    assert [path.name for path in home.iterdir()] == ["token"]
    if os.name == "posix":
        assert stat.S_IMODE(token_path(home).stat().st_mode) == 0o600


def test_starts_at_once_agree_on_one_token(tmp_path: Path) -> None:
    code = "import sys, pathlib, memory_plane.access as a; print(a.ensure_token(pathlib.Path(sys.argv[1])))"
    started = [
        subprocess.Popen([sys.executable, "-c", code, tmp_path / "home"], stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    assert len({process.communicate(timeout=SECONDS)[0] for process in started}) == 1


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_a_token_open_to_others_is_closed_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    token = ensure_token(tmp_path)
    token_path(tmp_path).chmod(0o644)
    assert ensure_token(tmp_path) == token
    assert stat.S_IMODE(token_path(tmp_path).stat().st_mode) == 0o600
    assert "was readable by others" in caplog.text
    assert token not in caplog.text


@pytest.mark.parametrize("content", [b"", b"short\n", "é".encode() * 40, b"\xff" * 50])
def test_a_damaged_token_is_named(tmp_path: Path, content: bytes) -> None:
    token_path(tmp_path).write_bytes(content)
    with pytest.raises(ConfigurationError, match="delete it"):
        ensure_token(tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full")
def test_a_token_that_finds_no_room_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fdopen

    def on_a_full_disk(descriptor: int, *args: Any, **more: Any) -> Any:
        os.close(descriptor)
        return real(os.open("/dev/full", os.O_WRONLY), *args, **more)

    monkeypatch.setattr(os, "fdopen", on_a_full_disk)
    with pytest.raises(MemoryPlaneError, match=r"token: cannot be made: No space left on device$"):
        ensure_token(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_renewed_token_ends_the_old_one_and_all_that_were_made_from_it(tmp_path: Path) -> None:
    old = ensure_token(tmp_path)
    of_muse = agent_token(old, "muse")
    assert renew_token(tmp_path) == token_path(tmp_path)
    new = ensure_token(tmp_path)
    assert new != old
    assert not opens(new, old)
    assert not opens(new, of_muse)
    assert [path.name for path in tmp_path.iterdir()] == ["token"]
    if os.name == "posix":
        assert stat.S_IMODE(token_path(tmp_path).stat().st_mode) == 0o600


def test_a_running_hub_takes_a_new_token_up(tmp_path: Path) -> None:
    current = TokenFile(tmp_path)
    old = current()
    assert old == read_token(tmp_path)
    renew_token(tmp_path)
    assert current() == read_token(tmp_path) != old
    token_path(tmp_path).unlink()
    assert current() == read_token(tmp_path)


def test_a_damaged_token_opens_nothing_until_it_is_mended(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    current = TokenFile(tmp_path)
    good = current()
    token_path(tmp_path).write_bytes(b"short")
    assert (current(), current()) == (None, None)
    assert caplog.text.count("the hub is closed") == 1
    token_path(tmp_path).write_text(f"{good}\n")
    assert current() == good


# --- an agent's own ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["muse", "claude-code", "v1.2", "агент", "名前", "a_b"])
def test_an_agents_token_says_whose_it_is_in_characters_that_a_header_can_hold(agent: str) -> None:
    token = agent_token(MASTER, agent)
    assert agent_of(token) == agent
    assert opens(MASTER, token)
    assert token.isascii()
    assert not set(token) & set(' %=/+,;"\r\n')
    assert MASTER not in token


def test_an_agents_token_is_the_same_each_time_and_however_the_name_is_written() -> None:
    assert agent_token(MASTER, "Muse ") == agent_token(MASTER, "muse") != agent_token(MASTER, "grok")


def test_no_other_token_opens() -> None:
    token = agent_token(MASTER, "muse")
    mac = token.rpartition(".")[2]
    forged = [
        "",
        "mp",
        "mp.",
        "mp..",
        "mp.muse.",
        "mp.muse",
        f"mp.grok.{mac}",
        f"mp.Muse.{mac}",
        f"mp.~6Duse.{mac}",
        f"{token}=",
        f"{token}x",
        token[:-1],
        f"mp.{MASTER}",
        f"MP.muse.{mac}",
        mac,
        f"{MASTER} ",
        MASTER[:-1],
        "\udcff",
        "mp.\udcff.x",
        agent_token("u" * 43, "muse"),
    ]
    assert [one for one in forged if opens(MASTER, one)] == []


# --- the proof ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [MASTER, agent_token(MASTER, "muse"), agent_token(MASTER, "агент")])
def test_a_key_is_found_by_its_id_and_its_id_tells_nothing_of_it(token: str) -> None:
    key = key_id(token)
    assert named(MASTER, key) == token
    assert named("u" * 43, key) is None
    assert not opens(MASTER, key)
    assert token.rpartition(".")[2] not in key


@pytest.mark.parametrize("key", ["", "0" * 16, "mp.muse." + "0" * 16, "mp.muse", "\udcff", key_id(MASTER).upper()])
def test_an_id_of_no_key_names_none(key: str) -> None:
    assert named(MASTER, key) is None


def test_a_proof_is_good_for_one_token_one_challenge_and_one_address() -> None:
    answer = proof(MASTER, "challenge", HUB)
    assert verify(MASTER, "challenge", HUB, answer)
    assert verify(MASTER, "challenge", HUB.upper(), answer)
    assert not verify("u" * 43, "challenge", HUB, answer)
    assert not verify(MASTER, "challenges", HUB, answer)
    assert not verify(MASTER, "challenge", "127.0.0.1:8789", answer)
    assert not verify(MASTER, "challenge", "", answer)


@pytest.mark.parametrize("answer", [None, 5, "", "é", "\ud800", b"", ["x"]])
def test_what_is_no_proof_is_no_proof(answer: object) -> None:
    assert not verify(MASTER, "challenge", HUB, answer)


def test_where_the_challenge_ends_cannot_be_moved() -> None:
    assert proof(MASTER, "1", "host:8788") != proof(MASTER, "", "host:87881")


def test_a_code_is_of_one_home_and_of_one_text(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    assert code(one, "a") == code(one, "a")
    assert len({code(one, "a"), code(one, "b"), code(other, "a")}) == 3


def test_no_challenge_makes_the_hub_write_an_agents_token() -> None:
    wanted = agent_token(MASTER, "muse").rpartition(".")[2]
    for challenge, authority in (("agent:muse", ""), ("muse", "agent:"), ("", "agent:muse")):
        made = bytes.fromhex(proof(MASTER, challenge, authority))
        assert base64.urlsafe_b64encode(made).rstrip(b"=").decode() != wanted


def test_clients_can_import_it_for_next_to_nothing() -> None:
    code = "import sys, memory_plane.access; print([name for name in sys.modules if name.split('.')[0] in sys.argv])"
    heavy = ["pydantic", "sqlalchemy", "fastapi", "starlette", "httpx", "mcp", "asyncio", "ssl"]
    done = subprocess.run(
        [sys.executable, "-c", code, *heavy], capture_output=True, text=True, timeout=SECONDS, check=True
    )
    assert done.stdout.strip() == "[]"
