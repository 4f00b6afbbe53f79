"""Whom a doubt is about, which a question about one of them looks up."""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

ENDS = ("one", "other")


def upgrade() -> None:
    """Have an index answer it: all doubts were looked through."""
    for end in ENDS:
        op.create_index(f"ix_doubts_{end}", "doubts", [end])


def downgrade() -> None:
    """Look through all of them again."""
    for end in ENDS:
        op.drop_index(f"ix_doubts_{end}", table_name="doubts")
