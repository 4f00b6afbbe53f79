"""The tables. `operations` and `derivations` are only added to, `forget` aside; the other tables are folds of them.

Row numbers (`seq`, `key`, `node`) are local to one database and never leave it; ids do. These are Core tables: classes
of the ORM would cost three times as much on the hot paths, and half as much again at the start of every command.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Uuid,
    false,
    func,
    literal_column,
    text,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

from memory_plane.types import EPOCH

_MICROSECOND = timedelta(microseconds=1)
Row = BigInteger().with_variant(Integer, "sqlite")


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)


def _spelt(value: bytes | None) -> str | None:
    """Write 16 bytes as a UUID is written: a third of what the class in uuid takes, and pages show many."""
    if value is None:
        return None
    digits = value.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def moment(microseconds: int | None) -> datetime | None:
    """Return the moment so many microseconds after 1970."""
    return None if microseconds is None else EPOCH + timedelta(microseconds=microseconds)


class Id(TypeDecorator[str]):
    """A UUID: canonical text in Python, 16 bytes in SQLite, `uuid` in PostgreSQL."""

    impl = LargeBinary(16)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose the type of the column."""
        return dialect.type_descriptor(Uuid() if dialect.name == "postgresql" else LargeBinary(16))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        """Turn the text into what the driver takes."""
        if value is None:
            return None
        return UUID(value) if dialect.name == "postgresql" else bytes.fromhex(value.replace("-", ""))

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        """Turn what the driver gives into the text."""
        return _text if dialect.name == "postgresql" else _spelt


class Instant(TypeDecorator[datetime]):
    """A moment: an aware UTC datetime in Python, microseconds since 1970 in the database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Turn a moment into microseconds."""
        return None if value is None else (value - EPOCH) // _MICROSECOND

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        """Turn microseconds into a moment."""
        return moment


def _some(name: str, type_: Any = String, *more: Any, **options: Any) -> Column[Any]:
    """A column that always holds a value."""
    return Column(name, type_, *more, nullable=False, **options)


def _flag(name: str) -> Column[Any]:
    """A column that came later: what is older has no flag."""
    return _some(name, Boolean, server_default=false())


def _may(name: str, type_: Any = String) -> Column[Any]:
    """A column that may be empty."""
    return Column(name, type_, nullable=True)


def _key(name: str, type_: Any = Row, *more: Any) -> Column[Any]:
    return Column(name, type_, *more, primary_key=True, autoincrement="auto")


def _partial(condition: str) -> dict[str, Any]:
    """Limit an index; migrations say so for PostgreSQL too, whose name would load its dialect at every start here."""
    return {"sqlite_where": text(condition)}


# Every constraint has a name, so that a migration can find it.
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# The log. `text` is the operation's one long text, kept here alone; `body` is the rest as compact JSON. `effective_at`
# is only filled where it differs from `created_at`; `effective()` is what folds order by. `received_from` is the store
# that gave it to this one, empty where it was first taken here.
operations = Table(
    "operations",
    metadata,
    _key("seq"),
    _some("id", Id, unique=True),
    _some("op"),
    _some("agent"),
    _some("created_at", Instant),
    _may("effective_at", Instant),
    _may("target", Id),
    _may("text"),
    _some("body"),
    _may("received_from", Id),
    Index("ix_operations_target", "target", **_partial("target IS NOT NULL")),
)

# What one plugin answered about one memory, as given; `rank` 0 = inline, 1 = deferred. `changed` numbers the answers
# that came after their memory had been passed on: the others travel with it.
derivations = Table(
    "derivations",
    metadata,
    _key("seq"),
    _key("rank", Integer),
    _key("plugin", String),
    _some("version"),
    _some("answer"),
    _may("received_from", Id),
    _may("changed", Row),
    Index("ix_derivations_changed", "changed", **_partial("changed IS NOT NULL")),
    sqlite_with_rowid=False,
)

# The queue of what plugins have yet to say.
enrichment = Table(
    "enrichment",
    metadata,
    _key("plugin", String),
    _key("seq"),
    _some("tries", Integer, default=0),
    _may("not_before", Instant),
    _may("error"),
    sqlite_with_rowid=False,
)

