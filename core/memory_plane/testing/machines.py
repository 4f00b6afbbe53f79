"""Machines that tests of `integrate` give to a plugin: a Mac or a Windows machine too, wherever they run."""

from __future__ import annotations

from pathlib import Path

from memory_plane.integration import Machine


def bare_machine(home: Path, platform: str = "linux", **environment: str) -> Machine:
    """Return a machine with this home and nothing in its PATH; `environment` adds to it."""
    return Machine(
        home=home,
        platform=platform,
        environment={"PATH": "", **environment},
        plane=home / "p",
        command=("/mp",),
        python="/py",
    )
