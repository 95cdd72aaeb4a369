"""Tables in memory: read where they lie, with the same meaning as files."""

import datetime
import math

import pytest
import sotto
from sotto import Session

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed: ./dev python slow")

pytestmark = pytest.mark.slow

DATA = """
name = "people"
version = "1"
source = "people.parquet"
unit = "row"
ledger = "people.sotto"
[columns]
age = { type = "integer", null = "drop", bounds = [0, 100] }
region = { type = "text", null = "drop", values = ["north", "south"] }
spent = { type = "real", null = "drop", bounds = [0, 100] }
member = { type = "boolean", null = "drop" }
day = { type = "date", null = "drop" }
time = { type = "timestamp", null = "drop" }
"""


def people(n):
    days = [datetime.date(2026, 1, 1) + datetime.timedelta(days=i % 300) if i % 13 else None for i in range(n)]
    return pyarrow.table(
        {
            "age": pyarrow.array([i % 90 if i % 7 else None for i in range(n)], pyarrow.int16()),
            "region": ["north" if i % 3 else "south" if i % 5 else None for i in range(n)],
            "spent": [i % 100 + 0.5 if i % 11 else math.nan for i in range(n)],
            "member": [i % 2 == 0 for i in range(n)],
            "day": pyarrow.array(days, pyarrow.date32()),
            "time": pyarrow.array([None if day is None else datetime.datetime(2026, 1, 1, 12) for day in days], pyarrow.timestamp("ns")),
            "other": [{"nested": i} for i in range(n)],  # not declared, not looked at
        }
    )


@pytest.fixture
def session(tmp_path, duckdb_library):
    (tmp_path / "people.data.toml").write_text(DATA)
    session = Session(tmp_path, duckdb=duckdb_library)
    session.create_ledger(epsilon=1e9)  # next to no noise: the numbers are compared
    return session


WHERES = ["age >= 65", "spent > 50", "member", "region = 'north'", "day >= DATE '2026-06-01'", "time >= TIMESTAMP '2026-01-01 12:00:00'", "age is null", "day is null"]


def numbers(session, table, **how):
    questions = [session.query().where(where).count(name=where) for where in WHERES]
    questions.append(session.query().group_by("region").mean("spent"))
    return [row["value"] for row in session.run(*questions, epsilon=1e7, table=table, **how).rows()]


def test_a_table_in_memory_means_what_its_file_means(session, tmp_path):
    import pyarrow.parquet

    table = people(20_000)
    pyarrow.parquet.write_table(table.drop_columns(["other"]), tmp_path / "people.parquet")
    from_file = numbers(session, None)
    in_memory = numbers(session, table, again=True)
    assert in_memory == pytest.approx(from_file, abs=0.01)
    chunked = pyarrow.concat_tables([table.slice(0, 777), table.slice(777, 5000), table.slice(5777)])  # offsets, and several batches
    assert numbers(session, chunked, again=True) == pytest.approx(from_file, abs=0.01)


@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()])
def test_texts_of_every_kind(session, kind):
    words = ["north", "south", "a text of more than twelve bytes", None, ""]
    table = people(1000)
    texts = pyarrow.array([words[i % 5] for i in range(1000)], kind)
    table = table.set_column(table.column_names.index("region"), "region", texts)
    question = session.query().where("region = 'a text of more than twelve bytes'").count(name="long")
    rows = session.run(question, session.query().group_by("region").count(), epsilon=1e7, table=table, again=True).rows()
    assert [row["value"] for row in rows] == pytest.approx([200, 200, 200], abs=0.01)


def test_frames_and_relations_are_tables(session):
    table = people(1000).drop_columns(["other"])
    wanted = numbers(session, table)
    pandas = pytest.importorskip("pandas")
    if hasattr(pandas.DataFrame, "__arrow_c_stream__"):
        frame = table.to_pandas(types_mapper=pandas.ArrowDtype)
        assert numbers(session, frame, again=True) == pytest.approx(wanted, abs=0.01)
    study = session.study(session.query().count(), epsilon=1e7).text
    assert sotto.release(table, study, session.catalogue, duckdb=session._limits["duckdb"]).rows()[0]["value"] == pytest.approx(1000, abs=0.01)


def test_what_does_not_fit_is_refused_before_the_charge(session):
    table = people(100)
    spent = session.ledger().spent
    with pytest.raises(sotto.SottoError, match='no column "spent"'):
        session.query().mean("spent").run(epsilon=1, table=table.drop_columns(["spent"]))
    with pytest.raises(sotto.SottoError, match="with a dictionary"):
        coded = table.set_column(1, "region", table["region"].dictionary_encode())
        session.query().group_by("region").count().run(epsilon=1, table=coded)
    with pytest.raises(sotto.SottoError, match="declared integer and stored as"):
        session.query().where("age > 3").count().run(epsilon=1, table=table.set_column(0, "age", table["region"]))
    with pytest.raises(sotto.InvalidValue, match="__arrow_c_stream__"):
        session.query().count().run(epsilon=1, table=[1, 2])
    assert session.ledger().spent == spent