# The fold of a thought operation and of all that was said of it later. `thread` is the conversation that it is part of,
# by default its project.
thoughts = Table(
    "thoughts",
    metadata,
    _key("seq"),
    _some("agent"),
    _some("kind"),
    _may("project"),
    _may("thread"),
    _some("origin"),
    _some("at", Instant),
    _some("visible", Boolean),
    _some("pinned", Boolean),
    Index("ix_thoughts_at", "at"),
    Index("ix_thoughts_thread_at", "thread", "at"),
    Index("ix_thoughts_hidden", "seq", **_partial("visible = 0")),
)

# Open items; `object` only where a plugin found the item inside a longer text.
# Each open item of a memory; `place` is where its words begin, 0 for one that the writer declared.
items = Table(
    "items",
    metadata,
    _key("seq"),
    _key("place", Integer),
    _some("kind"),
    _some("method"),
    _may("owner"),
    _may("addressee"),
    _may("object"),
    _may("due_at", Instant),
    _some("status"),
    _may("snoozed_until", Instant),
    Index("ix_items_open", "addressee", "due_at", **_partial("status = 'open'")),
)

# A literal, since SQLite plans a statement anew for each bound value that a partial index depends on.
is_open = items.c.status == literal_column("'open'")

# Each value of (subject, key), both folded to one spelling; `superseded_at` is when it gave way to a later one, and
# `indexed` whether it may still hold and so stands in the full-text index.
facts = Table(
    "facts",
    metadata,
    _key("seq"),
    _some("subject"),
    _some("fact_key"),
    _some("at", Instant),
    _some("origin"),
    _some("confidence", Double),
    _some("valid_from", Instant),
    _may("valid_until", Instant),
    _may("superseded_at", Instant),
    _some("indexed", Boolean),
    _some("visible", Boolean),
    Index("ix_facts_subject_key_at", "subject", "fact_key", "at"),
    Index("ix_facts_at", "at"),
    Index("ix_facts_hidden", "seq", **_partial("visible = 0")),
)

# One row an agent: its newest heartbeat, and when it last wrote anything.
agent_heartbeats = Table(
    "agent_heartbeats",
    metadata,
    _key("agent", String),
    _some("written_at", Instant),
    _may("seq", Row),
    _may("focus"),
    _may("project"),
    _may("status"),
    _may("at", Instant),
)

# Nodes of the graph; name, type and slug are those of the earliest mention in words of the user or an agent, or else of
# the earliest one; only where there is no other, those of a mention that is `joined`. `origin` says whose words it is.
graph_nodes = Table(
    "graph_nodes",
    metadata,
    _key("key"),
    _some("id", Id, unique=True),
    _some("type"),
    _some("name"),
    _some("slug"),
    _some("origin"),
    _some("founded_at", Instant),
    _flag("joined"),
    Index("ix_graph_nodes_slug", "slug"),
    Index("ix_graph_nodes_type_founded_at", "type", "founded_at"),
)

# The folded names that mentions of a node have had, and how many of them; `part` = one word of a person's name.
aliases = Table(
    "aliases",
    metadata,
    _key("name", String),
    _key("node", Row, ForeignKey("graph_nodes.key")),
    _key("part", Boolean),
    _some("uses", Integer),
    Index("ix_aliases_node", "node"),
    sqlite_with_rowid=False,
)

# Where a memory names a node; `joined` = one that was merged into it.
mentions = Table(
    "mentions",
    metadata,
    _key("seq"),
    _key("start", Integer),
    _key("end", Integer),
    _key("node", Row, ForeignKey("graph_nodes.key")),
    _flag("joined"),
    Index("ix_mentions_node_seq", "node", "seq"),
    sqlite_with_rowid=False,
)

# What persons say of nodes, one row a pair: one is the `same` as the other, or is not. `seq` is the operation.
verdicts = Table(
    "verdicts",
    metadata,
    _key("seq"),
    _key("one", Id),
    _key("other", Id),
    _some("same", Boolean),
    sqlite_with_rowid=False,
)

