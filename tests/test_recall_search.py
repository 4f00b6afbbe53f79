"""Recall: whatever is written can be found by any of its words, and no query is ever an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from memory_plane import Plane, Plugin, hookimpl, rendering
from memory_plane.errors import Refused
from memory_plane.models import metadata
from memory_plane.plugins import PluginManager
from memory_plane.recall import lexical, search
from memory_plane.settings import Settings
from memory_plane.store import index
from memory_plane.types import Candidate, Classification, Extraction, Memory, Mention, Resolution, new_node_id

MakePlane = Callable[..., Plane]

DAY = datetime(2026, 3, 14, 9, tzinfo=UTC)


def found(plane: Plane, query: str, **filters: Any) -> list[str]:
    """The snippets of all hits, best first."""
    return [hit.snippet for hit in plane.recall(query, limit=100, **filters).hits]


def fast(examples: int) -> settings:
    """The same examples each time, told as they are."""
    return settings(
        max_examples=examples, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """One memory without plugins for all examples of a property; pages are made at the end alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rendering, "DELAY", 3600)
        home = Settings(home=tmp_path_factory.mktemp("home"), synchronous="normal")
        with Plane(home, plugins=PluginManager(strict=True)) as plane:
            yield plane


@pytest.fixture(scope="module")
def library(shared: Plane) -> Plane:
    """The shared memory with a few texts in it."""
    with shared.database.writing() as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(delete(table))
        index.clear(connection)
    for number in range(5):
        shared.post(f"text {number} with a number", agent="muse")
    return shared


# --- any query ---------------------------------------------------------------------------------------------------


@fast(300)
@given(st.text(max_size=60))
def test_no_query_is_an_error(library: Plane, query: str) -> None:
    library.recall(query)


@fast(200)
@given(st.text(alphabet=r""" "'*^:()-+{}[]/\%_.,;!?&|~<>=#@`$ANDORNTEa1é東😀""", max_size=30))
def test_no_punctuation_is_an_error(library: Plane, query: str) -> None:
    library.recall(query, agent="muse")


HOSTILE = [
    "", " ", "\n", '"', '""', "'", "*", "a*", "^a", "a^", "NEAR(a b)", "a NEAR b", "a AND", "OR", "NOT", "NOT a",
    "a NOT", "text:", "text:a", "tags : a", "{text}: a", "-a", "a-", "+", "()", "(", ")", '"a',
    'say"hello"now', "a\x00b", "\x00",
    "half \ud83d", "\ud83d", "\udc00 a", "a;b", "'; DROP TABLE thoughts; --", "%", "_",
    "%_\\", "\\", "____", "a" * 5000,
    "word " * 5000, "\u200b", "\ufeff", "e\u0301", "\u0301", "🙂", "👩‍👩‍👧", "٣", "²", "\ue000",
    "\U0010ffff", "rowid", "memory_fts",
]  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE, ids=[ascii(query)[:30] for query in HOSTILE])
@pytest.mark.parametrize("filters", [{}, {"agent": 'a"b', "person": "nobody", "project": "'"}], ids=["all", "filtered"])
def test_hostile_query_is_no_error(library: Plane, query: str, filters: dict[str, Any]) -> None:
    library.recall(query, **filters)


def test_query_that_matches_nothing_finds_nothing(library: Plane) -> None:
    recall = library.recall("zebra")
    assert (recall.hits, recall.cursor) == ((), None)


# --- any word of what was written --------------------------------------------------------------------------------

words = st.text(st.characters(exclude_categories=("C", "Z", "Mn", "Me")), min_size=1, max_size=8)


@fast(150)
@given(st.lists(words, min_size=1, max_size=6), st.data())
def test_every_word_of_a_text_finds_it(library: Plane, parts: list[str], data: st.DataObject) -> None:
    receipt = library.post(" ".join(parts), agent="muse")
    if receipt.state == "refused":
        return
    stored = library.get(receipt.id)
    assert stored is not None
    for word in stored["body"]["text"].split():
        assert receipt.id in {hit.id for hit in library.recall(word, limit=200).hits}, ascii(word)


TEXT = (
    "TODO: ship POL-358 by 2026-03-14 (don't wait); see src/main.rs, a/b tests & C++17, C#, 'quoted' \"twice\" "
    "mail@example.org #tag @ann 50% snake_case x^2 naïve Łódź ЁЖ 👍 %_\\ e-mail… “curly” A.B.C. v1.2.3 ½ and $5"
)


