"""The scripts of others that the pages use are those that their packages published."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from memory_plane.surfaces.web.frame import ASSETS

VENDOR = ASSETS / "vendor"


def noted() -> list[dict[str, Any]]:
    packages: list[dict[str, Any]] = json.loads((VENDOR / "vendor.json").read_text("utf-8"))
    return packages


def test_each_file_of_others_is_as_it_was_published() -> None:
    hashes = {name: digest for package in noted() for name, digest in package["files"].items()}
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in VENDOR.iterdir()}
    ours = {name: found.pop(name) for name in ("package.json", "vendor.json")}
    assert found == hashes
    assert len(ours) == 2


def test_the_versions_that_are_there_are_those_that_are_wanted() -> None:
    wanted = json.loads((VENDOR / "package.json").read_text("utf-8"))["dependencies"]
    assert {package["name"]: package["version"] for package in noted()} == wanted


def test_every_licence_lets_the_scripts_be_shipped() -> None:
    assert {package["licence"] for package in noted()} <= {"ISC", "BSD-0-Clause", "BSD-3-Clause", "MIT"}
    assert all(any(name.endswith(".LICENSE.txt") for name in package["files"]) for package in noted())
