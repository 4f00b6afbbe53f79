"""Kinds of questions: each in several wordings, over texts that no other test reads, and the same on every surface."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from memory_plane import Plane
from memory_plane.ask import ask
from memory_plane.settings import Settings
from memory_plane.surfaces.api import create_app
from memory_plane.surfaces.cli import main
from memory_plane.surfaces.mcp_tools import CORE, by_name
from memory_plane.surfaces.spec import check
from memory_plane.types import Answer

MakePlane = Callable[..., Plane]

NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)
UNKNOWN = "I don't know"
SAID = (
    "Orchid uses Postgres, Kafka and Rust.",
    "Orchid is blocked by the legal review because the auditor is ill.",
    "Marlow is blocked by the paint delivery.",
    "Lena is working on Orchid.",
    "Tom owns Orchid.",
    "Bob promised me to send the contract.",
    "I promised Dana I'd send the deck by Friday.",
    "Her aunt Birgit keeps the books. She bakes rye bread on Sundays.",
    "Grandma Rosalind gave the piano to Theo.",
    "Ivo is the caterer. Our plumber is called Zdenek.",
    "The kiln was repaired by Ottilie in May 2025.",
    "Ruth never feeds the goats.",
    "If Sam sings the solo, we are lost.",
    "Elke sings. Her cousin Malou mends the nets and Joss paints the hulls.",
    "We have a new press. Printpal delivers it on 9 December.",
    "Our lathe hums. It costs 900 euros a month.",
    "The lecture is about bees. The speaker was Dr. Aune.",
    "The fair starts on 14 February 2027 in Ghent.",
    "Mia is the CTO of Nordhavn.",
    "Lumora is based in Ghent.",
    "Brandt no longer works on ward 5.",
    "quick update - wen finished the floor plans, sent em to the city",
    "Otto plans to paint the gate.",
    "We met Sunniva Dahl, who runs the kiosk at the pier.",
    "The food bank at Linden Street opens early. We got 200 crates of apples from Wendel.",
    "Ravi moved the shelves from the attic to the barn.",
    "Obi drives the van on Mondays and Ferdinand drives it on Thursdays.",
    "The pilot is on hold until legal signs.",
    "The warden is called Poul Vester; he keeps the spare key.",
    "Does Kim mow the lawn?",
)


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """A memory of everyday things, written at one time, with promises and the focus of two agents."""
    settings = Settings.load(home=tmp_path_factory.mktemp("home"), plugins={"enabled": ["local"]}, timezone="UTC")
    with Plane(settings) as plane:
        for text in SAID:
            plane.post(text, agent="notes", origin="user", created_at=NOW)
        contract = next(item for item in plane.items() if item.owner == "Bob")
        plane.resolve(contract.id, agent="notes", created_at=NOW)
        cake = "We picked the lemon cake for the launch party so that nobody misses out"
        plane.post(cake, agent="codex", kind="decision", created_at=NOW)
        due, draft = NOW + timedelta(days=3), "Draft the launch post"
        plane.post(draft, agent="muse", kind="commitment", owner="Tom", due_at=due, created_at=NOW)
        plane.heartbeat(agent="codex", focus="Orchid: retry logic", created_at=NOW)
        plane.heartbeat(agent="grok", focus="pricing page layout", created_at=NOW)
        yield plane


def asked(plane: Plane, question: str) -> Answer:
    """Ask a little later than all was written."""
    with plane.database.reading() as connection:
        return ask(connection, question, NOW + timedelta(hours=1), UTC)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When will the launch post be done?", "2026-12-03"),
        ("when is the deck due", "2026-12-04"),
        ("When will I send the deck?", "2026-12-04"),
        ("Who is working on Orchid?", "Lena, codex"),
        ("who's working on the pricing page", "grok"),
        ("Who's working on the launch post?", "Tom"),
        ("Which database does Orchid use?", "Postgres"),
        ("what message queue is orchid using", "Kafka"),
        ("Which language does Orchid use?", "Rust"),
        (
            "What did we decide about the cake?",
            "2026-11-30 codex, decision: We picked the lemon cake for the launch party",
        ),
        ("what was decided on the launch party", "2026-11-30 codex, decision: We picked the lemon cake"),
        ("Why is Orchid blocked?", "the auditor is ill"),
        ("Why is Marlow blocked?", "paint delivery"),
        ("why did we pick the lemon cake", "nobody misses out"),
        ("Who should I ask about Orchid?", "Tom"),
        ("who is responsible for orchid", "Tom"),
        ("Did Bob send the contract?", "Yes: contract (done)"),
        ("have i sent the deck", "Not yet: deck (due 2026-12-04)"),
        ("Is the deck overdue?", "No: deck"),
        ("What are my open tasks?", "commitment, you → Dana: deck (due 2026-12-04)"),
        ("summarise orchid", "Orchid (Project): "),
        ("What is blocked?", "Orchid, Marlow"),
        # What no relation of the vocabulary says is read off the sentence that says it.
        ("Who keeps the books?", "Birgit"),
        ("who bakes rye bread", "Birgit"),
        ("Who gave the piano to Theo?", "Grandma Rosalind"),
        ("What did Rosalind give to Theo?", "the piano"),
        ("Who did Rosalind give the piano to?", "Theo"),
        ("Did Rosalind give Theo the piano?", UNKNOWN),
        ("Who is the caterer?", "Ivo"),
        ("whos our plumber", "Zdenek"),
        ("Who repaired the kiln?", "Ottilie"),
        ("When was the kiln repaired?", "2025-05-01"),
        ("Does Ruth feed the goats?", "No"),
        ("Did Ottilie repair the kiln?", "Yes"),
        ("What did Ottilie repair?", "The kiln"),
        ("which cake did we pick?", "the lemon cake"),
        ("who sings", "Elke"),
        ("Who is Elke's cousin?", "Malou"),
        ("Who mends the nets?", "Malou"),
        ("who paints the hulls", "Joss"),
        ("Who delivers the press?", "Printpal"),
        ("How much does the lathe cost a month?", "900 euros"),
        ("What is the lecture about?", "bees"),
        ("Who was the speaker of the lecture?", "Dr. Aune"),
        ("Where does the fair start?", "Ghent"),
        ("When does the fair start?", "2027-02-14"),
        ("Who keeps the spare key?", "Poul Vester"),
        ("Does Brandt work on ward 5?", "No"),
        ("What does Mia do at Nordhavn?", "CTO of Nordhavn"),
        ("What is Mia's title at Nordhavn?", "CTO of Nordhavn"),
        ("who finished the floor plans", "wen"),
        ("Who runs the kiosk at the pier?", "Sunniva Dahl"),
        ("Where is the food bank?", "Linden Street"),
        ("Where did Ravi move the shelves to?", "the barn"),
        ("How many crates of apples did we get?", "200 crates of apples"),
        ("who drives the van on mondays?", "Obi"),
        ("Why is the pilot on hold?", "until legal signs"),
    ],
)
def test_question_is_answered(plane: Plane, question: str, answer: str) -> None:
    found = asked(plane, question)
    assert found.text[: len(answer)] == answer
    assert found.known == bool(found.findings) == (answer != UNKNOWN)
    assert all(plane.get(id) for finding in found.findings for id in finding.evidence)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is overdue?", "Nothing is overdue."),
        ("anything late?", "Nothing is overdue."),
        ("what's due tomorrow", "Nothing is due."),
        ("What is open for codex?", "Nothing is open."),
        ("What is open for Zorblax?", "Nothing is open."),
        ("What are the open questions?", "No question is open."),
    ],
)
def test_where_all_items_are_known_none_is_an_answer(plane: Plane, question: str, answer: str) -> None:
    found = asked(plane, question)
    assert (found.text, found.known, found.findings) == (answer, True, ())


def test_nothing_is_blocked_where_nothing_is_said_to_be(plane: Plane) -> None:
    with plane.database.reading() as connection:
        assert ask(connection, "What is blocked?", NOW - timedelta(days=1), UTC, NOW - timedelta(days=1)).text == (
            "Nothing is blocked."
        )


@pytest.mark.parametrize(
    "question",
    [
        "Who feeds the goats?",
        "Who sings the solo?",
        "Who mows the lawn?",
        "Who kept the books?",
        "Who doesn't keep the books?",
        "Who keeps more books than Tom?",
        "Who sold the piano to Theo?",
        "Did Theo give the piano to Rosalind?",
        "Did the kiln repair Ottilie?",
        "Who is Malou's cousin?",
        "Who paints the gate?",
        "What does Mia do at Lumora?",
        "Who paints the nets?",
        "Who delivers the kiln?",
        "How many nets does Malou mend?",
        "Which editor does Orchid use?",
        "Why did we sell the piano?",
        "Is Orchid better than Marlow?",
    ],
)
def test_what_is_denied_supposed_asked_or_not_said_is_not_answered(plane: Plane, question: str) -> None:
    found = asked(plane, question)
    assert (found.text, found.known) == (UNKNOWN, False)


WORDS = "who what where why how much does did was the to of ' \" * ( - \x00 🦓 田中 Birgit keeps books because it or"


@given(st.lists(st.sampled_from(WORDS.split(" ")), max_size=12))
@example(["what"])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_words_are_answered_without_an_error(plane: Plane, words: list[str]) -> None:
    found = asked(plane, " ".join(words))
    assert found.known or found.text == UNKNOWN


def test_what_is_read_off_words_of_other_people_is_fenced(make_plane: MakePlane) -> None:
    plane = make_plane("local", timezone="UTC")
    plane.post("Viktor feeds the cat because I said so.", agent="muse", origin="external")
    found = plane.ask("Who feeds the cat?")
    assert (found.text, [one.origin for one in found.findings]) == ("⟨external⟩ “Viktor”", ["external"])
    assert plane.ask("Why does Viktor feed the cat?").text.startswith("⟨external⟩")


def test_version_of_a_tool_hides_not_what_it_is(make_plane: MakePlane) -> None:
    plane = make_plane("local", timezone="UTC")
    plane.post("The billing service uses Postgres 16.4 and Vue v3.", agent="notes", origin="user")
    assert plane.ask("Which database does the billing service use?").text == "Postgres 16.4"
    assert plane.ask("Which framework does the billing service use?").text == "Vue v3"


def test_promise_that_an_agent_noted_as_its_own_answers_whoever_asks_of_theirs(make_plane: MakePlane) -> None:
    plane = make_plane("local", timezone="UTC")
    plane.post("I promised Ngozi the benchmark numbers by Friday.", agent="muse", created_at=NOW)
    assert plane.ask("What did I promise Ngozi?").text.startswith("commitment, muse → Ngozi: benchmark numbers")
    plane.post("I promised Ngozi the keys.", agent="notes", origin="user", created_at=NOW)
    assert plane.ask("What did I promise Ngozi?").text == "keys"


def test_words_of_a_promise_count_before_what_somebody_says_to_have_done(plane: Plane) -> None:
    assert asked(plane, "Has Tom drafted the launch post?").text.startswith("Not yet")


@pytest.mark.parametrize(
    "question",
    [
        "Who keeps the books?",
        "Why is Orchid blocked?",
        "What is overdue?",
        "Did Bob send the contract?",
        "who works on orchid",
    ],
)
def test_answer_is_the_same_on_every_surface(plane: Plane, question: str) -> None:
    told = plane.ask(question)
    assert told.known
    token = "t" * 43
    app = create_app(plane, token=token, port=8788)
    headers = {"authorization": f"Bearer {token}"}
    with TestClient(app, base_url="http://127.0.0.1:8788", headers=headers) as hub:
        heard = TypeAdapter(Answer).validate_python(hub.get("/api/ask", params={"question": question}).json())
    printed = CliRunner().invoke(main, ["--home", str(plane.home), "ask", question, "--json"])
    assert TypeAdapter(Answer).validate_json(printed.stdout) == heard == told
    spec = by_name(CORE)["memory_ask"]
    assert spec.call(plane, "grok", check(spec, {"question": question}))["answer"] == told.text


def test_what_the_graph_knows_to_be_over_is_not_read_off_an_older_sentence(make_plane: MakePlane) -> None:
    plane = make_plane("local", timezone="UTC")
    plane.post("Alice Moreau works at Acme. She leads the Data team.", agent="notes", origin="user", created_at=NOW)
    plane.post("Alice Moreau left Acme.", agent="notes", origin="user", created_at=NOW + timedelta(days=1))
    plane.post("Ann uses Kafka.", agent="notes", origin="user", created_at=NOW)
    plane.post("Ann doesn't use Kafka.", agent="notes", origin="user", created_at=NOW + timedelta(days=1))
    with plane.database.reading() as connection:
        for question in (
            "Where does Alice work?",
            "Where does Alice Moreau work?",
            "Who works at Acme?",
            "Who uses Kafka?",
        ):
            assert not ask(connection, question, NOW + timedelta(days=2), UTC).known, question


def test_no_statement_of_a_question_reads_a_whole_table(plane: Plane) -> None:
    statements: set[str] = set()
    with plane.database.reading() as connection:
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        driver.set_trace_callback(statements.add)
        for question in QUESTIONS_OF_EACH_FORM:
            for as_of in (None, NOW + timedelta(minutes=1)):
                ask(connection, question, NOW + timedelta(hours=1), UTC, as_of)
        driver.set_trace_callback(None)
        plans = {
            one: [row[-1] for row in driver.execute(f"EXPLAIN QUERY PLAN {one}")]
            for one in statements
            if one.startswith("SELECT")
        }
    assert len(plans) > 30
    scanned = {
        (step, one) for one, plan in plans.items() for step in plan if re.match(r"SCAN (?!\(|anon_|json_each|j )", step)
    }
    assert {step for step, _ in scanned if not BOUNDED.match(step)} == set(), scanned


QUESTIONS_OF_EACH_FORM = (
    "Who works at Acme?",
    "Who used to work at Acme?",
    "Does Ruth use Kafka?",
    "When did Lena join Acme?",
    "How is Lena connected to Tom?",
    "Who is Lena?",
    "What do you know about Orchid?",
    "What is open?",
    "What did I promise Dana?",
    "What did codex do today?",
    "What happened to Orchid?",
    "What was decided?",
    "What did we decide about the cake?",
    "What changed since Monday?",
    "What is new about Orchid?",
    "What is the website's deploy day?",
    "List all tools",
    "What is blocked?",
    "Which database does Orchid use?",
    "Who keeps the books?",
    "Why is Orchid blocked?",
    "Who works at Orchyd?",
    "What did Zdenk promise?",
)
BOUNDED = re.compile(r"SCAN (items|agent_heartbeats|memory_fts|thoughts USING)")
"""Tables of few rows, and those of which the newest rows are read, so many at most."""


def test_question_of_one_endless_word_costs_no_more_than_another(plane: Plane) -> None:
    plane.ask("Who is Saskia?")
    begin = time.process_time()
    assert plane.ask("x" * 5_000).text == UNKNOWN
    assert time.process_time() - begin < 1


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Hal is the brother of Ida.", "Who is Hal married to?", UNKNOWN),
        ("Anton's wife Bea and his sister Cleo came.", "Is Anton married to Cleo?", UNKNOWN),
        ("Dirk is married to Elsa.", "Who is Dirk married to?", "Elsa"),
        ("Finn married Gail.", "Who married Gail?", "Finn"),
        ("Hal is the brother of Ida.", "Who is the brother of Ida?", "Hal"),
        ("We dropped Postgres in Nimbus and use SQLite now.", "What does Nimbus use?", "SQLite"),
    ],
)
def test_answer_is_of_the_kin_and_the_verb_that_was_asked_for(
    make_plane: MakePlane, text: str, question: str, expected: str
) -> None:
    plane = make_plane("local")
    plane.post(text, agent="notes", origin="user")
    assert plane.ask(question).text == expected


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Xavi nearly dropped the vase.", "Who dropped the vase?"),
        ("Carl pretended to read the book.", "Did Carl read the book?"),
        ("Jill or Kent took the keys.", "Did Kent take the keys?"),
        ("Someone other than Lars fed the fish.", "Who fed the fish?"),
        ("Rumour has it that Sue quit the band.", "Who quit the band?"),
        ("Let's pretend Tom won the race.", "Who won the race?"),
        ("Suppose Xena wrote the poem.", "Who wrote the poem?"),
        ("Let Vera drive the truck.", "Who drives the truck?"),
    ],
)
def test_what_is_imagined_or_said_of_either_answers_nothing(make_plane: MakePlane, text: str, question: str) -> None:
    plane = make_plane("local")
    plane.post(text, agent="notes", origin="user")
    assert plane.ask(question).text == UNKNOWN
