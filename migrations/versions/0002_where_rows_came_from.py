"""Where operations and derivations came from, which derivations came late, and what is still to be purged."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ID = sa.Uuid().with_variant(sa.LargeBinary(16), "sqlite")
ROW = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LATE = sa.text("changed IS NOT NULL")


def upgrade() -> None:
    """Add the columns; what is there was taken here first, and travels with its memory."""
    op.add_column("operations", sa.Column("received_from", ID, nullable=True))
    op.add_column("derivations", sa.Column("received_from", ID, nullable=True))
    op.add_column("derivations", sa.Column("changed", ROW, nullable=True))
    op.create_index("ix_derivations_changed", "derivations", ["changed"], sqlite_where=LATE, postgresql_where=LATE)
    op.create_index("ix_facts_at", "facts", ["at"])
    op.create_table(
        "purges", sa.Column("target", ID, nullable=False), sa.PrimaryKeyConstraint("target", name="pk_purges")
    )


def downgrade() -> None:
    """Drop them again."""
    op.drop_table("purges")
    op.drop_index("ix_facts_at", "facts")
    op.drop_index("ix_derivations_changed", "derivations")
    op.drop_column("derivations", "changed")
    op.drop_column("derivations", "received_from")
    op.drop_column("operations", "received_from")
