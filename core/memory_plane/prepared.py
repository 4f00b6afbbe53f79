"""Statements that SQLAlchemy compiles once for a dialect and the driver runs from then on.

A Core statement costs seven times what the driver needs, because it is looked up, bound and described anew at each
call. A write runs two dozen of them, so the hot paths prepare theirs; what runs rarely stays plain Core.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from sqlalchemy import Connection, Dialect, Executable
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.sql.compiler import SQLCompiler

Values = Mapping[str, Any]
Process = Callable[[Any], Any]


class Prepared:
    """A statement with named parameters; rows come back as named tuples.

    Give a statement, or a function of the dialect's `insert` that makes one with an ON CONFLICT clause. An INSERT
    takes every column of its table as parameter, or those that are named. Parameters that expand (IN) are not for this.
    """

    def __init__(self, statement: Executable | Callable[[Any], Executable], *columns: str) -> None:
        self._statement = statement
        self._columns = columns or None
        self._forms: dict[str, _Form] = {}

    def all(self, connection: Connection, **values: Any) -> list[Any]:
        """Return every row."""
        form = self._forms.get(connection.dialect.name) or self._form(connection)
        driver: Any = connection.connection.dbapi_connection
        return form.rows(driver.execute(form.sql, form.bind(values)))

    def first(self, connection: Connection, **values: Any) -> Any | None:
        """Return the first row, None if there is none."""
        rows = self.all(connection, **values)
        return rows[0] if rows else None

    def scalar(self, connection: Connection, **values: Any) -> Any:
        """Return the first value of the first row, None if there is none."""
        row = self.first(connection, **values)
        return None if row is None else row[0]

    def run(self, connection: Connection, **values: Any) -> int:
        """Change rows; return how many."""
        form = self._form(connection)
        return int(_driver(connection).execute(form.sql, form.bind(values)).rowcount)

    def run_all(self, connection: Connection, rows: Iterable[Values]) -> None:
        """Change rows, once for each set of values."""
        form = self._form(connection)
        _driver(connection).executemany(form.sql, [form.bind(values) for values in rows])

    def _form(self, connection: Connection) -> _Form:
        dialect = connection.dialect
        form = self._forms.get(dialect.name)
        if form is None:
            form = self._forms[dialect.name] = _Form(self._made(dialect), dialect, self._columns)
        return form

    def _made(self, dialect: Dialect) -> Executable:
        if isinstance(self._statement, Executable):
            return self._statement
        if dialect.name != "postgresql":
            return self._statement(sqlite_insert)
        from sqlalchemy.dialects.postgresql import insert

        return self._statement(insert)


class _Form:
    """A statement as one dialect has it: its SQL, how values go in and how rows come out."""

    def __init__(self, statement: Any, dialect: Dialect, columns: tuple[str, ...] | None) -> None:
        compiled: SQLCompiler = statement.compile(dialect=dialect, column_keys=columns)
        self.sql = str(compiled)
        names = compiled.positiontup if compiled.positional else list(compiled.binds)
        self._named = None if compiled.positional else names
        self._binds = [
            (name, None if bind.required else bind.effective_value, _process(bind.type, dialect, "bind"))
            for name in names or ()
            for bind in (compiled.binds[name],)
        ]
        found = list(getattr(statement, "exported_columns", ()))
        named: Any = namedtuple  # the type checker wants the names to be literals
        row = named("Row", [column.name for column in found], rename=True) if found else None
        self._row: Any = tuple if row is None else partial(tuple.__new__, row)  # `_make` would count the cells again
        processes = [_process(column.type, dialect, "result") for column in found]
        self._processes = [(place, process) for place, process in enumerate(processes) if process is not None]
        plain = self._named is None and all(bind[1:] == (None, None) for bind in self._binds)
        self._plain = [name for name, _, _ in self._binds] if plain else None

    def bind(self, values: Values) -> Any:
        """Return the values as the driver takes them."""
        if self._plain is not None:
            return list(map(values.get, self._plain))
        given = []
        for name, default, process in self._binds:
            value = values.get(name, default)
            given.append(value if process is None else process(value))
        return given if self._named is None else dict(zip(self._named, given, strict=True))

    def rows(self, cursor: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Return the rows as Python has them."""
        if not self._processes:
            return list(cursor) if self._row is tuple else list(map(self._row, cursor))
        rows = []
        for row in cursor:
            cells = list(row)
            for place, process in self._processes:
                cells[place] = process(cells[place])
            rows.append(self._row(cells))
        return rows


def _process(type_: Any, dialect: Dialect, way: str) -> Process | None:
    own = type_.dialect_impl(dialect)
    found: Process | None = own.bind_processor(dialect) if way == "bind" else own.result_processor(dialect, None)
    return found


def _driver(connection: Connection) -> Any:
    return connection.connection.dbapi_connection
