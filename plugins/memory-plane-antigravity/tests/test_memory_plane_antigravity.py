"""The plugin as a whole: the contract of all plugins, and a day of Antigravity with the real shim and a real memory."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memory_plane import Plane
from memory_plane.integration import Entry, Machine
from memory_plane.testing.contract import *  # noqa: F403
from memory_plane_antigravity import AntigravityPlugin, AntigravitySettings

if TYPE_CHECKING:
    from conftest import Antigravity

MakePlane = Callable[..., Plane]

SHOP = "5f0c2d9e-0000-4000-8000-000000000001"
SEARCH = "5f0c2d9e-0000-4000-8000-000000000002"
HELPER = "5f0c2d9e-0000-4000-8000-000000000003"
IDE = "5f0c2d9e-0000-4000-8000-000000000004"


class Hooks:
    """Runs the hooks that set-up declares as Antigravity does: in the folder of hooks.json, with hardly a variable."""

    def __init__(self, antigravity: Antigravity, plane_home: Path) -> None:
        self.antigravity = antigravity
        (integration,) = AntigravityPlugin().integrate(Machine.here(plane_home))
        (self.group,) = (edit.value for edit in integration.edits if isinstance(edit, Entry) and len(edit.pointer) == 1)

    def run(self, name: str, conversation: str, **fields: Any) -> dict[str, Any]:
        """Run the hook of an event; return what it answers."""
        payload = self.antigravity.event(name, conversation, **fields).payload
        folder = self.antigravity.home / ".gemini" / "config"
        folder.mkdir(exist_ok=True)
        (handler,) = self.group[name]
        done = subprocess.run(
            shlex.split(handler["command"]),
            input=json.dumps(payload),
            cwd=folder,
            env={"ANTIGRAVITY_CONVERSATION_ID": conversation, "PATH": os.defpath},
            capture_output=True,
            encoding="utf-8",
            timeout=handler["timeout"],
            check=True,
        )
        assert done.stderr == ""
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer


def focus(plane: Plane) -> tuple[str, str | None, str]:
    (beat,) = (one for one in plane.pulse().heartbeats if one.agent == "antigravity" and one.focus)
    return beat.focus, beat.project, beat.status


def said(plane: Plane) -> list[tuple[str, str, str | None]]:
    return sorted((one.kind, one.text, one.project) for one in plane.thoughts() if one.agent == "antigravity")


def test_day_of_antigravity(antigravity: Antigravity, home: Path, make_plane: MakePlane) -> None:
    a, hooks = antigravity, Hooks(antigravity, home)
    plane = make_plane("antigravity", "local")
    plane.post("The staging key of the shop is rotated", agent="grok", kind="handoff", to="antigravity")
    plane.render()

    # A turn in agy, with hooks: the brief goes in once, its echo in the transcript does not come back.
    a.write(SHOP, a.asked(0, a.at(9), "Fix the login bug of the shop"))
    shop: dict[str, Any] = {"schema": "late", "title": "Shop rewrite", "workspace_uris": ["file:///w/web%20shop"]}
    a.summarize(SHOP, **shop, not_fully_idle=1, last_modified_time=a.stamp(a.at(9)))
    (step,) = hooks.run("PreInvocation", SHOP, workspacePaths=["/w/web shop"])["injectSteps"]
    brief = step["ephemeralMessage"]
    assert "The staging key of the shop is rotated" in brief
    assert plane.ingest().failures == ()
    assert focus(plane) == ("Shop rewrite: Fix the login bug of the shop", "web shop", "working")
    for number in (1, 2, 3):
        a.write(SHOP, a.said(2 * number, a.at(9 - number / 2), calls=[("view_file", {"AbsolutePath": "/w/x"})]))
        assert hooks.run("PreInvocation", SHOP, invocationNum=number) == {}
    a.write(
        SHOP, a.system(7, a.at(7), "EPHEMERAL_MESSAGE", brief), a.said(8, a.at(7), "Fixed the login bug of the shop.")
    )
    assert hooks.run("Stop", SHOP, workspacePaths=["/w/web shop"]) == {}
    plane.ingest()
    shipped = ("milestone", "Fixed the login bug of the shop.", "web shop")
    assert said(plane) == [shipped]

    # A turn of the desktop app, of an early version, without any hook; a helper that it started; an old conversation.
    a.write(SEARCH, a.asked(0, a.at(6), "Speed up the search", wrapped=False), app="antigravity")
    a.write(SEARCH, a.said(1, a.at(5), "We decided to use trigram indexes for the search."), app="antigravity")
    a.summarize(SEARCH, app="antigravity", schema="usual", workspace_uris=["file:///c%3A/code/search"])
    a.write(
        HELPER,
        a.asked(0, a.at(5), "Measure all queries"),
        a.said(1, a.at(5), "Measured and fixed all queries."),
        app="antigravity",
    )
    a.summarize(HELPER, app="antigravity", parent_conversation_id=SEARCH, nesting_depth=1)
    a.summarize(
        IDE, app="antigravity-ide", schema="early", title="Long ago", last_modified_time="2025-12-01 10:00:00+00:00"
    )
    plane.ingest()
    decided = ("decision", "We decided to use trigram indexes for the search.", "search")
    assert said(plane) == sorted([shipped, decided])
    assert focus(plane)[1:] == ("search", "idle")

    # The memory is away while a turn ends; then it is told once, by hook and by poll.
    a.write(
        SHOP, a.asked(9, a.at(3), "Deploy the shop to staging"), a.said(10, a.at(2), "Deployed the shop to staging.")
    )
    a.summarize(SHOP, **shop, last_modified_time=a.stamp(a.at(2)))
    plane.close()
    hooks.run("Stop", SHOP, workspacePaths=["/w/web shop"])
    again = make_plane("antigravity", "local")
    report = again.ingest()
    assert (report.events, report.failures) == (1, ())
    deployed = ("milestone", "Deployed the shop to staging.", "web shop")
    assert said(again) == sorted([shipped, decided, deployed])
    assert focus(again) == ("Shop rewrite: Deploy the shop to staging", "web shop", "idle")
    assert again.ingest().stored == 0
    assert "antigravity · Shop rewrite: Deploy the shop to staging · web shop" in again.page("brief/grok.md")
    assert "Deployed the shop to staging." in again.page("PULSE.md")


@pytest.mark.parametrize("hours", ["-1", "soon"])
def test_setting_that_is_no_time_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch, hours: str) -> None:
    monkeypatch.setenv("MEMORY_PLANE_ANTIGRAVITY_RECENT_HOURS", hours)
    with pytest.raises(ValueError, match="recent_hours"):
        AntigravitySettings()


def test_how_far_back_the_first_look_goes_is_a_setting(
    antigravity: Antigravity, home: Path, make_plane: MakePlane
) -> None:
    a = antigravity
    path = a.write(
        SHOP, a.asked(0, a.at(3000), "Fix the login bug of the shop"), a.said(1, a.at(3000), "Fixed the login bug.")
    )
    os.utime(path, (a.at(3000).timestamp(),) * 2)
    assert make_plane("antigravity", home=home / "one").ingest().stored == 0
    longer = make_plane("antigravity", home=home / "two", plugin={"antigravity": {"recent_hours": 72}})
    assert longer.ingest().stored == 2
