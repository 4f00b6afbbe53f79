"""What memories mean, as vectors, and which conversation each thought is part of."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

ROW = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SAID = {"sqlite": "json_extract(body, '$.thread')", "postgresql": "body::json ->> 'thread'"}


def upgrade() -> None:
    """Make both; what is there gets its vectors from the hub's rounds or `memory-plane rebuild`."""
    op.add_column("thoughts", sa.Column("thread", sa.String(), nullable=True))
    said = f"SELECT {SAID[op.get_bind().dialect.name]} FROM operations WHERE operations.seq = thoughts.seq"
    op.execute(f"UPDATE thoughts SET thread = COALESCE(({said}), project)")
    op.create_index("ix_thoughts_thread_at", "thoughts", ["thread", "at"])
    op.create_table(
        "vectors",
        sa.Column("seq", ROW, nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("signs", sa.LargeBinary(), nullable=False),
        sa.Column("row", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_vectors"),
    )
    op.create_index("ix_vectors_model_signs", "vectors", ["model", "signs"])


def downgrade() -> None:
    """Drop both."""
    op.drop_table("vectors")
    op.drop_index("ix_thoughts_thread_at", "thoughts")
    op.drop_column("thoughts", "thread")
