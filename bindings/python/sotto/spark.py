"""Studies of Spark DataFrames: Spark SQL computes sums, and sotto adds noise to them.

It needs Spark 4 or later, classic or by Spark Connect. While a study runs, the Spark session has
sotto's settings (`SETTINGS`: ANSI mode, UTC, case-sensitive names) and a temporary view. Afterwards
the settings are restored and the view is dropped. Other threads may run queries in the session
meanwhile, with sotto's settings, and must not change them.

Spark evaluates a DataFrame anew for each statement. If it then has different rows, because of
rand() or a limit without an order, the guarantee holds, but the answers are about different tables.
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
    """Returns whether the table is a Spark DataFrame, without importing pyspark."""
    return type(table).__module__.split(".")[0] == "pyspark" and hasattr(table, "sparkSession")


class _View:
    """A temporary view in a Spark session. The library calls `query` and reads the view's name."""

    def __init__(self, session, name: str):
        self._session = session
        self.__sotto_view__ = name

    def query(self, sql: str) -> bytes:
        """Returns the rows of a statement as an Arrow IPC stream.

        Raises RuntimeError if another thread changed sotto's settings of the session.
        """
        import pyarrow

        changed = [setting for setting, value in SETTINGS.items() if self._session.conf.get(setting, None) != value]
        if changed:
            raise RuntimeError(f"settings of the Spark session were changed while a study ran: {', '.join(changed)}. Do not change them, and run the study again")
        rows = self._session.sql(sql).toArrow()
        narrow = [f.with_type(pyarrow.string()) if pyarrow.types.is_large_string(f.type) else f for f in rows.schema]
        rows = rows.cast(pyarrow.schema(narrow))  # texts get 32-bit offsets
        sink = io.BytesIO()
        with pyarrow.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        return sink.getvalue()


class _Settings:
    """The original settings of a Spark session, and the number of runs that need sotto's.

    The last run that ends restores the settings. All members are guarded by `_lock`.
    """

    _lock = threading.Lock()
    _of_sessions: dict[int, _Settings] = {}

    def __init__(self, session):
        self._session = session
        self._before = {name: session.conf.get(name, None) for name in SETTINGS}
        self._runs = 0

    @classmethod
    @contextlib.contextmanager
    def apply(cls, session):
        """Applies sotto's settings to the session for the time of the context."""
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
                    own._restore()

    def _restore(self):
        with contextlib.ExitStack() as restorations:  # runs each of them, even if one raises
            for name, value in self._before.items():
                if value is None:
                    restorations.callback(self._session.conf.unset, name)
                else:
                    restorations.callback(self._session.conf.set, name, value)


@contextlib.contextmanager
def frame(table):
    """Returns a context with the table itself, or with a temporary view of a Spark DataFrame.

    At its end the view is dropped and the settings of the Spark session are restored. Raises
    InvalidValue for Spark before version 4.
    """
    if not is_frame(table):
        yield table
        return
    session = table.sparkSession
    if int(session.version.split(".")[0]) < 4:
        raise InvalidValue(f"sotto needs Spark 4 or later, and this is Spark {session.version}: upgrade Spark and pyspark")
    name = f"sotto_{uuid.uuid4().hex}"
    with contextlib.ExitStack() as afterwards:
        table.createOrReplaceTempView(name)
        afterwards.callback(session.catalog.dropTempView, name)
        afterwards.enter_context(_Settings.apply(session))
        yield _View(session, name)


def release(table, study: str | os.PathLike, catalogue: str | os.PathLike | None = None, **options):
    """Runs a study on a Spark DataFrame, and charges the ledger of the data that the study names.

    The arguments are those of `sotto.release`. The caller guarantees that the DataFrame has the
    data, and the version of the data, that the data file describes. Raises InvalidValue for other
    tables.
    """
    from .session import release as release_table

    if not is_frame(table):
        raise InvalidValue("sotto.spark.release needs a DataFrame of Spark: pass rows in memory to sotto.release")
    return release_table(table, study, catalogue, **options)
