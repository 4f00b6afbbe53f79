"""Which names came to a node by a merge, so that it keeps its own; `rebuild` finds those of before."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

TABLES = ("graph_nodes", "mentions")


def upgrade() -> None:
    """Add the mark."""
    for table in TABLES:
        op.add_column(table, sa.Column("joined", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    """Take it off."""
    for table in TABLES:
        op.drop_column(table, "joined")
