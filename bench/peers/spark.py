"""A study on Spark beside plain Spark SQL of the same query, on one server with two executors: spark.py BUILD [ROWS]. Run by `./dev bench spark`."""
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/spark"))
import server  # noqa: E402

REPEATS = 5
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
groups = {groups}
rows = {rows}
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
PLAIN = "SELECT region, COUNT(*), COUNT(v), SUM(v) FROM t GROUP BY region"


def main():
    build, rows = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    if why := server.missing(build):
        sys.exit(why)
    from pyspark.sql import SparkSession

    with server.Server(build, memory="3g") as spark, tempfile.TemporaryDirectory(prefix="sotto-bench-") as folder:
        os.chmod(folder, 0o777)
        session = SparkSession.builder.remote(spark.connection).create()
        path = f"{folder}/t"
        print(f"{rows} rows, {server.EXECUTORS} executors…", file=sys.stderr)
        columns = [f"id % {max(rows // 5, 1)} AS person", "concat('r', lpad(CAST(id * 7919 % 50 AS STRING), 2, '0')) AS region", "CAST(hash(id) % 1000 AS DOUBLE) / 8 AS v"]
        session.range(0, rows, 1, 8).selectExpr(*columns).write.parquet(path)
        session.read.parquet(path).createOrReplaceTempView("t")
        catalogue = Path(folder, "catalogue")
        catalogue.mkdir()
        for name, unit in (("rows", "row"), ("people", "person")):
            (catalogue / f"{name}.data.toml").write_text(DATA.format(name=name, address=spark.connection, path=path, unit=unit, regions=str(REGIONS).replace("'", '"')))
            bounds = {"groups": 3, "rows": 5} if unit == "person" else {"groups": 1, "rows": 1}
            text = STUDY.format(name=name, **bounds)
            if unit == "row":
                text = "\n".join(line for line in text.splitlines() if not line.startswith(("groups", "rows")))
            (catalogue / f"{name}.toml").write_text(text)
            subprocess.run([build / "bin/sotto", "data", "ledger", name, "--epsilon", "1e6", "--catalogue", catalogue, "--second-ledger"], check=True, capture_output=True)

        def timed(call):
            start = time.monotonic()
            call()
            return time.monotonic() - start

        def plain():
            assert len(session.sql(PLAIN).collect()) == len(REGIONS)

        def sotto(name):
            subprocess.run([build / "bin/sotto", "run", catalogue / f"{name}.toml", "--catalogue", catalogue, "--new", "--quiet"], check=True, capture_output=True)

        calls = {"plain Spark SQL": plain, "sotto run, each row a unit": lambda: sotto("rows"), "sotto run, 3 groups and 5 rows of a person": lambda: sotto("people")}
        for call in calls.values():  # a JVM that has seen the query
            call()
            call()
        times = {name: [] for name in calls}
        for _ in range(REPEATS):
            for name, call in calls.items():
                times[name].append(timed(call))
        base = statistics.median(times["plain Spark SQL"])
        print(f"{'count and sum by 50 keys':44} {'median s':>9} {'best s':>8} {'/ plain':>8}")
        for name, of in times.items():
            print(f"{name:44} {statistics.median(of):9.2f} {min(of):8.2f} {statistics.median(of) / base:8.2f}")
        session.stop()


main()
