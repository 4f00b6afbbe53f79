from __future__ import annotations

import re
import tomllib
from functools import reduce
from pathlib import Path

import pytest

from memory_plane.settings import Settings

PAGE = (Path(__file__).parents[1] / "docs" / "configuration.md").read_text("utf-8")
(EVERYTHING,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("key", Settings.known_keys())
def test_setting_has_a_row(key: str) -> None:
    assert f"\n| `{key}` |" in PAGE


def test_no_row_is_of_a_setting_that_is_gone() -> None:
    table = PAGE.partition("## Settings")[2].partition("## Environment")[0]
    assert tuple(re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)) == Settings.known_keys()


@pytest.mark.parametrize(("key", "said"), re.findall(r"^\| `([\w.]+)` \| `([^`]+)` \|", PAGE, re.MULTILINE))
def test_default_is_the_one_that_is_said(home: Path, key: str, said: str) -> None:
    default = reduce(getattr, key.split("."), Settings.load())
    shown = str(default).lower() if isinstance(default, bool) else str(default)
    assert shown.replace(str(home.parent), "~") == said


def test_file_with_everything_has_every_key_and_is_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config.toml").write_text(EVERYTHING, "utf-8")
    monkeypatch.delenv("MEMORY_PLANE_PLUGINS__ENABLED")
    settings = Settings.load()
    assert settings.agents["muse"].interests == ["people", "dinners", "music"]
    shown = EVERYTHING.replace("# home", "home").replace("# database", "database")  # two that nobody should copy
    assert set(tomllib.loads(shown)) == {key for key in Settings.known_keys() if "." not in key}


@pytest.mark.parametrize("block", BLOCKS)
def test_python_runs(block: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exec(block, {"__name__": "docs"})
    assert str(home) in capsys.readouterr().out


def test_error_that_is_shown_is_the_one_that_comes(home: Path) -> None:
    (home / "config.toml").write_text("[hub]\nprot = 1\n", "utf-8")
    with pytest.raises(Exception, match="unknown key") as caught:
        Settings.load()
    assert str(caught.value).replace(str(home), "/home/me/.memory-plane") in PAGE
