"""Names in any script, and names that are words: which words are one name, and whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from memory_plane.types import Extraction, Memory
from memory_plane_local.extraction import extract
from memory_plane_local.languages import language_of
from memory_plane_local.sentences import sentences
from memory_plane_local.tokens import tokenize


def read(text: str, known: Mapping[str, str] | None = None) -> Extraction:
    written = datetime(2026, 11, 29, 12, tzinfo=UTC)
    memory = Memory(id="m", agent="muse", kind="thought", text=text, created_at=written, origin="user")
    return extract(memory, known or {})


def said(text: str) -> set[str]:
    return {f"{claim.subject.text} {claim.relation} {claim.object.text}" for claim in read(text).claims}


@pytest.mark.parametrize(
    "name",
    [
        "Nguyễn Thị Hạnh",
        "Đặng Văn Ổn",
        "Zofia Żak",
        "Şükrü Yıldız",
        "ნინო ბერიძე",
        "ליאור כהן",
        "سمير نصار",
        "علی‌رضا کریمی",
        "नेहा राव",
        "অমিত রায়",
        "ਹਰਪ੍ਰੀਤ ਸਿੰਘ",
        "கவிதா ராமன்",
        "สมชาย ใจดี",
        "ສົມພອນ ວົງສາ",
        "សុខា ចាន់",
        "မောင် မောင်",
        "አበበ ከበደ",
        "Անի Պետրոսյան",
        "김 민준",
        "이 지은",
        "佐々木美咲",
        "佐藤 健太",
        "マリア・シルバ",
        "王小明",
    ],
)
def test_a_name_in_any_script_is_one_name_in_an_english_sentence(name: str) -> None:
    assert said(f"{name} works at Hexaline.") == {f"{name} WORKS_AT Hexaline"}
    assert f"Bob KNOWS {name}" in said(f"Bob met {name} and Alice.")


def test_a_list_of_people_in_another_script_is_a_list() -> None:
    mentions = read("Attendees: ליאור כהן, נועה לוי, Bob").mentions
    assert {(mention.text, mention.type) for mention in mentions} == {
        ("ליאור כהן", "Person"),
        ("נועה לוי", "Person"),
        ("Bob", "Person"),
    }


def test_words_of_a_sentence_in_another_script_are_not_one_name() -> None:
    assert "דנה פגשה נועה" not in {mention.text for mention in read("דנה פגשה נועה").mentions}


@pytest.mark.parametrize(
    "text", ["Zofia Żak lives in Łódź.", "Trần Văn Đức works at Hexaline.", "Åsa met Łukasz Groß."]
)
def test_the_letters_of_names_do_not_tell_the_language(text: str) -> None:
    (sentence,) = sentences(text, tokenize(text))
    assert language_of(sentence) is None


def test_the_letters_of_names_say_more_of_a_language_that_its_words_tell() -> None:
    assert said("Åsa Öberg bor i Malmö.") == {"Åsa Öberg LOCATED_IN Malmö"}


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("佐々木美咲はミライ工房で働いています。", "佐々木美咲 WORKS_AT ミライ工房"),
        ("佐々木部長はトヨタで働いています。", "佐々木 WORKS_AT トヨタ"),
        ("田中美月は京都に住んでいます。", "田中美月 LOCATED_IN 京都"),
        ("長谷川エミリーさんはRustを学んでいます。", "長谷川エミリー LEARNING Rust"),
        ("佐々木 美咲はトヨタで働いています。", "佐々木 美咲 WORKS_AT トヨタ"),
        ("マリア・シルバはトヨタで働いています。", "マリア・シルバ WORKS_AT トヨタ"),
        ("高橋工房で田中が働いています。", "田中 WORKS_AT 高橋工房"),
    ],
)
def test_japanese_people_have_a_family_and_a_given_name(text: str, claims: str) -> None:
    assert said(text) == set(claims.split("; "))


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The {} service was built by Petra Novak in Rust.", "Petra Novak BUILDS {}"),
        ("The {} service depends on Kafka.", "{} DEPENDS_ON Kafka"),
        ("{} depends on Kafka.", "{} DEPENDS_ON Kafka"),
        ("{}'s database is PostgreSQL.", "{} USES PostgreSQL"),
        ("{} is maintained by Bruno Keller.", "Bruno Keller SUPPORTS {}"),
        ("Petra Novak maintains {}.", "Petra Novak SUPPORTS {}"),
        ("Decided to use Valkey for {}", "{} USES Valkey"),
        ("{} went live. It depends on Kafka.", "{} DEPENDS_ON Kafka"),
        ("{} is at 0.9 now. The {} app depends on Kafka.", "{} DEPENDS_ON Kafka"),
    ],
)
@pytest.mark.parametrize("name", ["Quillnest", "Marlin", "Jasper", "Iris", "Percy", "Luna", "Max"])
def test_a_given_name_that_behaves_as_a_thing_is_one(text: str, claim: str, name: str) -> None:
    found = read(text.replace("{}", name))
    assert claim.format(name) in said(text.replace("{}", name))
    assert (name, "Project") in {(mention.text, mention.type) for mention in found.mentions}


@pytest.mark.parametrize(
    ("text", "kind"), [("Marlin depends on Kafka.", "Project"), ("Marlin works at Hexaline.", "Person")]
)
def test_a_known_person_is_another_than_the_thing_of_that_name(text: str, kind: str) -> None:
    assert ("Marlin", kind) in {(mention.text, mention.type) for mention in read(text, {"marlin": "Person"}).mentions}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Marlin uses Go. Marlin depends on Kafka.", "Project"),
        ("Marlin uses Go and depends on Kafka.", "Project"),
        ("Gina met Marlin. Marlin uses Go and depends on Kafka.", "Person"),
        ("Marlin uses Go. He depends on Kafka.", "Person"),
        ("Marlin works at Hexaline and depends on Kafka.", "Person"),
    ],
)
def test_what_depends_on_a_tool_is_a_thing_unless_something_tells_a_person(text: str, kind: str) -> None:
    assert {mention.type for mention in read(text, {}).mentions if mention.text == "Marlin"} == {kind}


@pytest.mark.parametrize(
    "text",
    [
        "Alice depends on Bob.",
        "Alice needs PostgreSQL access.",
        "Bob built Alice a house.",
        "Alice's editor is Vim.",
        "Alice went live on Twitch.",
        "We bought Photoshop for Alice.",
        "Alice pushed the fix. It depends on Kafka.",
        "Alice is based in Berlin and maintains Orbit.",
    ],
)
def test_what_people_do_too_makes_no_thing_of_them(text: str) -> None:
    assert ("Alice", "Person") in {(mention.text, mention.type) for mention in read(text).mentions}


def test_it_is_the_unknown_thing_that_the_sentence_before_was_about() -> None:
    assert said("Quillnest is live in production. It uses Redis.") == {"Quillnest USES Redis"}
    assert said("Bob praised Quillnest. It uses Redis.") == set()


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Zadie plays in the Sunday band.", "Zadie MEMBER_OF Sunday band"),
        ("Omar sings in our Thursday choir.", "Omar MEMBER_OF Thursday choir"),
        ("Ann joined the Monday club.", "Ann MEMBER_OF Monday club"),
        ("Bob is a member of the Saturday league.", "Bob MEMBER_OF Saturday league"),
        ("Zadie plays in the jazz band.", "Zadie MEMBER_OF jazz band"),
    ],
)
def test_a_group_may_be_called_by_the_day_on_which_it_meets(text: str, claim: str) -> None:
    assert said(text) == {claim}


@pytest.mark.parametrize("text", ["The Sunday band practice is cancelled.", "On Sunday band practice starts."])
def test_a_day_before_what_happens_then_names_no_group(text: str) -> None:
    assert "Sunday band" not in {mention.text for mention in read(text).mentions}


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        ("Volta GmbH", "Volta", "Volta GmbH"),
        ("Volta", "Volta AG", "Volta"),
        ("Nordwind, Inc.", "Nordwind", "Nordwind Inc."),
    ],
)
def test_a_company_is_one_with_its_legal_form_and_without(first: str, second: str, third: str) -> None:
    text = f"Petra Novak works at {first}. Tomasz works at {second}. Ann works at {third}."
    firm = first.rstrip(".")
    assert said(text) == {f"Petra Novak WORKS_AT {firm}", f"Tomasz WORKS_AT {firm}", f"Ann WORKS_AT {firm}"}


def test_a_place_is_no_company_of_its_name() -> None:
    claims = said("Petra lives in Volta. Tomasz works at Volta GmbH.")
    assert claims == {"Petra LOCATED_IN Volta", "Tomasz WORKS_AT Volta GmbH"}
