"""`memory-plane correct`, `memory_correct` and the hub: the same corrections, tried, made and taken back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from memory_plane import Plane, Plugin, hookimpl
from memory_plane.surfaces.mcp_server import answer
from memory_plane.surfaces.mcp_tools import CORE, by_name
from memory_plane.types import Candidate, Classification, Extraction, Memory, Mention, Resolution, new_node_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from click.testing import Result

Run = Callable[..., "Result"]


class PeoplePlugin(Plugin):
    """Takes every capitalised word for a person of its own, who may be any other one of a like name."""

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        found = re.finditer(r"\b[A-Z]\w+", memory.text)
        return Extraction(
            mentions=tuple(
                Mention(text=one[0], type="Person", start=one.start(), end=one.end(), confidence=1) for one in found
            )
        )

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
        resolutions = tuple(
            Resolution(mention=one, node=new_node_id(memory.id, one), probability=1) for one in found.mentions
        )
        doubts = tuple(Resolution(mention=one.mention, node=one.node.id, probability=0.5) for one in candidates)
        return Classification(resolutions=resolutions, doubts=doubts)


@pytest.fixture
def run(commands: Callable[[Plugin], Run]) -> Run:
    """Run a command in a memory that knows José, Jose and two called Rob."""
    run = commands(PeoplePlugin())
    for text in ("José left", "Jose came", "Rob sings", "Rob swims"):
        assert run("post", text).exit_code == 0
    return run


def names(run: Run, name: str) -> list[str]:
    return [node["name"] for node in json.loads(run("graph", "--about", name, "--json").output)["nodes"]]


def test_a_merge_is_tried_made_and_taken_apart(run: Run) -> None:
    tried = run("correct", "merge", "Jose", "José", "--dry-run")
    assert tried.exit_code == 0, tried.output
    assert any(line.startswith("+ node:person:josé José (Person, also jose;") for line in tried.output.splitlines())
    assert names(run, "Jose") == ["Jose"]
    made = run("correct", "merge", "Jose", "José")
    assert made.output.startswith("stored ")
    assert names(run, "Jose") == ["José"]
    assert "name the memories that are another's" in run("correct", "split", "José").output
    assert run("correct", "split", made.output.split()[1]).exit_code == 0
    assert names(run, "Jose") == ["Jose"]


def test_a_name_of_several_is_refused_with_their_slugs(run: Run) -> None:
    refused = run("correct", "alias", "add", "Rob", "Bobby")
    assert refused.exit_code == 1
    assert "node:person:rob" in refused.output
    assert "node:person:rob-2" in refused.output
    assert run("correct", "alias", "add", "node:person:rob-2", "Bobby").exit_code == 0
    assert names(run, "Bobby") == ["Rob"]
    assert run("correct", "alias", "remove", "node:person:rob-2", "Bobby").exit_code == 0
    assert "nothing in the graph is called 'Bobby'" in run("graph", "--about", "Bobby").output
    assert "nothing is called 'Nobody'" in run("correct", "distinct", "Nobody", "José").output


def test_a_name_means_who_has_that_very_name_before_who_is_called_so_too(run: Run) -> None:
    assert run("correct", "alias", "add", "José", "Jose").exit_code == 0
    assert run("correct", "merge", "jose", "José").output.startswith("stored ")


def test_a_name_that_a_node_has_not_is_not_taken_from_it(run: Run) -> None:
    refused = run("correct", "alias", "remove", "José", "Pettersen")
    assert (refused.exit_code, "the node is not called 'Pettersen'" in refused.output) == (1, True)
    assert "the node is not called" in run("correct", "alias", "remove", "José", "Pettersen", "--dry-run").output


def test_a_dry_run_says_which_pair_would_need_no_review(run: Run) -> None:
    tried = run("correct", "distinct", "Jose", "José", "--dry-run")
    assert [line[0] for line in tried.output.splitlines()] == ["-", "+"]
    assert "may be one, for review" in tried.output
    assert "are two" in tried.output
    made = run("correct", "distinct", "Jose", "José").output.split()[1]
    taken_back = run("correct", "retract", made, "--dry-run").output.splitlines()
    assert sorted(line[1:] for line in taken_back) == sorted(line[1:] for line in tried.output.splitlines())


def test_pairs_are_listed_until_they_are_judged(run: Run) -> None:
    pairs = json.loads(run("correct", "review", "--json").output)
    assert {frozenset((pair["one"]["name"], pair["other"]["name"])) for pair in pairs} == {
        frozenset(("Jose", "José")),
        frozenset(("Rob",)),
    }
    for pair in pairs:
        assert run("correct", "distinct", pair["one"]["id"], pair["other"]["id"]).exit_code == 0
    assert "nothing to judge" in run("correct", "review").output


def test_an_entry_is_superseded_retracted_and_released(run: Run) -> None:
    written = run("post", "Ann lives in Oslo").output.split()[1]
    tried = run("correct", "supersede", written, "Ann lives in Rome", "--dry-run")
    assert "- thought" in tried.output
    assert "+ Ann lives in Rome" in tried.output
    new = run("correct", "supersede", written, "Ann lives in Rome").output.split()[1]
    assert "Rome" in run("recall", "Ann lives").output
    assert "Oslo" not in run("recall", "Ann lives").output
    assert run("correct", "retract", new, "--reason", "she moved").exit_code == 0
    assert "Rome" not in run("recall", "Ann lives").output
    held = run("post", "Zoe pays", "--held").output.split()[1]
    assert "+ thought" in run("correct", "release", held, "--dry-run").output
    assert run("correct", "release", held).exit_code == 0


def test_agents_correct_in_the_same_words(open_plane: Callable[..., Plane]) -> None:
    plane = open_plane(PeoplePlugin())
    specs = by_name(CORE)

    def call(tool: str, **given: Any) -> Any:
        result = answer(plane, "muse", specs[tool], given)
        return result.structured_content if not result.is_error else result.content[0].text  # type: ignore[union-attr]

    entries = [plane.post(text, agent="muse").id for text in ("José left", "Jose came", "Jose sang")]
    (pair, *_) = call("memory_get_pulse", section="reviews")["reviews"]
    assert {"one", "other", "probability", "evidence", "text"} <= pair.keys()
    tried = call("memory_correct", action="merge", target="José", to="node:person:jose", dry_run="yes")
    assert tried["state"] == "tried"
    assert any(change["text"].startswith("- node:person:josé") for change in tried["changes"])
    merged = call("memory_correct", action="merge", target="José", to="node:person:jose")
    assert plane.nodes("José")[0].name == "Jose"
    assert call("memory_correct", action="retract", target=merged["id"])["state"] == "stored"
    assert call("memory_correct", action="distinct", target="José", to="node:person:jose")["state"] == "stored"
    assert call("memory_correct", action="alias", target="José", to="Pepe")["state"] == "stored"
    assert [node.name for node in plane.nodes("Pepe")] == ["José"]
    assert call("memory_correct", action="unalias", target="José", to="Pepe")["state"] == "stored"
    split = call("memory_correct", action="split", target="node:person:jose", to=entries[1][:8])
    assert split["state"] == "stored"
    new = call("memory_correct", action="supersede", target=entries[2][:8], to="Jose sang well")
    assert [one.text for one in plane.thoughts(limit=1)] == ["Jose sang well"]
    assert new["state"] == "stored"
    assert call("memory_correct", action="merge", target="Jose", to="José").startswith("target: 'Jose' may be ")
    assert call("memory_correct", action="merge", target="José").startswith("to: missing")
    assert call("memory_correct", action="alias", target="José", to="Jose")["state"] == "stored"
    assert call("memory_correct", action="alias", target="node:person:jose-2", to="José")["state"] == "stored"
    assert call("memory_correct", action="alias", target="José", to="Joe")["state"] == "stored"
    assert [node.name for node in plane.nodes("Joe")] == ["José"]
