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


HOSTILE = """
name = "hostile"
version = "1"
source = "hostile.parquet"
unit = "row"
ledger = "hostile.sotto"
[columns]
n = { type = "integer", null = "drop", bounds = [-1000, 1000] }
x = { type = "real", null = "drop", bounds = [-1000, 1000] }
price = { type = "real", null = "drop", bounds = [0, 1000] }
whole = { type = "integer", null = "drop", bounds = [0, 1000] }
region = { type = "text", null = "drop", values = ["north", "south", "süd", ""] }
seen = { type = "timestamp", null = "drop" }
day = { type = "date", null = "drop" }
"""
# each is a count or a sum of whole numbers; wrong by one shows
ASKED = [
    *["n is null", "x is null", "price is null", "whole is null", "region is null", "seen is null", "day is null"],
    *["n > 0", "n = 7", "x > 0", "x > 999", "x < -999", "price > 10.5", "price = 12.34", "whole = 3"],
    *["region = 'north'", "region = 'süd'", "region = ''", "region >= 'o'", "region = 'a text of more than twelve bytes'"],
    *["seen >= TIMESTAMP '2026-03-29 01:00:00'", "seen < TIMESTAMP '1970-01-01 00:00:00'", "EXTRACT(hour FROM seen) = 22", "EXTRACT(second FROM seen) = 59"],
    *["day < DATE '1970-01-01'", "EXTRACT(year FROM day) = 2026"],
]


def whole_numbers(session, table, **how):
    questions = [session.query().where(where).count(name=where) for where in ASKED]
    questions += [session.query().sum(column) for column in ("n", "x", "price", "whole")]
    questions.append(session.query().group_by("region").count())
    rows = session.run(*questions, epsilon=1e7, table=table, **how).rows()
    return [(row["query"], row.get("region"), round(row["value"])) for row in rows]


def hostile(n=3000):
    """Values at every edge, under null bitmaps: what one type or another of a library can hold."""
    import decimal

    zone = datetime.timezone(datetime.timedelta(hours=2))
    times = [
        datetime.datetime(2026, 3, 29, 1, 30, tzinfo=zone),
        datetime.datetime(2026, 3, 29, 0, 59, 59, 999_999, tzinfo=datetime.timezone.utc),
        datetime.datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=datetime.timezone.utc),
        datetime.datetime(1900, 1, 1, tzinfo=datetime.timezone.utc),
        None,
    ]
    cycle = lambda values: [values[i % len(values)] for i in range(n)]  # noqa: E731
    return {
        "n": pyarrow.array(cycle([7, -7, 1000, 5000, None, -(2**62), 0]), pyarrow.int64()),
        "x": pyarrow.array(cycle([1.5, math.nan, math.inf, -math.inf, None, -0.0, 1e300, 3.25]), pyarrow.float64(), from_pandas=False),
        "price": pyarrow.array(cycle([decimal.Decimal("12.34"), decimal.Decimal("10.50"), None, decimal.Decimal("-5.00"), decimal.Decimal("99999.99")]), pyarrow.decimal128(18, 2)),
        "whole": pyarrow.array(cycle([decimal.Decimal("3.0"), decimal.Decimal("3.5"), None, decimal.Decimal("12345678901234567890.0")]), pyarrow.decimal128(38, 1)),
        "region": pyarrow.array(cycle(["north", "süd", None, "", "elsewhere", "a text of more than twelve bytes", "nul\0", "south", "north"]), pyarrow.string()),
        "seen": pyarrow.array(cycle(times), pyarrow.timestamp("us", tz="Europe/Berlin")),
        "day": pyarrow.array(cycle([datetime.date(2026, 1, 1), datetime.date(1969, 12, 31), None, datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]), pyarrow.date32()),
    }


@pytest.fixture
def other(tmp_path, duckdb_library):
    """A session, a table, and what the same rows answer from Parquet, read by DuckDB."""
    import pyarrow.parquet

    (tmp_path / "hostile.data.toml").write_text(HOSTILE)
    session = Session(tmp_path, duckdb=duckdb_library)
    session.create_ledger(epsilon=1e9)
    table = pyarrow.table(hostile())
    pyarrow.parquet.write_table(table, tmp_path / "hostile.parquet")
    return session, table, whole_numbers(session, None)


def with_column(table, name, values):
    return table.set_column(table.column_names.index(name), name, values)


