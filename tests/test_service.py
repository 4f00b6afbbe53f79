"""The hub as a service: what systemd and launchd are told, and that nothing but our own file is touched."""

from __future__ import annotations

import json
import os
import plistlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from memory_plane import presence
from memory_plane.errors import MemoryPlaneError
from memory_plane.setup import service
from memory_plane.setup.service import launchd, systemd
from memory_plane.surfaces import background
from memory_plane.surfaces.cli import main

SECONDS = 60
ODD = (
    "/opt/my apps/pÿthon 100%",
    "-P",
    "-m",
    "memory_plane",
    "a \"b\" \\ 'c'",
    "$HOME ${x} %h",
    "tab\there",
    "Жук 林さん",
)
VARIABLES = {"MEMORY_PLANE_HOME": "/home/Zoë Жук/100% $HOME \"q\" 'x' \\ end"}

posix = pytest.mark.skipif(os.name != "posix", reason="services of POSIX systems")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="systemd is of Linux")


# --- what the system is told -------------------------------------------------------------------------------------


def words_of(line: str) -> list[str]:
    """Read a line of a unit as systemd.syntax(7) says: double quotes, escapes of C, and doubled percent signs."""
    words = re.findall(r'"((?:[^"\\]|\\.)*)"', line)
    assert re.sub(r'"((?:[^"\\]|\\.)*)"', "", line).strip() == ""
    escapes = {"\\": "\\", '"': '"'}

    def plain(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else escapes[match[2]]

    words = [re.sub(r"\\(?:x([0-9a-f]{2})|(.))", plain, word) for word in words]
    assert all("%" not in word.replace("%%", "") for word in words)
    return [word.replace("%%", "%") for word in words]


def values(unit: bytes, key: str) -> list[str]:
    return [line.partition("=")[2] for line in unit.decode().splitlines() if line.startswith(f"{key}=")]


@posix
def test_unit_says_what_was_meant_however_odd_the_words(home: Path) -> None:
    unit = systemd("memory-plane", ODD, VARIABLES).content
    (line,) = values(unit, "ExecStart")
    program, *arguments = words_of(line)
    assert program == ODD[0]
    assert all("$" not in word.replace("$$", "") for word in arguments)
    assert [word.replace("$$", "$") for word in arguments] == list(ODD[1:])
    assert [words_of(line) for line in values(unit, "Environment")] == [
        [f"{name}={value}"] for name, value in VARIABLES.items()
    ]
    assert values(unit, "Restart") == ["on-failure"]
    assert values(unit, "WantedBy") == ["default.target"]


@linux
@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
@pytest.mark.parametrize(
    ("name", "sound"), [("pÿ thon %n $HOME", True), ("o'brien's \\ \"python\"", True), ("nothing", False)]
)
def test_unit_is_one_for_systemd_itself(home: Path, tmp_path: Path, name: str, sound: bool) -> None:
    program = tmp_path / "my apps 100%" / name
    program.parent.mkdir()
    program.symlink_to(sys.executable if sound else tmp_path / "nothing")
    unit = tmp_path / "memory-plane.service"
    unit.write_bytes(systemd("memory-plane", [str(program), *ODD[1:]], VARIABLES).content)
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--user", str(unit)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert (checked.returncode == 0, checked.stderr == "") == (sound, sound), checked


@posix
def test_plist_says_what_was_meant_however_odd_the_words(home: Path) -> None:
    log = Path("/home/Zoë Жук/<logs>/hub.log")
    content = launchd("memory-plane", log, ODD, VARIABLES).content
    assert service.MARK.encode() in content
    told = plistlib.loads(content)
    assert told["ProgramArguments"] == list(ODD)
    assert told["EnvironmentVariables"] == VARIABLES
    assert told["StandardErrorPath"] == str(log)
    assert (told["Label"], told["RunAtLoad"], told["KeepAlive"]) == ("memory-plane", True, {"SuccessfulExit": False})


@posix
def test_commands_name_the_file_that_is_written(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = launchd("memory-plane", home / "hub.log", ODD, VARIABLES)
    assert agent.path == home.parent / "Library" / "LaunchAgents" / "memory-plane.plist"
    assert agent.start == (("launchctl", "bootstrap", f"gui/{os.getuid()}", str(agent.path)),)
    unit = systemd("memory-plane", ODD, VARIABLES)
    assert unit.path == home.parent / ".config" / "systemd" / "user" / "memory-plane.service"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "elsewhere"))
    moved = systemd("memory-plane", ODD, VARIABLES)
    assert moved.path == home / "elsewhere" / "systemd" / "user" / "memory-plane.service"


@posix
def test_program_whose_path_systemd_does_not_start_is_started_by_another(home: Path) -> None:
    (line,) = values(systemd("memory-plane", ["/home/o'brien/$p/python", "-P"], VARIABLES).content, "ExecStart")
    assert words_of(line) == ["/usr/bin/env", "/home/o'brien/$$p/python", "-P"]
    with pytest.raises(MemoryPlaneError, match="systemd cannot start"):
        systemd("memory-plane", ["/home/o'brien/a=b/python", "-P"], VARIABLES)


