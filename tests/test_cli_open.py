from __future__ import annotations

import shlex
import sys
import webbrowser
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result

from memory_plane.surfaces.cli import main
from memory_plane.testing.hub import HubProcess


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["open", *arguments])


@pytest.fixture
def hub(home: Path, empty_database: Path) -> Iterator[HubProcess]:
    hub = HubProcess(home, database=empty_database, forked=True)
    yield hub
    hub.stop()


def test_link_lets_one_browser_in_once(hub: HubProcess) -> None:
    result = run("--print")
    assert (result.exit_code, result.stderr) == (0, "")
    link = result.stdout.strip()
    assert link.startswith(f"{hub.url}/sign-in?code=")
    with httpx.Client(trust_env=False) as browser, httpx.Client(trust_env=False) as other:
        assert browser.get(hub.url).status_code == 401
        assert browser.get(link).status_code == 200
        assert "Who does what" in browser.get(hub.url).text
        assert other.get(link).status_code == 401
        assert other.get(hub.url).status_code == 401


def test_browser_is_given_the_link_and_the_terminal_is_not(
    hub: HubProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = tmp_path / "given"
    browser = tmp_path / "browser.py"
    browser.write_text(f"import sys, pathlib; pathlib.Path({str(given)!r}).write_text(sys.argv[1])", "utf-8")
    monkeypatch.setenv("BROWSER", f"{shlex.join([sys.executable, str(browser)])} %s")
    monkeypatch.setattr(webbrowser, "_tryorder", None)  # read anew
    result = run()
    assert (result.exit_code, result.stderr) == (0, "")
    assert "code=" not in result.stdout
    assert httpx.get(given.read_text("utf-8"), trust_env=False).status_code == 200


def test_without_a_hub_it_says_how_to_start_one(home: Path) -> None:
    result = run("--print")
    assert result.exit_code == 1
    assert result.stderr == "memory-plane: no hub is up; start it with: memory-plane up --detach\n"
