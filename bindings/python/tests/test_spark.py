"""DataFrames of Spark's, on a real one: run by tests/system/spark/run.py, with SOTTO_SPARK as its address."""

import os

import pytest
import sotto
from sotto import Session

pyspark = pytest.importorskip("pyspark", reason="Spark is not installed: ./dev test spark")
ADDRESS = os.environ.get("SOTTO_SPARK")
if not ADDRESS:
    pytest.skip("no Spark server; type: ./dev test spark", allow_module_level=True)

DATA = """
name = "people"
version = "1"
source = "people.parquet"
unit = "person"
ledger = "people.sotto"
[columns]
person = { type = "integer", null = "drop" }
age = { type = "integer", null = "drop", bounds = [0, 100] }
region = { type = "text", null = "drop", values = ["north", "south"] }
spent = { type = "real", null = "drop", bounds = [0, 100] }
"""
STUDY = """
data = "people"
rows = 5
groups = 1
[budget]
epsilon = 1e7
[[query]]
name = "people"
ask = "distinct"
by = ["region"]
[[query]]
name = "old"
ask = "count"
where = "age >= 65"
[[query]]
name = "spent"
ask = "sum"
of = "spent"
by = ["region"]
"""


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(ADDRESS).create()
    yield session
    session.stop()


@pytest.fixture
def catalogue(tmp_path):
    (tmp_path / "people.data.toml").write_text(DATA)
    Session(tmp_path).create_ledger(epsilon=1e9)
    return tmp_path


def people(spark):
    return spark.range(30_000).selectExpr(
        "id % 6000 AS person", "CAST(id % 90 AS INT) AS age", "CASE WHEN id % 3 = 0 THEN 'south' ELSE 'north' END AS region",
        "CASE WHEN id % 11 = 0 THEN DOUBLE('NaN') ELSE id % 100 + 0.5 END AS spent")


def test_a_frame_is_asked_where_it_is(spark, catalogue, duckdb_library):
    frame = people(spark)
    before = {name: spark.conf.get(name, None) for name in sotto.spark.SETTINGS}
    answers = sotto.spark.release(frame, STUDY, catalogue)
    assert {name: spark.conf.get(name, None) for name in sotto.spark.SETTINGS} == before
    assert not [table for table in spark.catalog.listTables() if table.name.startswith("sotto_")]
    assert [row["region"] for row in answers["people"]] == ["north", "south"]
    assert sum(row["value"] for row in answers["people"]) == pytest.approx(6000, abs=1)
    assert sotto.spark.release(frame, STUDY, catalogue).repeated  # the same again is free
    assert len(Session(catalogue).ledger().entries) == 1
    # the same rows in memory, by DuckDB
    local = Session(catalogue, duckdb=duckdb_library).study_from(STUDY).run(table=frame.toArrow(), again=True)
    assert [row["value"] for row in local.rows()] == pytest.approx([row["value"] for row in answers.rows()], abs=0.01)


def test_a_frame_goes_wherever_a_table_does(spark, catalogue):
    session = Session(catalogue)
    answer = session.query().where("age >= 65").limit(rows=5).count(name="old").run(table=people(spark), epsilon=1e7)
    assert answer["old"][0]["value"] > 0


def test_an_error_leaves_the_session_as_it_was_and_nothing_charged_twice(spark, catalogue):
    before = {name: spark.conf.get(name, None) for name in sotto.spark.SETTINGS}
    frame = people(spark).withColumn("age", pyspark.sql.functions.expr("CAST(raise_error('no such row') AS INT)"))
    with pytest.raises(sotto.SottoError) as caught:
        sotto.spark.release(frame, STUDY, catalogue)
    assert "no such row" not in str(caught.value)
    assert {name: spark.conf.get(name, None) for name in sotto.spark.SETTINGS} == before
    good = sotto.spark.release(people(spark), STUDY, catalogue)  # under the one charge
    assert not good.repeated
    assert len([entry for entry in Session(catalogue).ledger().entries]) == 1


def test_runs_that_overlap_keep_the_settings_until_the_last_ends(spark):
    before = {name: spark.conf.get(name, None) for name in sotto.spark.SETTINGS}
    with sotto.spark.frame(people(spark)):
        with sotto.spark.frame(people(spark)) as inner:
            pass
        assert {name: spark.conf.get(name) for name in sotto.spark.SETTINGS} == sotto.spark.SETTINGS
        with pytest.raises(Exception):
            inner.query(f"SELECT COUNT(*) FROM {inner.__sotto_view__}")  # its view is gone
    assert {name: spark.conf.get(name, None) for name in sotto.spark.SETTINGS} == before


def test_a_frame_that_is_another_at_each_look_keeps_units_within_their_bounds(spark, catalogue, tmp_path):
    # as a table of another database may be: one row at one look, a thousand at the next
    looks = tmp_path / "looks"
    tmp_path.chmod(0o777)

    def stays(i, looks=str(looks)):
        import os

        if i == 0:
            with open(looks, "ab") as file:
                file.write(b".")
        return i == 0 or os.path.getsize(looks) % 2 == 0

    stays = pyspark.sql.functions.udf(stays, "boolean")
    rows = spark.range(0, 1000, 1, 1).filter(stays(pyspark.sql.functions.col("id")))
    frame = rows.selectExpr("CAST(1 AS BIGINT) AS person", "CAST(id % 90 AS INT) AS age", "'north' AS region", "50.5D AS spent")
    session = Session(catalogue)
    questions = [session.query().limit(rows=2).histogram("age", step=10), session.query().limit(rows=2, groups=1).group_by("region").sum("spent")]
    most = 0
    for start in range(2):
        looks.write_bytes(b"." * start)
        looks.chmod(0o666)
        answers = session.run(*questions, epsilon=1e7, table=frame, again=True)
        counted = sum(row["value"] for row in answers.rows() if "from" in row)
        most = max(most, counted)
        assert counted <= 2.5
        assert all(row["value"] <= 2 * 50.5 + 1 for row in answers.rows() if row.get("region"))
    assert looks.stat().st_size >= 3 and most > 1.5


def test_settings_that_someone_changes_end_the_study(spark):
    with sotto.spark.frame(people(spark)) as view:
        view.query("SELECT version()")
        spark.conf.set("spark.sql.ansi.enabled", "false")
        with pytest.raises(RuntimeError, match="ansi"):
            view.query("SELECT version()")
    spark.conf.unset("spark.sql.ansi.enabled")


def test_columns_that_do_not_fit_are_refused(spark, catalogue):
    with pytest.raises(sotto.InvalidValue, match="stored as"):
        sotto.spark.release(people(spark).withColumn("age", pyspark.sql.functions.lit("old")), STUDY, catalogue)
    with pytest.raises(sotto.InvalidValue, match="needs a DataFrame"):
        sotto.spark.release([1, 2], STUDY, catalogue)


def test_a_data_file_may_name_a_spark(spark, catalogue, tmp_path):
    people(spark).write.mode("overwrite").saveAsTable("people_of_python")
    text = DATA.replace('source = "people.parquet"', f'spark = "{ADDRESS}"\ntable = "people_of_python"').replace('"people.sotto"', '"spark.sotto"')
    (catalogue / "people.data.toml").write_text(text)
    program = os.environ["SOTTO_COMMAND"] + "-spark"
    session = Session(catalogue, spark=program)
    session.create_ledger(epsilon=1e9)
    assert "unreadable" in session.check()
    answers = session.study_from(STUDY).run()
    assert sum(row["value"] for row in answers["people"]) == pytest.approx(6000, abs=1)
    spark.sql("DROP TABLE people_of_python")
