"""The first page: who does what, what is open and what was said; and what its buttons do."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import escape, unescape
from importlib import import_module
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from starlette.testclient import TestClient

from memory_plane import Plane
from memory_plane.operations import make_operation
from memory_plane.surfaces.web.pulse import day

pulse = import_module("memory_plane.surfaces.web.pulse")
"""The module, whose package has a function of that name."""

SignIn = Callable[[Plane], TestClient]

HOSTILE = "<script>alert(1)</script> {{7*7}} <img src=x onerror=alert(1)>"


@pytest.fixture
def browser(plane: Plane, signed_in: SignIn) -> TestClient:
    """A browser that is signed in to the memory of the test."""
    return signed_in(plane)


def promise(plane: Plane, text: str = "Send the offer", **more: Any) -> str:
    return plane.post(text, agent="muse", kind="commitment", **more).id


def test_an_empty_memory_says_what_to_do(browser: TestClient) -> None:
    page = browser.get("/").text
    assert "memory-plane setup" in page
    assert "Nothing is open" in page


def test_it_shows_what_every_agent_does_and_marks_who_is_silent(plane: Plane, browser: TestClient) -> None:
    plane.heartbeat(focus="Writing the offer", agent="muse")
    long_ago = datetime.now(UTC) - timedelta(days=9)
    plane.heartbeat(focus="Reading mail", agent="grok", created_at=long_ago)
    page = browser.get("/").text
    assert "Writing the offer" in page
    assert "9 d ago" in page
    assert page.count('class="stale"') == 1


def test_old_focus_is_stale_and_its_agent_no_less_heard(plane: Plane, browser: TestClient) -> None:
    plane.heartbeat(focus="Reading mail", agent="grok", created_at=datetime.now(UTC) - timedelta(days=9))
    plane.post("The mail is read", agent="grok")
    focus, wrote = browser.get("/").text.partition("<tbody>")[2].partition("</tbody>")[0].split("<td")[1:]
    assert "9 d ago" in focus
    assert 'class="stale"' in focus
    assert ">now<" in wrote


def test_items_stand_by_their_due_date_and_late_ones_are_marked(plane: Plane, browser: TestClient) -> None:
    now = datetime.now(UTC)
    promise(plane, "In a week", due_at=now + timedelta(days=7))
    promise(plane, "Yesterday", due_at=now - timedelta(days=1))
    page = browser.get("/").text
    assert page.index("Yesterday") < page.index("In a week")
    assert page.count("item late") == 1


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        ({"do": "done"}, 0),
        ({"do": "dropped"}, 0),
        ({"do": "snooze", "day": "2999-01-01"}, 0),
        ({"do": "assign", "to": "grok"}, 1),
        ({"do": "pin"}, 1),
    ],
    ids=str,
)
def test_a_button_does_what_it_says(plane: Plane, browser: TestClient, fields: dict[str, str], left: int) -> None:
    item = promise(plane)
    answer = browser.post(f"/items/{item}", data={**fields, "back": "/?agent=muse"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?agent=muse")
    items = plane.items()
    assert len(items) == left
    assert [one.to for one in items] == ([fields.get("to")] if left else [])


@pytest.mark.parametrize(
    "fields",
    [{"do": "snooze", "day": "soon"}, {"do": "assign", "to": ""}, {"do": "nonsense"}, {"do": "snooze"}],
    ids=str,
)
def test_what_cannot_be_done_is_refused_with_its_reason(
    plane: Plane, browser: TestClient, fields: dict[str, str]
) -> None:
    item = promise(plane)
    answer = browser.post(f"/items/{item}", data=fields)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert len(plane.items()) == 1


@pytest.mark.parametrize("back", ["https://example.com", "//example.com", "/\\example.com", "javascript:alert(1)"])
def test_nobody_is_sent_elsewhere(plane: Plane, browser: TestClient, back: str) -> None:
    item = promise(plane)
    answer = browser.post(f"/items/{item}", data={"do": "done", "back": back}, follow_redirects=False)
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", {"one", "two", "three"}),
        ("?agent=grok", {"two"}),
        ("?kind=decision", {"three"}),
        ("?project=atlas", {"one"}),
        ("?project=ATLAS&agent=Muse", {"one"}),
        ("?origin=external", {"two"}),
        ("?until=2026-01-01", {"one"}),
        ("?since=2026-01-03", {"three"}),
    ],
)
def test_filters_show_what_fits(plane: Plane, browser: TestClient, query: str, shown: set[str]) -> None:
    day = datetime(2026, 1, 1, 12, tzinfo=UTC)
    plane.post("number one", agent="muse", project="atlas", created_at=day)
    plane.post("number two", agent="grok", origin="external", created_at=day + timedelta(days=1))
    plane.post("number three", agent="muse", kind="decision", created_at=day + timedelta(days=2))
    page = browser.get(f"/{query}").text
    stream = page[page.index('id="stream"') :]
    assert {word for word in ("one", "two", "three") if f"number {word}" in stream} == shown


def test_a_filter_that_makes_no_sense_is_said_so(browser: TestClient) -> None:
    answer = browser.get("/?since=soon")
    assert answer.status_code == 200
    assert "is no day" in answer.text


def test_older_pages_go_on_where_the_last_one_ended(plane: Plane, browser: TestClient) -> None:
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    made = [
        make_operation("thought", {"text": f"number {n:03}"}, agent="muse", created_at=begin + timedelta(hours=n))
        for n in range(100)
    ]
    plane.apply_all(made)
    seen: list[str] = []
    path = "/"
    for _ in range(3):
        page = browser.get(path).text.partition('id="stream"')[2]
        seen += [f"number {n:03}" for n in reversed(range(100)) if f"number {n:03}" in page]
        path = page.split('">Older')[0].rpartition('href="')[2].replace("&amp;", "&") if "Older</a>" in page else "/"
    assert seen == [f"number {n:03}" for n in reversed(range(100))]


def test_words_of_others_stay_text_and_are_marked(plane: Plane, browser: TestClient) -> None:
    plane.post(HOSTILE, agent="muse", kind="commitment", origin="external", project="<b>x</b>")
    plane.heartbeat(focus=HOSTILE, agent="grok")
    page = browser.get("/").text
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "<b>" not in page
    assert "{{7*7}}" in page
    assert "words of others" in page


def test_first_visit_speaks_of_no_last_one(plane: Plane, browser: TestClient) -> None:
    plane.post("While nobody looked", agent="muse")
    for _ in range(2):
        page = browser.get("/").text
        assert "your last visit" not in page
        assert ">new<" not in page
        assert "0 open items." in page


def test_what_came_since_the_last_visit_is_new(plane: Plane, browser: TestClient) -> None:
    plane.post("While nobody looked", agent="muse")
    seen = int((datetime.now(UTC) - timedelta(days=1)).timestamp())
    browser.cookies.set("memory_plane_8788_visit", f"{seen}.{seen}")
    assert "<strong>1 new</strong>" in browser.get("/").text
    assert "<strong>1 new</strong>" in browser.get("/").text
    plane.post("While somebody looks", agent="muse")
    assert "<strong>2 new</strong>" in browser.get("/").text


@pytest.mark.parametrize(("minutes", "new"), [(5, "1 new"), (-5, "nothing new"), (-30, "nothing new")], ids=str)
def test_a_visit_ends_when_nobody_looks_for_a_while(plane: Plane, browser: TestClient, minutes: int, new: str) -> None:
    plane.post("While nobody looked", agent="muse")
    seen = int((datetime.now(UTC) - timedelta(minutes=minutes)).timestamp())
    browser.cookies.set("memory_plane_8788_visit", f"{seen}.{seen}")
    assert new in browser.get("/").text


@pytest.mark.parametrize("kept", ["", "x", "1", "1.2.3", "99999999999999999999.1", "-1.-1", "nan.nan"])
def test_a_cookie_of_a_visit_that_makes_no_sense_is_no_matter(browser: TestClient, kept: str) -> None:
    browser.cookies.set("memory_plane_8788_visit", kept)
    assert browser.get("/").status_code == 200


def test_every_open_item_can_be_reached(plane: Plane, browser: TestClient) -> None:
    for number in range(90):
        promise(plane, f"Promise {number:02}.")
    seen: list[str] = []
    path = "/"
    for rest in ("50 more", "10 more", ""):
        page = browser.get(path).text
        seen += re.findall(r'class="words">(Promise \d\d)', page.partition('id="stream"')[0])
        more = re.search(r'<a href="([^"]*)" rel="next">([^<]*)</a>', page)
        assert (more[2] if more else "") == rest
        path = unescape(more[1]) if more else path
    assert sorted(seen) == [f"Promise {number:02}" for number in range(90)]
    assert f'name="back" value="{escape(path)}"' in page  # who presses a button there comes back there


@pytest.mark.parametrize("skip", ["-1", "x", "9" * 40, "²", "1e3"])
def test_items_are_passed_over_within_bounds(browser: TestClient, skip: str) -> None:
    assert browser.get("/", params={"skip": skip}).status_code == 200


def test_the_last_page_of_items_does_not_lead_to_itself(
    plane: Plane, browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulse, "MOST_SKIPPED", 40)
    for number in range(90):
        promise(plane, f"Promise {number:02}.")
    assert 'rel="next"' in browser.get("/").text
    page = browser.get("/?skip=80").text
    assert 'rel="next"' not in page
    assert "and 10 more" in page


def test_a_page_of_items_that_has_none_left_does_not_say_that_nothing_is_open(
    plane: Plane, browser: TestClient
) -> None:
    promise(plane)
    page = browser.get("/?skip=40").text
    assert "Nothing is open" not in page
    assert ">First</a>" in page


def test_an_older_page_stays_itself_when_something_new_is_said(plane: Plane, browser: TestClient) -> None:
    for number in range(50):
        plane.post(f"Thought {number}.", agent="muse")
    older = re.search(r'<a href="([^"]*)">Older</a>', browser.get("/?agent=muse").text)
    assert older is not None
    page = browser.get(unescape(older[1])).text
    assert f'<main id="main" hx-get="{older[1]}"' in page


def test_a_filter_is_not_repeated_without_end(plane: Plane, browser: TestClient) -> None:
    for number in range(5):
        promise(plane, f"Promise {number}.")
    assert len(browser.get("/", params={"agent": "n" * 5_000}).text) < 40_000


@pytest.mark.parametrize(("date", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-06-01", 24)])
def test_a_day_has_the_hours_that_it_has_where_the_person_is(date: str, hours: int) -> None:
    first, last = (day(name, date, ZoneInfo("Europe/Berlin")) for name in ("since", "until"))
    assert last - first == timedelta(hours=hours)