@pytest.mark.parametrize("word", TEXT.split())
def test_word_with_its_punctuation_finds_the_text(plane: Plane, word: str) -> None:
    plane.post(TEXT, agent="muse")
    plane.post("something else", agent="grok")
    assert found(plane, word, agent="muse")


@pytest.mark.parametrize(
    "query",
    ["POL-358", "pol-358", "POL 358", "2026-03-14", "TODO:", "todo", "don't", "(don't", "main.rs", "src/main.rs", "a/b",
     "C++", "C++17", "C#", "quoted", '"twice"', "example.org", "@ann", "#tag", "50%", "snake_case", "snake", "case",
     "NAIVE", "naive", "łodz", "ёж", "👍", "%_\\", "e-mail", "mail", "curly", "A.B.C.",
     "v1.2.3", "½", "$5", "14 March 2026"],
)  # fmt: skip
def test_query_as_people_type_it_finds_the_text(plane: Plane, query: str) -> None:
    plane.post(TEXT, agent="muse", created_at=DAY)
    assert len(found(plane, query)) == 1


@pytest.mark.parametrize("query", ["who wrote the thing about kites", "what was said about a kite?", "the kites"])
def test_stop_words_do_not_hide_what_is_asked(plane: Plane, query: str) -> None:
    plane.post("Kites need wind", agent="muse")
    plane.post("what was the thing that was wrote about", agent="muse")
    assert found(plane, query)[0] == "Kites need wind"


def test_query_of_stop_words_alone_finds_them(plane: Plane) -> None:
    plane.post("to be or not to be", agent="muse")
    assert found(plane, "not to be") == ["to be or not to be"]


def test_forms_of_a_word_find_each_other(plane: Plane) -> None:
    plane.post("Daniel is deploying the parsers", agent="muse")
    assert found(plane, "deployed parser") == ["Daniel is deploying the parsers"]


def test_agent_date_and_project_are_words_too(plane: Plane) -> None:
    plane.post("Tea is ready", agent="muse", project="kitchen", created_at=DAY)
    for query in ("muse", "March", "2026-03-14", "kitchen"):
        assert found(plane, query) == ["Tea is ready"]


def test_facts_are_found_by_subject_key_and_value(plane: Plane) -> None:
    plane.fact("Ann", "works_at", "Acme", agent="muse")
    for query in ("Ann", "works at", "acme"):
        (hit,) = plane.recall(query).hits
        assert (hit.kind, hit.snippet) == ("fact", "Ann works at: Acme")


# --- scripts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我们在东京开会讨论数据库迁移", "会"),
        ("我们在东京开会讨论数据库迁移", "东京"),
        ("我们在东京开会讨论数据库迁移", "数据库"),
        ("我们在东京开会讨论数据库迁移", "讨论数据库迁"),
        ("我们在东京开会讨论数据库迁移", "在东京 数据库"),
        ("彼は東京でプログラミングを勉強しています", "東京"),
        ("彼は東京でプログラミングを勉強しています", "プログラミング"),
        ("彼は東京でプログラミングを勉強しています", "グラ"),
        ("彼は東京でプログラミングを勉強しています", "しています"),
        ("人々が佐々木さんに会った", "佐々木"),
        ("회의는 내일 서울에서 열립니다", "서울"),
        ("회의는 내일 서울에서 열립니다", "회"),
        ("회의는 내일 서울에서 열립니다", "열립니다"),
        ("ประชุมพรุ่งนี้ที่กรุงเทพ", "กรุงเทพ"),
        ("ประชุมพรุ่งนี้ที่กรุงเทพ", "พรุ่งนี้"),
        ("Встреча завтра в Москве", "москве"),
        ("Встреча завтра в Москве", "ВСТРЕЧА"),
        ("الاجتماع غدا في القاهرة", "القاهرة"),
        ("הפגישה מחר בתל אביב", "אביב"),
        ("बैठक कल दिल्ली में है", "दिल्ली"),
        ("बैठक कल दिल्ली में है", "बैठक"),
        ("Η συνάντηση είναι αύριο στην Αθήνα", "αθήνα"),
        ("使用Python开发Web服务", "Python"),
        ("使用Python开发Web服务", "开发"),
        ("使用Python开发Web服务", "Python开发"),
        ("使用Python开发Web服务", "web服务"),
        ("版本v2发布", "v2"),
        ("Ｗｉｄｅ ｌｅｔｔｅｒｓ", "ｗｉｄｅ"),
        ("ﾃｽﾄです", "ﾃｽﾄ"),
    ],
)
def test_words_of_any_script_are_found(plane: Plane, text: str, query: str) -> None:
    plane.post(text, agent="muse")
    plane.post("another text, 別の文章, другой", agent="muse")
    assert found(plane, query)[0] == text


