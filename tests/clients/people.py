"""A person with a scratch home, the real agents in it, and a memory: what the tests of whole turns are made of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory_plane.integration import SERVER

from .endpoint import ToolCall

CLIENTS = Path(__file__).parents[2] / ".clients"
COMMAND = Path(sys.executable).with_name("memory-plane")
SECONDS = 180


@dataclass(slots=True)
class Person:
    """Whose home it is; `run` starts a program there as the person would, `plane` our own command."""

    home: Path
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, program: str, *arguments: str, fails: bool = False) -> str:
        """Run a program to its end and return what it said; it must succeed."""
        path = f"{CLIENTS / 'node_modules' / '.bin'}:{CLIENTS / 'node' / 'bin'}:{os.environ['PATH']}"
        environment = {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8", "NO_COLOR": "1", "TERM": "dumb"}
        done = subprocess.run(
            [program, *arguments], cwd=self.home, env=environment | self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        said = f"{done.stdout}\n{done.stderr}"
        assert done.returncode == 0 or fails, f"{program} {' '.join(arguments)}: {said}"
        return said

    def plane(self, *arguments: str) -> str:
        """Run `memory-plane`."""
        return self.run(str(COMMAND), *arguments)

    def told(self, *arguments: str) -> Any:
        """Run `memory-plane` and return what it said as JSON, without what it said on stderr."""
        done = subprocess.run(
            [COMMAND, *arguments, "--json"], env={**os.environ, "HOME": str(self.home)},
            capture_output=True, text=True, timeout=SECONDS, check=True,
        )  # fmt: skip
        return json.loads(done.stdout)

    def tree(self) -> dict[str, bytes]:
        """Return every file of the home but those of the memory."""
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and not path.is_symlink() and ".memory-plane" not in path.parts
        }


@dataclass(frozen=True, slots=True)
class Agent:
    """A real agent: `prepare` gives it a scripted model, `ask` takes a whole turn, `shows` is what it says of us.

    `finds` is what its model calls first, where the tools of servers are not offered at once, and `calls` what it calls
    instead of a tool of ours, where it has one tool for those of all servers.
    """

    id: str
    prepare: Callable[[Person, str], None]
    ask: Callable[[Person, str], str]
    shows: Callable[[Person], str]
    finds: tuple[ToolCall, ...] = ()
    calls: Callable[[ToolCall], ToolCall] = lambda call: call


# --- one agent after the other -----------------------------------------------------------------------------------


def _claude(person: Person, url: str) -> None:
    person.environment |= {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "x",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    _settings(person, ".claude/settings.json", {"permissions": {"allow": [f"mcp__{SERVER}"]}})


def _codex(person: Person, url: str) -> None:
    person.environment["FAKE_KEY"] = "x"
    _text(
        person,
        ".codex/config.toml",
        f'# mine\nmodel = "fake"\nmodel_provider = "local"\n\n[model_providers.local]\nname = "local"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n',
    )


def _gemini(person: Person, url: str) -> None:
    person.environment |= {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": url}
    _settings(person, ".gemini/settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})
    _settings(person, ".gemini/trustedFolders.json", {str(person.home): "TRUST_FOLDER"})


def _grok(person: Person, url: str) -> None:
    _text(
        person,
        ".grok/config.toml",
        f'[models]\ndefault = "fake"\n\n[model.fake]\nmodel = "fake"\nbase_url = "{url}/v1"\napi_key = "x"\n'
        f'api_backend = "chat_completions"\ncontext_window = 100000\n',
    )


def _openclaw(person: Person, url: str) -> None:
    model = {"id": "fake", "name": "fake", "contextWindow": 100000, "maxTokens": 2000}
    provider = {"baseUrl": f"{url}/v1", "apiKey": "x", "api": "openai-completions", "models": [model]}
    agents = {"defaults": {"model": {"primary": "local/fake"}}}
    _settings(person, ".openclaw/openclaw.json", {"models": {"providers": {"local": provider}}, "agents": agents})


def _opencode(person: Person, url: str) -> None:
    person.environment |= {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}
    options = {"baseURL": f"{url}/v1", "apiKey": "x"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "local", "options": options, "models": {"fake": {}}}
    schema = {"$schema": "https://opencode.ai/config.json"}  # it would write that into the file by itself
    base = ".config/opencode"
    _settings(person, f"{base}/opencode.json", schema | {"model": "local/fake", "provider": {"local": provider}})
    # As if the package for plugins, which ours does not need, were installed: it would wait for the registry.
    (person.home / base / "node_modules").mkdir(exist_ok=True)
    installed = {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}
    _settings(person, f"{base}/package-lock.json", {"packages": installed})


AGENTS: Mapping[str, Agent] = {
    agent.id: agent
    for agent in (
        Agent(
            "claude-code",
            _claude,
            lambda person, prompt: person.run("claude", "-p", prompt),
            lambda person: person.run("claude", "mcp", "list"),
            (ToolCall("ToolSearch", {"query": f"select:mcp__{SERVER}__memory_post_thought", "max_results": 1}),),
        ),
        Agent(
            "codex",
            _codex,
            lambda person, prompt: person.run(
                "codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", prompt
            ),
            lambda person: person.run("codex", "mcp", "list"),
            (ToolCall("exec_command", {"cmd": "sleep 3"}),),  # it does not wait for its servers to start
        ),
        Agent(
            "gemini-cli",
            _gemini,
            lambda person, prompt: person.run("gemini", "--approval-mode", "yolo", "-p", prompt),
            lambda person: person.run("gemini", "mcp", "list"),
        ),
        Agent(
            "grok",
            _grok,
            lambda person, prompt: person.run("grok", "--always-approve", "-p", prompt),
            lambda person: person.run("grok", "mcp", "doctor", "--json"),
            (ToolCall("run_terminal_command", {"command": "sleep 3", "description": "wait"}),),
            calls=lambda call: ToolCall(
                "use_tool", {"tool_name": f"{SERVER}__{call.name}", "tool_input": call.arguments}
            ),
        ),
        Agent(
            "instinct",
            _openclaw,
            lambda person, prompt: person.run("openclaw", "agent", "--local", "--agent", "main", "--message", prompt),
            lambda person: person.run("openclaw", "mcp", "doctor", "--probe"),
        ),
        Agent(
            "opencode",
            _opencode,
            lambda person, prompt: person.run("opencode", "run", prompt),
            lambda person: person.run("opencode", "mcp", "list"),
        ),
    )
}


def _settings(person: Person, name: str, value: object) -> None:
    _text(person, name, json.dumps(value, indent=2) + "\n")


def _text(person: Person, name: str, text: str) -> None:
    path = person.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
