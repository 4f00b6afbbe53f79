from __future__ import annotations

import json
import runpy
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_plane.redact import redact, redact_value, rules

BENCHMARK = runpy.run_path(str(Path(__file__).parent / "benchmarks" / "redaction.py"))
CASES: dict[str, Any] = json.loads(BENCHMARK["CASES"].read_text("utf-8"))
SECRETS = [case for case in CASES["secrets"] if "hard" not in case]
HARMLESS = [BENCHMARK["expand"](text) for text in CASES["harmless"]]
TEXTS = [BENCHMARK["secrets"](case["text"])[0] for case in CASES["secrets"]]
CANARIES = [secret for case in SECRETS for secret in BENCHMARK["secrets"](case["text"])[2]]
HINTS = sorted({hint for rule in rules() for hint in rule.hints})
PIECES = [*TEXTS, *CANARIES, *HARMLESS, *HINTS, " is ", ": ", "=", '"', "\\", "\n", " ", "://", "@", "[redacted:card]"]


@pytest.mark.parametrize("case", SECRETS, ids=[f"{case['rule']}-{place}" for place, case in enumerate(SECRETS)])
def test_secret_is_cut_and_the_rest_stays(case: dict[str, str]) -> None:
    text, kept, _ = BENCHMARK["secrets"](case["text"])
    assert redact(text) == kept.replace("\0", f"[redacted:{case['rule']}]")


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays(text: str) -> None:
    assert redact(text) == text


def test_every_rule_has_a_case() -> None:
    assert {rule.name for rule in rules()} == {case["rule"] for case in SECRETS}


def test_rules_have_hints_in_lower_case() -> None:
    assert all(hint == hint.lower() for hint in HINTS)


@pytest.mark.parametrize("text", TEXTS)
def test_every_case_is_stable(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=8).map("".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.sampled_from(CANARIES), st.text(max_size=60))
def test_any_text_is_accepted_around_a_secret(before: str, secret: str, after: str) -> None:
    assert isinstance(redact(f"{before} {secret} {after}"), str)


@pytest.mark.parametrize("separator", ["", " ", "\n", "=", '"'])
def test_time_grows_with_the_length_only(separator: str) -> None:
    # Every piece is repeated to 10 kB; what begins again inside its own repetition would take minutes.
    texts = [(piece + separator) * (10_000 // len(piece + separator)) for piece in PIECES if piece.strip()]
    begun = time.perf_counter()
    for text in texts:
        redact(text)
    assert time.perf_counter() - begun < 0.1 * len(texts)


@pytest.mark.parametrize(
    "piece",
    [
        "4111 ",
        "4 ",
        "DE89",
        "a://a:",
        "eyJaaaaaaaaa.",
        "aws key ",
        "?key=",
        "password for a ",
        'password="\\',
        "curl -u a",
        "docker login -",
        "use aaaaa",
        "password to ",
        "password (",
        "| password |",
        "password:\n ",
        "<password><",
        "db_pass:",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\na",
    ],
)
def test_hostile_repetition_is_linear(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    begun = time.perf_counter()
    redact(text)
    assert time.perf_counter() - begun < 2


def test_ordinary_text_runs_no_rule_of_a_vendor() -> None:
    from memory_plane.redact import _due, _lower

    sentence = "Rob from The Zebra will send the FPGA benchmark by Friday; Muse flagged it for Grok Bot this morning"
    assert {rule.name for rule in _due(sentence, _lower(sentence))} == {"card", "iban"}


def test_text_whose_lower_case_is_longer_keeps_its_offsets() -> None:
    assert redact(f"İİİ password: {'hunter' + '2'} İ") == "İİİ password: [redacted:password] İ"


def test_value_keeps_its_shape() -> None:
    value = {"a": ["x", 1, None, True, ("y", 2.5)], "b": {"c": "d"}}
    assert redact_value(value) == value
    assert isinstance(redact_value(value)["a"][4], tuple)


@pytest.mark.parametrize(
    "name",
    ["password", "Password", "db_password", "apiKey", "api-key", "X-API-Key", "access_token", "token", "client.secret",
     "Authorization", "cookie", "credentials", "aws_secret_access_key", "private key"],
)  # fmt: skip
def test_field_that_names_a_secret_makes_its_value_secret(name: str) -> None:
    assert redact_value({name: "plain"}) == {name: "[redacted:field]"}
    assert redact_value({name: ["plain", {"deep": "er"}]}) == {name: ["[redacted:field]", {"deep": "[redacted:field]"}]}
    assert redact_value({name: 7}) == {name: 7}
    assert redact_value({name: ""}) == {name: ""}


@pytest.mark.parametrize(
    "name",
    ["tokens", "max_tokens", "token_count", "key", "primary_key", "public_key", "keyboard", "author", "secretary"],
)
def test_field_that_only_sounds_so_stays(name: str) -> None:
    assert redact_value({name: "plain"}) == {name: "plain"}


def test_keys_and_nested_strings_are_redacted() -> None:
    token = "ghp_" + "a1B2" * 9
    assert redact_value({token: [f"use {token}"]}) == {"[redacted:github-token]": ["use [redacted:github-token]"]}


def test_value_is_stable() -> None:
    once = redact_value({"password": "x", "text": TEXTS})
    assert redact_value(once) == once


def test_value_that_nobody_can_look_through_is_cut() -> None:
    value: Any = "ghp_" + "a1B2" * 9
    for _ in range(500):
        value = [value]
    assert "[redacted:too-deep]" in str(redact_value(value))
