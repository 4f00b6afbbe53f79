"""The first schema: log, derivations, the folds of both, and the full-text index."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ID = sa.Uuid().with_variant(sa.LargeBinary(16), "sqlite")
ROW = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TABLES = (
    "agent_heartbeats",
    "attention",
    "cursors",
    "derivations",
    "enrichment",
    "facts",
    "graph_nodes",
    "items",
    "operations",
    "thoughts",
    "aliases",
    "graph_edges",
    "mentions",
    "graph_evidence",
)


def upgrade() -> None:
    """Make every table."""
    op.create_table(
        "agent_heartbeats",
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("written_at", sa.BigInteger(), nullable=False),
        sa.Column("seq", ROW, nullable=True),
        sa.Column("focus", sa.String(), nullable=True),
        sa.Column("project", sa.String(), nullable=True),
        sa.Column("status", sa.String(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("agent", name="pk_agent_heartbeats"),
    )
    op.create_table(
        "attention",
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("seq", ROW, nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("agent", "seq", name="pk_attention"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "cursors",
        sa.Column("plugin", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("plugin", name="pk_cursors"),
    )
    op.create_table(
        "derivations",
        sa.Column("seq", ROW, nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("plugin", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("answer", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("seq", "rank", "plugin", name="pk_derivations"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "enrichment",
        sa.Column("plugin", sa.String(), nullable=False),
        sa.Column("seq", ROW, nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.BigInteger(), nullable=True),
        sa.Column("error", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("plugin", "seq", name="pk_enrichment"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "facts",
        sa.Column("seq", ROW, nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("fact_key", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=False),
        sa.Column("valid_until", sa.BigInteger(), nullable=True),
        sa.Column("superseded_at", sa.BigInteger(), nullable=True),
        sa.Column("indexed", sa.Boolean(), nullable=False),
        sa.Column("visible", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_facts"),
    )
    op.create_index("ix_facts_subject_key_at", "facts", ["subject", "fact_key", "at"], unique=False)

    op.create_table(
        "graph_nodes",
        sa.Column("key", ROW, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("slug", sa.String(), nullable=False),
        sa.Column("founded_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_graph_nodes"),
        sa.UniqueConstraint("id", name="uq_graph_nodes_id"),
    )
    op.create_index("ix_graph_nodes_slug", "graph_nodes", ["slug"], unique=False)

    op.create_table(
        "items",
        sa.Column("seq", ROW, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=True),
        sa.Column("addressee", sa.String(), nullable=True),
        sa.Column("object", sa.String(), nullable=True),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("snoozed_until", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("seq", name="pk_items"),
    )
    op.create_index(
        "ix_items_open",
        "items",
        ["addressee", "due_at"],
        unique=False,
        sqlite_where=sa.text("status = 'open'"),
        postgresql_where=sa.text("status = 'open'"),
    )

    op.create_table(
        "operations",
        sa.Column("seq", ROW, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("op", sa.String(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("effective_at", sa.BigInteger(), nullable=True),
        sa.Column("target", ID, nullable=True),
        sa.Column("text", sa.String(), nullable=True),
        sa.Column("body", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_operations"),
        sa.UniqueConstraint("id", name="uq_operations_id"),
    )
    op.create_index(
        "ix_operations_target",
        "operations",
        ["target"],
        unique=False,
        sqlite_where=sa.text("target IS NOT NULL"),
        postgresql_where=sa.text("target IS NOT NULL"),
    )

    op.create_table(
        "thoughts",
        sa.Column("seq", ROW, nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("project", sa.String(), nullable=True),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("visible", sa.Boolean(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_thoughts"),
    )
    op.create_index("ix_thoughts_at", "thoughts", ["at"], unique=False)

    op.create_table(
        "aliases",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("node", ROW, nullable=False),
        sa.Column("part", sa.Boolean(), nullable=False),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["node"], ["graph_nodes.key"], name="fk_aliases_node"),
        sa.PrimaryKeyConstraint("name", "node", "part", name="pk_aliases"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_aliases_node", "aliases", ["node"], unique=False)

    op.create_table(
        "graph_edges",
        sa.Column("key", ROW, nullable=False),
        sa.Column("source", ROW, nullable=False),
        sa.Column("relation", sa.String(), nullable=False),
        sa.Column("target", ROW, nullable=False),
        sa.Column("probability", sa.Double(), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("known_since", sa.BigInteger(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=True),
        sa.Column("valid_until", sa.BigInteger(), nullable=True),
        sa.Column("opened_at", sa.BigInteger(), nullable=True),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.Column("ended", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["source"], ["graph_nodes.key"], name="fk_graph_edges_source"),
        sa.ForeignKeyConstraint(["target"], ["graph_nodes.key"], name="fk_graph_edges_target"),
        sa.PrimaryKeyConstraint("key", name="pk_graph_edges"),
    )
    op.create_index("ix_graph_edges_target", "graph_edges", ["target"], unique=False)
    op.create_index("ix_graph_edges_known_since", "graph_edges", ["known_since"], unique=False)
    op.create_index(
        "uq_graph_edges_source_relation_target", "graph_edges", ["source", "relation", "target"], unique=True
    )

    op.create_table(
        "mentions",
        sa.Column("seq", ROW, nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("node", ROW, nullable=False),
        sa.ForeignKeyConstraint(["node"], ["graph_nodes.key"], name="fk_mentions_node"),
        sa.PrimaryKeyConstraint("seq", "start", "end", "node", name="pk_mentions"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_mentions_node_seq", "mentions", ["node", "seq"], unique=False)

    op.create_table(
        "graph_evidence",
        sa.Column("edge", ROW, nullable=False),
        sa.Column("seq", ROW, nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("probability", sa.Double(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=True),
        sa.Column("valid_until", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["edge"], ["graph_edges.key"], name="fk_graph_evidence_edge"),
        sa.PrimaryKeyConstraint("edge", "seq", "method", name="pk_graph_evidence"),
        sqlite_with_rowid=False,
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE memory_fts USING fts5"
            "(text, content = '', tokenize = 'porter unicode61 remove_diacritics 2')"
        )


def downgrade() -> None:
    """Drop every table."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE memory_fts")
    for table in reversed(TABLES):
        op.drop_table(table)
