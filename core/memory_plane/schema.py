"""Bring a database to the schema of this version: create, copy and upgrade, or refuse. Alembic loads only if needed."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import inspect, text

from memory_plane import models
from memory_plane.database import Database
from memory_plane.errors import SchemaError, StoreError

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection

log = logging.getLogger(__name__)

FULL_TEXT = "memory_fts"
_LOCK_SECONDS = 60.0


def migrations_dir() -> Path:
    """Return migrations/: inside the wheel, or beside core/ in a checkout."""
    packaged = Path(__file__).with_name("migrations")
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "migrations"


def head() -> str:
    """Return the newest revision; the files in versions/ are named by their revision, so Alembic need not load."""
    return max(path.name.split("_", 1)[0] for path in (migrations_dir() / "versions").glob("[0-9]*.py"))


def current(database: Database) -> str | None:
    """Return the revision that the database is at, None where it has no tables of ours."""
    with database.reading() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        return found


def ensure(database: Database) -> None:
    """Make the schema ready for use; ten processes that call this at once on any file all succeed.

    Raise `SchemaError` when the database was written by a newer version.
    """
    if _at_head(database):
        return
    with _locked(database):
        if not _at_head(database):
            upgrade(database)


def upgrade(database: Database) -> Path | None:
    """Run the missing migrations; return the copy that was made of an older database first."""
    from alembic import command

    found = current(database)
    refuse_newer(found)
    copy = _copy(database, found) if found is not None and found != head() else None
    with database.writing() as connection:
        command.upgrade(_config(connection), "head")
    return copy


def drift(database: Database) -> list[str]:
    """Return the differences between the models and the tables that are really there."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    def ours(name: str | None, kind: str, _: Any) -> bool:
        return kind != "table" or name in models.metadata.tables

    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": ours})
        return [str(difference) for difference in compare_metadata(context, models.metadata)]


def check(database: Database) -> list[str]:
    """Return what is wrong with the file, the schema or the full-text index; nothing when all is sound."""
    refuse_newer(current(database))
    complaints = drift(database)
    if database.dialect != "sqlite":
        return complaints
    with database.reading() as connection:
        verdicts = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
        complaints += [f"integrity: {verdict}" for verdict in verdicts if verdict != "ok"]
        orphans = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        complaints += [f"foreign key: {row[0]} row {row[1]} points to no row of {row[2]}" for row in orphans]
        complaints += [complaint for complaint in _whole(connection) if complaint]
    try:
        with database.writing() as connection:
            connection.exec_driver_sql(f"INSERT INTO {FULL_TEXT}({FULL_TEXT}) VALUES ('integrity-check')")
    except StoreError as error:
        if "damaged" not in str(error):
            raise
        complaints.append("the full-text index is damaged; run: memory-plane rebuild")
    return complaints


def _whole(connection: Connection) -> Iterator[str]:
    """Each memory has its log row, its own row and, while it is visible, its row in the index; a forgotten one none."""
    halves = {
        "thoughts without a log row": "SELECT count(*) FROM thoughts WHERE seq NOT IN (SELECT seq FROM operations)",
        "thought operations without a row": "SELECT count(*) FROM operations WHERE op = 'thought' "
        "AND seq NOT IN (SELECT seq FROM thoughts)",
        "facts without a log row": "SELECT count(*) FROM facts WHERE seq NOT IN (SELECT seq FROM operations)",
        "fact operations without a row": "SELECT count(*) FROM operations WHERE op = 'fact' "
        "AND seq NOT IN (SELECT seq FROM facts)",
        "visible memories that are not in the index": "SELECT count(*) FROM (SELECT seq FROM thoughts WHERE visible "
        "UNION ALL SELECT seq FROM facts WHERE indexed) AS m "
        f"WHERE seq NOT IN (SELECT id FROM {FULL_TEXT}_docsize)",
        "index rows without a visible memory": f"SELECT count(*) FROM {FULL_TEXT}_docsize WHERE id NOT IN "
        "(SELECT seq FROM thoughts WHERE visible UNION ALL SELECT seq FROM facts WHERE indexed)",
        "forgotten operations that were not emptied": "SELECT count(*) FROM operations WHERE (op = 'forgotten' "
        "AND (text IS NOT NULL OR body != '{}')) OR (op IN ('thought', 'fact', 'heartbeat') "
        "AND id IN (SELECT target FROM operations WHERE op = 'forget'))",
        "rows about a forgotten operation": " UNION ALL ".join(
            f"SELECT seq FROM {table} WHERE seq IN (SELECT seq FROM operations WHERE op = 'forgotten')"
            for table in ("derivations", "mentions", "graph_evidence", "attention", "items")
        ).join(("SELECT count(*) FROM (", ") AS r")),
    }
    for what, query in halves.items():
        count = connection.execute(text(query)).scalar_one()
        if count:
            yield f"{count} {what}; run: memory-plane rebuild"


def _at_head(database: Database) -> bool:
    """Ask with one query; anything unexpected is for the slow way to explain."""
    try:
        with database.reading() as connection:
            found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    except StoreError as error:
        if "no tables" not in str(error):
            raise
        return False
    refuse_newer(found)
    return found == head()


def refuse_newer(found: str | None) -> None:
    """Raise `SchemaError` for a revision that this version does not know."""
    if found is not None and found > head():
        raise SchemaError(
            f"database is at revision {found!r}, this version knows up to {head()!r}; upgrade memory-plane to open it"
        )


@contextmanager
def _locked(database: Database) -> Iterator[None]:
    from filelock import FileLock, Timeout

    if database.path is None:  # a server database locks by itself
        yield
        return
    lock = FileLock(f"{database.path}.lock", timeout=_LOCK_SECONDS, mode=0o600)
    try:
        with lock:
            yield
    except Timeout:
        raise StoreError(f"database {str(database.path)!r}: another process is still upgrading it; try again") from None
    except OSError as error:
        raise StoreError(f"database {str(database.path)!r}: cannot be locked: {error.strerror}") from error


def _copy(database: Database, revision: str | None) -> Path | None:
    """Copy an SQLite file with its log before it is upgraded."""
    if database.path is None:
        return None
    copy = database.path.with_name(f"{database.path.name}.{revision}.bak")
    copy.touch(mode=0o600)
    with closing(sqlite3.connect(database.path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    log.info("copied the database at revision %s to %s before upgrading", revision, copy)
    return copy


def _config(connection: Connection) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations_dir()).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
