"""What a model is told of types and relations is what the tables say."""

from __future__ import annotations

from memory_plane.vocabulary.catalogue import between, relations, types


def test_relations_of_both_seeds_are_there() -> None:
    wanted = """WORKING_ON COMMITTED_TO INTRODUCED_TO BLOCKED_BY DEPENDS_ON MANAGES BUILT_IN WORKS_AT
        PREVIOUSLY_WORKED_AT HAS_ROLE CTO_OF BUILDS USES LOCATED_IN SUPPORTS MEMBER_OF LEADS SUGGESTED LEARNING KNOWS
        OWNS"""
    assert set(wanted.split()) <= set(relations())


def test_relation_joins_the_types_of_all_its_senses() -> None:
    assert {"WORKS_AT", "CTO_OF", "FOUNDER_OF"} <= set(between("Person", "Organization"))
    assert "WORKS_AT" not in between("Organization", "Person")
    assert "BUILT_IN" in between("Project", "Language")
    assert between("Place", "Place") == ()


def test_meaning_is_a_few_phrases_in_reading_order() -> None:
    assert relations()["WORKS_AT"].meaning == "work at; work for; be employed by"
    assert all(relation.meaning and "<" not in relation.meaning for relation in relations().values())


def test_each_type_has_a_meaning() -> None:
    assert {"Person", "Organization", "Project", "Tool", "Place", "Agent"} <= set(types())
    assert all(types().values())
