"""`memory-plane jev check` and `memory-plane jev compare`: what works, and where the two differ."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result

from memory_plane import Plane
from memory_plane.surfaces.cli import main
from memory_plane.surfaces.cli.session import Session

MakeServer = Callable[..., Any]
MakeJev = Callable[..., Plane]
KEY = "sk-hush"


def run(plane: Plane, *arguments: str) -> Result:
    """Run a command of the plugin on a plane that is open."""
    session = Session(str(plane.home))
    session.__dict__ |= {"settings": plane.settings, "plugins": plane.plugins, "plane": plane}
    return CliRunner().invoke(main, ["jev", *arguments], obj=session, standalone_mode=False)


def judge(question: Any, state: Any) -> Any:
    if question["type"] == "choice" and "WORKS_AT" in question["criteria"]:
        return ("NONE", 0.9)
    if question["type"] == "choice":
        return ("Person", 0.95) if "Person" in question["criteria"] else ("Place", 0.9)
    return 0.9 if question["type"] == "noul" else (3, 1.0)


def test_check_says_what_works(make_mock: Callable[..., Any], make_jev: MakeJev) -> None:
    server = make_mock(key=KEY)
    result = run(make_jev(server.url, api_key=KEY), "check", "--json")
    report = json.loads(result.output)
    assert result.exception is None
    assert report["models"] == ["jev-latest", "mock"]
    assert (report["answered_by"], report["key"], report["trouble"]) == ("jevcompat-mock-0.1", "set", "")
    assert report["spent_today"] > 0
    assert KEY not in result.output


def test_check_goes_on_where_the_server_lists_no_models(make_mock: Callable[..., Any], make_jev: MakeJev) -> None:
    result = run(make_jev(make_mock("models-404").url), "check")
    assert result.exception is None
    assert "models_trouble" in result.output
    assert "answered_by     jevcompat-mock-0.1" in result.output


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("reject-jev-latest", "has no such path or model"),
        ("noul-range", "no usable answer to noul"),
        ("score-sum", "no usable answer to score"),
    ],
)
def test_check_fails_and_says_why(make_mock: Callable[..., Any], make_jev: MakeJev, fault: str, told: str) -> None:
    result = run(make_jev(make_mock(fault).url), "check")
    assert told in str(result.exception)
    assert "jev-latest, mock" in result.output


def test_check_of_nothing_says_what_to_set(make_jev: MakeJev) -> None:
    result = run(make_jev(None), "check")
    assert "set MEMORY_PLANE_JEV_BASE_URL or TYPESAFE_API_KEY" in str(result.exception)


def test_compare_shows_where_they_differ_and_changes_nothing(make_server: MakeServer, make_jev: MakeJev) -> None:
    plane = make_jev(make_server(judge).url, strict=True)
    plane.heartbeat(agent="grok", focus="Lisbon")
    written = plane.post("Viktor works at Nexus Labs", agent="muse").id
    plane.post("Held Harry works at Acme", agent="muse", origin="external", held=True)
    before = list(plane.export())
    found = json.loads(run(plane, "compare", "--json", "--all").output)
    assert found["agreed"] == {
        "type": {"same": 1, "asked": 2},
        "relation": {"same": 0, "asked": 1},
        "attention": {"same": 0, "asked": 1},
    }
    by_question = {(one["asked"], one["about"]): one for one in found["comparisons"]}
    relation = by_question["relation", "Viktor · Nexus Labs"]
    assert (relation["local"], relation["jev"], relation["same"]) == ("WORKS_AT →", "none", False)
    assert {one["memory"] for one in found["comparisons"]} == {written}
    assert list(plane.export()) == before
    assert plane.status().waiting >= 1


def test_compare_is_a_table_of_the_differences(make_server: MakeServer, make_jev: MakeJev) -> None:
    plane = make_jev(make_server(judge).url, strict=True)
    plane.post("Viktor works at Nexus Labs", agent="muse")
    lines = run(plane, "compare").output.splitlines()
    assert lines[0].split() == ["MEMORY", "ASKED", "ABOUT", "LOCAL", "SURE", "JEV", "SURE"]
    assert any("Nexus Labs" in line and "Organization" in line and "Person" in line for line in lines)
    assert not any(line.split()[1:3] == ["type", "Viktor"] for line in lines)
    assert "relation  0 of 1 the same" in lines


def test_compare_that_breaks_off_shows_what_it_has(make_server: MakeServer, make_jev: MakeJev) -> None:
    server = make_server(judge)
    server.status = 500
    plane = make_jev(server.url)
    plane.post("Viktor works at Nexus Labs", agent="muse")
    result = run(plane, "compare")
    assert "broke off" in str(result.exception)
    assert "answered 500" in str(result.exception)


def test_compare_of_nothing_says_so(make_server: MakeServer, make_jev: MakeJev) -> None:
    assert "nothing could be compared" in run(make_jev(make_server(judge).url), "compare").output