def test_hostile_values_of_arrow_are_those_of_the_file(other):
    session, table, wanted = other
    assert dict((query, value) for query, region, value in wanted if region is None)["n is null"] == 428
    assert whole_numbers(session, table, again=True) == wanted
    # null bitmaps and values that begin within a byte, in batches of several lengths
    padded = pyarrow.concat_tables([table.slice(0, 5), table]).slice(5)
    parts = [padded.slice(0, 3), padded.slice(3, 1), padded.slice(4, 1000), padded.slice(1004)]
    assert whole_numbers(session, pyarrow.concat_tables(parts), again=True) == wanted
    for kind in (pyarrow.large_string(), pyarrow.string_view(), pyarrow.binary(), pyarrow.large_binary()):
        assert whole_numbers(session, with_column(table, "region", table["region"].cast(kind)), again=True) == wanted
    for unit in ("ms", "ns"):
        cast = table["seen"].cast(pyarrow.timestamp(unit, tz="America/New_York"), safe=False)
        assert whole_numbers(session, with_column(table, "seen", cast), again=True) == wanted


def test_columns_with_a_dictionary_are_those_without(other):
    session, table, wanted = other
    for index in (pyarrow.int8(), pyarrow.uint8(), pyarrow.int32(), pyarrow.uint32(), pyarrow.int64()):
        coded = table["region"].cast(pyarrow.dictionary(index, pyarrow.string()))
        assert whole_numbers(session, with_column(table, "region", coded), again=True) == wanted
    # a dictionary for each chunk, each in another order
    halves = [table["region"].slice(0, 1001).combine_chunks(), pyarrow.concat_arrays(table["region"].slice(1001).chunks[::-1])]
    coded = pyarrow.chunked_array([pyarrow.concat_arrays([half]).dictionary_encode() for half in halves])
    assert coded.chunk(0).dictionary != coded.chunk(1).dictionary
    assert whole_numbers(session, with_column(table, "region", coded), again=True) == wanted
    # numbers too, and a NULL that is a value of the dictionary
    coded = with_column(table, "n", table["n"].dictionary_encode(null_encoding="encode"))
    assert whole_numbers(session, coded.slice(0), again=True) == wanted
    assert whole_numbers(session, pyarrow.concat_tables([coded.slice(0, 1), coded.slice(1)]), again=True) == wanted


def test_texts_that_are_not_utf8_are_null_in_memory_too(other, tmp_path):
    import pyarrow.parquet

    session, table, _ = other
    raw = [b"north", b"\xff\xfe", b"s\xc3\xbcd", b"\xed\xa0\x80", b"\xc0\xaf", b"nul\0", b"a text of more than twelve bytes", None, b"\xf4\x90\x80\x80"]
    bytes_ = pyarrow.array([raw[i % len(raw)] for i in range(table.num_rows)], pyarrow.binary())
    texts = pyarrow.StringArray.from_buffers(len(bytes_), bytes_.buffers()[1], bytes_.buffers()[2], bytes_.buffers()[0])  # unchecked
    broken = with_column(table, "region", texts)
    pyarrow.parquet.write_table(broken, tmp_path / "hostile.parquet")
    wanted = whole_numbers(session, None, again=True)
    assert {query: value for query, region, value in wanted if region is None}["region is null"] == sum(1 for i in range(3000) if i % 9 in (1, 3, 4, 5, 7, 8))
    assert whole_numbers(session, broken, again=True) == wanted
    assert whole_numbers(session, with_column(broken, "region", pyarrow.DictionaryArray.from_arrays([i % 9 for i in range(3000)], texts.slice(0, 9), safe=False)), again=True) == wanted


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_times_outside_the_years_are_null_in_memory_too(other, unit, tmp_path):
    import pyarrow.parquet

    session, table, _ = other
    first, end = -62_135_596_800, 253_402_300_800
    per_second = {"s": 1, "ms": 1000, "us": 1_000_000}[unit]
    edges = [first * per_second, first * per_second - 1, end * per_second - 1, end * per_second, -1, 0]
    if unit != "s":  # a file has no seconds: they would be too many milliseconds
        edges += [2**62, -(2**62)]
    cycle = [edges[i % len(edges)] for i in range(table.num_rows)]
    far = with_column(table, "seen", pyarrow.array(cycle, pyarrow.timestamp(unit)))
    pyarrow.parquet.write_table(far, tmp_path / "hostile.parquet")
    wanted = whole_numbers(session, None, again=True)
    assert {query: value for query, region, value in wanted if region is None}["seen is null"] == sum(not first * per_second <= e < end * per_second for e in cycle)
    assert whole_numbers(session, far, again=True) == wanted