def test_characters_of_a_word_must_stand_together(plane: Plane) -> None:
    plane.post("东方的京城", agent="muse")
    plane.post("我在东京", agent="muse")
    assert found(plane, "东京") == ["我在东京"]


# --- long texts --------------------------------------------------------------------------------------------------


def test_last_word_of_a_long_text_finds_it_and_is_shown(plane: Plane) -> None:
    plane.post("filler words " * 8000 + "the last is quokka", agent="muse")
    (snippet,) = found(plane, "quokka")
    assert snippet.startswith("…")
    assert snippet.endswith("the last is quokka")
    assert len(snippet) <= search.SNIPPET + 2


def test_first_word_of_a_long_text_is_shown(plane: Plane) -> None:
    plane.post("Quokka first. " + "filler words " * 8000, agent="muse")
    (snippet,) = found(plane, "quokka")
    assert snippet.startswith("Quokka first.")
    assert snippet.endswith("…")


def test_longest_text_is_found_by_any_of_its_words(plane: Plane) -> None:
    text = " ".join(f"w{number}" for number in range(150_000))[:999_000]
    assert plane.post(text, agent="muse").state == "stored"
    for word in ("w0", "w77777", text.split()[-1]):
        assert len(found(plane, word)) == 1


def test_snippet_of_a_short_text_is_the_text(plane: Plane) -> None:
    plane.post("short  text\nwith lines", agent="muse")
    assert found(plane, "lines") == ["short  text\nwith lines"]


# --- hits --------------------------------------------------------------------------------------------------------


def test_hit_says_who_wrote_it_when_and_where_it_is_from(plane: Plane) -> None:
    receipt = plane.post(
        "Kites need wind",
        agent="muse",
        kind="decision",
        project="sky",
        origin="external",
        source="mail 7",
        created_at=DAY,
    )
    (hit,) = plane.recall("kites").hits
    assert (hit.id, hit.agent, hit.kind, hit.created_at) == (receipt.id, "muse", "decision", DAY)
    assert hit.source == "external, sky, mail 7"


def test_better_match_comes_first(plane: Plane) -> None:
    plane.post("kites and many other things, none of which matter much here", agent="muse")
    plane.post("red kites", agent="muse")
    plane.post("red wine and other things", agent="muse")
    assert found(plane, "red kites")[0] == "red kites"
    scores = [hit.score for hit in plane.recall("red kites").hits]
    assert scores == sorted(scores, reverse=True)


def test_same_words_are_told_newest_first(plane: Plane) -> None:
    for number in range(3):
        plane.post(f"kites {number}", agent="muse")
    assert found(plane, "kites") == ["kites 2", "kites 1", "kites 0"]


def test_answer_counts_what_the_question_before_it_says(plane: Plane) -> None:
    for number, (before, after) in enumerate(
        (("Where do the kites fly?", "They fly by a lake"), ("Kites fly: https://sky.org/?q=1", "They fly here"))
    ):
        for minute, text in enumerate((before, after)):
            at = DAY + timedelta(days=number, minutes=minute)
            plane.post(text, agent="muse", thread=str(number), created_at=at)
    parts = {hit.snippet: hit.why for hit in plane.recall("where do kites fly", explain=True).hits}
    answer, other = parts["They fly by a lake"], parts["They fly here"]
    assert answer is not None
    assert other is not None
    assert answer["beside"] == 1.5  # as much as the question itself
    assert answer["beside"] > other["beside"] > 0


# --- filters -----------------------------------------------------------------------------------------------------


class PeoplePlugin(Plugin):
    """Makes one person of all that have one name."""

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
        known = {one.mention: one.node.id for one in candidates}
        nodes = {one: known.get(one, new_node_id(memory.id, one)) for one in found.mentions}
        return Classification(
            resolutions=tuple(Resolution(mention=one, node=node, probability=1.0) for one, node in nodes.items())
        )

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        start = memory.text.find("Ann")
        mention = Mention(text="Ann", type="Person", start=start, end=start + 3, confidence=1.0)
        return Extraction(mentions=(mention,) if start >= 0 else ())


