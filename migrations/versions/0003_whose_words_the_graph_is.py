"""Whose words the names and edges of the graph are, and when each word on an edge was said."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# A row that tells of no origin is taken for words of other people.
UNTRUSTED = {"nullable": False, "server_default": "external"}
ORIGIN = (
    "SELECT origin FROM thoughts WHERE thoughts.seq = {seq} UNION ALL SELECT origin FROM facts WHERE facts.seq = {seq}"
)
AT = "SELECT COALESCE(effective_at, created_at) FROM operations WHERE operations.seq = {seq}"


def upgrade() -> None:
    """Add the columns and fill them; a name that other people said first stays theirs until `memory-plane rebuild`."""
    op.add_column("graph_nodes", sa.Column("origin", sa.String(), **UNTRUSTED))
    op.add_column("graph_edges", sa.Column("origin", sa.String(), **UNTRUSTED))
    op.add_column("graph_evidence", sa.Column("origin", sa.String(), **UNTRUSTED))
    op.add_column("graph_evidence", sa.Column("at", sa.BigInteger(), nullable=False, server_default="0"))
    op.create_index("ix_graph_evidence_edge_at", "graph_evidence", ["edge", "at"])
    of_word = {part: text.format(seq="graph_evidence.seq") for part, text in (("origin", ORIGIN), ("at", AT))}
    op.execute(f"UPDATE graph_evidence SET origin = ({of_word['origin']}), at = ({of_word['at']})")
    _fill_nodes()
    _fill_edges()


def _fill_nodes() -> None:
    """A name is trusted where every memory that named the node at its first moment is; 'user' sorts last."""
    first = (
        "SELECT m.seq, COALESCE(t.origin, f.origin) AS origin FROM mentions AS m"
        " LEFT JOIN thoughts AS t ON t.seq = m.seq LEFT JOIN facts AS f ON f.seq = m.seq"
        f" WHERE m.node = graph_nodes.key AND ({AT.format(seq='m.seq')}) = graph_nodes.founded_at"
    )
    op.execute(
        f"UPDATE graph_nodes SET origin = (SELECT MAX(origin) FROM ({first}) AS w)"
        f" WHERE (SELECT COUNT(*) FROM ({first}) AS w) > 0"
        f" AND NOT EXISTS (SELECT 1 FROM ({first}) AS w WHERE origin = 'external')"
    )


def _fill_edges() -> None:
    """An edge is as trusted as the best of its words, unless one of its ends has a name of other people."""
    for origin in ("agent", "user"):
        op.execute(
            f"UPDATE graph_edges SET origin = '{origin}' WHERE EXISTS"
            f" (SELECT 1 FROM graph_evidence AS v WHERE v.edge = graph_edges.key AND v.origin = '{origin}')"
            " AND NOT EXISTS (SELECT 1 FROM graph_nodes AS n"
            " WHERE n.key IN (graph_edges.source, graph_edges.target) AND n.origin = 'external')"
        )


def downgrade() -> None:
    """Drop them again."""
    op.drop_index("ix_graph_evidence_edge_at", "graph_evidence")
    op.drop_column("graph_evidence", "at")
    op.drop_column("graph_evidence", "origin")
    op.drop_column("graph_edges", "origin")
    op.drop_column("graph_nodes", "origin")
