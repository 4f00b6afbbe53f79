"""What is held back or retracted, which the page for review lists."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

HIDDEN = {"sqlite_where": sa.text("visible = 0"), "postgresql_where": sa.text("NOT visible")}
TABLES = ("thoughts", "facts")


def upgrade() -> None:
    """Have an index answer it: few memories are hidden, and all were looked at for it."""
    for table in TABLES:
        op.create_index(f"ix_{table}_hidden", table, ["seq"], **HIDDEN)


def downgrade() -> None:
    """Look at all of them again."""
    for table in TABLES:
        op.drop_index(f"ix_{table}_hidden", table)
