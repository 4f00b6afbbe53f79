"""Relations and types by kinds of notes: family, former employers, what holds up what, other names, other scripts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_plane.types import Extraction, Memory
from memory_plane_local.extraction import extract
from memory_plane_local.name import Name


def read(text: str, **known: str) -> Extraction:
    written = datetime(2026, 11, 30, 12, tzinfo=UTC)
    return extract(Memory(id="m", agent="me", kind="thought", text=text, created_at=written, origin="user"), known)


def said(text: str) -> set[str]:
    claims = read(text).claims
    return {f"{one.subject.text} {one.relation} {one.object.text}" for one in claims if one.polarity == "positive"}


def types(text: str) -> dict[str, str]:
    return {mention.text: mention.type for mention in read(text).mentions}


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Hanna's brother Yusuf moved to Leeds.", "Hanna FAMILY_OF Yusuf"),
        ("Yusuf lives in Leeds with his wife Amal.", "Yusuf FAMILY_OF Amal"),
        ("My sister Clara works at Acme.", "me FAMILY_OF Clara"),
        ("Ludvig (ex-Volvo) joined Acme.", "Ludvig PREVIOUSLY_WORKED_AT Volvo"),
        ("Former Stripe engineer Kai joined Acme.", "Kai PREVIOUSLY_WORKED_AT Stripe"),
        ("Can't ship Orbit until legal signs off.", "Orbit BLOCKED_BY legal"),
        ("We can't launch Orbit until the lidar driver is fixed.", "Orbit BLOCKED_BY lidar driver"),
        ("Orbit (aka Orb) is written in Go. Orb depends on Kafka.", "Orbit DEPENDS_ON Kafka"),
        ("Riverwatch is written in Go. The project depends on Kafka.", "Riverwatch DEPENDS_ON Kafka"),
        ("José Ruiz is the country director of MercyBridge.", "José Ruiz DIRECTOR_OF MercyBridge"),
        ("Introduced Lea to our florist Gustavo.", "Lea INTRODUCED_TO Gustavo"),
        ("Ravi is my boss at Corner Books.", "Ravi WORKS_AT Corner Books"),
        ("Ravi is my boss at Corner Books.", "Ravi MANAGES me"),
        ("Qorl's manager is Ana.", "Ana MANAGES Qorl"),
        ("quillmark is maintained by aoife", "aoife SUPPORTS quillmark"),
        ("The irrigation controller was designed by Ines.", "Ines BUILDS irrigation controller"),
        ("Linear replaced Jira.", "Linear REPLACES Jira"),
        ("Lumen is a subsidiary of Acme.", "Lumen PART_OF Acme"),
        ("Mei started Lanternworks in 2019.", "Mei FOUNDER_OF Lanternworks"),
        ("Ironroot Inc. raised a seed round from Sequoia.", "Sequoia INVESTED_IN Ironroot Inc"),
        ("Before joining Acme, Henrik spent four years at Ericsson.", "Henrik WORKS_AT Acme"),
        ("Before joining Acme, Henrik spent four years at Ericsson.", "Henrik PREVIOUSLY_WORKED_AT Ericsson"),
        ("Hanna edits the science desk at Tidende.", "Hanna WORKS_AT Tidende"),
        ("Upgraded the teleop service to ROS 2 Jazzy.", "teleop service USES ROS 2 Jazzy"),
        ("She works at St. Brigid Hospital. Nora works at St. Mary Clinic.", "Nora WORKS_AT St. Mary Clinic"),
        ("Ana, former CTO of Acme, lives in Oslo.", "Ana LOCATED_IN Oslo"),
        ("Once an editor at Wired, Marguerite founded Ledgerly.", "Marguerite FOUNDER_OF Ledgerly"),
        ("The pager app was rewritten from Java to Kotlin.", "pager app USES Kotlin"),
        ("Replaced the planner's SQLite cache with Redis.", "planner USES Redis"),
        ("tractor telemetry is built on Kafka", "tractor telemetry USES Kafka"),
        ("met thandi today, she edits the news desk at tidende", "thandi WORKS_AT tidende"),
        ("Kofi - Unreal, Bogdan - Blender", "Bogdan USES Blender"),
        ("Petra came over from The Correspondent.", "Petra PREVIOUSLY_WORKED_AT The Correspondent"),
        ("Sam uses an NVIDIA Jetson.", "Sam USES NVIDIA Jetson"),
        ("Jannis moved to Ravensburg last year.", "Jannis LOCATED_IN Ravensburg"),
        ("Ana moved the docs to Sphinx.", "docs USES Sphinx"),
        ("Deployed the orders API to Fly.io.", "orders API USES Fly.io"),
        ("Lena is in charge of procurement at Nordwind.", "Lena WORKS_AT Nordwind"),
        ("Kai works at Willow Bend.", "Kai WORKS_AT Willow Bend"),
        ("Ravi got engaged to Meera.", "Ravi FAMILY_OF Meera"),
        ("tractor telemetry is built on Kafka by Joost", "Joost BUILDS tractor telemetry"),
        ("The pager app, codenamed Beacon, was rewritten from Java to Kotlin.", "Beacon USES Kotlin"),
        ("We switched from Excel to Airtable for the stock list.", "stock list USES Airtable"),
        ("Fatou runs the food bank with her brother Ousmane.", "Fatou LEADS food bank"),
        ("The wedding planner is Chloe Duval of Duval Events.", "Chloe Duval WORKS_AT Duval Events"),
        ("Paul joined us from Monzo.", "Paul PREVIOUSLY_WORKED_AT Monzo"),
        ("The Harbour Gazette was founded in 1890 by Elias Holm.", "Elias Holm FOUNDER_OF Harbour Gazette"),
        ("Clara moved from Basel to Graz for her PhD.", "Clara LOCATED_IN Graz"),
        ("The auth service is blocked by the Okta upgrade.", "auth service BLOCKED_BY Okta upgrade"),
        ("Ada's mentor is Grace.", "Grace MENTOR_OF Ada"),
        ("The kiosk firmware (C++) is small.", "kiosk firmware USES C++"),
        ("Dad prefers WhatsApp.", "Dad PREFERS WhatsApp"),
        ("محمد يعمل في مايكروسوفت ويعيش في القاهرة.", "محمد LOCATED_IN القاهرة"),
        ("이지훈은 Google에서 일합니다.", "이지훈 WORKS_AT Google"),
        ("赵敏住在上海，在美团工作。", "赵敏 WORKS_AT 美团"),
        ("中村さんは富士通を退職して、トヨタに転職しました。", "中村 PREVIOUSLY_WORKED_AT 富士通"),
    ],
)
def test_kind_of_wording_is_read(text: str, claim: str) -> None:
    assert claim in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "He did not join Stripe until Acme folded.",
        "Ben made the coffee.",
        "Bob started Redis.",
        "Orbit won't launch until Friday.",
        "Is Hanna's brother Yusuf here?",
        "Pnpm is a package manager.",
        "Dr. Chen is my mum's cardiologist.",
        "Plan: migrate Orbit to Postgres.",
        "Ran the migration on staging.",
        "Kai was replaced as head of design at Acme.",
        "people use slack",
        "nothing is built on Kafka",
        "Bart stepped down as lead maintainer of Loam.",
        "Ana, former CTO of Acme, called.",
    ],
)
def test_what_only_looks_like_it_is_not(text: str) -> None:
    assert not said(text)


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("Met Anselm at the farm.", "Anselm", "Person"),
        ("Laylā Haddād called.", "Laylā Haddād", "Person"),
        ("Ragnhild is written in Go.", "Ragnhild", "Project"),
        ("Booked Saltmarsh Catering.", "Saltmarsh Catering", "Organization"),
        ("They met in Kew Gardens.", "Kew Gardens", "Place"),
        ("Ada built Orbit in Rust.", "Ada", "Person"),
        ("Nora manages Will.", "Will", "Person"),
        ("Hugo promised a deck.", "Hugo", "Person"),
        ("Grainworks called.", "Grainworks", "Organization"),
        ("We use Hugo for the blog.", "Hugo", "Tool"),
    ],
)
def test_type_of_a_name(text: str, name: str, kind: str) -> None:
    assert types(text)[name] == kind


def test_who_joins_in_a_month_is_there_from_the_next_one_of_that_name() -> None:
    (job, *_) = [
        claim for claim in read("Giorgos joins Pebbleworks in January.").claims if claim.relation == "WORKS_AT"
    ]
    assert job.valid_from == datetime(2027, 1, 1, tzinfo=UTC)


def test_what_somebody_else_says_is_less_sure() -> None:
    told, known = (read(text).claims[0].confidence for text in ("Bob says Acme hired Inga.", "Acme hired Inga."))
    assert told < known


def test_hunch_types_a_name_only_while_no_claim_does() -> None:
    assert types("Grace leads Apollo.")["Apollo"] == "Project"
    assert Name("Apollo", 0, 6, hunch="Organization").type == "Organization"
    assert Name("Apollo", 0, 6, ("Project",), hunch="Organization").type == "Project"


@pytest.mark.parametrize(
    ("text", "known", "claim"),
    [
        ("Petra leads Tidewater.", "Tool", "Petra LEADS Tidewater"),
        ("Quillnest uses Tidewater.", "Project", "Quillnest USES Tidewater"),
    ],
)
def test_what_was_first_used_can_be_led_and_what_was_led_used(text: str, known: str, claim: str) -> None:
    (found,) = read(text, tidewater=known).claims
    assert f"{found.subject.text} {found.relation} {found.object.text}" == claim
