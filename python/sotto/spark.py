"""Spark's DataFrames: studies are computed where the rows are, by Spark SQL, and only groups' sums come back, to which sotto adds noise.

Spark 4 or later, classic or by Spark Connect. While a study runs, the session has sotto's settings (`SETTINGS`: ANSI mode, UTC, names by their case) and a
temporary view; both are taken back afterwards. Other threads should leave the session alone meanwhile.
"""

from __future__ import annotations

import contextlib
import io
import os
import uuid

from . import _sotto
from .errors import InvalidValue

SETTINGS: dict[str, str] = dict(_sotto.SPARK_SETTINGS)


def is_frame(table) -> bool:
    """A DataFrame of Spark's."""
    return type(table).__module__.split(".")[0] == "pyspark" and hasattr(table, "sparkSession")


class _View:
    def __init__(self, session, name: str):
        self._session = session
        self.__sotto_view__ = name

    def query(self, sql: str) -> bytes:
        """The rows of a statement, as a stream of Arrow's."""
        import pyarrow

        rows = self._session.sql(sql).toArrow()
        narrow = [f.with_type(pyarrow.string()) if pyarrow.types.is_large_string(f.type) else f for f in rows.schema]
        rows = rows.cast(pyarrow.schema(narrow))
        sink = io.BytesIO()
        with pyarrow.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        return sink.getvalue()


@contextlib.contextmanager
def frame(table):
    """The table itself, or for a DataFrame of Spark's a view of it in its session, which is as it was afterwards."""
    if not is_frame(table):
        yield table
        return
    session = table.sparkSession
    if int(session.version.split(".")[0]) < 4:
        raise InvalidValue(f"sotto needs Spark 4 or later, and this is Spark {session.version}")
    name = f"sotto_{uuid.uuid4().hex}"
    before = {setting: session.conf.get(setting, None) for setting in SETTINGS}
    table.createOrReplaceTempView(name)
    try:
        for setting, value in SETTINGS.items():
            session.conf.set(setting, value)
        yield _View(session, name)
    finally:
        for setting, value in before.items():
            session.conf.unset(setting) if value is None else session.conf.set(setting, value)
        session.catalog.dropTempView(name)


def release(table, study: str | os.PathLike, catalogue: str | os.PathLike | None = None, **options):
    """Runs a study, its text or its file, on a DataFrame of Spark's: charged to the ledger of the data that it names. `options` as for Session.

    Whoever passes the frame vouches that it is the data that the data file describes, in its version.
    """
    from .session import release as release_table

    if not is_frame(table):
        raise InvalidValue("sotto.spark.release needs a DataFrame of Spark's; for rows in memory there is sotto.release")
    return release_table(table, study, catalogue, **options)
