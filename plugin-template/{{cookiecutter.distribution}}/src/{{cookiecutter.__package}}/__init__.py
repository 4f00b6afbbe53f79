{% if cookiecutter.kind == "agent" -%}
"""Turn what the agent `{{ cookiecutter.__agent }}` delivers into memories."""

from __future__ import annotations

from datetime import datetime
from uuid import uuid5

from memory_plane import Plugin, PluginSettings, SettingsConfigDict, hookimpl
from memory_plane.types import NAMESPACE, AgentInfo, Event, Ingested, Operation, Poll

__all__ = ["{{ cookiecutter.__class }}Plugin", "{{ cookiecutter.__class }}Settings"]

AGENT = "{{ cookiecutter.__agent }}"


class {{ cookiecutter.__class }}Settings(PluginSettings):
    """`project`: the project that the thoughts belong to."""

    model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_{{ cookiecutter.name | upper }}_")

    project: str | None = None


class {{ cookiecutter.__class }}Plugin(Plugin):
    """Speaks for one agent."""

    settings_model = {{ cookiecutter.__class }}Settings
    settings: {{ cookiecutter.__class }}Settings
    agents = (AgentInfo(id=AGENT, interests=("birds", "rivers")),)

    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested | None:
        """Turn a message into a thought; an id made of the message's own makes it harmless to deliver it twice."""
        if not isinstance(cue, Event) or cue.name != "message":
            return None
        thought = Operation(
            id=str(uuid5(NAMESPACE, f"{AGENT}:{cue.payload['id']}")),
            op="thought",
            agent=AGENT,
            created_at=datetime.fromisoformat(cue.payload["sent_at"]),
            body={"text": cue.payload["text"], "project": self.settings.project},
        )
        return Ingested(operations=(thought,))
{%- else -%}
"""Find ticket numbers such as `AB-12` in every memory."""

from __future__ import annotations

import re

from memory_plane import Plugin, PluginSettings, SettingsConfigDict, hookimpl
from memory_plane.types import Extraction, Memory, Mention
from pydantic import Field

__all__ = ["{{ cookiecutter.__class }}Plugin", "{{ cookiecutter.__class }}Settings"]

TICKET = re.compile(r"\b[A-Z]{2,10}-\d{1,9}\b")


class {{ cookiecutter.__class }}Settings(PluginSettings):
    """`confidence`: how sure the plugin is of what it finds."""

    model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_{{ cookiecutter.name | upper }}_")

    confidence: float = Field(default=0.9, ge=0, le=1)


class {{ cookiecutter.__class }}Plugin(Plugin):
    """Finds tickets."""

    settings_model = {{ cookiecutter.__class }}Settings
    settings: {{ cookiecutter.__class }}Settings

    @hookimpl
    def extract(self, memory: Memory, found: Extraction) -> Extraction | None:
        """Mention each ticket where it stands."""
        tickets = [self._mention(match) for match in TICKET.finditer(memory.text)]
        return Extraction(mentions=tuple(tickets)) if tickets else None

    def _mention(self, match: re.Match[str]) -> Mention:
        start, end = match.span()
        return Mention(text=match[0], type="Document", start=start, end=end, confidence=self.settings.confidence)
{%- endif %}
