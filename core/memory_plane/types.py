"""Frozen values that cross hooks and surfaces.

Sequences inside are tuples, times are aware UTC datetimes, probabilities, scores and confidences lie in 0..1,
spans are character offsets `start <= i < end` into `Memory.text`, ids are UUIDs in canonical text form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol
from uuid import UUID, uuid5

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NAMESPACE = UUID("6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10")
"""The UUIDv5 namespace of every id that Memory Plane derives."""

Kind = Literal["thought", "decision", "milestone", "question", "commitment", "handoff", "observation"]
Origin = Literal["user", "agent", "external"]
State = Literal["stored", "duplicate", "queued", "refused"]
Polarity = Literal["positive", "negative", "past", "hypothetical", "question"]

KINDS: tuple[Kind, ...] = ("thought", "decision", "milestone", "question", "commitment", "handoff", "observation")
OPEN_KINDS: tuple[Kind, ...] = ("question", "commitment", "handoff")
ORIGINS: tuple[Origin, ...] = ("user", "agent", "external")


# --- what is written ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """The only thing that writes and the only thing that syncs; `id` makes replaying it harmless."""

    id: str
    op: str
    agent: str
    created_at: datetime
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The answer to one write: `detail` says why it was refused, or what else the writer should know."""

    id: str
    state: State
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A thought or fact operation as the hooks see it; `owner` is whose promise a commitment is, if it names one."""

    id: str
    agent: str
    kind: str
    text: str
    created_at: datetime
    origin: Origin = "agent"
    project: str | None = None
    owner: str | None = None


# --- ingest ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll:
    """Look at your source again; `cursor` is what the plugin returned last time, None at first."""

    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A raw payload that a hook or webhook of `agent` delivered under the event `name`; `at` is when, if known.

    `asked` are the questions of the agent that are open.
    """

    agent: str
    name: str
    payload: Mapping[str, Any]
    at: datetime | None = None
    asked: tuple[OpenItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """Operations found, and the cursor that is committed together with them."""

    operations: tuple[Operation, ...] = ()
    cursor: str | None = None


# --- extract -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A named thing in the text. `text` is `memory.text[start:end]`, or an implied name where start == end."""

    text: str
    type: str
    start: int
    end: int
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a sentence says of two mentions. `polarity` other than positive never makes a current edge."""

    subject: Mention
    relation: str
    object: Mention
    start: int
    end: int
    confidence: float
    polarity: Polarity = "positive"
    valid_from: datetime | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An open item that the text itself contains: `owner` owes `object` to `to`.

    `start` is the character at which its words begin: by this those of one text are told apart, also after a newer
    version has read it again.
    """

    kind: Kind
    owner: str | None
    to: str | None
    object: str
    due_at: datetime | None = None
    start: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What one extractor, or all of them united, found in one memory."""

    mentions: tuple[Mention, ...] = ()
    claims: tuple[Claim, ...] = ()
    items: tuple[Item, ...] = ()


# --- classify and route ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One person, organisation, project … `slug` such as `node:person:rob` is for display only.

    `origin`: whose words its name is, those of other people unless the user or an agent said it too; aliases may be
    anybody's.
    """

    id: str
    type: str
    name: str
    slug: str = ""
    aliases: tuple[str, ...] = ()
    origin: Origin = "external"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A known node that `mention` may be, with the evidence for it; `last_seen` is None if never.

    `name_score`: 1 for a name that the node has had, less for one spelt otherwise, shorter or only a part of it;
    `given`: a person said that the node is called so; `agrees`: how many claims of the memory are known of the node
    and are true of few (who leads Orbit); `contradicts`: the memory names another employer than is known.

    Deferred plugins are told too whether the mention was `taken` for it at once, and `facts`: what other memories say
    of it, in words.
    """

    mention: Mention
    node: Node
    name_score: float
    shared_neighbours: int
    same_agent: bool
    last_seen: datetime | None
    taken: bool = False
    facts: tuple[str, ...] = ()
    given: bool = False
    agrees: int = 0
    contradicts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """noul: the probability that `mention` is the node with this id. A new node has `new_node_id()`."""

    mention: Mention
    node: str
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """choice: the edge between two node ids, with its probability and validity (None = open)."""

    source: str
    relation: str
    target: str
    probability: float
    valid_from: datetime | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """Which nodes the mentions are, and how those nodes are linked.

    `doubts`: known nodes that a mention may be besides what it was taken for; a person is asked to judge.
    """

    resolutions: tuple[Resolution, ...] = ()
    links: tuple[Link, ...] = ()
    doubts: tuple[Resolution, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentContext:
    """What a scorer may know of an agent.

    `distances`: how many links, two at most, lead to the memory's nodes from what the agent's focus or an item open
    for it names; `ways`: the same in words. `written`: those nodes that the agent's own memories named lately.
    """

    id: str
    interests: tuple[str, ...] = ()
    focus: str = ""
    open_items: int = 0
    distances: Mapping[str, int] = field(default_factory=dict)
    ways: Mapping[str, str] = field(default_factory=dict)
    written: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """score: how much one agent should care about the memory, and why in a few words."""

    agent: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """The attention of every agent that should see the memory; an agent left out scores 0."""

    attention: tuple[Attention, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """One row a text, all of one length; `model` is never mixed with another."""

    model: str
    rows: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """What other words mean nearly what a word does, and how nearly: above 0, and 1 the same; each is a single word."""

    alike: Mapping[str, Mapping[str, float]]


# --- what is read ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """An edge with its evidence (memory ids, newest first, at most 5) and both of its times.

    `origin` is the most trusted one of its evidence: `external` where only words of other people say so.
    """

    source: Node
    relation: str
    target: Node
    probability: float
    method: str
    evidence: tuple[str, ...]
    known_since: datetime
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    origin: Origin = "external"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """A stored thought. `attention` is filled when it was asked for on behalf of an agent."""

    id: str
    agent: str
    kind: str
    text: str
    created_at: datetime
    origin: Origin
    project: str | None = None
    attention: float | None = None
    reason: str = ""
    pinned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenItem:
    """A question, commitment or handoff. Its id is that of its thought, with its place if that has several."""

    id: str
    kind: str
    text: str
    agent: str
    owner: str | None
    to: str | None
    status: str
    created_at: datetime
    origin: Origin
    project: str | None = None
    due_at: datetime | None = None
    snoozed_until: datetime | None = None
    pinned: bool = False

    @property
    def memory(self) -> str:
        """The id of the thought that opened it."""
        return self.id.partition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One value of (subject, key). `superseded_at` is None while it is the current one."""

    id: str
    subject: str
    key: str
    value: str
    confidence: float
    agent: str
    origin: Origin
    created_at: datetime
    valid_from: datetime
    valid_until: datetime | None = None
    superseded_at: datetime | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """What an agent said it is doing; `stale` once it is older than the configured age."""

    agent: str
    focus: str
    project: str | None
    status: str
    at: datetime
    stale: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """The live state of the fleet: focus table, open items (due first), recent stream, graph highlights.

    `queued` counts the writes of this machine that wait for the hub, `queued_since` is when the oldest was made;
    `attention` has the agents that the thoughts concern, by their ids, the most concerned first.
    """

    at: datetime
    heartbeats: tuple[Heartbeat, ...]
    items: tuple[OpenItem, ...]
    thoughts: tuple[Thought, ...]
    edges: tuple[Edge, ...]
    items_total: int
    queued: int = 0
    queued_since: datetime | None = None
    attention: Mapping[str, tuple[Attention, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What was said just before or after a hit, in the same conversation."""

    id: str
    agent: str
    created_at: datetime
    snippet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One answer of recall. `source`: where the text came from (origin, project); `score` ranks within one answer.

    `why` has what each reason gave to the score, where that was asked for; `beside` what was said around it.
    """

    id: str
    agent: str
    kind: str
    created_at: datetime
    source: str
    snippet: str
    score: float
    why: Mapping[str, float] | None = None
    beside: tuple[Beside, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Hits in rank order; `cursor` continues after the last one, None at the end."""

    hits: tuple[Hit, ...]
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that an answer rests on: since `at` it is so or known, `until` then it was; `evidence` = memory ids."""

    text: str
    at: datetime
    evidence: tuple[str, ...]
    origin: Origin
    probability: float = 1.0
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What `ask` answers: `known` is False where the memory does not say it, or where the question was not understood.

    `text` says no more than was asked; words of other people in it are fenced. `findings` are in the order of the text.
    """

    text: str
    known: bool
    understood: bool
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """Two nodes that may be one, the memories (ids) that raise it, and what is `known` of the first and of the second.

    A merge or a distinct answers it.
    """

    one: Node
    other: Node
    probability: float
    evidence: tuple[str, ...]
    known: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """A bounded part of the graph; `attention` has the thoughts that made it relevant to the agent asked for."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    attention: tuple[Thought, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What is in some memories: the nodes that they name, the edges that rest on them, the open items that they are."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    items: tuple[OpenItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """A way through the graph: its nodes in order, and the edge between each two, which may point either way.

    `probability` is that all of it is so. Without nodes there is none; `complete` is False where one may have been
    missed, since so many edges are around the two ends that not all were looked at.
    """

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    probability: float = 0.0
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two edges that cannot both hold: the one that stands, and one that nobody said to be over.

    `against` has the end that the other one gives it, or none where other people alone say it.
    """

    stands: Edge
    against: Edge


@dataclass(frozen=True, slots=True, kw_only=True)
class Community:
    """Nodes that are linked more with each other than with the rest: how many, and the best linked of them."""

    size: int
    edges: int
    nodes: tuple[Node, ...]


class Snapshot(Protocol):
    """A lazy reader over one moment of the memory, for `render`; each answer is bounded."""

    def pulse(self) -> Pulse:
        """Return the live state of the fleet."""
        ...

    def facts(self) -> Sequence[Fact]:
        """Return the newest current facts."""
        ...

    def items(self) -> Sequence[OpenItem]:
        """Return the open items, due ones first."""
        ...

    def person(self, id: str) -> Graph | None:
        """Return what is known around a node; None for an id that is not here."""
        ...

    def people(self, agent: str) -> Sequence[Node]:
        """Return the persons that the newest memories of an agent name, the last named first."""
        ...

    def about(self, id: str) -> Sequence[Thought]:
        """Return the newest thoughts that name a node."""
        ...


# --- what plugins contribute -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentInfo:
    """An agent that a plugin speaks for; two distributions that claim one id is an error."""

    id: str
    interests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A page: `path` is relative to the home, `text` its whole content."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """An MCP tool of a plugin; the core prefixes its name with the plugin's. `function` has annotated parameters."""

    name: str
    description: str
    function: Callable[..., Any]


def new_node_id(memory_id: str, mention: Mention) -> str:
    """Return the id of the node that `mention` founds: UUIDv5 of (memory id, span, type)."""
    return str(uuid5(NAMESPACE, f"node:{memory_id}:{mention.start}:{mention.end}:{mention.type}"))
