"""Run migrations on the connection that `memory_plane.schema` hands over; there is no alembic.ini."""

from alembic import context
from memory_plane.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
context.run_migrations()