def test_polars_frames(other):
    polars = pytest.importorskip("polars", reason="polars is not installed: ./dev python slow")
    session, table, wanted = other
    frame = polars.from_arrow(table)
    assert frame.schema["region"] == polars.String  # by views
    assert whole_numbers(session, frame, again=True) == wanted
    assert whole_numbers(session, polars.concat([frame[:10], frame[10:]], rechunk=False), again=True) == wanted
    assert whole_numbers(session, polars.concat([frame[:5], frame])[5:], again=True) == wanted
    assert whole_numbers(session, frame.with_columns(polars.col("region").cast(polars.Categorical)), again=True) == wanted
    values = polars.Enum(frame["region"].drop_nulls().unique(maintain_order=True).to_list())
    assert whole_numbers(session, frame.with_columns(polars.col("region").cast(values)), again=True) == wanted
    for unit in ("ms", "ns"):
        assert whole_numbers(session, frame.with_columns(polars.col("seen").cast(polars.Datetime(unit, "Asia/Tokyo"))), again=True) == wanted
    small = frame.with_columns(polars.col("n").clip(-1000, 1000).cast(polars.Int16), polars.col("whole").cast(polars.Int64, strict=False))
    assert len(whole_numbers(session, small, again=True)) == len(wanted)
    study = session.study(session.query().where("n = 7").count(), epsilon=1e7).text
    row = sotto.release(frame, study, session.catalogue, duckdb=session._limits["duckdb"]).rows()[0]
    assert round(row["value"]) == dict((query, value) for query, _, value in wanted)["n = 7"]
    nothing = frame.with_columns(polars.lit(None).alias("x"))  # a column without a type
    assert dict((query, value) for query, _, value in whole_numbers(session, nothing, again=True))["x is null"] == len(frame)


def test_pandas_frames(other):
    pandas = pytest.importorskip("pandas")
    session, table, wanted = other
    frame = table.to_pandas(types_mapper=pandas.ArrowDtype)
    assert whole_numbers(session, frame, again=True) == wanted
    plain = table.to_pandas(integer_object_nulls=True, date_as_object=True)
    plain["n"] = plain["n"].astype("Int64")
    assert str(plain["seen"].dtype).startswith("datetime64[") and "Berlin" in str(plain["seen"].dtype)
    assert whole_numbers(session, plain, again=True) == wanted
    plain["region"] = plain["region"].astype("category")
    assert whole_numbers(session, plain, again=True) == wanted
    assert whole_numbers(session, plain[5:][::-1], again=True) == whole_numbers(session, pyarrow.concat_tables([table.slice(5)]), again=True)


def test_relations_of_duckdb(other):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed: ./dev python slow")
    session, table, wanted = other
    connection = duckdb.connect()
    connection.register("rows", table)
    assert whole_numbers(session, connection.sql("SELECT * FROM rows"), again=True) == wanted
    connection.execute("CREATE TYPE region AS ENUM (SELECT DISTINCT region FROM rows WHERE region IS NOT NULL)")
    coded = "SELECT * REPLACE (region::region AS region, (CASE WHEN n < -5000 THEN -5000 ELSE n END)::HUGEINT AS n) FROM rows"  # exported as decimals
    assert whole_numbers(session, connection.sql(coded), again=True) == wanted


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
    with pytest.raises(sotto.SottoError, match="declared text and stored as Arrow's \"i\" with a dictionary of Arrow's \"l\", which does not fit"):
        coded = table.set_column(1, "region", pyarrow.array(range(100), pyarrow.int64()).dictionary_encode())
        session.query().group_by("region").count().run(epsilon=1, table=coded)
    with pytest.raises(sotto.SottoError, match="declared integer and stored as"):
        session.query().where("age > 3").count().run(epsilon=1, table=table.set_column(0, "age", table["region"]))
    with pytest.raises(sotto.InvalidValue, match="__arrow_c_stream__"):
        session.query().count().run(epsilon=1, table=[1, 2])
    assert session.ledger().spent == spent
