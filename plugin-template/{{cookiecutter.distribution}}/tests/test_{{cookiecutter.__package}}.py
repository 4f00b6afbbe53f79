from __future__ import annotations

from collections.abc import Callable
{% if cookiecutter.kind == "agent" %}
from memory_plane import Plane
from memory_plane.testing.contract import *  # noqa: F403
from memory_plane.types import Event

MESSAGE = Event(
    agent="{{ cookiecutter.__agent }}",
    name="message",
    payload={"id": "7", "text": "An otter is in the river", "sent_at": "2026-01-05T09:00:00+01:00"},
)


def test_message_becomes_a_thought(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("{{ cookiecutter.name }}")
    plane.spool(MESSAGE)
    assert plane.ingest().stored == 1
    assert [hit.agent for hit in plane.recall("otter").hits] == ["{{ cookiecutter.__agent }}"]


def test_message_delivered_twice_is_one_thought(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("{{ cookiecutter.name }}")
    plane.spool(MESSAGE)
    plane.spool(MESSAGE)
    assert plane.ingest().stored == 1


def test_thoughts_belong_to_the_project_that_is_set(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("{{ cookiecutter.name }}", plugin={"{{ cookiecutter.name }}": {"project": "wetland"}})
    plane.spool(MESSAGE)
    plane.ingest()
    assert [thought.project for thought in plane.thoughts()] == ["wetland"]
{%- else %}
from memory_plane.plugins import PluginManager
from memory_plane.testing.contract import *  # noqa: F403
from memory_plane.types import Extraction, Memory

from {{ cookiecutter.__package }} import {{ cookiecutter.__class }}Plugin, {{ cookiecutter.__class }}Settings


def test_tickets_are_found_where_they_stand(plugin_manager: PluginManager, make_memory: Callable[..., Memory]) -> None:
    plugin_manager.register({{ cookiecutter.__class }}Plugin({{ cookiecutter.__class }}Settings(confidence=0.5)))
    found = plugin_manager.extract(make_memory("AB-12 blocks CD-345, not ab-1"))
    assert [(one.text, one.start, one.confidence) for one in found.mentions] == [("AB-12", 0, 0.5), ("CD-345", 13, 0.5)]


def test_text_without_tickets_is_not_its_business(make_memory: Callable[..., Memory]) -> None:
    assert {{ cookiecutter.__class }}Plugin().extract(make_memory("no ticket here"), Extraction()) is None
{%- endif %}
