"""What agents report of their work and of the person they work for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_plane.types import Extraction, Memory
from memory_plane_local.extraction import extract

WRITTEN = datetime(2026, 11, 29, 12, tzinfo=UTC)


def read(text: str) -> Extraction:
    return extract(Memory(id="m", agent="codex", kind="thought", text=text, created_at=WRITTEN, origin="agent"))


def said(text: str) -> set[str]:
    claims = read(text).claims
    return {f"{one.subject.text} {one.relation} {one.object.text}" for one in claims if one.polarity == "positive"}


def types(text: str) -> dict[str, str]:
    return {mention.text: mention.type for mention in read(text).mentions}


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("The user prefers Pixi over conda.", {"me PREFERS Pixi"}),
        ("User said their daughter Ella starts school in May.", {"me FAMILY_OF Ella"}),
        ("The user's wife Nora works at Philips.", {"me FAMILY_OF Nora", "Nora WORKS_AT Philips"}),
        ("User's manager is Gwen Abara.", {"Gwen Abara MANAGES me"}),
        ("The user now works remotely for Fieldstone.", {"me WORKS_AT Fieldstone"}),
        ("The user's startup is called Mossgrove; it is based in Utrecht.",
         {"me OWNS Mossgrove", "Mossgrove LOCATED_IN Utrecht"}),
    ],
)  # fmt: skip
def test_the_user_of_whom_an_agent_speaks_is_the_person_whose_memory_it_is(text: str, claims: set[str]) -> None:
    assert said(text) == claims


@pytest.mark.parametrize(
    "text",
    [
        "When the user uses Safari, the page flickers.",
        "Let the user choose Postgres.",
        "The user can use Chrome.",
        "The user does not use Slack.",
        "The user table uses Postgres partitions.",
        "Each user has a Stripe customer.",
        "Asked the user",
        "User",
    ],
)
def test_any_user_of_a_program_is_nobody(text: str) -> None:
    assert not {claim for claim in said(text) if claim.startswith("me ")}


@pytest.mark.parametrize(
    "text",
    [
        "We should ask legal before we use the Getty images.",
        "Nothing ships until Orbit runs on Kafka.",
        "Not merging unless Atlas uses Postgres.",
    ],
)
def test_what_must_come_first_is_not_so_yet(text: str) -> None:
    assert not {claim for claim in said(text) if " USES " in claim}


def test_what_was_so_before_something_happened_is_still_read() -> None:
    assert "Atlas USES Kafka" in said("The load was fine before Atlas moved to Kafka.")


@pytest.mark.parametrize(
    "text",
    [
        "[2026-03-02 09:14:07] INFO worker-3 uses image registry.local/Atlas:5f2c",
        "WARN retrying request to Mapbox",
        "$ git push origin Orbit",
    ],
)
def test_what_a_program_wrote_names_nobody(text: str) -> None:
    assert not read(text).mentions


def test_a_warning_of_a_person_is_no_log() -> None:
    assert said("WARNING: Atlas depends on Redis.") == {"Atlas DEPENDS_ON Redis"}


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Set up a GitHub Actions workflow that deploys to Fly.io.",
         {"codex BUILDS GitHub Actions workflow", "codex USES GitHub Actions", "GitHub Actions workflow USES Fly.io"}),
        ("Kubernetes upgrade to 1.31 blocked by Istio.", {"Kubernetes upgrade BLOCKED_BY Istio"}),
        ("Waiting on review from Dmitri.", {"codex BLOCKED_BY Dmitri"}),
        ("Bumped pydantic to 2.9.", {"codex CHANGED pydantic"}),
        ("Installed Playwright and wrote e2e tests.", {"codex USES Playwright"}),
        ("Orbit's database is Postgres.", {"Orbit USES Postgres"}),
        ("Added Sentry to the checkout service.", {"checkout service USES Sentry"}),
        ("Add Sentry to the checkout service.", set()),
        ("We should add Sentry to the checkout service.", set()),
        ("Have not added Sentry to the checkout service.", set()),
        ("Orbit's CI moved from CircleCI to GitHub Actions.", {"Orbit USES GitHub Actions"}),
        ("Did not install Sentry.", set()),
        ("Fixed a race in the outbox flusher, merged as PR #207.", {"codex CHANGED outbox flusher"}),
        ("Implemented rate limiting in gatekeeper-api.", {"codex CHANGED gatekeeper-api"}),
        ("Maya added a dark mode to Orbit.", {"Maya CHANGED Orbit"}),
        ("Implemented the parser in Rust.", {"codex BUILDS parser", "parser USES Rust"}),
        ("Fixed it in the last hour.", set()),
        ("Bob fixed a leak in the kitchen.", set()),
        ("Fix a race in the outbox flusher.", set()),
        ("chore(deps): bump vite from 5.4 to 6.0", {"codex CHANGED vite"}),
        ("feat(search): replace Elasticsearch with Typesense in orbit-api", {"orbit-api USES Typesense"}),
        ("Fix: use pnpm", set()),
        ("Blocked by missing TLS cert.", {"codex BLOCKED_BY missing TLS cert"}),
        ("Atlas is stuck on flaky network tests.", {"Atlas BLOCKED_BY flaky network tests"}),
        ("Waiting for two more weeks.", set()),
        ("Deployed api v2 to staging.", set()),
        ("Added Playwright tests to storefront-web.", {"storefront-web USES Playwright"}),
        ("Added tests and wired up Codecov.", {"codex USES Codecov"}),
        ("Upgraded tokio from 1.38 to 1.40 in relay-core.", {"relay-core USES tokio", "codex CHANGED tokio"}),
    ],
)  # fmt: skip
def test_what_coding_agents_did_and_wait_for(text: str, claims: set[str]) -> None:
    assert said(text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Rob from The Zebra wants a demo.", {"Rob WORKS_AT The Zebra"}),
        ("Alex handles product, Sam handles sales.", {"Alex LEADS product", "Sam LEADS sales"}),
        ("Sam handles refunds today.", set()),
        ("Accel led Initech's Series A.", {"Accel INVESTED_IN Initech"}),
        ("Champion at Initech is Dana Cole.", {"Dana Cole WORKS_AT Initech"}),
        ("Henrike left Sennheiser; our new contact there is Malte Voss.",
         {"Henrike PREVIOUSLY_WORKED_AT Sennheiser", "Malte Voss WORKS_AT Sennheiser", "Malte Voss HAS_ROLE contact"}),
        ("Heliogen Labs raised a $40M Series B led by Lowercarbon Capital.",
         {"Lowercarbon Capital INVESTED_IN Heliogen Labs"}),
        ("Read 'Sparse Retrieval at Scale' by Ines Okafor and Jonas Weiss.",
         {"Ines Okafor BUILDS Sparse Retrieval at Scale", "Jonas Weiss BUILDS Sparse Retrieval at Scale"}),
    ],
)  # fmt: skip
def test_notes_of_sales_and_research(text: str, claims: set[str]) -> None:
    assert said(text) == claims


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("The customer (Hallmark Logistics) wants SSO.", "Hallmark Logistics", "Organization"),
        ("Opened PR #88 on tessellate.", "tessellate", "Project"),
        ("My bakery is called Crumbly.", "Crumbly", "Organization"),
        ("murmur is a Zig library for testing.", "murmur", "Project"),
        ("Reviewed by Osk and Mirela.", "Osk", "Person"),
        ("Present: Osk, Thrain.", "Thrain", "Person"),
        ("Account: Tidewell", "Tidewell", "Organization"),
        ("Met Ana at St. Brigid's Hospital.", "St. Brigid's Hospital", "Organization"),
    ],
)
def test_what_something_is_by_what_stands_around_it(text: str, name: str, kind: str) -> None:
    assert types(text)[name] == kind


@pytest.mark.parametrize(
    "text",
    [
        "The cause is an N+1 query.",
        "Left the DAGs and CRDs untouched.",
        "Renewal: closes 30 Jan.",
        "Handover: nothing to report.",
        "Pairing on Thursdays.",
        "The invoice is 1,200 EUR.",
        "lunch is a game",
        "Reviewed by Legal.",
    ],
)
def test_labels_letters_and_abbreviations_are_no_names(text: str) -> None:
    assert not {name for name, kind in types(text).items() if kind != "Commitment"} - {"Legal"}
    assert types(text).get("Legal") != "Person"


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("murmur is a Zig library for testing, maintained by Annika Lehto.",
         {"murmur USES Zig", "Annika Lehto SUPPORTS murmur"}),
        ("perch-sync: Rust daemon for notes.", {"perch-sync USES Rust"}),
        ("- Kestrel: pricing engine (Go, Postgres)", {"Kestrel USES Go", "Kestrel USES Postgres"}),
        ("Kestrel: Ana (Go)", {"Ana USES Go"}),
        ("Competitor check: Parcelbird is built on Rails, hosted on Render.",
         {"Parcelbird USES Rails", "Parcelbird USES Render"}),
        ("Orrery reads from Snowflake and Orbit stores sessions in Redis.",
         {"Orrery USES Snowflake", "Orbit USES Redis"}),
        ("Orbit stores sessions in Redis.", {"Orbit USES Redis"}),
        ("Orbit does not write to Kafka.", set()),
        ("Maya writes to Slack.", set()),
        ("Tried swapping Webpack for Rspack in Orbit.", set()),
        ("Replaced the polling loop in tide-worker.", {"codex CHANGED tide-worker"}),
        ("Present: Håkon Vik (NVE), Saoirse.", {"Håkon Vik WORKS_AT NVE"}),
        ("Check: Orbit uses Kafka.", set()),
        ("Hypothesis: Zalando switched from Kafka to Pulsar.", set()),
        ("Goal: Orbit runs on Kafka.", set()),
    ],
)  # fmt: skip
def test_lines_of_readmes_and_lines_with_a_label(text: str, claims: set[str]) -> None:
    assert said(text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Esi runs fundraising, Marek runs volunteers, and both report to Chantal.",
         {"Esi LEADS fundraising", "Marek LEADS volunteers", "Chantal MANAGES Esi", "Chantal MANAGES Marek"}),
        ("The keys are in Doppler, and Renate at Initech leads sales.",
         {"Renate WORKS_AT Initech", "Renate LEADS sales"}),
        ("The user is freelancing for two clients: Tidewell and Fjordly.",
         {"me WORKS_AT Tidewell", "me WORKS_AT Fjordly"}),
        ("Novantia acquired the Lisbon startup Fleetlane.", {"Novantia ACQUIRES Fleetlane"}),
        ("Ruth and Abel got engaged!", {"Ruth FAMILY_OF Abel"}),
        ("grandma Aiko lives in Sapporo, uncle Kenji in Osaka", {"Aiko LOCATED_IN Sapporo"}),
        ("Nina lives in Oslo with husband Tom.", {"Nina LOCATED_IN Oslo", "Nina FAMILY_OF Tom"}),
        ("Bob joined Acme. He came there from Globex.", {"Bob WORKS_AT Acme", "Bob PREVIOUSLY_WORKED_AT Globex"}),
        ("Bob lives in Oslo. He moved there from Ilmington.", {"Bob LOCATED_IN Oslo"}),
        ("Bob came from Acme.", set()),
        ("Lead: Ana Bell / Initech / wants a demo.", {"Ana Bell WORKS_AT Initech"}),
        ("The ETL job runs on Airflow.", {"ETL job USES Airflow"}),
        ("Atlas needs Postgres and a running Vault.", {"Atlas DEPENDS_ON Postgres", "Atlas DEPENDS_ON Vault"}),
    ],
)  # fmt: skip
def test_who_does_what_where_several_are_told_of(text: str, claims: set[str]) -> None:
    assert said(text) == claims


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("i dont use kafka", "me USES kafka negative"),
        ("Maya didnt join Acme.", "Maya WORKS_AT Acme negative"),
        ("Maya doesnt work at Acme anymore.", "Maya PREVIOUSLY_WORKED_AT Acme past"),
        ("we wont use Kafka", "me USES Kafka hypothetical"),
    ],
)
def test_denials_are_understood_without_their_apostrophe(text: str, claim: str) -> None:
    found = extract(Memory(id="m", agent="user", kind="thought", text=text, created_at=WRITTEN, origin="user"))
    assert [f"{one.subject.text} {one.relation} {one.object.text} {one.polarity}" for one in found.claims] == [claim]


@pytest.mark.parametrize(
    ("text", "owed"),
    [
        ("Kwabena rotated it, Siobhán writes the postmortem by Friday.", ["Siobhán: postmortem"]),
        ("Blocked by a missing cert; Dana will request it from infra tomorrow.", ["Dana: request it from infra"]),
        ("Ana inspects the schema before Friday.", ["Ana: inspects the schema"]),
        ("Ana inspects the schema on Friday.", []),
        ("Ana sends the report every Friday.", []),
        ("Ana sends the report on Fridays.", []),
        ("Blocked by a missing cert, Dana will get it.", ["Dana: get it"]),
        ("Bob will like it.", []),
        ("Ann will present them.", []),
    ],
)
def test_what_somebody_does_by_a_day_and_what_somebody_will_see_to(text: str, owed: list[str]) -> None:
    assert [f"{item.owner}: {item.object}" for item in read(text).items] == owed
