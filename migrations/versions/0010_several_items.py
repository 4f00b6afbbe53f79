"""Several open items in one memory: each has its place there; `rebuild` finds those of before that were left out."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the place to the key: an item of before is at the beginning."""
    with op.batch_alter_table("items", recreate="always") as items:
        items.add_column(sa.Column("place", sa.Integer(), nullable=False, server_default="0"))
        items.drop_constraint("pk_items", type_="primary")
        items.create_primary_key("pk_items", ["seq", "place"])


def downgrade() -> None:
    """Keep the first item of a memory."""
    op.execute(
        "DELETE FROM items WHERE EXISTS (SELECT 1 FROM items AS o WHERE o.seq = items.seq AND o.place < items.place)"
    )
    with op.batch_alter_table("items", recreate="always") as items:
        items.drop_constraint("pk_items", type_="primary")
        items.drop_column("place")
        items.create_primary_key("pk_items", ["seq"])
