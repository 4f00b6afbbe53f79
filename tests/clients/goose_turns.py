"""The real Goose in a whole turn: run by `make test-clients`, which installs it where there is one for the system."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from memory_plane.integration import INSTRUCTIONS, SERVER

from .endpoint import Endpoint, ToolCall
from .people import CLIENTS, Person

SHIPPED = "Shipped the login page of herrington.ai to production"
DECIDED = "Rob pays for the login page in euros"
SETTINGS = Path(".config", "goose", "config.yaml")


@pytest.fixture
def goose() -> str:
    found = sorted((CLIENTS / "node_modules" / ".bin").glob("goose-binary-*"))
    if not found:
        pytest.skip("there is no Goose for this system")
    return str(found[0])


def test_turn_of_goose_reaches_the_memory_and_its_settings_keep_what_is_theirs(person: Person, goose: str) -> None:
    settings = person.home / SETTINGS
    settings.parent.mkdir(parents=True)
    settings.write_text("# mine\nGOOSE_PROVIDER: openai\nGOOSE_MODEL: fake # cheap\nGOOSE_MODE: auto\n", "utf-8")
    before = person.tree()
    person.plane("setup", "goose", "--yes")
    assert SERVER in person.run(goose, "info", "-v")
    person.plane("uninstall", "goose", "--yes")
    assert {name: data for name, data in person.tree().items() if name in before} == before
    person.plane("setup", "goose", "--yes")
    call = ToolCall("memory_post_thought", {"text": DECIDED, "kind": "decision"})
    with Endpoint([call, f"{SHIPPED}."]) as endpoint:
        person.environment |= {"OPENAI_HOST": endpoint.url, "OPENAI_API_KEY": "x", "GOOSE_DISABLE_KEYRING": "1"}
        person.run(goose, "run", "--no-session", "-t", "Please ship the login page of herrington.ai")
        assert {prompt.count(INSTRUCTIONS.partition("\n")[0]) for prompt in endpoint.prompts} == {1}
    person.plane("ingest", "--spool")
    assert {hit["snippet"].rstrip(".") for hit in person.told("recall", "login page")["hits"]} == {SHIPPED, DECIDED}
    assert [beat["agent"] for beat in person.told("pulse")["heartbeats"]] == ["goose"]
    person.plane("uninstall", "goose", "--yes")
    assert SERVER not in yaml.safe_load(settings.read_bytes())["extensions"]  # Goose has written all of it anew
    assert not (person.home / ".agents").exists()
