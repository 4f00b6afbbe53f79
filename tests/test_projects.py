"""projects.py: which project a folder is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_plane.projects import LONGEST, project_of


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("/home/me/code/shop", "shop"),
        ("/Users/me/web shop/", "web shop"),
        ("/srv/магазин", "магазин"),
        ("C:\\Users\\me\\code\\shop", "shop"),
        ("\\\\server\\share\\shop", "shop"),
        ("file:///Users/me/web%20shop", "web shop"),
        ("file:///c%3A/Users/me/shop", "shop"),
        ("vscode-remote://ssh-remote%2Bbox/home/me/shop", "shop"),
        ("/".join(["", "root", "shop"]), "shop"),  # which the path of this very machine may begin with
        ("/tmp/shop", "shop"),
        ("/home/me/code/shop/../till", "till"),
    ],
)
def test_project_is_the_name_of_the_folder(folder: str, name: str) -> None:
    assert project_of(folder) == name


@pytest.mark.parametrize(
    "folder",
    [
        "",
        ".",
        "shop",
        "/",
        "/home",
        "/home/me",
        "/Users/me/",
        "/root",
        "/Users/me/Documents",
        "/home/me/Desktop",
        "C:\\",
        "C:\\Users\\me",
        "file:///c%3A/Users/me",
        "/tmp",
        "/private/tmp",
        "/tmp/tmp4x2k1",
        "/var/folders/zz/abc/T/tmp.Xy12",
        "C:\\Users\\me\\AppData\\Local\\Temp",
        "/home/me/.openclaw/workspace",
        "/Users/me/.gemini/antigravity/scratch",
        "http://[",
        "/a\x00b",
    ],
)
def test_home_root_temporary_folder_and_what_is_none_have_no_project(folder: str) -> None:
    assert project_of(folder) is None


def test_own_home_has_no_project_wherever_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "somebody"))
    assert project_of(str(tmp_path / "somebody")) is None
    assert project_of(str(tmp_path / "somebody" / "Downloads")) is None
    assert project_of(str(tmp_path / "somebody" / "shop")) == "shop"


def test_folder_in_a_repository_is_the_repository(tmp_path: Path) -> None:
    inner = tmp_path / "shop" / "src" / "cart"
    inner.mkdir(parents=True)
    (tmp_path / "shop" / ".git").mkdir()
    assert project_of(str(inner)) == "shop"


def test_worktree_is_the_repository_that_it_belongs_to(tmp_path: Path) -> None:
    worktree = tmp_path / ".agents" / "worktrees" / "quick-fox"
    worktree.mkdir(parents=True)
    (worktree / ".git").write_text(f"gitdir: {tmp_path}/my shop/.git/worktrees/quick-fox\n", "utf-8")
    assert project_of(str(worktree)) == "my shop"


def test_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "till").mkdir()
    (tmp_path / "till" / ".git").write_text("gitdir: ../shop/.git/modules/till\n", "utf-8")
    assert project_of(str(tmp_path / "till")) == "till"


def test_home_that_is_a_repository_names_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".git").mkdir()
    (tmp_path / "notes").mkdir()
    assert project_of(str(tmp_path / "notes")) == "notes"


@given(st.text(), st.sampled_from(["", "/", "file:///", "C:\\", "\\\\", "/home/"]))
def test_any_text_is_survived(text: str, begin: str) -> None:
    name = project_of(begin + text)
    assert name is None or 0 < len(name) <= LONGEST