@pytest.fixture
def filed(make_plane: MakePlane) -> Plane:
    """Four memories about kites that differ in one way each."""
    plane = make_plane(PeoplePlugin())
    plane.post("kites one", agent="muse", project="Sky", created_at=DAY)
    plane.post("kites two", agent="grok", kind="decision", created_at=DAY + timedelta(days=1))
    plane.post("kites three: Ann", agent="muse", created_at=DAY + timedelta(days=2))
    plane.fact("kites", "colour", "red", agent="muse", created_at=DAY + timedelta(days=3))
    return plane


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"agent": "grok"}, {"kites two"}),
        ({"agent": "GROK"}, {"kites two"}),
        ({"agent": "nobody"}, set()),
        ({"kind": "decision"}, {"kites two"}),
        ({"kind": "fact"}, {"kites colour: red"}),
        ({"kind": "thought", "agent": "muse"}, {"kites one", "kites three: Ann"}),
        ({"project": "sky"}, {"kites one"}),
        ({"person": "Ann"}, {"kites three: Ann"}),
        ({"person": "ann"}, {"kites three: Ann"}),
        ({"person": "node:person:ann"}, {"kites three: Ann"}),
        ({"person": "Bob"}, set()),
        ({"since": DAY + timedelta(days=2)}, {"kites three: Ann", "kites colour: red"}),
        ({"until": DAY + timedelta(days=1)}, {"kites one"}),
        ({"since": DAY + timedelta(days=1), "until": DAY + timedelta(days=3)}, {"kites two", "kites three: Ann"}),
        ({"agent": "muse", "person": "Ann", "since": DAY}, {"kites three: Ann"}),
        ({"agent": "grok", "person": "Ann"}, set()),
    ],
    ids=lambda value: str(
        sorted(value.items()) if isinstance(value, dict) else sorted(value)
    ),  # the order of a set varies
)
@pytest.mark.parametrize("query", ["kites", "ites"], ids=["indexed", "read through"])
def test_filters_restrict_the_hits(filed: Plane, query: str, filters: dict[str, Any], expected: set[str]) -> None:
    if query == "ites":
        expected = expected - {"kites colour: red"}
    assert set(found(filed, query, **filters)) == expected


def test_filter_takes_no_word_for_a_name(plane: Plane) -> None:
    plane.post("muse wrote this", agent="grok")
    assert found(plane, "wrote", agent="muse") == []


# --- pages of hits -----------------------------------------------------------------------------------------------


def pages(plane: Plane, query: str, limit: int) -> list[list[str]]:
    cursor, all_pages = None, []
    while True:
        recall = plane.recall(query, limit=limit, cursor=cursor)
        all_pages.append([hit.id for hit in recall.hits])
        cursor = recall.cursor
        if cursor is None:
            return all_pages


@pytest.mark.parametrize("limit", [1, 3, 7, 10, 23, 24])
@pytest.mark.parametrize("common", [2_000, 4])
def test_paging_reaches_every_hit_once(plane: Plane, monkeypatch: pytest.MonkeyPatch, limit: int, common: int) -> None:
    monkeypatch.setattr(lexical, "COMMON", common)
    ids = {plane.post(f"kites {'rare ' * (n % 8 == 0)}number {n}", agent="muse").id for n in range(23)}
    told = pages(plane, "rare kites", limit)
    assert all(len(page) == limit for page in told[:-1])
    flat = [id for page in told for id in page]
    assert len(flat) == len(set(flat))
    assert set(flat) == ids if common == 2_000 else set(flat) <= ids