# The fold of the verdicts: the node of the graph that stands for each that was merged, itself included.
same_nodes = Table(
    "same_nodes",
    metadata,
    _key("node", Id),
    _some("representative", Id),
    Index("ix_same_nodes_representative", "representative"),
    sqlite_with_rowid=False,
)

# The same fold: which of these nodes, and of those that stand for themselves, are not one; each pair both ways round.
kept_apart = Table("kept_apart", metadata, _key("one", Id), _key("other", Id), sqlite_with_rowid=False)

# Memories in which a node is another one, founded by the split in row `seq`.
parted_nodes = Table(
    "parted_nodes",
    metadata,
    _key("memory", Id),
    _key("seq"),
    _some("node", Id),
    _some("founded", Id),
    Index("ix_parted_nodes_seq", "seq"),
    sqlite_with_rowid=False,
)

# The folded names that persons gave a node or denied it.
node_names = Table(
    "node_names",
    metadata,
    _key("seq"),
    _some("node", Id),
    _some("name"),
    _some("denied", Boolean),
    Index("ix_node_names_node", "node"),
)

# What a memory names (`one`) and a known node that it may be besides (`other`), as a plugin was not sure.
doubts = Table(
    "doubts",
    metadata,
    _key("seq"),
    _key("one", Id),
    _key("other", Id),
    _some("probability", Double),
    Index("ix_doubts_probability", "probability"),
    Index("ix_doubts_one", "one"),
    Index("ix_doubts_other", "other"),
    sqlite_with_rowid=False,
)

# The fold of an edge's evidence: the most trusted origin, the highest probability, the earliest start, and whether the
# newest word ends it.
# `opened_at` and `closed_at` are when it was last said to hold and to have ended, `ended` is the end then given;
# `valid_until` is empty while it holds.
graph_edges = Table(
    "graph_edges",
    metadata,
    _key("key"),
    _some("source", Row, ForeignKey("graph_nodes.key")),
    _some("relation"),
    _some("target", Row, ForeignKey("graph_nodes.key")),
    _some("probability", Double),
    _some("method"),
    _some("origin"),
    _some("known_since", Instant),
    _may("valid_from", Instant),
    _may("valid_until", Instant),
    _may("opened_at", Instant),
    _may("closed_at", Instant),
    _may("ended", Instant),
    Index("uq_graph_edges_source_relation_target", "source", "relation", "target", unique=True),
    Index("ix_graph_edges_target_relation", "target", "relation"),
    Index("ix_graph_edges_known_since", "known_since"),
)

# One memory's word on an edge, with whose words and when.
graph_evidence = Table(
    "graph_evidence",
    metadata,
    _key("edge", Row, ForeignKey("graph_edges.key")),
    _key("seq"),
    _key("method", String),
    _some("probability", Double),
    _may("valid_from", Instant),
    _may("valid_until", Instant),
    _some("origin"),
    _some("at", Instant),
    Index("ix_graph_evidence_edge_at", "edge", "at"),
    sqlite_with_rowid=False,
)

# What a memory means, as `model` has it: `signs` holds one bit a number, in which the index looks for what is near;
# `row` the numbers themselves. Each model's rows are apart from any other's.
vectors = Table(
    "vectors",
    metadata,
    _key("seq"),
    _some("model"),
    _some("signs", LargeBinary),
    _some("row", LargeBinary),
    Index("ix_vectors_model_signs", "model", "signs"),
)

# How much an agent should care about a memory, where a plugin scored it.
attention = Table(
    "attention",
    metadata,
    _key("agent", String),
    _key("seq"),
    _some("score", Double),
    _some("reason"),
    sqlite_with_rowid=False,
)

# What was forgotten while its text may still stand in a file: in a free page, in the index or in the write-ahead log.
purges = Table("purges", metadata, _key("target", Id))

# Where a plugin's source was read up to.
cursors = Table("cursors", metadata, _key("plugin", String), _some("value"))


def effective() -> ColumnElement[datetime]:
    """Return the time that an operation counts from."""
    return func.coalesce(operations.c.effective_at, operations.c.created_at, type_=Instant())
