"""The hub as a process: alone in its home, found by others, stopped cleanly, and never mistaken for a stranger."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import ssl
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from ipaddress import ip_address
from itertools import takewhile
from pathlib import Path
from shutil import copy
from threading import Event as Flag
from threading import Thread
from time import monotonic

import httpx
import pytest
import uvicorn

from memory_plane import Plane, Plugin, __version__, hookimpl, presence
from memory_plane.access import ensure_token, is_loopback, read_token, token_path
from memory_plane.errors import ConfigurationError, MemoryPlaneError, StoreError
from memory_plane.operations import make_operation
from memory_plane.presence import Presence
from memory_plane.settings import HubSettings, Settings
from memory_plane.surfaces import background
from memory_plane.surfaces import hub as hub_module
from memory_plane.surfaces.api import create_app
from memory_plane.surfaces.hub import (
    LAST_ANSWERS,
    address,
    certificate_of,
    check_memory,
    check_reach,
    listen,
    welcome,
)
from memory_plane.surfaces.rounds import Rounds, jobs
from memory_plane.surfaces.strangers import who_listens
from memory_plane.testing.hub import HubProcess
from memory_plane.types import AgentInfo, Event, Ingested, Poll

SECONDS = 60
HUB = "http://127.0.0.1:8788"
COMMAND = [sys.executable, "-m", "memory_plane"]

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and sessions of POSIX")

MakePlane = Callable[..., Plane]
Start = Callable[..., HubProcess]
Detach = Callable[..., subprocess.CompletedProcess[str]]


def trusted(home: Path) -> dict[str, str]:
    return {"authorization": f"Bearer {read_token(home)}"}


def post(hub: HubProcess, text: str, agent: str = "muse") -> str:
    """Post a thought and return the state of its receipt."""
    said = {"agent": agent, "text": text}
    answer = httpx.post(
        f"{hub.url}/api/thought", json=said, headers=trusted(hub.home), timeout=SECONDS, trust_env=False
    )
    return str(answer.json()["state"])


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "--home", str(home), *arguments], capture_output=True, text=True, encoding="utf-8", timeout=SECONDS
    )


def healthy(url: str) -> bool:
    return bool(httpx.get(f"{url}/health", timeout=SECONDS, trust_env=False).json()["status"] == "ok")


@pytest.fixture
def start(home: Path, empty_database: Path) -> Iterator[Start]:
    """Start hubs; whatever still runs at the end is killed."""
    hubs: list[HubProcess] = []

    def begin(*options: str, at: Path = home, forked: bool = True) -> HubProcess:
        hubs.append(HubProcess(at, *options, database=empty_database, forked=forked))
        return hubs[-1]

    yield begin
    for hub in hubs:
        hub.kill()


@pytest.fixture
def detached(home: Path) -> Iterator[Detach]:
    """Run `up --detach`; a hub that is still up at the end is stopped."""
    yield lambda *options: run(home, "up", "--detach", *(options or ("--port", "0")))
    background.stop(home)


# --- from start to end -------------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_hub_serves_until_a_signal_and_leaves_nothing_behind(home: Path, start: Start, number: signal.Signals) -> None:
    hub = start(forked=False)
    hub.process.send_signal(signal.SIGHUP)  # a closed terminal is no such signal
    said = presence.read(home)
    assert said == presence.running(home)
    assert said is not None
    assert (said.url, said.pid, said.version) == (hub.url, hub.process.pid, __version__)
    assert abs(datetime.now(UTC) - datetime.fromisoformat(said.started_at)) < timedelta(seconds=SECONDS)
    assert stat.S_IMODE((home / "hub.json").stat().st_mode) == 0o600
    assert healthy(hub.url)
    assert post(hub, "hello") == "stored"

    code, output, errors = hub.stop(number)

    assert (code, errors) == (0, "")
    assert str(read_token(home)) not in output
    assert presence.read(home) is None
    assert presence.free(home)
    assert "hello" in (home / "PULSE.md").read_text("utf-8")
    assert not (home / "memory.db-wal").exists()


@posix
def test_request_under_way_is_answered_before_the_end(home: Path, start: Start) -> None:
    hub = start()
    url = httpx.URL(hub.url)
    body = json.dumps({"agent": "muse", "text": "the last word"}).encode()
    headers = trusted(home) | {"host": f"{url.host}:{url.port}", "content-type": "application/json"}
    lines = [f"{name}: {value}" for name, value in headers.items()]
    head = ["POST /api/thought HTTP/1.1", *lines, f"content-length: {len(body)}", "expect: 100-continue", "", ""]
    with socket.create_connection((url.host, url.port or 0), timeout=SECONDS) as connection:
        connection.sendall("\r\n".join(head).encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        hub.process.send_signal(signal.SIGTERM)
        wait_until_closed(url)
        connection.sendall(body)
        assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
    assert hub.process.wait(SECONDS) == 0


@posix
def test_streams_of_events_do_not_hold_the_end_up(home: Path, start: Start) -> None:
    hub = start()
    with httpx.stream(
        "GET", f"{hub.url}/api/events", headers=trusted(home), timeout=SECONDS, trust_env=False
    ) as answer:
        parts = answer.iter_text()
        assert "ready" in next(parts)
        began = monotonic()
        hub.process.send_signal(signal.SIGTERM)
        assert not any("operation" in part for part in parts)
    assert hub.process.wait(SECONDS) == 0
    assert monotonic() - began < LAST_ANSWERS


def wait_until_closed(url: httpx.URL) -> None:
    """Return once nobody listens any more."""
    deadline = monotonic() + SECONDS
    while monotonic() < deadline:
        try:
            socket.create_connection((url.host, url.port or 0), timeout=SECONDS).close()
        except OSError:
            return
    pytest.fail("the port is still open")


@contextmanager
def script(code: str) -> Iterator[subprocess.Popen[str]]:
    """Run a script that is gone at the end, whatever comes."""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        try:
            yield process
        finally:
            process.kill()


HANGING = """if True:
    from threading import Event
    from memory_plane import Plane, presence
    from memory_plane.surfaces import hub

    def recall(*_, **__):
        print("called", flush=True)
        Event().wait()

    hub.LAST_ANSWERS = hub.PATIENCE = 1
    with Plane() as plane, presence.claimed(plane.home):
        plane.recall = recall
        hub.serve(plane, "127.0.0.1", 0)
