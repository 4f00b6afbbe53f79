"""Answers are whole: numbers with their unit, names from their first word to their last, each reason once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from memory_plane import Plane
from memory_plane.ask import ask

MakePlane = Callable[..., Plane]

NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)
UNKNOWN = "I don't know"


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Brightwater Capital invests 400,000 euros.", "How much does Brightwater Capital invest?", "400,000 euros"),
        ("Rent costs 1,200.50 euros.", "How much does rent cost?", "1,200.50 euros"),
        ("The van costs 12.000 euros.", "How much does the van cost?", "12.000 euros"),
        ("The van costs 3 500 euros.", "How much does the van cost?", "3 500 euros"),
        ("The budget of Orbit is 2,500,000 dollars.", "What is the budget of Orbit?", "2,500,000 dollars"),
        ("Saltline raised $2.5M in May.", "How much did Saltline raise?", "$2.5M"),
        ("The dough needs 3/4 litre of milk.", "How much milk does the dough need?", "3/4 litre of milk"),
        ("The kiosk shows 12:30 on its clock.", "What does the kiosk show?", "12:30"),
        ("The kiosk runs v1.2 of Tidepool.", "What does the kiosk run?", "v1.2 of Tidepool"),
    ],
)
def test_number_stands_whole_in_an_answer(make_plane: MakePlane, text: str, question: str, expected: str) -> None:
    plane = make_plane("local")
    plane.post(text, agent="notes", origin="user")
    assert plane.ask(question).text == expected


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Met Gus Ferrer, the manager of Port Vell.", "Who is the manager of Port Vell?", "Gus Ferrer"),
        ("Rose Tyler, the harbour warden, called.", "Who is the harbour warden?", "Rose Tyler"),
        ("Had lunch at Kettle with Raúl Ortiz, the caterer.", "Who is the caterer?", "Raúl Ortiz"),
        ("Ulrich Baum of Nordkap Ventures may join the round.", "Who may join the round?", "Ulrich Baum"),
        ("Sunniva Dahl from Nordhavn mends the nets.", "Who mends the nets?", "Sunniva Dahl"),
        ("The Royal Bank of Scotland sponsors the fair.", "Who sponsors the fair?", "Royal Bank of Scotland"),
        ("Coffee with Tomasz Wilk. He keeps the keys of the boat.", "Who keeps the keys?", "Tomasz Wilk"),
        ("Coffee with Tomasz Wilk and Leona Varga. He keeps the keys.", "Who keeps the keys?", "Tomasz Wilk"),
        ("Coffee with Robin Wilk and Alex Varga. He keeps the keys.", "Who keeps the keys?", UNKNOWN),
        ("Dora asked Emil for the keys. He refused.", "Who refused?", "Emil"),
        ("Dora asked Emil for the keys. She refused.", "Who refused?", "Dora"),
        ("Robin asked Alex for the keys. He refused.", "Who refused?", UNKNOWN),
        ("Jannis called Emil. He brought the cake.", "Who brought the cake?", UNKNOWN),
        ("Dora visited her brother Piet. He sold the boat.", "Who sold the boat?", "Piet"),
        ("The deck was sent to Emil. She liked the deck.", "Who liked the deck?", UNKNOWN),
        ("Emil asked Dora; Otto called him.", "Who called Dora?", UNKNOWN),
        ("Emil asked Dora; Otto called him.", "Who called Emil?", "Otto"),
        ("My neighbour has a dog. Her name is Noor.", "Who is Noor?", UNKNOWN),
        ("Her sister feeds the goats.", "Who feeds the goats?", UNKNOWN),
        ("I sent her the revised deck.", "What did I send?", "the revised deck"),
        ("I gave Leona Varga the deck.", "What did I give Leona?", "the deck"),
    ],
)
def test_answer_is_a_whole_name_and_no_pronoun(make_plane: MakePlane, text: str, question: str, expected: str) -> None:
    plane = make_plane("local")
    plane.post(text, agent="notes", origin="user")
    assert plane.ask(question).text == expected


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Orbit uses GitHub Actions. Orbit uses Buildkite.", "What is Orbit written in?", UNKNOWN),
        ("Orbit uses GitHub Actions. Orbit uses Buildkite.", "What is Orbit built with?", UNKNOWN),
        ("Orbit uses Python. Orbit uses Buildkite.", "What is Orbit written in?", "Python"),
        ("Orbit is built with Django. Orbit uses Buildkite.", "What is Orbit built with?", "Django"),
        ("Orbit is built with Django. Orbit uses Buildkite.", "What does Orbit use?", "Django, Buildkite"),
        ("Nils runs the sales team at Fabrik.", "Who runs Fabrik?", UNKNOWN),
        ("Nils runs the sales team at Fabrik.", "Who runs the sales team?", "Nils"),
        ("Birgit keeps one of the books.", "Who keeps the books?", "Birgit"),
        ("Theo gave Ana the keys. Ana gave them to Bo.", "Who gave Ana the keys?", "Theo"),
        ("Theo gave Ana the keys. Ana gave them to Bo.", "Who gave the keys to Bo?", "Ana"),
    ],
)
def test_answer_is_of_the_thing_that_was_asked_for(
    make_plane: MakePlane, text: str, question: str, expected: str
) -> None:
    assert _answered(make_plane, text, question) == expected


def test_what_we_decided_is_what_agents_and_minutes_say_too(make_plane: MakePlane) -> None:
    plane = make_plane("local")
    plane.post("Decided to use Rust.", agent="user", origin="user", kind="decision", created_at=NOW)
    plane.post("Decided to drop Windows.", agent="codex", kind="decision", created_at=NOW)
    plane.post("Minutes\nPresent: Ann, Bo.\nDecision: move to Leeds.", agent="user", origin="user", created_at=NOW)
    with plane.database.reading() as connection:
        ours = ask(connection, "What did we decide today?", NOW, UTC).text
        mine = ask(connection, "What did I decide today?", NOW, UTC).text
    assert [word in ours for word in ("Rust", "Windows", "Leeds", "Present")] == [True, True, True, False]
    assert [word in mine for word in ("Rust", "Windows", "Leeds")] == [True, False, False]


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("- [ ] launch Wayfarer (due 2027-02-15)", "When will Wayfarer launch?", "2027-02-15"),
        ("- [ ] launch Wayfarer (due 2027-02-15)", "When do we launch Wayfarer?", "2027-02-15"),
        ("- [ ] photograph the museum before they close (due 2027-02-15)", "When does the museum close?", UNKNOWN),
    ],
)
def test_item_that_begins_with_the_verb_says_when(
    make_plane: MakePlane, text: str, question: str, expected: str
) -> None:
    assert _answered(make_plane, text, question) == expected


@pytest.mark.parametrize("key", ["phone", "phone number"])
def test_phone_is_a_phone_number(make_plane: MakePlane, key: str) -> None:
    plane = make_plane("local")
    plane.fact("Petra", key, "0171 234", agent="notes")
    assert plane.ask("What is Petra's phone number?").text == "0171 234"
    assert plane.ask("What is Petra's phone?").text == "0171 234"


def _answered(make_plane: MakePlane, text: str, question: str) -> str:
    """Return what is answered of a memory with one text."""
    plane = make_plane("local")
    plane.post(text, agent="notes", origin="user", created_at=NOW)
    with plane.database.reading() as connection:
        return ask(connection, question, NOW, UTC).text


def test_memory_that_says_it_twice_is_one_reason(make_plane: MakePlane) -> None:
    plane = make_plane("local")
    plane.post("Elke mends the nets. Joss mends the nets too.", agent="notes", origin="user")
    found = plane.ask("Who mends the nets?")
    assert found.text == "Elke, Joss"
    assert len(found.findings) == 1


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Mum's birthday is on 9 December.", "When is Mum's birthday?", "2026-12-09"),
        ("Mum's birthday present arrives on 9 December.", "When is Mum's birthday?", UNKNOWN),
        ("The harvest fair will take place on 12 January.", "When is the harvest fair?", "2027-01-12"),
        ("The harvest fair was on 9 October.", "When was the harvest fair?", "2026-10-09"),
        ("Harbourmaster will be released on 12 January.", "When will Harbourmaster be released?", "2027-01-12"),
        ("Harbourmaster may be released on 12 January.", "When will Harbourmaster be released?", UNKNOWN),
        ("The ferry opens on 12 January.", "When will the ferry open?", "2027-01-12"),
        ("Femi Adeyemi's email is femi@tidepool.example.", "What is Femi's email?", "femi@tidepool.example"),
        ("I decided to go with Stripe.", "What did I decide today?", "go with Stripe"),
        ("I decided to go with Stripe.", "What did I decide yesterday?", UNKNOWN),
        ("Fixed the garden gate.", "Who fixed the garden gate?", "you"),
        ("Fixed by Joss: the garden gate.", "Who fixed the garden gate?", UNKNOWN),
    ],
)
def test_what_notes_say_of_days_writers_and_whoever_has_one_first_name(
    make_plane: MakePlane, text: str, question: str, expected: str
) -> None:
    plane = make_plane("local")
    plane.post(text, agent="notes", origin="user", created_at=NOW)
    with plane.database.reading() as connection:
        assert ask(connection, question, NOW, UTC).text == expected


def test_email_of_a_first_name_is_that_of_the_one_who_has_it(make_plane: MakePlane) -> None:
    plane = make_plane("local")
    plane.post("Femi Adeyemi works at Tidepool.", agent="notes", origin="user")
    plane.fact("Femi Adeyemi", "email", "fa@tidepool.example", agent="notes")
    assert plane.ask("What is Femi's email?").text == "fa@tidepool.example"
    plane.post("Femi Bello works at Saltline.", agent="notes", origin="user")
    assert plane.ask("What is Femi's email?").text == UNKNOWN


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Fixed the double booking bug in Harbourmaster.", "Who fixed the double booking bug?", "codex"),
        ("Fixed the double booking bug in Harbourmaster.", "What did codex fix?", "the double booking bug"),
        ("I recommend moving to a cheaper host.", "What did codex recommend?", "moving to a cheaper host"),
        ("Recommended a cheaper host.", "What did grok recommend?", UNKNOWN),
    ],
)
def test_agent_did_what_its_note_tells_without_a_subject(
    make_plane: MakePlane, text: str, question: str, expected: str
) -> None:
    plane = make_plane("local")
    plane.post(text, agent="codex", kind="milestone")
    assert plane.ask(question).text == expected


def test_decisions_of_the_person_are_those_that_agents_noted_where_none_is_their_own(make_plane: MakePlane) -> None:
    plane = make_plane("local")
    plane.post("Went with Stripe for payments", agent="codex", kind="decision")
    assert "codex, decision: Went with Stripe" in plane.ask("What did I decide today?").text


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Zadie is building the Lumen portal.", "What is Zadie working on?", "the Lumen portal"),
        ("Zadie is building the Lumen portal.", "Who is working on the Lumen portal?", "Zadie"),
        ("Cai is drafting the contract for Bo.", "Is Cai working on the contract?", "Yes"),
        ("Dag leads the harbour project.", "What is Dag working on?", "harbour project"),
        ("Ana built Helix in 2019.", "What is Ana working on?", UNKNOWN),
        ("Bo has written the report.", "What is Bo working on?", UNKNOWN),
        ("Gil was building a shed last year.", "What is Gil working on?", UNKNOWN),
        ("Hal stopped building the fence.", "What is Hal working on?", UNKNOWN),
        ("Ema will write the press kit.", "Who is working on the press kit?", "Ema"),
    ],
)
def test_whoever_builds_writes_or_leads_something_works_on_it(
    make_plane: MakePlane, text: str, question: str, expected: str
) -> None:
    plane = make_plane("local")
    plane.post(text, agent="notes", origin="user")
    assert plane.ask(question).text == expected


def test_we_of_an_agent_is_its_project_too(make_plane: MakePlane) -> None:
    plane = make_plane("local")
    plane.post("We use Redis for the queue.", agent="codex", project="shop")
    assert plane.ask("What do we use?").text == "Redis"
    plane.post("We use Postgres.", agent="grok", project="gallery")
    assert plane.ask("What do we use?").text == "Postgres (gallery), Redis (shop)"
    assert plane.ask("What do we use in gallery?").text == "Postgres"
    assert plane.ask("What does gallery use?").text == "Postgres"
    assert plane.ask("Does gallery use Redis?").text == UNKNOWN


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Decision: keep the logo on the van.", "What did we decide about the van?", "Decision: keep the logo"),
        ("Notes.\n- **Decision (van)**: keep the logo.", "What did we decide about the van?", "keep the logo."),
        (
            "We agreed to paint the fence green. The gate stays.",
            "What did we decide about the fence?",
            "paint the fence",
        ),
        ("We agreed to paint the fence green. The gate stays.", "What did we decide about the gate?", ""),
        ("Recommendation: take the ferry to Holyhead.", "What did codex recommend?", "take the ferry"),
        ("Recommendation: take the ferry to Holyhead.", "What was recommended for Holyhead?", "take the ferry"),
        ("Recommendation: take the ferry to Holyhead.", "What did we decide about the ferry?", "Recommendation: take"),
        ("Recommendation: take the ferry to Holyhead.", "What did grok recommend?", ""),
        ("Decision needed: the ferry to Holyhead.", "What did we decide about the ferry?", ""),
        ("Decision: ferry or train?", "What did we decide about the ferry?", ""),
    ],
)
def test_line_that_is_called_a_decision_or_a_recommendation_is_one(
    make_plane: MakePlane, text: str, question: str, expected: str
) -> None:
    plane = make_plane("local")
    plane.post(text, agent="codex")
    plane.post("Nothing new.", agent="grok")
    found = plane.ask(question)
    assert found.known == bool(expected)
    assert expected in found.text


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Inkwell opens every day at 9:30 and closes at 18:00.", "When does Inkwell open?", "every day at 9:30"),
        ("Inkwell opens every day at 9:30 and closes at 18:00.", "What time does Inkwell close?", "18:00"),
        ("The group meets on Wednesdays at the town library.", "When does the group meet?", "Wednesdays"),
        ("The group meets on Wednesdays at the town library.", "Where does the group meet?", "the town library"),
        ("The Christmas market is on 12 December at the harbour.", "Where is the Christmas market?", "the harbour"),
        ("Wiebke rents the shelf since March 2026.", "Since when does Wiebke rent the shelf?", "2026-03-01"),
        ("Wiebke rents the shelf in March 2026.", "Since when does Wiebke rent the shelf?", UNKNOWN),
        ("The hut costs 480 euros for three nights.", "How much is the hut?", "480 euros"),
        ("Ferre does the glazing; Odalys does the accounts.", "Who does the glazing?", "Ferre"),
        ("Ferre does the glazing; Odalys does the accounts.", "What does Odalys do?", "the accounts"),
        ("Ferre does not like the glazing.", "Who does the glazing?", UNKNOWN),
        ("Ferre has lost the key. Yann has the spare key.", "Who has the key?", "Yann"),
        ("Mira has three cats.", "How many cats does Mira have?", "three cats"),
        ("Ilmari lent Pilar his crampons.", "To whom did Ilmari lend his crampons?", "Pilar"),
        ("Ann, Bob, and Cy paint the hall.", "Who paints the hall?", "Ann, Bob, and Cy"),
        ("Hanne, Ilmari and Pilar are coming to the Harz.", "Who is coming to the Harz?", "Hanne, Ilmari and Pilar"),
        ("Ann likes Bob, Cy and Dan left early.", "Who left early?", "Cy and Dan"),
        ("Pilar booked the hut, Hanne the train.", "Who booked the train?", UNKNOWN),
        ("Pilar booked the hut and Hanne the train.", "Who booked the train?", UNKNOWN),
        ("Pilar booked the hut, Hanne the train.", "Who booked the hut?", "Pilar"),
        ("Sunita leads the lab. Her team is Kwabena and Lotte.", "Who is on Sunita's team?", "Kwabena and Lotte"),
        ("Hanne's sister Maren may join us.", "Who is Maren?", "Maren (Person): FAMILY_OF Hanne"),
        ("Jiří is writing the guide.", "What is Jiri working on?", "the guide (“Jiri” read as Jiří)"),
        ("Tom Scott is working on Heron.", "Tell me what Tom is working on", "Heron"),
    ],
)
def test_usual_wordings_are_read_off_usual_sentences(
    make_plane: MakePlane, text: str, question: str, expected: str
) -> None:
    plane = make_plane("local")
    plane.post(text, agent="notes", origin="user", created_at=NOW)
    with plane.database.reading() as connection:
        assert ask(connection, question, NOW, UTC).text == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where does Ana work?", "Acme"),
        ("Where did Ana work before?", UNKNOWN),
        ("Who used to work at Acme?", UNKNOWN),
        ("Who left Acme?", UNKNOWN),
        ("When does Ana leave Acme?", "2027-03-01"),
        ("Where does Ana work as of 2027-04-01?", UNKNOWN),
        ("Where did Ana work before as of 2027-04-01?", "Acme"),
    ],
)
def test_whoever_will_leave_on_a_day_has_not_left_before_it(
    make_plane: MakePlane, question: str, expected: str
) -> None:
    plane = make_plane("local")
    plane.post("Ana works at Acme.", agent="notes", origin="user", created_at=NOW)
    plane.post("Ana is leaving Acme in March.", agent="notes", origin="user", created_at=NOW)
    with plane.database.reading() as connection:
        assert ask(connection, question, NOW, UTC).text == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where was Bruno before Northlight?", "Hexaline"),
        ("Where was Bruno before he joined Northlight?", "Hexaline"),
        ("Where was Bruno before Bruno joined Northlight?", "Hexaline"),
        ("Where was Bruno before Ana joined Northlight?", UNKNOWN),
        ("Where was Bruno before that?", "Hexaline"),
        ("What did Bruno do before Northlight?", "Hexaline"),
        ("Where did Bruno work before Northlight?", "Hexaline"),
        ("Where did Bruno work before Hexaline?", UNKNOWN),
        ("Where was Ana before Acme?", "Hexaline, Northlight"),
        ("Where was Ana before Northlight?", "Hexaline"),
        ("Where did Ana live before Oslo?", "Bergen"),
        ("Where was Ana before Oslo?", "Bergen"),
    ],
)
def test_before_something_means_what_was_so_before_it(make_plane: MakePlane, question: str, expected: str) -> None:
    plane = make_plane("local")
    told = (
        "Bruno worked at Hexaline.",
        "Bruno joined Northlight in March 2026.",
        "Ana worked at Hexaline from 2015 to 2018.",
        "Ana worked at Northlight from 2018 to 2021.",
        "Ana joined Acme in 2022.",
        "Ana lives in Bergen.",
        "Ana moved to Oslo.",
    )
    for day, text in enumerate(told, -len(told)):
        plane.post(text, agent="notes", origin="user", created_at=NOW + timedelta(days=day))
    with plane.database.reading() as connection:
        assert ask(connection, question, NOW, UTC).text == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What databases do we have?", "PostgreSQL"),
        ("List our databases", "PostgreSQL"),
        ("Which frameworks do we have?", "FastAPI"),
        ("Which clouds do we have?", UNKNOWN),
    ],
)
def test_things_of_a_sort_are_those_that_something_uses(make_plane: MakePlane, question: str, expected: str) -> None:
    plane = make_plane("local")
    for text in ("Quillnest uses PostgreSQL.", "We use Terraform.", "Orbit uses FastAPI.", "Orbit used MySQL."):
        plane.post(text, agent="notes", origin="user", created_at=NOW)
    with plane.database.reading() as connection:
        assert ask(connection, question, NOW, UTC).text == expected
