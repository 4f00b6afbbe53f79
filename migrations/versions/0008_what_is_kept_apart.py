"""Which nodes are not one, by those that stand for them."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

ID = sa.Uuid().with_variant(sa.LargeBinary(16), "sqlite")
WORDS = """
SELECT v.one, v.other, v.same FROM verdicts v JOIN operations o ON o.seq = v.seq
ORDER BY COALESCE(o.effective_at, o.created_at), o.id, v.one, v.other
"""


def upgrade() -> None:
    """Make the fold of the words that are there."""
    op.create_table(
        "kept_apart",
        sa.Column("one", ID, nullable=False),
        sa.Column("other", ID, nullable=False),
        sa.PrimaryKeyConstraint("one", "other", name="pk_kept_apart"),
        sqlite_with_rowid=False,
    )
    connection = op.get_bind()
    stands = {node: one for node, one in connection.execute(sa.text("SELECT node, representative FROM same_nodes"))}
    last = {frozenset(pair): same for *pair, same in connection.execute(sa.text(WORDS))}
    apart = {tuple(stands.get(node, node) for node in pair) for pair, same in last.items() if not same}
    for one, other in {two for pair in apart for two in (pair, pair[::-1])}:
        connection.execute(
            sa.text("INSERT INTO kept_apart (one, other) VALUES (:one, :other)"), {"one": one, "other": other}
        )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("kept_apart")