def test_hits_end_at_a_bound(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MAX_RESULTS", 5)
    for number in range(9):
        plane.post(f"kites {number}", agent="muse")
    assert [len(page) for page in pages(plane, "kites", 2)] == [2, 2, 1]


@pytest.mark.parametrize("cursor", ["x", "r", "r-1", "17", "r99999", "r1 OR 1=1", "r१"])
def test_cursor_of_others_is_refused(plane: Plane, cursor: str) -> None:
    with pytest.raises(Refused, match=r"^cursor: "):
        plane.recall("kites", cursor=cursor)


def test_empty_cursor_is_the_beginning(plane: Plane) -> None:
    plane.post("kites", agent="muse")
    assert len(plane.recall("kites", cursor="").hits) == 1


# --- words that stand everywhere ---------------------------------------------------------------------------------


@pytest.fixture
def crowded(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> Plane:
    """Twelve memories with the word `sync`, more than the three that count as common here."""
    monkeypatch.setattr(lexical, "COMMON", 3)
    for number in range(12):
        plane.post(f"sync {number}" + (" of the quokka" if number == 2 else ""), agent="muse", project=f"p{number}")
    return plane


def test_common_word_alone_finds_the_newest(crowded: Plane) -> None:
    assert found(crowded, "sync")[:3] == ["sync 11", "sync 10", "sync 9"]


def test_rare_word_beside_a_common_one_comes_first(crowded: Plane) -> None:
    assert found(crowded, "sync quokka")[0] == "sync 2 of the quokka"
    assert found(crowded, "quokka sync")[0] == "sync 2 of the quokka"


def test_rare_word_among_common_ones_is_found_wherever_it_is(crowded: Plane) -> None:
    assert found(crowded, "quokka") == ["sync 2 of the quokka"]
    assert found(crowded, "muse quokka")[0] == "sync 2 of the quokka"


def test_common_word_with_a_filter_finds_what_is_left(crowded: Plane) -> None:
    assert found(crowded, "sync", project="p4") == ["sync 4"]
    assert found(crowded, "sync muse", project="p4") == ["sync 4"]


def test_unknown_word_beside_a_common_one_does_no_harm(crowded: Plane) -> None:
    assert found(crowded, "sync zebra")[0] == "sync 11"


def test_common_words_beside_each_other_are_found_however_old(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "COMMON", 3)
    monkeypatch.setattr(lexical, "NEWEST", 4)
    plane.post("sync of kites", agent="muse", project="old")
    for number in range(9):
        plane.post(f"{'sync' if number % 2 else 'kites'} {number}", agent="muse", project=f"p{number}")
    assert found(plane, "kites sync")[0] == "sync of kites"
    assert "sync of kites" in found(plane, "kites sync zebra")


@pytest.fixture
def long_ago(make_plane: MakePlane, monkeypatch: pytest.MonkeyPatch) -> Plane:
    """Twenty memories of a common word, one a day, of which few are looked up; the oldest names somebody."""
    for name, most in (("COMMON", 3), ("NEWEST", 3), ("LOOKED_UP", 4)):
        monkeypatch.setattr(lexical, name, most)
    plane = make_plane(PeoplePlugin())
    for number in range(20):
        text = f"sync {number}" + (" with Ann" if number == 0 else "")
        plane.post(text, agent="muse", created_at=DAY + timedelta(days=number))
    return plane


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"until": DAY + timedelta(days=2)}, {"sync 0 with Ann", "sync 1"}),
        ({"since": DAY + timedelta(days=1), "until": DAY + timedelta(days=3)}, {"sync 1", "sync 2"}),
        ({"since": DAY + timedelta(days=18)}, {"sync 18", "sync 19"}),
        ({"person": "Ann"}, {"sync 0 with Ann"}),
        ({"person": "Ann", "since": DAY + timedelta(days=1)}, set()),
        ({"agent": "muse", "until": DAY + timedelta(days=1)}, {"sync 0 with Ann"}),
    ],
)
def test_common_word_is_looked_for_where_what_is_wanted_ends(
    long_ago: Plane, filters: dict[str, Any], expected: set[str]
) -> None:
    assert set(found(long_ago, "sync", **filters)) == expected


def test_what_came_in_late_is_found_by_the_time_that_it_is_of(
    make_plane: MakePlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("COMMON", "NEWEST"):
        monkeypatch.setattr(lexical, name, 3)
    plane = make_plane()
    for number in (5, 6, 7, 8, 0, 9, 1):
        plane.post(f"sync {number}", agent="muse", created_at=DAY + timedelta(days=number))
    assert set(found(plane, "sync", until=DAY + timedelta(days=4))) == {"sync 0", "sync 1"}


def test_filters_leave_the_order_of_the_words_as_it_is(plane: Plane) -> None:
    plane.post("kites and many other things, none of which matter much here", agent="muse", project="a")
    plane.post("red kites", agent="muse", project="b")
    assert found(plane, "red kites", agent="muse") == found(plane, "red kites")
