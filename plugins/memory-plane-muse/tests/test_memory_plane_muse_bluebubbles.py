"""A BlueBubbles server on loopback: polls, contacts, webhooks; and its password, which is in no byte that is kept."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

import pytest
from click.testing import CliRunner
from pydantic import SecretStr

from memory_plane import spool, webhooks
from memory_plane.types import Event
from memory_plane_muse import MuseSettings, bluebubbles
from memory_plane_muse.bluebubbles import BlueBubbles, Unanswered, message_of
from memory_plane_muse.polling import MESSAGES

if TYPE_CHECKING:
    from memory_plane import Plane

NOW = datetime.now(UTC).replace(microsecond=0)
AT = NOW - timedelta(hours=2)
PASSWORD = "pa55 wörd&more/7f3c"
SARAH = {
    "displayName": "Sarah Lee",
    "firstName": "Sarah",
    "lastName": "Lee",
    "phoneNumbers": [{"address": "(555) 123-4567", "id": "1"}],
    "emails": [{"address": "sarah@example.com", "id": "2"}],
}


@pytest.fixture
def client(server: Any) -> Any:
    with BlueBubbles(server.url, SecretStr(PASSWORD)) as client:
        yield client


@pytest.fixture
def muse(make_plane: Callable[..., Plane], server: Any) -> Plane:
    """A memory whose plugin asks the server."""
    settings = {"bluebubbles": server.url, "password": PASSWORD}
    return make_plane("muse", plugin={"muse": settings})


def texts(plane: Plane) -> set[str]:
    return {thought.text for thought in plane.thoughts()}


# --- polls -------------------------------------------------------------------------------------------------------


def test_messages_become_thoughts_with_the_names_of_contacts(muse: Plane, server: Any) -> None:
    server.contacts = [SARAH]
    server.say("I'll send you the deck by Friday", at=AT, guid="A")
    server.say("lol", at=AT, guid="B")
    server.say("I'll send the contract tomorrow", at=AT, guid="C", sender=None)
    server.say("Rob, meet Daniel!", at=AT, guid="D", sender="+15550000000", group="Climbers")
    muse.ingest()
    assert texts(muse) == {
        "iMessage from Sarah Lee: I'll send you the deck by Friday",
        "iMessage to Sarah Lee: I'll send the contract tomorrow",
        "iMessage from +15550000000 in “Climbers”: Rob, meet Daniel!",
    }
    assert {thought.text: thought.origin for thought in muse.thoughts()}[
        "iMessage to Sarah Lee: I'll send the contract tomorrow"
    ] == "user"


def test_poll_asks_only_for_what_is_new_and_looks_again_at_the_latest(muse: Plane, server: Any) -> None:
    server.say("hello", at=AT, guid="A")
    muse.ingest()
    muse.ingest()
    first, second, third = [body for _, path, body in server.asked if path == "/message/query"]
    assert first["after"] == pytest.approx((datetime.now(UTC) - timedelta(days=14)).timestamp() * 1000, abs=60_000)
    assert (second["after"], second["sort"]) == (int(AT.timestamp() * 1000), "ASC")
    assert (third["before"], third["sort"]) == (second["after"], "DESC")
    assert third["before"] - third["after"] == 20 * 60 * 1000
    assert all(body["limit"] <= MESSAGES and "where" not in body for body in (first, second, third))


def test_same_message_again_is_one_thought(muse: Plane, server: Any) -> None:
    said = {"at": AT, "guid": "A"}
    server.say("I'll send you the deck by Friday", **said)
    server.say("I'll send you the deck by Friday", **said)
    assert [muse.ingest().stored for _ in range(3)] == [1, 0, 0]


def test_poll_that_finds_nothing_new_writes_nothing(muse: Plane, server: Any) -> None:
    server.say("I'll send you the deck by Friday", at=AT, guid="A")
    muse.ingest()
    before = muse.cursor("muse")
    muse.ingest()
    assert muse.cursor("muse") == before


def test_edit_and_unsent_message_are_followed(muse: Plane, server: Any) -> None:
    server.say("I'll send you the deck by Friday", at=AT, guid="A")
    server.say("I'll send the contract by Friday", at=AT, guid="B")
    muse.ingest()
    server.messages[0] |= {"text": "I'll send you the deck on Monday", "dateEdited": int(NOW.timestamp() * 1000)}
    server.messages[1] |= {"text": None, "dateRetracted": int(NOW.timestamp() * 1000)}
    muse.ingest()
    assert texts(muse) == {"iMessage from +15551234567: I'll send you the deck on Monday"}
    assert [item.text for item in muse.items()] == ["iMessage from +15551234567: I'll send you the deck on Monday"]


def test_backlog_of_one_moment_does_not_stop_the_polls(muse: Plane, server: Any) -> None:
    for number in range(MESSAGES + 5):
        server.say("hello", at=AT, guid=f"G{number}")
    server.say("I'll send you the deck by Friday", at=AT + timedelta(seconds=1), guid="last")
    for _ in range(3):
        muse.ingest()
    assert len(muse.thoughts()) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"associatedMessageType": "love", "associatedMessageGuid": "p:0/Z"},
        {"associatedMessageType": 2000},
        {"itemType": 2},
        {"guid": None},
        {"dateCreated": None},
        {"dateCreated": 1e300},
        {"dateCreated": True},
        {"isSpam": True},
    ],
)
def test_what_is_no_message_is_passed_over(change: dict[str, Any], bubble: Callable[..., Any]) -> None:
    assert message_of(bubble("I'll send it by Friday", at=AT, guid="A") | change) is None


LATER = {  # what a message has since when: of older macOS and servers it has none of it
    "macOS 10.15": ("dateEdited", "dateRetracted", "partCount", "threadOriginatorGuid"),
    "macOS 12": ("dateEdited", "dateRetracted", "partCount"),
    "macOS 13": (),
}


@pytest.mark.parametrize("version", LATER)
def test_message_of_every_version_is_read(version: str, bubble: Callable[..., Any]) -> None:
    sent = bubble("I'll send it by Friday", at=AT, guid="A", group="Climbers", dateEdited=None)
    found = message_of({name: value for name, value in sent.items() if name not in LATER[version]})
    assert found is not None
    assert (found.text, found.title, found.retracted) == ("I'll send it by Friday", "Climbers", False)


@pytest.mark.parametrize(
    "change", [{"chats": None}, {"chats": [5]}, {"handle": "x"}, {"handle": None}, {"text": 5}, {"dateEdited": "x"}]
)
def test_fields_of_any_content_are_survived(change: dict[str, Any], bubble: Callable[..., Any]) -> None:
    found = message_of(bubble("hello", at=AT, guid="A") | change)
    assert found is not None
    assert found.guid == "A"


@pytest.mark.parametrize("record", [None, 5, "x", [], {}, {"guid": {}}])
def test_records_of_any_kind_are_survived(record: Any) -> None:
    assert message_of(record) is None


# --- a server that is away, or says nonsense ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        (500, b'{"status": 500, "error": {"message": "no"}}'),
        (200, b"<html>"),
        (200, b"[]"),
        (200, b'{"data": "text"}'),
        (200, b'{"data": [1, null, {"guid": 5}]}'),
        (404, b""),
        (301, b""),
        (200, b"[" * 100_000),
    ],
)
def test_answers_of_any_kind_are_survived(muse: Plane, server: Any, answer: tuple[int, bytes]) -> None:
    server.answer = answer
    assert muse.ingest().failures == ()
    server.answer = None
    server.say("I'll send you the deck by Friday", at=AT, guid="A")
    assert muse.ingest().stored == 1


def test_server_that_is_away_is_told_once_and_asked_again(
    muse: Plane, server: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server.answer = (503, b"")
    for _ in range(3):
        muse.ingest()
    assert [record.getMessage() for record in caplog.records if record.name == "memory_plane_muse"] == [
        f"BlueBubbles at {server.url!r} answered with 503 and nothing that can be used"
    ]


def test_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch, server: Any, client: BlueBubbles) -> None:
    server.answer = (200, b'{"data": "' + b"x" * 9_000_000 + b'"}')
    with pytest.raises(Unanswered, match=r"does not answer \(ValueError\)"):
        client.ping()
    monkeypatch.setattr(bluebubbles, "WHOLE", -1.0)
    server.answer = None
    with pytest.raises(Unanswered, match=r"does not answer \(ValueError\)"):
        client.ping()


def test_silence_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bluebubbles, "ANSWER", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with BlueBubbles(url, SecretStr(PASSWORD)) as client, pytest.raises(Unanswered, match="ReadTimeout"):
            client.ping()


# --- the password ------------------------------------------------------------------------------------------------

SPELLINGS = (PASSWORD, quote(PASSWORD, safe=""), quote_plus(PASSWORD), json.dumps(PASSWORD)[1:-1])


def test_password_is_in_no_byte_that_is_kept_or_told(
    muse: Plane, server: Any, home: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    server.say("I'll send you the deck by Friday", at=AT, guid="A")
    muse.ingest()
    for answer in ((401, b""), (500, b"no"), (200, b"<html>")):
        server.answer = answer
        muse.ingest()
    server.answer = None
    muse.plugins.close()
    dead = BlueBubbles("http://127.0.0.1:1", SecretStr(PASSWORD))
    with pytest.raises(Unanswered) as raised, dead:
        dead.ping()
    muse.render()
    said = "\n".join(
        [*map(str, caplog.records), *(record.getMessage() for record in caplog.records), *capfd.readouterr()]
    )
    said += repr(dead) + repr(vars(dead)) + str(raised.value) + repr(raised.value) + repr(muse.settings)
    said += repr(muse.plugins.failures) + repr(raised.value.__cause__) + repr(raised.value.__context__)
    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert raised.value.__cause__ is None
    for spelling in SPELLINGS:
        assert spelling not in said
        assert spelling.encode() not in kept
    assert server.asked  # it did reach the server


def test_password_does_not_stand_in_the_settings_error(home: Path, server: Any) -> None:
    with pytest.raises(ValueError, match="is no address") as raised:
        MuseSettings(bluebubbles=f"{server.url}/?password=hunter2secret", password=SecretStr(PASSWORD))
    assert "hunter2secret" not in str(raised.value)
    assert PASSWORD not in repr(MuseSettings(bluebubbles=server.url, password=SecretStr(PASSWORD)))


def test_wrong_password_is_told_as_such(server: Any) -> None:
    with BlueBubbles(server.url, SecretStr("wrong")) as client, pytest.raises(Unanswered) as raised:
        client.ping()
    assert str(raised.value) == (
        f"BlueBubbles at {server.url!r} does not take the password; correct plugin.muse.password"
    )


# --- the webhook -------------------------------------------------------------------------------------------------


def test_message_of_a_webhook_is_noted_at_once_and_not_again_by_the_poll(
    muse: Plane, server: Any, bubble: Callable[..., Any]
) -> None:
    server.contacts = [SARAH]
    said = bubble("I'll send you the deck by Friday", at=AT, guid="A")
    server.messages.append(said)
    muse.spool(Event(agent="muse", name="webhook", payload={"type": "new-message", "data": said}))
    assert muse.ingest().stored == 1
    assert texts(muse) == {"iMessage from Sarah Lee: I'll send you the deck by Friday"}


def test_unsent_message_of_a_webhook_is_taken_back(
    make_plane: Callable[..., Plane], bubble: Callable[..., Any]
) -> None:
    plane = make_plane("muse")
    said = bubble("I'll send you the deck by Friday", at=AT, guid="A")
    plane.spool(Event(agent="muse", name="webhook", payload={"type": "new-message", "data": said}))
    plane.ingest()
    assert len(plane.thoughts()) == 1
    gone = said | {"text": None, "dateRetracted": int(NOW.timestamp() * 1000)}
    plane.spool(Event(agent="muse", name="webhook", payload={"type": "updated-message", "data": gone}))
    plane.ingest()
    assert plane.thoughts() == []


def test_webhook_brings_no_words_of_the_person(muse: Plane, server: Any, bubble: Callable[..., Any]) -> None:
    said = bubble("I'll send you the deck by Friday", at=AT, guid="A", sender=None)
    muse.spool(Event(agent="muse", name="webhook", payload={"type": "new-message", "data": said}))
    assert muse.ingest().stored == 0
    server.messages.append(said)
    assert muse.ingest().stored == 1


def test_name_is_not_asked_for_again_and_again_while_the_server_is_away(
    make_plane: Callable[..., Plane], messages: Any, server: Any
) -> None:
    settings = {"chat_db": str(messages.path), "bluebubbles": server.url, "password": PASSWORD}
    plane = make_plane("muse", plugin={"muse": settings})
    server.answer = (503, b"")
    for number in range(5):
        messages.say("meet Daniel, he runs infra", f"+1555000000{number}", at=AT, guid=f"G{number}")
    plane.ingest()
    assert len(plane.thoughts()) == 5
    assert [path for _, path, _ in server.asked] == ["/contact/query"]


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"type": "typing-indicator", "data": {"display": True, "guid": "x"}},
        {"type": "new-message"},
        {"type": "new-message", "data": []},
        {"type": ["new-message"], "data": {}},
        {"type": "hello-world", "data": "hi"},
    ],
)
def test_other_events_of_a_webhook_are_nothing(make_plane: Callable[..., Plane], payload: dict[str, Any]) -> None:
    plane = make_plane("muse")
    plane.spool(Event(agent="muse", name="webhook", payload=payload))
    report = plane.ingest()
    assert (report.events, report.stored, report.failures) == (1, 0, ())


def test_receipt_of_an_old_message_is_nothing_new(make_plane: Callable[..., Plane], bubble: Callable[..., Any]) -> None:
    plane = make_plane("muse")
    old = bubble("I'll send you the deck by Friday", at=NOW - timedelta(days=3), guid="A", dateRead=5)
    plane.spool(Event(agent="muse", name="webhook", payload={"type": "updated-message", "data": old}))
    assert plane.ingest().stored == 0


# --- commands ----------------------------------------------------------------------------------------------------


@pytest.fixture
def run(home: Path, server: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    from memory_plane.surfaces.cli import main
    from memory_plane.surfaces.cli.session import Session

    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", '["muse"]')
    monkeypatch.setenv("MEMORY_PLANE_MUSE_BLUEBUBBLES", server.url)
    monkeypatch.setenv("MEMORY_PLANE_MUSE_PASSWORD", PASSWORD)
    return lambda *words: CliRunner().invoke(main, ["muse", *words], obj=Session(str(home)))


def test_address_of_the_webhook_holds_a_secret_that_stays(run: Callable[..., Any], home: Path) -> None:
    first = run("webhook")
    assert first.exit_code == 0, first.output
    address = first.output.strip()
    assert address.startswith("http://127.0.0.1:8788/ingest/muse/")
    assert webhooks.opens(home, "muse", address.rpartition("/")[2])
    assert run("webhook").output.strip() == address
    assert run("webhook", "--hub", "https://mac.local:8788/").output.startswith("https://mac.local:8788/ingest/muse/")
    assert run("webhook", "--hub", "mac.local").exit_code == 2


def test_command_tells_of_a_wrong_setting_and_not_that_there_is_none(run: Callable[..., Any], home: Path) -> None:
    with (home / "config.toml").open("a", encoding="utf-8") as file:
        file.write('\n[plugin.muse]\nbluebubles = "http://127.0.0.1:1234"\n')
    refused = run("status")
    assert refused.exit_code == 2
    assert "unknown key 'plugin.muse.bluebubles'; did you mean 'plugin.muse.bluebubbles'?" in refused.output


def test_server_is_told_of_the_webhook_once(run: Callable[..., Any], server: Any, home: Path) -> None:
    server.webhooks = [{"id": 7, "url": "http://elsewhere.example/hook", "events": ["*"]}]
    assert run("webhook", "--register").output == "BlueBubbles posts new messages here from now on\n"
    assert run("webhook", "--register").output == "BlueBubbles posts new messages here already\n"
    address = run("webhook").output.strip()
    assert [(one["url"], one["events"]) for one in server.webhooks[1:]] == [
        (address, ["new-message", "updated-message"])
    ]
    run("webhook", "--register", "--renew")
    assert [one["url"] for one in server.webhooks] == ["http://elsewhere.example/hook", run("webhook").output.strip()]
    assert not webhooks.opens(home, "muse", address.rpartition("/")[2])


def test_status_says_what_answers(run: Callable[..., Any], server: Any) -> None:
    assert run("status").output == f"BlueBubbles answers: {server.url}\n"
    server.answer = (500, b"")
    result = run("status")
    assert (result.exit_code, PASSWORD in result.output) == (1, False)
    assert "answered with 500" in result.output


def test_what_the_server_posts_goes_through_the_hub_into_the_memory(
    muse: Plane, server: Any, bubble: Callable[..., Any], home: Path
) -> None:
    from starlette.testclient import TestClient

    from memory_plane.surfaces.api import create_app

    address = webhooks.path("muse", webhooks.ensure_secret(home, "muse"))
    said = bubble("Daniel <> Rob! Rob builds AI models on FPGA hardware", at=AT, guid="A")
    app = create_app(muse, token="t" * 43, port=8788)
    with TestClient(app, base_url="http://127.0.0.1:8788") as hub:
        assert hub.post(address, json={"type": "new-message", "data": said}).status_code == 202
    assert len(spool.waiting(home)) == 1
    muse.ingest()
    assert texts(muse) == {"iMessage from +15551234567: Daniel <> Rob! Rob builds AI models on FPGA hardware"}


def test_two_polls_at_once_store_each_message_once(muse: Plane, server: Any) -> None:
    for number in range(20):
        server.say(f"I'll send part {number} by Friday", at=AT + timedelta(seconds=number), guid=f"G{number}")
    threads = [Thread(target=muse.ingest) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(muse.thoughts()) == 20
