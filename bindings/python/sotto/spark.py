"""Spark's DataFrames: studies are computed where the rows are, by Spark SQL, and only groups' sums come back, to which sotto adds noise.

Spark 4 or later, classic or by Spark Connect. While a study runs, the session has sotto's settings (`SETTINGS`: ANSI mode, UTC, names by their case) and a
temporary view; both are taken back afterwards. Other threads may ask the session meanwhile, under these settings, and must not change them.

A frame is evaluated anew for each statement. One that gives other rows each time, by rand() or a limit without an order, keeps each unit within its bounds, but its answers are of
different tables.
"""

from __future__ import annotations

import contextlib
import io
import os
import threading
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

        changed = [setting for setting, value in SETTINGS.items() if self._session.conf.get(setting, None) != value]
        if changed:
            raise RuntimeError(f"the session's settings were changed while a study ran: {', '.join(changed)}")
        rows = self._session.sql(sql).toArrow()
        narrow = [f.with_type(pyarrow.string()) if pyarrow.types.is_large_string(f.type) else f for f in rows.schema]
        rows = rows.cast(pyarrow.schema(narrow))
        sink = io.BytesIO()
        with pyarrow.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        return sink.getvalue()


class _Settings:
    """Sotto's settings in a session: those of before come back when the last run that needs them ends."""

    _lock = threading.Lock()
    _of_sessions: dict[int, _Settings] = {}

    def __init__(self, session):
        self._session = session
        self._before = {name: session.conf.get(name, None) for name in SETTINGS}
        self._runs = 0

    @classmethod
    @contextlib.contextmanager
    def held(cls, session):
        with cls._lock:
            own = cls._of_sessions.get(id(session)) or cls(session)
            cls._of_sessions[id(session)] = own
            own._runs += 1
        try:
            with cls._lock:
                for name, value in SETTINGS.items():
                    session.conf.set(name, value)
            yield
        finally:
            with cls._lock:
                own._runs -= 1
                if own._runs == 0:
                    del cls._of_sessions[id(session)]
                    own._take_back()

    def _take_back(self):
        with contextlib.ExitStack() as all_of_them:  # each, whatever becomes of the others
            for name, value in self._before.items():
                if value is None:
                    all_of_them.callback(self._session.conf.unset, name)
                else:
                    all_of_them.callback(self._session.conf.set, name, value)


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
    with contextlib.ExitStack() as afterwards:
        table.createOrReplaceTempView(name)
        afterwards.callback(session.catalog.dropTempView, name)
        afterwards.enter_context(_Settings.held(session))
        yield _View(session, name)


def release(table, study: str | os.PathLike, catalogue: str | os.PathLike | None = None, **options):
    """Runs a study, its text or its file, on a DataFrame of Spark's: charged to the ledger of the data that it names. `options` as for Session.

    Whoever passes the frame vouches that it is the data that the data file describes, in its version.
    """
    from .session import release as release_table

    if not is_frame(table):
        raise InvalidValue("sotto.spark.release needs a DataFrame of Spark's; for rows in memory there is sotto.release")
    return release_table(table, study, catalogue, **options)
