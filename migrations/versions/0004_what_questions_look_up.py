"""What questions look up: the edges of a relation that end at a node, and the nodes of a type."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Have an index answer both, however many edges a node has."""
    op.create_index("ix_graph_edges_target_relation", "graph_edges", ["target", "relation"])
    op.drop_index("ix_graph_edges_target", "graph_edges")
    op.create_index("ix_graph_nodes_type_founded_at", "graph_nodes", ["type", "founded_at"])


def downgrade() -> None:
    """Go back to the index of what ends at a node."""
    op.drop_index("ix_graph_nodes_type_founded_at", "graph_nodes")
    op.create_index("ix_graph_edges_target", "graph_edges", ["target"])
    op.drop_index("ix_graph_edges_target_relation", "graph_edges")
