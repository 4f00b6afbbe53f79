"""Lines that add to the one before them, and tables of tasks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_plane.types import Extraction, Memory
from memory_plane_local.extraction import extract

WRITTEN = datetime(2026, 11, 29, 12, tzinfo=UTC)


def read(text: str) -> Extraction:
    return extract(Memory(id="m", agent="user", kind="thought", text=text, created_at=WRITTEN, origin="user"))


def said(text: str) -> set[str]:
    claims = read(text).claims
    return {f"{one.subject.text} {one.relation} {one.object.text}" for one in claims if one.polarity == "positive"}


def items(text: str) -> list[str]:
    return [
        f"{item.owner}: {item.object}{item.due_at.strftime(' %d %b') if item.due_at else ''}"
        for item in read(text).items
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Sprint goal: move the tracker off Heroku. Owner: Ayesha.", ["Ayesha: move the tracker off Heroku"]),
        ("Task: renew the cert\nOwner: Malik\nDue: Friday", ["Malik: renew the cert 04 Dec"]),
        ("TODO: renew the cert. Owner: Bob. Due: 12 Dec.", ["Bob: renew the cert 12 Dec"]),
        ("**Action:** rotate the keys\n**Assignee:** Siobhán", ["Siobhán: rotate the keys"]),
        ("We met at noon. Owner: TBD", []),
        ("Owner: Linnea.", []),
        ("The brewery was closed. Due: Friday", []),
    ],
)  # fmt: skip
def test_owner_and_day_of_a_task_may_stand_on_lines_of_their_own(text: str, found: list[str]) -> None:
    assert items(text) == found


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("perch-sync: a daemon for notes. Author: Ikram Benali.", {"Ikram Benali BUILDS perch-sync"}),
        ("Atlas is late. Maintainers: Ines and Bo.", {"Ines SUPPORTS Atlas", "Bo SUPPORTS Atlas"}),
        ("Project Falcon\nOwner: Linnea", {"Linnea OWNS Falcon"}),
        ("Project Falcon\nLead: Linnea", {"Linnea LEADS Falcon"}),
        ("Renewal: Fjord Insurance (closes 30 Jan). Champion: Åse Lunde.", {"Åse Lunde WORKS_AT Fjord Insurance"}),
        ("Bakery relaunch\nLead: Wei Zhang", set()),
        ("Is Atlas late? Owner: Linnea?", set()),
        ("Lunch was good. Author: Ikram Benali.", set()),
    ],
)  # fmt: skip
def test_a_label_tells_what_somebody_is_to_the_thing_before(text: str, claims: set[str]) -> None:
    assert said(text) == claims


TABLE = "| # | Action item | Who | When | Status |\n|---|:---|---|---|---|\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("| Task | Owner | Due |\n|---|---|---|\n| Order sensors | Hamza | 12 Dec |\n| Calibrate rig | Yuki | 15 Dec |",
         ["Hamza: Order sensors 12 Dec", "Yuki: Calibrate rig 15 Dec"]),
        (f"{TABLE}| 1 | Renew the cert | @malik | 12 Dec | open |", ["malik: Renew the cert 12 Dec"]),
        (f"{TABLE}| 1 | Renew the cert | Malik | 12 Dec | done |", []),
        (f"{TABLE}| 1 | Renew the cert | Malik | 12 Dec | not done |", ["Malik: Renew the cert 12 Dec"]),
        (f"{TABLE}| 1 | Renew the cert | TBD | | |", []),
        (f"{TABLE}| 1 | Call Acme | Ines & Bo | | |", ["Ines: Call Acme", "Bo: Call Acme"]),
        ("| Task | Cost |\n|---|---|\n| Order sensors | Hamza |", []),
    ],
)  # fmt: skip
def test_rows_of_a_table_of_tasks_are_open_items(text: str, found: list[str]) -> None:
    assert items(text) == found


def test_what_stands_in_a_table_of_tasks_is_not_so_yet() -> None:
    table = "| Task | Owner |\n|---|---|\n| Maya uses Kafka | Bo |\n\nOrbit uses Redis."
    assert said(table) == {"Bo COMMITTED_TO Maya uses Kafka", "Orbit USES Redis"}


def test_other_tables_are_read_as_before() -> None:
    assert said("| Name | Company | Role |\n|---|---|---|\n| Ana | Acme | CTO |") == {"Ana CTO_OF Acme"}
