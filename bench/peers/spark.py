"""A study on Spark beside plain Spark SQL of the same query, on one server with two executors: spark.py BUILD [ROWS]. Run by `./dev bench spark`."""
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/system/spark"))
import server  # noqa: E402

REPEATS = 3
REGIONS = [f"r{i:02}" for i in range(50)]
DATA = """name = "{name}"
version = "1"
spark = "{address}"
path = "{path}"
unit = "{unit}"
ledger = "{name}.sotto"
[columns.person]
type = "integer"
null = "drop"
[columns.region]
type = "text"
null = "drop"
values = {regions}
[columns.v]
type = "real"
null = "drop"
bounds = [0, 100]
"""
STUDY = """data = "{name}"
{bounds}
[budget]
epsilon = 1
[[query]]
name = "count"
ask = "count"
by = ["region"]
[[query]]
name = "sum"
ask = "sum"
of = "v"
by = ["region"]
"""
# The same by hand: without bounds, and with a person in 3 groups and with 5 rows in each at most, whichever.
PLAIN = ("SELECT region, COUNT(*) FROM t GROUP BY region", "SELECT region, COUNT(v), SUM(v) FROM t GROUP BY region")
BOUNDED = (
    "SELECT region, SUM(LEAST(n, 5)) FROM (SELECT person, region, n, row_number() OVER (PARTITION BY person ORDER BY rand()) AS place FROM "
    "(SELECT person, region, COUNT(*) AS n FROM t GROUP BY person, region)) WHERE place <= 3 GROUP BY region",
    "SELECT region, COUNT(v), SUM(v) FROM (SELECT *, dense_rank() OVER (PARTITION BY person ORDER BY hash(region)) AS place FROM "
    "(SELECT person, region, v, row_number() OVER (PARTITION BY person, region ORDER BY rand()) AS k FROM t) WHERE k <= 5) WHERE place <= 3 GROUP BY region",
)


def main():
    build, rows = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    if why := server.missing(build):
        sys.exit(why)
    import sotto
    from pyspark.sql import SparkSession

    with server.Server(build, memory="3g") as spark, tempfile.TemporaryDirectory(prefix="sotto-bench-") as folder:
        os.chmod(folder, 0o777)
        session = SparkSession.builder.remote(spark.connection).create()
        path = f"{folder}/t"
        print(f"{rows} rows, {server.EXECUTORS} executors…", file=sys.stderr)
        columns = [f"id % {max(rows // 5, 1)} AS person", "concat('r', lpad(CAST(id * 7919 % 50 AS STRING), 2, '0')) AS region", "CAST(hash(id) % 1000 AS DOUBLE) / 8 AS v"]
        session.range(0, rows, 1, 8).selectExpr(*columns).write.parquet(path)
        frame = session.read.parquet(path)
        frame.createOrReplaceTempView("t")
        catalogue = Path(folder, "catalogue")
        catalogue.mkdir()
        texts = {}
        for name, unit in (("rows", "row"), ("people", "person")):
            (catalogue / f"{name}.data.toml").write_text(DATA.format(name=name, address=spark.connection, path=path, unit=unit, regions=str(REGIONS).replace("'", '"')))
            texts[name] = STUDY.format(name=name, bounds="groups = 3\nrows = 5" if unit == "person" else "")
            (catalogue / f"{name}.toml").write_text(texts[name])
            subprocess.run([build / "bin/sotto", "data", "ledger", name, "--epsilon", "1e6", "--catalogue", catalogue, "--second-ledger"], check=True, capture_output=True)

        def by_hand(statements):
            start = time.monotonic()
            for sql in statements:
                assert len(session.sql(sql).collect()) == len(REGIONS)
            return time.monotonic() - start

        def command(name):
            start = time.monotonic()
            subprocess.run([build / "bin/sotto", "run", catalogue / f"{name}.toml", "--catalogue", catalogue, "--new", "--quiet"], check=True, capture_output=True)
            return time.monotonic() - start

        inside = []  # the time of each statement of a study
        ask = sotto.spark._View.query

        def timed(view, sql):
            start = time.monotonic()
            rows = ask(view, sql)
            inside.append((sql, time.monotonic() - start))
            return rows

        sotto.spark._View.query = timed

        def statements(name):
            inside.clear()
            sotto.Session(catalogue).study_from(texts[name]).run(table=frame, again=True)
            return sum(seconds for sql, seconds in inside if "GROUP BY" in sql)

        kinds = {"each row a unit": ("rows", PLAIN), "a person in 3 groups, 5 rows in each": ("people", BOUNDED)}
        print(f"count and sum by {len(REGIONS)} keys, medians of {REPEATS}, in seconds\n{'':38} {'by hand':>8} {'own SQL':>12} {'ratio':>6} {'sotto run':>10}")
        for kind, (name, sql) in kinds.items():
            calls = (lambda: by_hand(sql), lambda: statements(name), lambda: command(name))
            times = [[], [], []]
            for i in range(REPEATS + 2):  # the first two for the JVM, which compiles what it has seen often
                for call, of in zip(calls, times):
                    seconds = call()
                    if i >= 2:
                        of.append(seconds)
            hand, own, whole = map(statistics.median, times)
            print(f"{kind:38} {hand:8.2f} {own:12.2f} {own / hand:6.2f} {whole:10.2f}", flush=True)
        session.stop()


main()