"""


def call_rest(url: str, home: Path) -> None:
    httpx.get(f"{url}/api/recall?q=x", headers=trusted(home), timeout=SECONDS, trust_env=False)


def call_mcp(url: str, home: Path) -> None:
    call = {"name": "memory_recall", "arguments": {"query": "x"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = trusted(home) | {"accept": "application/json, text/event-stream"}
    httpx.post(f"{url}/mcp/muse", json=body, headers=headers, timeout=SECONDS, trust_env=False)


@posix
@pytest.mark.parametrize("call", [call_rest, call_mcp])
def test_call_that_hangs_does_not_hold_the_end_up(
    home: Path, empty_database: Path, call: Callable[[str, Path], None]
) -> None:
    copy(empty_database, home / "memory.db")
    with script(HANGING) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None

        def ask() -> None:
            with suppress(httpx.HTTPError):
                call(found[0], home)

        asking = Thread(target=ask)
        asking.start()
        assert "called\n" in process.stdout
        process.terminate()
        assert process.wait(SECONDS / 2) == 0
        asking.join(SECONDS)
    assert presence.free(home)


@posix
def test_second_hub_of_a_home_is_told_who_has_it(shared_hub: HubProcess) -> None:
    hub, home = shared_hub, shared_hub.home
    for arguments in (("up", "--port", "0"), ("up", "--detach", "--port", "0")):
        second = run(home, *arguments)
        assert (second.returncode, second.stdout) == (1, "")
        assert second.stderr == (
            f"memory-plane: {str(home)!r} has a hub already (pid {hub.process.pid}, {hub.url});"
            " stop it with: memory-plane down\n"
        )
    assert healthy(hub.url)
    assert presence.running(home) is not None


@posix
def test_two_homes_have_two_hubs(home: Path, start: Start, shared_hub: HubProcess, agent: str) -> None:
    assert post(start(), "one") == post(shared_hub, "two", agent) == "stored"
    assert "two" not in run(home, "recall", "two").stdout


@posix
def test_hub_that_was_killed_is_in_nobodys_way(home: Path, start: Start) -> None:
    hub = start()
    assert post(hub, "kept") == "stored"
    hub.kill()
    assert presence.read(home) is not None
    assert presence.running(home) is None
    assert "no hub is up" in run(home, "down").stderr

    hub.start()
    said = presence.running(home)
    assert said is not None
    assert said.pid == hub.process.pid
    assert "kept" in run(home, "recall", "kept").stdout


@posix
def test_pages_follow_the_settings_once_the_hub_was_started_again(home: Path, start: Start) -> None:
    hub = start()
    assert post(hub, "hello") == "stored"
    hub.stop()
    assert "Times are UTC" in (home / "PULSE.md").read_text("utf-8")
    (home / "config.toml").write_text('timezone = "Asia/Tokyo"\n', "utf-8")
    hub.start()
    hub.stop()
    assert "Times are Asia/Tokyo" in (home / "PULSE.md").read_text("utf-8")


# --- in the background -------------------------------------------------------------------------------------------


@posix
def test_detached_hub_outlives_the_command_until_down(home: Path, detached: Detach) -> None:
    begun = detached()
    assert (begun.returncode, begun.stderr) == (0, "")
    there = presence.running(home)
    assert there is not None
    assert begun.stdout == f"the hub is up at {there.url} (pid {there.pid})\n"
    assert healthy(there.url)
    assert os.getsid(there.pid) == there.pid

    ended = run(home, "down")
    assert (ended.returncode, ended.stdout) == (0, f"the hub at {there.url} has ended (pid {there.pid})\n")
    assert presence.read(home) is None
    assert "the hub has ended" in (home / "logs" / "hub.log").read_text("utf-8")
    assert stat.S_IMODE((home / "logs" / "hub.log").stat().st_mode) == 0o600
    assert str(read_token(home)) not in (home / "logs" / "hub.log").read_text("utf-8")


@posix
def test_background_speaks_json(home: Path, detached: Detach) -> None:
    there = json.loads(detached("--port", "0", "--json").stdout)
    assert there.items() <= json.loads((home / "hub.json").read_text("utf-8")).items()
    assert json.loads(run(home, "down", "--json").stdout) == {"stopped": there}
    assert json.loads(run(home, "down", "--json").stdout) == {"stopped": None}


@posix
def test_detached_hub_that_cannot_start_says_why(home: Path, detached: Detach) -> None:
    with taken_port() as port:
        failed = detached("--port", str(port))
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr.startswith(f"memory-plane: the hub did not start: port {port} on 127.0.0.1 is in use by ")
    assert failed.stderr.count("\n") == 1
    assert presence.free(home)


@posix
def test_detached_hub_that_is_not_found_by_its_name_is_told(
    home: Path, detached: Detach, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(url: str) -> bool:
        monkeypatch.setattr(background, "monotonic", lambda: float("inf"))  # as if half a minute had passed
        return False

    monkeypatch.setattr(background, "answers", nobody)
    with pytest.raises(MemoryPlaneError, match=r"is up \(pid .*correct hub\.names"):
        background.start(Settings.load(home=home), "--port", "0")


@posix
def test_settings_that_are_wrong_are_told_before_anything_starts(home: Path, detached: Detach) -> None:
    (home / "config.toml").write_text("[hub]\nprot = 1\n", "utf-8")
    failed = detached()
    assert failed.returncode == 2
    assert "unknown key 'hub.prot'" in failed.stderr
    assert not (home / "logs").exists()


@posix
def test_down_signals_no_process_that_is_no_hub(home: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as innocent:
        presence.write(home, Presence(HUB, innocent.pid, "1", "2026-01-01T00:00:00Z"))
        assert "no hub is up" in run(home, "down").stderr
        with presence.claimed(home):  # one that is just starting
            assert run(home, "down").returncode == 1
        assert innocent.poll() is None
        innocent.kill()


def test_json_in_the_foreground_is_refused(home: Path) -> None:
    refused = run(home, "up", "--json")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--detach" in refused.stderr


# --- what a home knows of its hub --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 4000,
        b'{"url": "x", "pid": "1", "version": "1", "started_at": "x"}',
        b'{"url": "x", "pid": 0, "version": "1", "started_at": "x"}',
        b'{"url": "x", "pid": -1, "version": "1", "started_at": "x"}',
        b'{"url": "x", "pid": true, "version": "1", "started_at": "x"}',
        b'{"url": 1, "pid": 7, "version": "1", "started_at": "x"}',
        b'{"url": "x", "pid": 7, "version": "1", "started_at": "x", "more": 1}',
    ],
)
def test_what_no_hub_has_written_is_no_hub(home: Path, content: bytes) -> None:
    (home / "hub.json").write_bytes(content)
    assert presence.read(home) is None


def test_hub_that_starts_waits_for_who_only_looks_whether_one_is_up(home: Path) -> None:
    claimed = Flag()

    def start() -> None:
        with presence.claimed(home):
            claimed.set()

    starting = Thread(target=start)
    with presence._lock(home):  # as `free` holds it
        starting.start()
        assert not claimed.wait(0.05)
    starting.join(SECONDS)
    assert claimed.is_set()


def test_home_is_claimed_by_one_at_a_time(home: Path) -> None:
    with presence.claimed(home):
        assert not presence.free(home)
        with pytest.raises(MemoryPlaneError, match="has a hub already that is just starting or stopping"):
            presence.claimed(home).__enter__()
    assert presence.free(home)


def test_claim_takes_away_what_a_killed_hub_left(home: Path) -> None:
    presence.write(home, Presence(HUB, 4242, "1", "2026-01-01T00:00:00Z"))
    with presence.claimed(home):
        assert presence.read(home) is None


def test_home_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MemoryPlaneError, match=r"hub\.lock' cannot be locked"):
        presence.claimed(tmp_path / "file" / "home").__enter__()


# --- the port ----------------------------------------------------------------------------------------------------


class taken_port:
    """A port of loopback that somebody has; `talk` is what he does with each who calls."""

    def __init__(self, talk: Callable[[socket.socket], object] = lambda connection: None) -> None:
        self._talk = talk
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen()

    def __enter__(self) -> int:
        Thread(target=self._serve, daemon=True).start()
        return int(self._socket.getsockname()[1])

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            try:
                self._talk(connection)
            except OSError:
                return


def talk_for_ever(connection: socket.socket) -> None:
    """Send a byte whenever the other side may give up waiting."""
    pause = Flag()
    while not pause.wait(0.05):
        connection.sendall(b"x")


def test_port_of_another_home_is_named_as_such(home: Path, shared_hub: HubProcess) -> None:
    refused = run(home, "up", "--port", str(shared_hub.port))
    assert refused.returncode == 1
    assert refused.stderr == (
        f"memory-plane: port {shared_hub.port} on 127.0.0.1 is in use by the hub of another home"
        f" (Memory Plane {__version__}); stop it or set hub.port to another one\n"
    )
    assert "did not start: port" in (home / "logs" / "hub.log").read_text("utf-8")


@pytest.mark.parametrize(
    "talk",
    [
        lambda connection: None,
        lambda connection: connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n"),
        lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n<html>"),
        lambda connection: connection.sendall(b'HTTP/1.1 200 OK\r\n\r\n{"status": "ok", "version": "\\u001b[31m"}'),
        lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 8000),
        talk_for_ever,
    ],
    ids=["silent", "ssh", "web", "escape", "deep", "for ever"],
)
def test_port_of_a_stranger_is_named_as_such(talk: Callable[[socket.socket], object]) -> None:
    began = monotonic()
    with taken_port(talk) as port, pytest.raises(MemoryPlaneError) as caught:
        listen("127.0.0.1", port)
    assert str(caught.value) == (
        f"port {port} on 127.0.0.1 is in use by a program that is no hub of Memory Plane;"
        " stop it or set hub.port to another one"
    )
    assert monotonic() - began < 10


def test_nobody_there_is_no_hub() -> None:
    with taken_port() as port:
        pass
    assert who_listens("127.0.0.1", port) == "a program that is no hub of Memory Plane"


def test_address_that_is_not_ours_is_told() -> None:
    with pytest.raises(MemoryPlaneError, match=r"cannot listen on 192\.0\.2\.1 port 0"):
        listen("192.0.2.1", 0)


# --- beyond this machine -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_needs_nothing(home: Path, host: str) -> None:
    check_reach(host, Settings.load().hub, None)
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com", "127.0.0.1.example.com"])
def test_beyond_this_machine_needs_tls_or_a_word(home: Path, host: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(f"hub.host: {host!r} is beyond this machine")):
        check_reach(host, Settings.load().hub, None)
    check_reach(host, Settings.load(hub={"allow_plain": True, "names": ["hub.example"]}).hub, None)
    check_reach(host, Settings.load(hub={"names": ["hub.example"]}).hub, (home / "a", home / "b"))


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_every_address_needs_the_names_it_is_called_by(home: Path, host: str) -> None:
    with pytest.raises(ConfigurationError, match=r"set hub\.names"):
        check_reach(host, Settings.load(hub={"allow_plain": True}).hub, None)


@pytest.mark.parametrize("host", ["", " "])
def test_empty_address_is_refused(home: Path, host: str) -> None:
    with pytest.raises(ConfigurationError, match=r"hub\.host: is empty"):
        check_reach(host, Settings.load(hub={"allow_plain": True, "names": ["hub.example"]}).hub, None)


def test_up_beyond_this_machine_is_refused_before_it_listens(home: Path) -> None:
    refused = run(home, "up", "--host", "0.0.0.0", "--port", "0")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "hub.allow_plain" in refused.stderr


@pytest.mark.parametrize(
    ("host", "names", "secure", "url"),
    [
        ("127.0.0.1", [], False, "http://127.0.0.1:8788"),
        ("::1", [], False, "http://[::1]:8788"),
        ("0.0.0.0", ["hub.example"], False, "http://127.0.0.1:8788"),
        ("::", ["hub.example"], False, "http://[::1]:8788"),
        ("192.0.2.1", [], True, "https://192.0.2.1:8788"),
        ("0.0.0.0", ["hub.example"], True, "https://hub.example:8788"),
        ("0.0.0.0", ["hub.example:443"], True, "https://hub.example:8788"),
        ("0.0.0.0", ["2001:db8::1"], True, "https://[2001:db8::1]:8788"),
    ],
)
def test_url_is_one_that_this_machine_can_call(host: str, names: list[str], secure: bool, url: str) -> None:
    assert address(host, 8788, names, secure=secure) == url


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of our own for loopback, and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "memory-plane test")])
    now = datetime.now(UTC)
    alternatives = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1")), x509.DNSName("localhost")])
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(alternatives, critical=False)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("tls ключ")
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return files


@posix
def test_hub_with_a_certificate_speaks_tls_and_nothing_else(
    home: Path, start: Start, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_PLANE_HUB__CERTIFICATE", str(certificate[0]))
    monkeypatch.setenv("MEMORY_PLANE_HUB__KEY", str(certificate[1]))
    hub = start()
    assert hub.url.startswith("https://127.0.0.1:")
    trust = ssl.create_default_context(cafile=str(certificate[0]))
    with httpx.Client(verify=trust, trust_env=False, timeout=SECONDS) as client:
        assert client.get(f"{hub.url}/health").json()["status"] == "ok"
        assert client.get(f"{hub.url}/mcp/muse").status_code == 401
    with pytest.raises(httpx.HTTPError):
        healthy(hub.url.replace("https", "http"))
    assert who_listens("127.0.0.1", hub.port) == f"the hub of another home (Memory Plane {__version__})"
    assert hub.stop()[0] == 0


@posix
def test_other_machine_trusts_the_certificate_of_a_hub_and_keeps_a_plain_hub_of_its_own(
    home: Path, start: Start, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    (home / "config.toml").write_text(
        f"[hub]\ncertificate = {json.dumps(str(certificate[0]))}\nkey = {json.dumps(str(certificate[1]))}\n", "utf-8"
    )
    nas = start()
    laptop, guest = tmp_path / "laptop", tmp_path / "guest"
    for place, table in ((laptop, "sync"), (guest, "hub")):
        place.mkdir()
        named = {"url": nas.url, "token": nas.token, "certificate": str(certificate[0])}
        lines = (f"{key} = {json.dumps(value)}\n" for key, value in named.items())
        (place / "config.toml").write_text(f"[{table}]\n{''.join(lines)}", "utf-8")

    assert run(guest, "post", "Ann likes tea").stdout.startswith("stored ")
    own = start(at=laptop)
    assert own.url.startswith("http://")
    assert run(laptop, "sync").returncode == 0
    assert "Ann likes tea" in run(laptop, "recall", "tea").stdout

    (laptop / "config.toml").write_text("", "utf-8")  # who trusts no such certificate gets nothing
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMORY_PLANE_SYNC__TOKEN", nas.token)
        assert "certificate" in run(laptop, "sync", nas.url).stderr.lower()


@posix
def test_hub_answers_to_the_names_of_the_settings_and_to_no_other(
    home: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_PLANE_HUB__NAMES", '["hub.example"]')
    hub = start()
    for name, code in (("hub.example", 200), ("evil.example", 421)):
        named = {"host": f"{name}:{hub.port}"}
        assert httpx.get(f"{hub.url}/health", headers=named, timeout=SECONDS, trust_env=False).status_code == code


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux answers to all addresses of loopback")
def test_hub_at_another_address_of_loopback_is_called_by_it(home: Path, start: Start) -> None:
    hub = start("--host", "127.0.0.2")
    assert healthy(hub.url)
    assert run(home, "post", "Ann likes tea").stdout.startswith("stored ")
    assert not (home / "memory-plane.log").exists()  # which would say that the hub is none of ours


@posix
def test_connections_that_ask_for_nothing_are_closed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "HEADERS", 0.2)
    monkeypatch.setattr(hub_module, "MOST_CONNECTIONS", 3)
    ask = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1:1\r\n"
    with Plane(home=home) as plane, listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        config = hub_module._configuration(create_app(plane, token="t" * 32, port=1), None)
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            for begun in (b"", ask, ask + b"\r\n" + ask):
                with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as slow:
                    slow.sendall(begun)
                    answer = b"".join(iter(lambda: slow.recv(4096), b""))
                    assert (b"200 OK" in answer) == (ask + b"\r\n" in begun)
            with ExitStack() as crowd:
                for _ in range(3):
                    crowd.enter_context(socket.create_connection(("127.0.0.1", port), timeout=SECONDS))
                began = monotonic()
                with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as one_more:
                    assert one_more.recv(1) == b""
                assert monotonic() - began < SECONDS
        finally:
            server.should_exit = True
            thread.join(SECONDS)


def test_certificate_without_its_key_is_refused(home: Path, certificate: tuple[Path, Path]) -> None:
    for hub, missing in (({"certificate": certificate[0]}, "hub.key"), ({"key": certificate[1]}, "hub.certificate")):
        with pytest.raises(ConfigurationError, match=f"{re.escape(missing)}: is missing"):
            certificate_of(Settings.load(hub=hub).hub)


def test_certificate_that_is_none_is_refused(home: Path, certificate: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "nonsense.pem").write_text("nonsense", "utf-8")
    for file, reason in ((tmp_path / "missing.pem", "cannot be read"), (tmp_path / "nonsense.pem", "are no PEM")):
        with pytest.raises(ConfigurationError, match=reason) as caught:
            certificate_of(Settings.load(hub={"certificate": file, "key": certificate[1]}).hub)
        assert "\n" not in str(caught.value)


def test_key_with_a_password_asks_nobody(home: Path, certificate: tuple[Path, Path], tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization

    key = serialization.load_pem_private_key(certificate[1].read_bytes(), None)
    locked = tmp_path / "locked.pem"
    locked.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"sesame"),
        )
    )
    with pytest.raises(ConfigurationError, match="without a password"):
        certificate_of(Settings.load(hub={"certificate": certificate[0], "key": locked}).hub)


def test_welcome_names_the_token_file_and_not_the_token(tmp_path: Path) -> None:
    token = ensure_token(tmp_path)
    text = welcome(tmp_path, HUB)
    assert str(token_path(tmp_path)) in text
    assert f"{HUB}/mcp/NAME" in text
    assert token not in text
    assert re.search(rf"Connect your agents: /\S+ --home {re.escape(str(tmp_path))} setup", text)


# --- every half minute -------------------------------------------------------------------------------------------


class HeronPlugin(Plugin):
    """Hangs until it is released."""

    agents = (AgentInfo(id="heron"),)

    def __init__(self, release: Flag) -> None:
        super().__init__()
        self.release = release

    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested | None:
        self.release.wait(SECONDS)
        return None


class WrenPlugin(Plugin):
    """Finds a thought whenever it looks."""

    agents = (AgentInfo(id="wren"),)

    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested | None:
        return Ingested(operations=(make_operation("thought", {"text": "a song"}, agent="wren"),))


def test_plugin_that_hangs_holds_no_other_up(make_plane: MakePlane) -> None:
    release, enough = Flag(), Flag()
    plane = make_plane(HeronPlugin(release), WrenPlugin())

    def told(job: Callable[[], object]) -> None:
        job()
        enough.set()

    with Rounds(
        lambda: [(name, partial(told, job)) for name, job in jobs(plane) if "intake" in name],
        every=SECONDS,
        patience=0.05,
    ):
        assert enough.wait(SECONDS)
        assert [thought.text for thought in plane.thoughts()] == ["a song"]
        release.set()


def test_job_that_hangs_is_told_once_and_not_started_again(caplog: pytest.LogCaptureFixture) -> None:
    release, rounds = Flag(), []
    third = Flag()

    def hang() -> None:
        rounds.append("hang")
        release.wait(SECONDS)

    def count() -> None:
        rounds.append("count")
        if rounds.count("count") == 3:
            third.set()

    with Rounds(lambda: [("the first", hang), ("the second", count)], every=0.01, patience=0.01):
        assert third.wait(SECONDS)
        release.set()
    assert rounds.count("hang") == 1
    assert caplog.text.count("the first has not ended since the last round") == 1


@pytest.mark.parametrize("error", [StoreError("the disk is full"), ValueError("odd")])
def test_job_that_fails_is_logged_and_the_next_goes_on(caplog: pytest.LogCaptureFixture, error: Exception) -> None:
    done = Flag()

    def fail() -> None:
        raise error

    with Rounds(lambda: [("the first", fail), ("the second", done.set)], every=SECONDS):
        assert done.wait(SECONDS)
    assert "the first" in caplog.text
    assert str(error) in caplog.text
    assert ("Traceback" in caplog.text) == isinstance(error, ValueError)


def test_end_waits_for_no_job_for_ever() -> None:
    release, begun = Flag(), Flag()

    def hang() -> None:
        begun.set()
        release.wait(SECONDS)

    began = monotonic()
    with Rounds(lambda: [("the first", hang)], every=SECONDS, patience=SECONDS):
        assert begun.wait(SECONDS)
    assert monotonic() - began < SECONDS / 2
    release.set()


def test_hub_has_a_job_for_all_that_may_wait(make_plane: MakePlane) -> None:
    alone = [
        "the outbox",
        "the events that wait",
        "the intake of plugin 'wren'",
        "the queue of deferred plugins",
        "the pages that time has changed",
    ]
    assert [name for name, _ in jobs(make_plane(WrenPlugin()))] == alone
    met = make_plane(WrenPlugin(), sync={"url": "https://nas.example:8788"})
    assert [name for name, _ in jobs(met)] == [*alone, "the exchange with https://nas.example:8788"]


def test_hub_is_refused_where_the_memory_is_at_another_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_PLANE_HUB_URL", "https://nas.local:8788")
    done = run(home, "up", "--port", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the memory is at 'https://nas.local:8788'" in done.stderr
    assert "MEMORY_PLANE_HUB_URL" in done.stderr
    assert not (home / "memory.db").exists()


def test_address_of_this_very_hub_is_no_other_one(home: Path) -> None:
    check_memory(Settings(home=home, hub=HubSettings(url="http://127.0.0.1:8788")), 8788)
    with pytest.raises(ConfigurationError, match=r"sync\.url"):
        check_memory(Settings(home=home, hub=HubSettings(url="http://127.0.0.1:8788")), 8789)


IDLE = """if True:
    import os, sys
    from memory_plane import Plane, presence
    from memory_plane.surfaces import hub, sdk

    load, hub.IDLE = sdk.load, 0.0

    def loaded():
        os.write(1, b"True\\n" if "mcp" in sys.modules else b"False\\n")  # while the hub prints, too
        load()
        os.write(1, b"True\\n" if "mcp" in sys.modules else b"False\\n")

    sdk.load = loaded
    with Plane() as plane, presence.claimed(plane.home):
        hub.serve(plane, "127.0.0.1", 0)
"""


@posix
def test_hub_answers_before_it_loads_what_serves_mcp(home: Path, empty_database: Path) -> None:
    copy(empty_database, home / "memory.db")
    with script(IDLE) as process:
        assert process.stdout is not None
        assert "False\n" in takewhile(lambda line: line != "True\n", process.stdout)
        process.terminate()
        assert process.wait(SECONDS) == 0
