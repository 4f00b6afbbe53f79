"""Requests that nobody thought of, made from the OpenAPI description: whatever comes, the hub keeps to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.core.result import Ok
from starlette.testclient import TestClient

from memory_plane import Plane
from memory_plane.plugins import PluginManager
from memory_plane.settings import Settings
from memory_plane.surfaces.api import create_app

PORT = 8788
HUB = f"http://127.0.0.1:{PORT}"
TRUSTED = {"Authorization": f"Bearer {'t' * 43}"}
EXAMPLES = settings.get_profile("length").max_examples // 4
"""Requests for each endpoint and each of the two ways to make them: by the description, and against it."""
ENDLESS = "/api/events"
PAIRS = ("/api/status",)
"""Answers with pairs of two types, which schemathesis writes as an older draft would and then takes for invalid."""

bounded = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, empty_database: Path) -> Iterator[TestClient]:
    """One hub for all requests: what one of them leaves behind, the next one meets."""
    home = tmp_path_factory.mktemp("hub")
    copy(empty_database, home / "memory.db")
    options: Any = {"home": home, "synchronous": "normal", "plugins": {"enabled": []}}
    with Plane(Settings(**options), plugins=PluginManager()) as plane:
        app = create_app(plane, token="t" * 43, port=PORT)
        with TestClient(app, base_url=HUB, raise_server_exceptions=False) as client:
            yield client


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.value)
def test_no_request_fails_the_hub_or_gets_an_answer_that_is_not_described(
    hub: TestClient, mode: GenerationMode
) -> None:
    schema = schemathesis.openapi.from_dict(hub.get("/openapi.json", headers=TRUSTED).json())
    tried = 0
    for result in schema.get_all_operations():
        assert isinstance(result, Ok), result
        operation = result.ok()
        if operation.path == ENDLESS or (mode is GenerationMode.NEGATIVE and _takes_nothing(operation)):
            continue

        @bounded
        @given(case=operation.as_strategy(generation_mode=mode))
        def attempt(case: Case[Any]) -> None:
            _check(hub, case)

        attempt()
        tried += 1
    assert tried >= 20


def _takes_nothing(operation: Any) -> bool:
    return not (operation.body or operation.query or operation.path_parameters)


def _check(hub: TestClient, case: Case[Any]) -> None:
    """Send a request and compare the answer with the description: status, type and content."""
    given = case.as_transport_kwargs(base_url=HUB, headers=TRUSTED)
    sent = {name: given[name] for name in ("params", "headers", "json", "cookies") if given.get(name)}
    if given.get("data") is not None:
        sent["content"] = given["data"]
    answer = hub.request(given["method"], given["url"], **sent)
    assert answer.status_code < 500, answer.text
    told = case.operation.definition.raw["responses"]
    assert str(answer.status_code) in told, (answer.status_code, answer.text)
    (kind,) = {answer.headers["content-type"].partition(";")[0]} & set(told[str(answer.status_code)]["content"])
    if kind == "application/json" and case.operation.path not in PAIRS:
        case.operation.validate_response(answer)
