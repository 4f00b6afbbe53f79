"""What persons say of nodes, which are one and what they are called, and what they are asked to judge."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

ROW = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ID = sa.Uuid().with_variant(sa.LargeBinary(16), "sqlite")


def upgrade() -> None:
    """Add the words of persons and their folds."""
    op.create_table(
        "verdicts",
        sa.Column("seq", ROW, nullable=False),
        sa.Column("one", ID, nullable=False),
        sa.Column("other", ID, nullable=False),
        sa.Column("same", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("seq", "one", "other", name="pk_verdicts"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "same_nodes",
        sa.Column("node", ID, nullable=False),
        sa.Column("representative", ID, nullable=False),
        sa.PrimaryKeyConstraint("node", name="pk_same_nodes"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_same_nodes_representative", "same_nodes", ["representative"])
    op.create_table(
        "parted_nodes",
        sa.Column("memory", ID, nullable=False),
        sa.Column("seq", ROW, nullable=False),
        sa.Column("node", ID, nullable=False),
        sa.Column("founded", ID, nullable=False),
        sa.PrimaryKeyConstraint("memory", "seq", name="pk_parted_nodes"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_parted_nodes_seq", "parted_nodes", ["seq"])
    op.create_table(
        "node_names",
        sa.Column("seq", ROW, nullable=False),
        sa.Column("node", ID, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("denied", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_node_names"),
    )
    op.create_index("ix_node_names_node", "node_names", ["node"])
    op.create_table(
        "doubts",
        sa.Column("seq", ROW, nullable=False),
        sa.Column("one", ID, nullable=False),
        sa.Column("other", ID, nullable=False),
        sa.Column("probability", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("seq", "one", "other", name="pk_doubts"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_doubts_probability", "doubts", ["probability"])


def downgrade() -> None:
    """Drop them; the operations stay in the log."""
    for table in ("doubts", "node_names", "parted_nodes", "same_nodes", "verdicts"):
        op.drop_table(table)
