"""What the server decides refines what was found at once; what it does not decide stays as it was."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from memory_plane import Plane
from memory_plane.plugins import PluginManager
from memory_plane.settings import Settings
from memory_plane.testing.contract import *  # noqa: F403
from memory_plane_jev import HOSTED, JevPlugin, JevSettings

MakeServer = Callable[..., Any]
MakeJev = Callable[..., Plane]
Judge = Callable[[Mapping[str, Any], Mapping[str, Any]], Any]

EMPLOYED = "Viktor works at Nexus Labs"


def judge(**verdicts: Any) -> Judge:
    """Answer the questions whose instructions hold a word, with `_` for a space; the rest is left open."""

    def judging(question: Mapping[str, Any], state: Mapping[str, Any]) -> Any:
        for words, verdict in verdicts.items():
            if words.replace("_", " ") in question["instructions"]:
                return verdict
        return 0.5 if question["type"] == "noul" else None

    return judging


def edges(plane: Plane) -> set[tuple[str, str, str, str]]:
    return {(one.source.name, one.relation, one.target.name, one.method) for one in plane.graph().edges}


# --- edges ---------------------------------------------------------------------------------------------------------


def test_edge_gets_the_probability_and_the_provenance_of_the_server(make_server: MakeServer, make_jev: MakeJev) -> None:
    server = make_server(judge(Let_A_be=("WORKS_AT", 0.98)))
    plane = make_jev(server.url, strict=True)
    plane.post(EMPLOYED, agent="muse")
    assert edges(plane) == {("Viktor", "WORKS_AT", "Nexus Labs", "local")}
    assert plane.ingest().enriched == 1
    (edge,) = plane.graph().edges
    assert (edge.method, round(edge.probability, 2)) == ("jev", 0.98)
    assert "0.1.0+jev-test-1" in {json.loads(line).get("version") for line in plane.export()}


def test_edge_that_the_server_surely_denies_is_gone(make_server: MakeServer, make_jev: MakeJev) -> None:
    server = make_server(judge(Let_A_be=("NONE", 0.95)))
    plane = make_jev(server.url, strict=True)
    plane.post(EMPLOYED, agent="muse")
    plane.ingest()
    assert edges(plane) == set()


@pytest.mark.parametrize("verdict", [("NONE", 0.6), ("WORKS_AT", 0.6), None])
def test_edge_of_which_the_server_is_unsure_stays(make_server: MakeServer, make_jev: MakeJev, verdict: Any) -> None:
    plane = make_jev(make_server(judge(Let_A_be=verdict)).url, strict=True)
    plane.post(EMPLOYED, agent="muse")
    plane.ingest()
    assert edges(plane) == {("Viktor", "WORKS_AT", "Nexus Labs", "local")}


def test_relation_that_nobody_claimed_is_found_in_either_direction(make_server: MakeServer, make_jev: MakeJev) -> None:
    plane = make_jev(make_server(judge(Let_A_be=("MANAGES_BACK", 0.9))).url, strict=True)
    plane.post("Viktor and Maria had lunch", agent="muse")
    plane.ingest()
    assert ("Maria", "MANAGES", "Viktor", "jev") in edges(plane)


@pytest.mark.parametrize(
    "text", ["Viktor never works at Nexus Labs", "Does Viktor work at Nexus Labs?", "If Viktor worked at Nexus Labs"]
)
def test_what_a_text_denies_or_asks_is_never_made_an_edge(
    make_server: MakeServer, make_jev: MakeJev, text: str
) -> None:
    plane = make_jev(make_server(judge(Let_A_be=("WORKS_AT", 1.0))).url, strict=True)
    plane.post(text, agent="muse")
    plane.ingest()
    assert edges(plane) == set()


def test_end_of_what_is_over_is_kept(make_server: MakeServer, make_jev: MakeJev) -> None:
    plane = make_jev(make_server(judge(Let_A_be=("WORKS_AT", 0.99))).url, strict=True)
    plane.post("Viktor used to work at Nexus Labs", agent="muse")
    before = edges(plane)
    plane.ingest()
    assert {one[1] for one in edges(plane)} >= {one[1] for one in before} - {"WORKS_AT"}
    current = [one for one in plane.graph().edges if one.relation == "WORKS_AT" and one.valid_until is None]
    assert len(current) <= 1


# --- names ---------------------------------------------------------------------------------------------------------


def test_type_of_a_name_is_refined_and_its_edges_stay(make_server: MakeServer, make_jev: MakeJev) -> None:
    plane = make_jev(make_server(judge(What_is_Nexus_Labs=None)).url, strict=True)
    server = make_server(lambda question, _: ("Project", 0.9) if '"Nexus Labs"' in question["instructions"]
                         and question["type"] == "choice" and "Person" in question["criteria"]
                         else 0.5 if question["type"] == "noul" else None)  # fmt: skip
    plane = make_jev(server.url, strict=True)
    plane.post(EMPLOYED, agent="muse")
    (before,) = plane.graph(about="Nexus Labs").edges
    plane.ingest()
    (edge,) = plane.graph(about="Nexus Labs").edges
    assert (before.target.type, edge.target.type) == ("Organization", "Project")
    assert (edge.target.id, edge.method) == (before.target.id, "local")


def test_two_of_one_name_are_joined_when_the_server_knows_them_for_one(
    make_server: MakeServer, make_jev: MakeJev
) -> None:
    server = make_server(judge(one_and_the_same=0.97))
    plane = make_jev(server.url, strict=True)
    plane.post("Rob works at Stripe", agent="muse")
    plane.post("Rob likes FPGA boards", agent="grok")
    assert len(plane.graph(about="Rob").nodes) > 1
    before = {edge.source.id for edge in plane.graph(about="Rob").edges if edge.source.name == "Rob"}
    plane.ingest()
    after = {node.id for node in plane.graph(about="Rob").nodes if node.name == "Rob"}
    assert len(after) == 1
    assert after <= before
    (asked,) = [one for one in server.questions if one["type"] == "noul"]
    assert asked["instructions"] == 'Is "Rob" in `text` one and the same Person as `known.n1_1`?'
    known = [body["state"]["known"] for _, body in server.requests if "known" in body["state"]]
    assert known == [{"n1_1": {"name": "Rob", "type": "Person", "what_is_known": ["Rob WORKS_AT Stripe"]}}]


def test_one_whose_name_is_spelt_in_two_ways_is_joined_when_the_server_knows_them_for_one(
    make_server: MakeServer, make_jev: MakeJev
) -> None:
    server = make_server(judge(one_and_the_same=0.97))
    plane = make_jev(server.url, strict=True)
    plane.post("Robert Haugen works at Stripe", agent="muse")
    plane.post("Rob Haugen likes FPGA boards", agent="grok")
    assert [{one.one.name, one.other.name} for one in plane.reviews()] == [{"Robert Haugen", "Rob Haugen"}]
    plane.ingest()
    assert plane.reviews() == []
    assert [node.name for node in plane.search("Haugen")] == ["Robert Haugen"]


def test_two_of_one_name_stay_two_when_the_server_tells_them_apart(make_server: MakeServer, make_jev: MakeJev) -> None:
    plane = make_jev(make_server(judge(one_and_the_same=0.02)).url, strict=True)
    plane.post("Rob works at Stripe", agent="muse")
    plane.post("Rob uses Kubernetes", agent="muse")  # the same agent speaks for one Rob, as local sees it
    assert len({node.id for node in plane.graph(about="Rob").nodes if node.name == "Rob"}) == 1
    plane.ingest()
    assert len({node.id for node in plane.graph(about="Rob").nodes if node.name == "Rob"}) == 2
    named = {(one.source.id, one.target.name) for one in plane.graph().edges}
    assert len({source for source, target in named if target in ("Stripe", "Kubernetes")}) == 2


@pytest.mark.parametrize(("probability", "doubted"), [(0.5, True), (0.02, False)])
def test_person_is_asked_about_those_of_whom_the_server_is_unsure(
    make_server: MakeServer, make_jev: MakeJev, probability: float, doubted: bool
) -> None:
    plane = make_jev(make_server(judge(one_and_the_same=probability)).url, strict=True)
    plane.post("Rob works at Stripe", agent="muse")
    plane.post("Rob likes FPGA boards", agent="grok")
    plane.ingest()
    pairs = [one.probability for one in plane.reviews() if {one.one.name, one.other.name} == {"Rob"}]
    assert pairs == ([probability] if doubted else [])


def test_rebuild_and_another_order_give_the_same(make_server: MakeServer, make_jev: MakeJev) -> None:
    plane = make_jev(make_server(judge(one_and_the_same=0.97, Let_A_be=("USES", 0.9))).url, strict=True)
    for text, agent in (("Rob works at Stripe", "muse"), ("Rob uses Rust", "grok"), ("Rob met Ann at Acme", "grok")):
        plane.post(text, agent=agent)
    plane.ingest()
    before = plane.graph(limit=100)
    plane.rebuild()
    assert plane.graph(limit=100) == before


# --- attention -----------------------------------------------------------------------------------------------------


def test_attention_is_scored_for_all_agents_in_one_request(make_server: MakeServer, make_jev: MakeJev) -> None:
    server = make_server(judge(How_much=(3, 1.0)))
    plane = make_jev(server.url, strict=True)
    plane.heartbeat(agent="grok", focus="FPGA research")
    plane.heartbeat(agent="claude", focus="tax forms")
    plane.post("the vendor ships FPGA boards", agent="muse")
    plane.ingest()
    for agent in ("grok", "claude"):
        (heard,) = plane.graph(agent=agent, min_attention=0.9).attention
        assert (heard.attention, heard.reason) == (1.0, "needed for what it does now")
    (asked,) = [body for _, body in server.requests if "agents" in body["state"]]
    assert {one["works_on"] for one in asked["state"]["agents"].values()} == {"FPGA research", "tax forms"}


def test_attention_is_lowered_but_never_that_of_whom_the_writer_addressed(
    make_server: MakeServer, make_jev: MakeJev
) -> None:
    plane = make_jev(make_server(judge(How_much=(0, 1.0))).url, strict=True)
    plane.heartbeat(agent="grok", focus="FPGA research")
    plane.post("the vendor ships FPGA boards", agent="muse")
    assert plane.graph(agent="grok", min_attention=0.3).attention
    plane.ingest()
    assert not plane.graph(agent="grok", min_attention=0.3).attention
    plane.post("Can you check the boards?", kind="question", to="grok", agent="muse")
    plane.ingest()
    assert [one.text for one in plane.graph(agent="grok", min_attention=0.9).attention] == ["Can you check the boards?"]


# --- what is sent --------------------------------------------------------------------------------------------------


def test_secret_and_what_was_held_back_or_retracted_are_not_sent(make_server: MakeServer, make_jev: MakeJev) -> None:
    server = make_server()
    plane = make_jev(server.url, strict=True, api_key="sk-hush")
    plane.post("Viktor's password: x9Kq2LmP8 at Nexus Labs", agent="muse")
    plane.post("Held Harry works at Acme", agent="muse", origin="external", held=True)
    plane.retract(plane.post("Gone Gustav works at Acme", agent="muse").id, agent="muse")
    plane.post("Eve works at Acme", agent="muse", origin="external")
    plane.ingest()
    sent = json.dumps([body for _, body in server.requests])
    assert all(word not in sent for word in ("x9Kq2LmP8", "Harry", "Gustav", "sk-hush"))
    assert {headers["authorization"] for headers, _ in server.requests} == {"Bearer sk-hush"}
    assert '"words_of": "other people"' in sent


def test_long_text_is_cut_and_its_questions_are_shared_out(make_server: MakeServer, make_jev: MakeJev) -> None:
    server = make_server()
    plane = make_jev(server.url, strict=True)
    people = ["Viktor", "Maria", "Daniel", "Alice", "Robert", "Susan", "James", "Linda", "Karen", "Peter"]
    plane.post(". ".join(f"{one} works at Acme{n} with {two}" for n, (one, two) in
                         enumerate(zip(people * 40, people[1:] * 40, strict=False))), agent="muse")  # fmt: skip
    plane.ingest()
    assert 1 <= len(server.requests) <= 8
    for _, body in server.requests:
        assert len(json.dumps(body, ensure_ascii=False).encode()) < 32_000
        assert len(body["state"]["text"]) <= 8_000
        for question in body["questions"].values():
            assert len(question["criteria"]) <= 48


def test_text_without_names_costs_nothing(make_server: MakeServer, make_jev: MakeJev) -> None:
    server = make_server()
    plane = make_jev(server.url, strict=True)
    plane.post("it rained all day", agent="muse")
    plane.ingest()
    assert server.requests == []


def test_cap_of_a_day_stops_the_asking_and_loses_nothing(make_server: MakeServer, make_jev: MakeJev) -> None:
    server = make_server()
    plane = make_jev(server.url, daily_tokens=10)
    plane.post(EMPLOYED, agent="muse")
    for _ in range(10):
        assert plane.ingest().enriched == 0
    assert server.requests == []
    assert plane.status().waiting == 1
    assert "cap of 10 tokens a day (daily_tokens) used up, local answers until" in str(plane.plugins.failures[-1])
    assert plane.status().failures == ()


# --- settings ------------------------------------------------------------------------------------------------------


def test_variables_of_the_vendor_come_after_our_own(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TYPESAFE_API_KEY", " sk-theirs ")
    monkeypatch.setenv("TYPESAFE_BASE_URL", "https://theirs.example/")
    monkeypatch.setenv("TYPESAFE_DEFAULT_MODEL", "jev-1.14.0")
    theirs = JevSettings()
    assert theirs.api_key is not None
    assert (theirs.api_key.get_secret_value(), theirs.url, theirs.model) == (
        "sk-theirs", "https://theirs.example", "jev-1.14.0",
    )  # fmt: skip
    monkeypatch.setenv("MEMORY_PLANE_JEV_BASE_URL", "https://ours.example")
    assert JevSettings.model_validate({"model": "kev"}).url == "https://ours.example"
    assert JevSettings.model_validate({"model": "kev"}).model == "kev"
    assert "sk-theirs" not in repr(theirs)


def test_neither_address_nor_key_means_that_nothing_is_asked(make_jev: MakeJev) -> None:
    assert JevSettings().url is None
    plane = make_jev(None, strict=True)
    plane.post(EMPLOYED, agent="muse")
    assert plane.ingest().enriched == 0
    assert plane.status().waiting == 0
    assert JevSettings.model_validate({"api_key": "sk"}).url == HOSTED


def test_what_is_sent_and_where_to_is_told(make_jev: MakeJev) -> None:
    for url, told in ((None, None), ("http://127.0.0.1:9", "names and what is known of them to http://127.0.0.1:9")):
        (sends,) = (info.sends for info in make_jev(url).plugins.infos() if info.name == "jev")
        assert sends is None if told is None else str(sends).endswith(told)


def test_key_in_the_environment_is_no_consent(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TYPESAFE_API_KEY", "sk")
    monkeypatch.delenv("MEMORY_PLANE_PLUGINS__ENABLED")
    states = {info.name: info.state for info in PluginManager.load(Settings.load()).infos()}
    assert states["jev"] == "not enabled"


@pytest.mark.parametrize(
    "table",
    [{"api_key": "sk hush"}, {"base_url": "http://192.168.1.5"}, {"base_url": "x"}, {"timeout": 0}, {"accept": 0.2}],
)
def test_setting_that_makes_no_sense_is_refused_without_the_key(home: Any, table: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        JevSettings.model_validate(table)
    assert "sk hush" not in str(caught.value)


def test_plain_address_in_the_house_may_be_allowed(home: Any) -> None:
    assert JevSettings.model_validate({"base_url": "http://192.168.1.5", "allow_plain": True}).url


def test_model_is_asked_by_the_name_that_is_set(make_server: MakeServer, make_jev: MakeJev) -> None:
    server = make_server()
    plane = make_jev(server.url, strict=True, model="kev-4b")
    plane.post(EMPLOYED, agent="muse")
    plane.ingest()
    assert {body["model"] for _, body in server.requests} == {"kev-4b"}


def test_plugin_without_a_home_counts_in_memory() -> None:
    plugin = JevPlugin(JevSettings.model_validate({"base_url": "http://127.0.0.1:1"}))
    assert plugin.server is not None
    assert plugin.server.remote.spending.today() == 0
    plugin.close()


# --- whatever it says ----------------------------------------------------------------------------------------------

TEXTS = (
    "Rob works at Stripe and knows Ann", "Ann leads Atlas. Atlas depends on Rust", "Rob met Ann Lee in Lisbon",
    "Stripe uses Rust", "Rob used to work at Acme", "Ann moved to Lisbon", "Atlas is blocked by Acme",
    "I met Rob, the CTO of Acme", "Lisbon is where Rob and Ann work on Atlas", "Rob never uses Rust",
)  # fmt: skip


def dump(plane: Plane) -> dict[str, list[tuple[Any, ...]]]:
    """All that is folded, by ids that are the same in every store."""
    node = "(SELECT id FROM graph_nodes WHERE key = {})"
    queries = {
        "nodes": "SELECT id, type, name, slug FROM graph_nodes",
        "aliases": f"SELECT name, {node.format('node')}, part, uses FROM aliases",
        "mentions": f'SELECT seq, start, "end", {node.format("node")} FROM mentions',
        "edges": f"SELECT {node.format('source')}, relation, {node.format('target')}, probability, method "
        "FROM graph_edges",
        "attention": "SELECT agent, seq, score, reason FROM attention",
    }
    with plane.database.reading() as connection:
        return {name: sorted(map(tuple, connection.exec_driver_sql(query)), key=str) for name, query in queries.items()}


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_answered_a_rebuild_gives_the_same_and_retraction_leaves_nothing(
    make_server: MakeServer, make_jev: MakeJev, seed: int
) -> None:
    chance = random.Random(seed)

    def judging(question: Mapping[str, Any], state: Mapping[str, Any]) -> Any:
        if question["type"] == "noul":
            return chance.choice([0.01, 0.5, 0.99])
        if question["type"] == "score":
            return chance.choice([None, 0, 3])
        return chance.choice([None, (chance.choice([*question["criteria"]]), 0.97)])

    plane = make_jev(make_server(judging).url, strict=True)
    plane.heartbeat(agent="claude", focus="Atlas")
    written = [plane.post(text, agent=chance.choice(["muse", "grok"]), origin=chance.choice(["agent", "external"])).id
               for text in TEXTS]  # fmt: skip
    before = dump(plane)
    plane.ingest()
    after = dump(plane)
    assert after != before
    plane.rebuild()
    assert dump(plane) == after
    for id in written:
        plane.retract(id, agent="muse")
    assert {name: rows for name, rows in dump(plane).items() if rows} == {}


# --- what persons have said ----------------------------------------------------------------------------------------


def robs(plane: Plane) -> list[str]:
    return sorted({node.id for node in plane.graph(about="Rob").nodes if node.name == "Rob"})


def two_robs(plane: Plane) -> list[str]:
    plane.post("Rob works at Stripe", agent="muse")
    plane.post("Rob likes FPGA boards", agent="grok")
    found = robs(plane)
    assert len(found) == 2
    return found


def test_those_whom_a_person_keeps_apart_are_not_joined(make_server: MakeServer, make_jev: MakeJev) -> None:
    plane = make_jev(make_server(judge(one_and_the_same=0.99)).url, strict=True)
    found = two_robs(plane)
    assert plane.distinct(found, agent="user").state == "stored"
    plane.ingest()
    assert robs(plane) == found


def test_those_whom_a_person_keeps_apart_later_are_two_again(make_server: MakeServer, make_jev: MakeJev) -> None:
    plane = make_jev(make_server(judge(one_and_the_same=0.99)).url, strict=True)
    two_robs(plane)
    plane.ingest()
    (rob,) = robs(plane)
    second = plane.recall("FPGA").hits[0].id
    assert plane.split(rob, [second], agent="user").state == "stored"
    assert len(robs(plane)) == 2


def test_those_whom_a_person_joined_stay_one(make_server: MakeServer, make_jev: MakeJev) -> None:
    plane = make_jev(make_server(judge(one_and_the_same=0.01)).url, strict=True)
    found = two_robs(plane)
    assert plane.merge_nodes(found[0], found[1], agent="user").state == "stored"
    assert robs(plane) == [found[1]]
    plane.ingest()
    assert robs(plane) == [found[1]]
