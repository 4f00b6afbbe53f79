"""The tables. `operations` and `derivations` are append-only; every other table is a fold of them (DESIGN section 4).

Row numbers (`seq`, `key`, `node`) are local to one database and never leave it; ids do.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Uuid,
    func,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator, TypeEngine

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
Row = BigInteger().with_variant(Integer, "sqlite")


class Id(TypeDecorator[str]):
    """A UUID: canonical text in Python, 16 bytes in SQLite, `uuid` in PostgreSQL."""

    impl = LargeBinary(16)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Uuid() if dialect.name == "postgresql" else LargeBinary(16))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        return UUID(value) if dialect.name == "postgresql" else UUID(value).bytes

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        if value is None:
            return None
        return str(value) if dialect.name == "postgresql" else str(UUID(bytes=value))


class Instant(TypeDecorator[datetime]):
    """A moment: an aware UTC datetime in Python, microseconds since 1970 in the database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        return None if value is None else (value - EPOCH) // _MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else EPOCH + timedelta(microseconds=value)


class Base(DeclarativeBase):
    """Names every constraint, so that batch migrations can find it."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {datetime: Instant()}  # noqa: RUF012 (SQLAlchemy reads it as declared)


def table(model: type[Base]) -> Table:
    """Return the table of a model, for Core statements: on the hot paths the ORM costs three times as much."""
    found = model.__table__
    assert isinstance(found, Table)
    return found


def _row(**keywords: Any) -> Mapped[int]:
    return mapped_column(Row, **keywords)


class OperationRow(Base):
    """The log. `text` is the operation's one long text, kept here alone; `body` is the rest as compact JSON.

    `effective_at` is only filled where it differs from `created_at`; `effective()` is what folds order by.
    """

    __tablename__ = "operations"
    __table_args__ = (
        Index(
            "ix_operations_target",
            "target",
            sqlite_where=text("target IS NOT NULL"),
            postgresql_where=text("target IS NOT NULL"),
        ),
    )
    seq: Mapped[int] = _row(primary_key=True)
    id: Mapped[str] = mapped_column(Id, unique=True)
    op: Mapped[str]
    agent: Mapped[str]
    created_at: Mapped[datetime]
    effective_at: Mapped[datetime | None]
    target: Mapped[str | None] = mapped_column(Id)
    text: Mapped[str | None]
    body: Mapped[str]


def effective() -> ColumnElement[datetime]:
    """Return the time that an operation counts from."""
    return func.coalesce(OperationRow.effective_at, OperationRow.created_at, type_=Instant())


class DerivationRow(Base):
    """What one plugin answered about one memory, as given; `rank` 0 = inline, 1 = deferred."""

    __tablename__ = "derivations"
    __table_args__ = ({"sqlite_with_rowid": False},)
    seq: Mapped[int] = _row(primary_key=True)
    rank: Mapped[int] = mapped_column(primary_key=True)
    plugin: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[str]
    answer: Mapped[str]


class EnrichmentRow(Base):
    """The queue of deferred plugins."""

    __tablename__ = "enrichment"
    __table_args__ = ({"sqlite_with_rowid": False},)
    plugin: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = _row(primary_key=True)
    tries: Mapped[int] = mapped_column(default=0)
    not_before: Mapped[datetime | None]
    error: Mapped[str | None]


class ThoughtRow(Base):
    """The fold of a thought operation and of all that was said of it later."""

    __tablename__ = "thoughts"
    __table_args__ = (Index("ix_thoughts_at", "at"),)
    seq: Mapped[int] = _row(primary_key=True)
    agent: Mapped[str]
    kind: Mapped[str]
    project: Mapped[str | None]
    origin: Mapped[str]
    at: Mapped[datetime]
    visible: Mapped[bool]
    pinned: Mapped[bool]


class ItemRow(Base):
    """An open item; `object` only where a plugin found the item inside a longer text."""

    __tablename__ = "items"
    __table_args__ = (
        Index(
            "ix_items_open",
            "addressee",
            "due_at",
            sqlite_where=text("status = 'open'"),
            postgresql_where=text("status = 'open'"),
        ),
    )
    seq: Mapped[int] = _row(primary_key=True)
    kind: Mapped[str]
    method: Mapped[str]
    owner: Mapped[str | None]
    addressee: Mapped[str | None]
    object: Mapped[str | None]
    due_at: Mapped[datetime | None]
    status: Mapped[str]
    snoozed_until: Mapped[datetime | None]


class FactRow(Base):
    """One value of (subject, key), both folded to one spelling; `superseded_at` is empty for the current value."""

    __tablename__ = "facts"
    __table_args__ = (
        Index("ix_facts_subject_key_at", "subject", "fact_key", "at"),
        Index(
            "uq_facts_current",
            "subject",
            "fact_key",
            unique=True,
            sqlite_where=text("superseded_at IS NULL AND visible"),
            postgresql_where=text("superseded_at IS NULL AND visible"),
        ),
    )
    seq: Mapped[int] = _row(primary_key=True)
    subject: Mapped[str]
    fact_key: Mapped[str]
    at: Mapped[datetime]
    origin: Mapped[str]
    confidence: Mapped[float]
    valid_from: Mapped[datetime]
    valid_until: Mapped[datetime | None]
    superseded_at: Mapped[datetime | None]
    visible: Mapped[bool]


class HeartbeatRow(Base):
    """One row an agent: its newest heartbeat, and when it last wrote anything."""

    __tablename__ = "agent_heartbeats"
    agent: Mapped[str] = mapped_column(primary_key=True)
    written_at: Mapped[datetime]
    seq: Mapped[int | None] = _row()
    focus: Mapped[str | None]
    project: Mapped[str | None]
    status: Mapped[str | None]
    at: Mapped[datetime | None]


class NodeRow(Base):
    """A node of the graph; its name, type and slug are those of its earliest mention."""

    __tablename__ = "graph_nodes"
    __table_args__ = (Index("ix_graph_nodes_slug", "slug"),)
    key: Mapped[int] = _row(primary_key=True)
    id: Mapped[str] = mapped_column(Id, unique=True)
    type: Mapped[str]
    name: Mapped[str]
    slug: Mapped[str]
    founded_at: Mapped[datetime]


class AliasRow(Base):
    """A folded name that mentions of a node have had, and how many of them; `part` = one word of a person's name."""

    __tablename__ = "aliases"
    __table_args__ = (Index("ix_aliases_node", "node"), {"sqlite_with_rowid": False})
    name: Mapped[str] = mapped_column(primary_key=True)
    node: Mapped[int] = mapped_column(ForeignKey("graph_nodes.key"), primary_key=True)
    part: Mapped[bool] = mapped_column(primary_key=True)
    uses: Mapped[int]


