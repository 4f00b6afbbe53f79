"""Print what one look-up by key costs: by the driver alone, prepared, as a Core statement, and by the ORM.

    python tests/benchmarks/statements.py

Ratios to the driver, medians of interleaved rounds in one run.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import bindparam, insert, select
from sqlalchemy.orm import Session, registry

from memory_plane import models, schema
from memory_plane.database import Database
from memory_plane.prepared import Prepared

ID = "9f0c203f-1df6-55ea-8218-da576443ee1f"
ROUNDS, CALLS = 15, 400


class Row:
    """What the ORM makes of a row of the log."""

    id: Any


def main() -> None:
    """Time the four ways and print a table."""
    registry().map_imperatively(Row, models.operations)
    core = select(models.operations).where(models.operations.c.id == bindparam("id"))
    prepared = Prepared(core)
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{Path(folder) / 'memory.db'}")
        schema.ensure(database)
        with database.writing() as connection:
            row = {"id": ID, "op": "thought", "agent": "muse", "created_at": datetime.now(UTC), "body": "{}"}
            connection.execute(insert(models.operations), row)
        with database.reading() as connection:
            driver: Any = connection.connection.dbapi_connection
            sql, key = "SELECT * FROM operations WHERE id = ?", bytes.fromhex(ID.replace("-", ""))

            def by_orm() -> None:
                with Session(connection) as session:
                    session.execute(select(Row).where(Row.id == ID)).scalar_one()

            ways: dict[str, Callable[[], Any]] = {
                "driver": lambda: driver.execute(sql, (key,)).fetchall(),
                "prepared": lambda: prepared.first(connection, id=ID),
                "Core": lambda: connection.execute(core, {"id": ID}).one(),
                "ORM": by_orm,
            }
            times: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(ROUNDS):
                for name, call in ways.items():
                    begin = time.perf_counter()
                    for _ in range(CALLS):
                        call()
                    times[name].append((time.perf_counter() - begin) / CALLS * 1e6)
        database.close()
    floor = statistics.median(times["driver"])
    print("| one look-up by id | µs | to the driver |\n|---|---|---|")
    for name, found in times.items():
        print(f"| {name} | {statistics.median(found):.1f} | {statistics.median(found) / floor:.1f}× |")


if __name__ == "__main__":
    main()
