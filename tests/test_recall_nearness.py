"""How near what is written is to what each agent does and owes, through the whole line of a write."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory_plane import Plane

MakePlane = Callable[..., Plane]


@pytest.fixture
def known(make_plane: MakePlane) -> Plane:
    """A memory in which Orbit is grok's focus, and an item about Lisbon is open for it."""
    plane = make_plane("local")
    plane.post("Priya Raman leads the Orbit project.", agent="muse")
    plane.post("Orbit uses Svelte.", agent="muse")
    plane.post("Svelte depends on Rollup.", agent="muse")
    plane.post("Find a hotel in Lisbon for Tom Ford", agent="muse", kind="handoff", to="grok")
    plane.heartbeat(agent="grok", focus="Shipping the Orbit dashboard")
    return plane


def why(plane: Plane, text: str, origin: str = "agent") -> str:
    """Return why grok should care."""
    id = plane.post(text, agent="muse", kind="observation", origin=origin).id
    return next((heard.reason for heard in plane.graph(agent="grok").attention if heard.id == id), "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Orbit is late.", "Orbit: in its focus"),
        ("Svelte 6 is out. Svelte is fast.", "Svelte: linked to Orbit, in its focus"),
        ("Rollup is slow.", "Rollup: two links from Orbit, in its focus"),
        ("Tom Ford is ill.", "Tom Ford: in an item open for it"),
        ("It rains in Lisbon.", "Lisbon: in an item open for it"),
        ("Vera Nowak is ill.", ""),
    ],
)
def test_reason_names_the_way_to_what_an_agent_does_or_owes(known: Plane, text: str, reason: str) -> None:
    assert why(known, text) == reason


def test_item_that_is_closed_concerns_nobody_any_more(known: Plane) -> None:
    (item,) = known.items()
    known.resolve(item.id, agent="grok")
    assert why(known, "Tom Ford is ill.") == ""


def test_agent_who_works_on_it_too_is_not_what_an_item_is_about(make_plane: MakePlane) -> None:
    plane = make_plane("local")
    plane.heartbeat(agent="grok", focus="reading mail")
    plane.post("Fixed the checkout ticket and verified it with the customers.", agent="muse", kind="milestone")
    plane.post("I'm handing the review of the checkout ticket over to Grok.", agent="codex", kind="handoff", to="grok")
    plants = "I'll water the plants of the neighbours by Friday."  # told in a folder that is called as the agent is
    id = plane.post(plants, agent="muse", kind="commitment", project="muse").id
    assert [heard.reason for heard in plane.graph(agent="grok", min_attention=0).attention if heard.id == id] == []


def test_name_inside_a_word_of_the_focus_is_not_in_it(make_plane: MakePlane) -> None:
    plane = make_plane("local")
    plane.heartbeat(agent="grok", focus="Planning the annual report")
    assert why(plane, "Ann works at Initech.") == ""


def test_name_that_only_other_people_gave_is_not_repeated(make_plane: MakePlane) -> None:
    plane = make_plane("local")
    plane.post("Obey Evil uses Svelte.", agent="muse", origin="external")
    plane.heartbeat(agent="grok", focus="Looking at Obey Evil")
    assert why(plane, "Svelte is out.") == "Svelte: linked to its focus"


def test_node_that_everybody_is_linked_to_is_near_to_nothing(make_plane: MakePlane) -> None:
    plane = make_plane("local")
    for number in range(45):
        plane.post(f"Service{number} uses Python.", agent="muse")
    plane.heartbeat(agent="grok", focus="Mending Service7")
    assert why(plane, "Service9 is slow.") == ""
    assert why(plane, "Service7 is slow.") == "Service7: in its focus"


def test_pulse_and_brief_say_whom_it_concerns_and_why(known: Plane) -> None:
    known.post("Svelte 6 is out. Svelte is fast.", agent="muse", kind="observation")
    known.render()
    line = next(line for line in known.page("PULSE.md").splitlines() if "Svelte is fast" in line)
    assert line.endswith("for grok: Svelte: linked to Orbit, in its focus")
    assert "why: Svelte: linked to Orbit, in its focus" in known.page("brief/grok.md")


def test_threshold_of_one_agent_is_its_own(make_plane: MakePlane) -> None:
    agents = {"grok": {"attention_threshold": 0.95, "interests": ["FPGA"]}, "jev": {"interests": ["FPGA"]}}
    plane = make_plane("local", agents=agents)
    plane.post("The FPGA kit arrived", agent="muse")
    assert "FPGA" in plane.page("brief/jev.md")
    assert "FPGA" not in plane.page("brief/grok.md")
    assert "for jev: interest: FPGA" in plane.page("PULSE.md")
