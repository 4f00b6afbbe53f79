"""Two hundred random operations, split, repeated and in any order over two machines, come out byte for byte alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from shutil import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memory_plane import Plane, Plugin, hookimpl, rendering
from memory_plane.operations import make_operation, parse_operation
from memory_plane.plugins import PluginManager
from memory_plane.reports import SyncReport
from memory_plane.settings import PluginChoice, Settings
from memory_plane.sync import exchange
from memory_plane.types import Candidate, Classification, Extraction, Memory, Operation, Resolution, new_node_id

Open = Callable[..., Any]

OPERATIONS = 200
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
AGENTS = ("muse", "grok", "claude")
PEOPLE = ("Ann Lee", "Rob", "Robert Hale", "Daniel", "Zoë Жук")
SENTENCES = (
    "{0} works at The Zebra with {1}",
    "{0} introduced {1} to Daniel at Cerebras",
    "{0} promised {1} to send the FPGA report by Friday",
    "The gateway depends on the FPGA board, says {0}",
    "{0} uses Rust and never Go; {1} used to work at Google",
    "Should {0} meet {1} in Oslo?",
)


class LaterPlugin(Plugin):
    """Is asked from the queue; takes each second mention for a node of its own."""

    deferred = True

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
        known = {one.mention: one.node.id for one in candidates}
        nodes = [
            new_node_id(memory.id, one) if number % 2 else known.get(one, new_node_id(memory.id, one))
            for number, one in enumerate(found.mentions)
        ]
        return Classification(
            resolutions=tuple(
                Resolution(mention=mention, node=node, probability=0.8)
                for mention, node in zip(found.mentions, nodes, strict=True)
            )
        )


# --- random operations -------------------------------------------------------------------------------------------


def said(random: Random) -> tuple[str, dict[str, Any]]:
    """Return a thought, a fact or a heartbeat."""
    text = random.choice(SENTENCES).format(*random.sample(PEOPLE, 2))
    match random.randrange(6):
        case 0:
            return "heartbeat", {"focus": text, "status": random.choice(("active", "idle"))}
        case 1 | 2:
            subject, key = random.choice(("Ann Lee", "ANN LEE", "gateway")), random.choice(("city", "City", "owner"))
            return "fact", {"subject": subject, "key": key, "value": text}
        case _:
            kind = random.choice(("thought", "decision", "question", "commitment", "handoff"))
            return "thought", {"text": text, "kind": kind, "held": random.choice((None, None, None, True))}


def about(random: Random, target: str) -> tuple[str, dict[str, Any]]:
    """Return something about another operation."""
    return random.choice(
        (
            ("resolve", {"item": target, "status": random.choice(("done", "dropped", "answered"))}),
            ("assign", {"item": target, "to": random.choice((*AGENTS, *PEOPLE))}),
            ("snooze", {"item": target, "until": START + timedelta(minutes=random.randrange(60))}),
            ("pin", {"target": target, "pinned": random.random() < 0.5}),
            ("retract", {"target": target}),
            ("release", {"target": target}),
            ("forget", {"target": target}),
            ("of tomorrow", {"target": target, "what": [1, None, "Жук"]}),
        )
    )


def random_history(random: Random) -> list[Operation]:
    """Return operations of all kinds, many at the same time, each third one about an earlier or later one."""
    made: dict[str, Operation] = {}
    while len(made) < OPERATIONS:
        op, body = said(random) if len(made) < OPERATIONS * 2 // 3 else about(random, random.choice(list(made)))
        at = START + timedelta(minutes=random.randrange(90), microseconds=random.randrange(2))
        if op == "of tomorrow":
            record = {"op": op, "agent": random.choice(AGENTS), "created_at": at.isoformat(), "body": body}
            one = parse_operation(record)
        else:
            one = make_operation(op, body, agent=random.choice(AGENTS), created_at=at)
        made[one.id] = one
    return list(made.values())


def pieces(random: Random, operations: Sequence[Operation]) -> list[list[Operation]]:
    """Return the operations in any order, some of them again, cut into batches of any size."""
    again = [*operations, *random.choices(operations, k=len(operations) // 5)]
    random.shuffle(again)
    cuts = sorted(random.sample(range(len(again)), 12))
    return [again[start:end] for start, end in zip([0, *cuts], [*cuts, len(again)], strict=True)]


# --- machines ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, empty_database: Path) -> Iterator[Open]:
    """Give `opened(*plugins)`: a new machine for a while; pages are made at its end alone."""
    with ExitStack() as stack:
        stack.enter_context(pytest.MonkeyPatch.context()).setattr(rendering, "DELAY", 3600)

        @contextmanager
        def open_(*plugins: str | Plugin) -> Iterator[Plane]:
            home = tmp_path_factory.mktemp("home")
            copy(empty_database, home / "memory.db")
            named = [one for one in plugins if isinstance(one, str)]
            chosen = Settings(home=home, synchronous="normal", plugins=PluginChoice(enabled=named))
            manager = PluginManager.load(chosen, strict=True)
            for plugin in plugins:
                if isinstance(plugin, Plugin):
                    manager.register(plugin)
            with Plane(chosen, plugins=manager) as plane:
                yield plane

        yield open_


def asserted(plane: Plane) -> list[str]:
    """Return the operations of an export."""
    return [line for line in plane.export() if '"op":' in line]


def seen(plane: Plane) -> dict[str, Any]:
    """Return what reads say of asserted and derived state, but for the few memories that an edge names as evidence.

    Those are the last that came in, which costs the same however many there are.
    """
    graph = plane.graph(limit=10_000)
    return {
        "facts": plane.facts(history=True, limit=10_000),
        "items": plane.items(limit=10_000),
        "thoughts": plane.thoughts(limit=10_000),
        "nodes": sorted(graph.nodes, key=repr),
        "edges": sorted((replace(one, evidence=()) for one in graph.edges), key=repr),
    }


def tell(random: Random, one: Plane, two: Plane, history: Sequence[Operation]) -> None:
    """Tell each operation to one machine or both, and let them meet now and then."""
    sides = [random.choice(((one,), (two,), (one, two))) for _ in history]
    shares = [[op for op, side in zip(history, sides, strict=True) if plane in side] for plane in (one, two)]
    batches = [
        (plane, batch) for plane, share in zip((one, two), shares, strict=True) for batch in pieces(random, share)
    ]
    random.shuffle(batches)
    for plane, batch in batches:
        plane.apply_all(batch)
        if random.random() < 0.3:
            plane.ingest()
        if random.random() < 0.15:
            exchange(one, two)


def settle(one: Plane, two: Plane) -> None:
    """Let them meet until what the deferred plugins of each have said is known to both."""
    for _ in range(2):
        exchange(one, two)
        one.ingest(), two.ingest()
    exchange(one, two)
    assert exchange(one, two) == SyncReport()


def drill(examples: int) -> settings:
    """The same examples each time, told as they are: a failure is there again."""
    return settings(
        max_examples=examples, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip


def test_two_machines_agree_to_the_byte(opened: Open, sized: Callable[[int, int], int]) -> None:
    @drill(sized(1, 25))
    @given(st.randoms(use_true_random=True))
    def check(random: Random) -> None:
        history = random_history(random)
        with opened("local", LaterPlugin()) as one, opened("local", LaterPlugin()) as two, opened() as third:
            tell(random, one, two, history)
            settle(one, two)
            lines, state = list(one.export()), seen(one)
            assert len(asserted(one)) > 0.8 * OPERATIONS  # the rest was forgotten, and what was said about it
            assert lines == list(two.export())
            assert state == seen(two)
            exchange(third, two)  # which has no plugins: what others derived has travelled along
            assert lines == list(third.export())
            assert state == seen(third)
            assert any('"plugin":' in line for line in lines)
            third.rebuild()
            assert (lines, state) == (list(third.export()), seen(third))

    check()


def test_asserted_state_needs_no_sync_to_agree(opened: Open, sized: Callable[[int, int], int]) -> None:
    @drill(sized(2, 50))
    @given(st.randoms(use_true_random=True))
    def check(random: Random) -> None:
        history = random_history(random)
        with opened() as one, opened() as two:
            one.apply_all(sorted(history, key=lambda op: (op.created_at, op.id)))
            for batch in pieces(random, history):
                two.apply_all(batch)
            assert asserted(one) == asserted(two)
            assert {json.loads(line)["op"] for line in asserted(one)} > {"thought", "fact", "of tomorrow"}
            assert seen(one) == seen(two)

    check()