def test_each_home_has_a_service_of_its_own(home: Path, tmp_path: Path) -> None:
    names = [service.service_name(path) for path in (home, tmp_path / "a", tmp_path / "b")]
    assert names[0] == "memory-plane"
    assert len(set(names)) == 3
    assert all(re.fullmatch(r"memory-plane(-[0-9a-f]{8})?", name) for name in names)


@pytest.mark.parametrize(("platform", "kind"), [("darwin", ".plist"), ("linux", ".service"), ("win32", "")])
def test_system_decides_on_the_kind(home: Path, monkeypatch: pytest.MonkeyPatch, platform: str, kind: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    if kind:
        assert service.of(home, home / "hub.log", ODD, VARIABLES).path.suffix == kind
    else:
        with pytest.raises(MemoryPlaneError, match="up --detach"):
            service.of(home, home / "hub.log", ODD, VARIABLES)


def test_command_is_absolute_and_safe_from_the_working_folder(home: Path, tmp_path: Path) -> None:
    from memory_plane.settings import Settings

    (tmp_path / "memory_plane.py").write_text("raise SystemExit('wrong one')", "utf-8")
    program, *arguments = background.command("--help")
    assert Path(program).is_absolute()
    done = subprocess.run([program, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert "Run the hub" in done.stdout
    assert background.environment(Settings.load()) == {"MEMORY_PLANE_HOME": str(home)}


def test_configuration_that_was_named_goes_along(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory_plane.settings import Settings

    (home / "other.toml").touch()
    monkeypatch.chdir(home)
    monkeypatch.setenv("MEMORY_PLANE_CONFIG", "other.toml")
    assert background.environment(Settings.load())["MEMORY_PLANE_CONFIG"] == str(home / "other.toml")


# --- a system of our own -----------------------------------------------------------------------------------------

SYSTEMCTL = """\
#!{python}
import json, os, re, signal, subprocess, sys, time
from pathlib import Path

arguments = sys.argv[2:]
state = Path({state!r})
with (state / "calls").open("a", encoding="utf-8") as file:
    file.write(json.dumps(arguments) + "\\n")
if (state / "broken").exists():
    sys.exit("Failed to connect to bus: No medium found\\nmore")
pid = int((state / "pid").read_text()) if (state / "pid").exists() else 0
if pid and arguments[0] in ("restart", "disable"):
    os.kill(pid, signal.SIGTERM)
    (state / "pid").unlink()
if arguments[0] == "restart":
    unit = (Path({folder!r}) / arguments[-1]).read_text("utf-8")
    line = re.search("^ExecStart=(.*)$", unit, re.M)[1]
    words = [word.replace("%%", "%") for word in re.findall('"(.*?)"', line)]
    named = re.search('^Environment="(.*?)=(.*)"$', unit, re.M)
    environment = {{**os.environ, named[1]: named[2].replace("%%", "%")}}
    process = subprocess.Popen([*words, "--port", "0"], env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    (state / "pid").write_text(str(process.pid))
    process.returncode = 0
if arguments[0] == "is-active":
    sys.exit(0 if pid else 3)
"""


class System:
    """Stands in for systemd: remembers what it was told, and starts and ends what the unit says."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.state = folder / "state"
        self.state.mkdir()
        self.units = home.parent / ".config" / "systemd" / "user"
        self.unit = self.units / "memory-plane.service"
        self.add("systemctl", SYSTEMCTL.format(python=sys.executable, state=str(self.state), folder=str(self.units)))
        self.add("loginctl", "#!/bin/sh\necho no\n")

    def add(self, name: str, script: str) -> None:
        path = self.state.parent / name
        path.write_text(script, "utf-8")
        path.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        lines = (self.state / "calls").read_text("utf-8").splitlines() if (self.state / "calls").exists() else []
        return [" ".join(json.loads(line)) for line in lines]

    def breaks(self) -> None:
        (self.state / "broken").touch()


@pytest.fixture
def system(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[System]:
    """A systemd of our own, first on PATH; a hub that is left over is stopped."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    yield System(folder, home)
    background.stop(home)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["service", *arguments])


@linux
def test_service_is_installed_runs_and_is_removed_without_a_trace(home: Path, system: System) -> None:
    done = invoke("install", "--yes")
    assert done.exit_code == 0, done.stderr
    there = presence.running(home)
    assert there is not None
    assert str(system.unit) in done.stdout
    assert system.unit.read_text("utf-8") in done.stdout
    assert f"the hub is up at {there.url} (pid {there.pid})" in done.stdout
    assert "loginctl enable-linger" in done.stderr
    enabled = ["daemon-reload", "enable memory-plane.service", "restart memory-plane.service"]
    assert [call for call in system.calls if "is-active" not in call] == enabled
    assert system.unit.stat().st_mode & 0o022 == 0

    told = json.loads(invoke("status", "--json").stdout)
    assert told["hub"]["pid"] == there.pid
    assert (told["file"], told["up_to_date"], told["active"]) == (str(system.unit), True, True)
    assert "the hub is up at" in told["last_line"]

    again = invoke("install", "--yes")  # over a running one: it is started anew
    assert again.exit_code == 0, again.stderr

    removed = invoke("uninstall")
    assert (removed.exit_code, removed.stdout) == (0, f"removed {system.unit}\n")
    assert presence.free(home, wait=SECONDS)
    assert list(system.units.iterdir()) == []
    assert system.calls[-2:] == ["disable --now memory-plane.service", "daemon-reload"]
    assert "no service is installed" in invoke("uninstall").stderr


@linux
def test_status_of_what_is_not_installed(home: Path, system: System) -> None:
    assert json.loads(invoke("status", "--json").stdout) == {
        "file": None, "up_to_date": False, "active": False, "hub": None, "last_line": "",
    }  # fmt: skip
    assert invoke("status").stdout.splitlines()[:2] == ["installed  no", "active     no"]


@linux
def test_old_file_of_ours_is_told_and_replaced(home: Path, system: System) -> None:
    system.units.mkdir(parents=True)
    system.unit.write_text(f"# {service.MARK}\n[Service]\nExecStart=/old/python\n", "utf-8")
    assert "no; run: memory-plane service install" in invoke("status").stdout
    assert invoke("install", "--yes").exit_code == 0
    assert "/old/python" not in system.unit.read_text("utf-8")


@linux
def test_file_of_somebody_else_is_left_alone(home: Path, system: System) -> None:
    system.units.mkdir(parents=True)
    system.unit.write_text("[Service]\nExecStart=/bin/true\n", "utf-8")
    for arguments in (("install", "--yes"), ("uninstall",)):
        refused = invoke(*arguments)
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert "was not written by Memory Plane" in refused.stderr
    assert system.unit.read_text("utf-8") == "[Service]\nExecStart=/bin/true\n"
    assert system.calls == []


@linux
def test_nothing_is_written_without_a_yes(home: Path, system: System) -> None:
    refused = invoke("install")
    assert refused.exit_code == 2
    assert "ExecStart=" in refused.stdout
    assert "give --yes" in refused.stderr
    assert not system.units.exists()
    assert system.calls == []


@linux
def test_hub_that_was_started_by_hand_is_in_the_way(home: Path, system: System) -> None:
    with presence.claimed(home):
        refused = invoke("install", "--yes")
    assert refused.exit_code == 1
    assert "memory-plane down" in refused.stderr
    assert not system.units.exists()


@linux
def test_system_that_says_no_is_quoted_in_one_line(home: Path, system: System) -> None:
    system.breaks()
    refused = invoke("install", "--yes")
    assert refused.exit_code == 1
    (line,) = refused.stderr.splitlines()
    assert "the file is written, but the hub is not started" in line
    assert "Failed to connect to bus: No medium found" in line
    assert "systemctl --user restart memory-plane.service" in line
    assert invoke("uninstall").exit_code == 0
    assert not system.unit.exists()


@linux
def test_system_that_is_not_there_is_told(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = invoke("install", "--yes")
    assert refused.exit_code == 1
    assert "there is no 'systemctl' here" in refused.stderr


@linux
def test_hub_that_does_not_come_up_is_told_with_its_last_words(
    home: Path, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory_plane.surfaces.cli import service as commands

    monkeypatch.setattr(commands, "ANSWER", 0.1)
    system.add("systemctl", "#!/bin/sh\nexit 0\n")
    (home / "logs").mkdir()
    (home / "logs" / "hub.log").write_text("the port is taken\n", "utf-8")
    refused = invoke("install", "--yes")
    assert refused.exit_code == 1
    assert "the port is taken" in refused.stderr


@posix
def test_command_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "SECONDS", 0.1)
    endless = (sys.executable, "-c", "import threading; threading.Event().wait()")
    assert "did not end within 0.1 s" in str(service.run(endless))


@posix
def test_link_to_a_file_of_ours_stays_a_link(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    kept = tmp_path / "dotfiles" / "memory-plane.service"
    kept.parent.mkdir()
    kept.write_text(f"# {service.MARK}\n", "utf-8")
    told = systemd("memory-plane", ODD, VARIABLES)
    told.path.parent.mkdir(parents=True)
    told.path.symlink_to(kept)
    service.install(told)
    assert told.path.is_symlink()
    assert kept.read_bytes() == told.content


@posix
def test_folder_that_cannot_be_written_is_one_line(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    (home.parent / ".config").write_text("in the way", "utf-8")
    with pytest.raises(MemoryPlaneError) as caught:
        service.install(systemd("memory-plane", ODD, VARIABLES))
    assert "\n" not in str(caught.value)


def test_home_whose_name_is_not_utf8_is_told(tmp_path: Path) -> None:
    with pytest.raises(MemoryPlaneError, match="is not UTF-8"):
        service.of(tmp_path, tmp_path / "log", ["python"], {"MEMORY_PLANE_HOME": "/home/caf\udce9"})
