"""Run migrations on the connection that `memory_plane.schema` hands over; there is no alembic.ini."""

from alembic import context

from memory_plane import models

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=models.metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
context.run_migrations()