class MentionRow(Base):
    """Where a memory names a node."""

    __tablename__ = "mentions"
    __table_args__ = (Index("ix_mentions_node_seq", "node", "seq"), {"sqlite_with_rowid": False})
    seq: Mapped[int] = _row(primary_key=True)
    start: Mapped[int] = mapped_column(primary_key=True)
    end: Mapped[int] = mapped_column(primary_key=True)
    node: Mapped[int] = mapped_column(ForeignKey("graph_nodes.key"), primary_key=True)


class EdgeRow(Base):
    """The fold of an edge's evidence: the highest probability, the earliest start, and whether the newest word ends it.

    `opened_at` and `closed_at` are when it was last said to hold and to have ended, `ended` is the end then given;
    `valid_until` is empty while it holds.
    """

    __tablename__ = "graph_edges"
    __table_args__ = (
        Index("uq_graph_edges_source_relation_target", "source", "relation", "target", unique=True),
        Index("ix_graph_edges_target", "target"),
        Index("ix_graph_edges_known_since", "known_since"),
    )
    key: Mapped[int] = _row(primary_key=True)
    source: Mapped[int] = mapped_column(ForeignKey("graph_nodes.key"))
    relation: Mapped[str]
    target: Mapped[int] = mapped_column(ForeignKey("graph_nodes.key"))
    probability: Mapped[float]
    method: Mapped[str]
    known_since: Mapped[datetime]
    valid_from: Mapped[datetime | None]
    valid_until: Mapped[datetime | None]
    opened_at: Mapped[datetime | None]
    closed_at: Mapped[datetime | None]
    ended: Mapped[datetime | None]


class EvidenceRow(Base):
    """One memory's word on an edge."""

    __tablename__ = "graph_evidence"
    __table_args__ = ({"sqlite_with_rowid": False},)
    edge: Mapped[int] = mapped_column(ForeignKey("graph_edges.key"), primary_key=True)
    seq: Mapped[int] = _row(primary_key=True)
    method: Mapped[str] = mapped_column(primary_key=True)
    probability: Mapped[float]
    valid_from: Mapped[datetime | None]
    valid_until: Mapped[datetime | None]


class AttentionRow(Base):
    """How much an agent should care about a memory, where that is above the threshold of noise."""

    __tablename__ = "attention"
    __table_args__ = ({"sqlite_with_rowid": False},)
    agent: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = _row(primary_key=True)
    score: Mapped[float]
    reason: Mapped[str]


class CursorRow(Base):
    """Where a plugin's source was read up to."""

    __tablename__ = "cursors"
    plugin: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]
