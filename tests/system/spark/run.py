#!/usr/bin/env python3
"""Runs the tests that need Spark: run.py BUILD [PART…].

The parts are protocol, engine, study, killed, tls and python. Without Spark the test is skipped
(77).
"""
import json
import os
import select
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import server

build = Path(sys.argv[1]).resolve()
parts = sys.argv[2:] or ["protocol", "engine", "study", "killed", "tls", "python"]
root = Path(__file__).resolve().parents[3]
sotto = build / "bin/sotto"
python = build / "spark-venv/bin/python"

sys.stdout.reconfigure(line_buffering=True)
if reason := server.missing(build) or ("" if (build / "bin/sotto-spark").exists() else "there is no sotto-spark"):
    print(f"skipped: {reason}")
    sys.exit(77)


def run(*command, **options):
    print("$", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, **options)


def output(*command, **options):
    """Runs a command and returns its output. Raises RuntimeError if it fails."""
    process = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {process.returncode}\n{process.stdout}\n{process.stderr}")
    return process.stdout


def expect_error(words, *command):
    """Asserts that a command fails with an error that contains these words."""
    process = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert process.returncode != 0 and words in process.stderr, f"{command}: {process.returncode}\n{process.stderr}"


TABLE = """
from pyspark.sql import SparkSession
s = SparkSession.builder.remote("{address}").create()
s.range(0, {rows}, 1, 8).selectExpr(
    "id % {people} AS person", "CAST(id % 50 AS INT) AS shop", "CAST(hash(id) % 1000 AS DOUBLE) / 8 AS spent",
    "CASE WHEN id % 3 = 0 THEN 'it''s \\\\\\\\ ${{x}}' ELSE 'north' END AS region").write.parquet("{path}")
"""


def make_table(spark, path, rows, people):
    run(python, "-c", TABLE.format(address=spark.connection, rows=rows, path=path, people=people))


def join_files(path, file):
    run(python, "-c", f"import pyarrow.parquet as p; p.write_table(p.read_table('{path}'), '{file}')")


# No unit has more rows than this limit, since the choice of rows is random in each request.
STUDY = """
data = "{name}"
rows = 5
groups = 2
[budget]
epsilon = 1e6
[[query]]
name = "rows"
ask = "count"
by = ["region"]
[[query]]
name = "people"
ask = "distinct"
where = "spent > 10 AND region <> 'it''s'"
[[query]]
name = "spent"
ask = "sum"
of = "spent"
by = ["region"]
[[query]]
name = "median"
ask = "median"
of = "spent"
"""
COLUMNS = """
[columns.person]
type = "integer"
null = "drop"
[columns.shop]
type = "integer"
null = "drop"
[columns.spent]
type = "real"
null = "drop"
bounds = [0, 100]
[columns.region]
type = "text"
null = "drop"
values = ["north", "it's \\\\ ${x}"]
"""


def values(text):
    return {(answer["name"], *estimate.get("keys", [])): estimate["value"] for answer in json.loads(text)["answers"] for estimate in answer["estimates"]}


def same(one, other):
    """Asserts that two answers are equal.

    The noise is tiny, so equal whole numbers differ by less than 0.1.
    """
    assert one.keys() == other.keys(), (one, other)
    for name, value in one.items():
        assert abs(value - other[name]) < 0.1 + 1e-9 * abs(value), (name, value, other[name])


class Catalogue:
    def __init__(self, folder, spark, path):
        self.folder = Path(folder)
        self.describe("far", f'spark = "{spark.connection}"\npath = "{path}"')

    def describe(self, name, source):
        text = f'name = "{name}"\nversion = "1"\n{source}\nunit = "person"\nledger = "{name}.sotto"\n{COLUMNS}'
        (self.folder / f"{name}.data.toml").write_text(text)
        (self.folder / f"{name}.toml").write_text(STUDY.format(name=name))

    def make_ledger(self, name):
        output(sotto, "data", "ledger", name, "--epsilon", "1e9", "--catalogue", self.folder)

    def answers(self, name, *options, **how):
        return values(output(sotto, "run", self.folder / f"{name}.toml", "--catalogue", self.folder, "--format", "json", "--quiet", *options, **how))


def study(spark, folder):
    """Tests that studies of a Spark table and of a file with its rows have equal answers."""
    path = Path(folder, "purchases")
    make_table(spark, path, 200_000, 40_000)
    (folder / "whole").mkdir()
    join_files(path, folder / "whole/one.parquet")
    catalogue = Catalogue(folder, spark, path)
    catalogue.describe("near", f'source = "{folder}/whole/one.parquet"')
    for name in ("far", "near"):
        catalogue.make_ledger(name)
    same(catalogue.answers("far"), catalogue.answers("near"))
    check = json.loads(output(sotto, "data", "check", "far", "--catalogue", folder, "--format", "json"))
    assert check["records"] == 200_000, check
    report = Path(folder, "report.html")
    output(sotto, "run", Path(folder, "far.toml"), "--catalogue", folder, "--quiet", "--report", report)
    assert report.stat().st_size > 10_000
    # `sotto data init` drafts a data file from the columns of a Spark table
    output(sotto, "data", "init", "--spark", spark.connection, "--path", path, "--unit", "person", "--name", "draft", "--rho", "1", "--catalogue", folder, "--second-ledger")
    draft = Path(folder, "draft.data.toml").read_text()
    assert f'spark = "{spark.connection}"' in draft and '[columns.region]\ntype = "text"' in draft, draft
    expect_error("no such table", sotto, "data", "init", "--spark", spark.connection, "--table", "none", "--unit", "row", "--rho", "1", "--catalogue", folder)
    expect_error("cannot be reached", sotto, "data", "init", "--spark", "sc://127.0.0.1:1", "--table", "none", "--unit", "row", "--rho", "1", "--catalogue", folder)
    expect_error("needs TLS", sotto, "data", "init", "--spark", "sc://192.0.2.1", "--table", "none", "--unit", "row", "--rho", "1", "--catalogue", folder)


def killed(spark, folder):
    """Tests ten million rows: the answers equal those of DuckDB, even if executors are killed
    during a study.
    """
    path = Path(folder, "many")
    make_table(spark, path, 10_000_000, 3_000_000)
    catalogue = Catalogue(folder, spark, path)
    catalogue.make_ledger("far")
    start = time.monotonic()
    quiet = catalogue.answers("far")
    duration = time.monotonic() - start
    kills = []

    def kill():
        for moment in (0.3, 0.6):
            time.sleep(max(0, start + moment * duration - time.monotonic()))
            if executors := spark.executors():
                os.kill(executors[0], signal.SIGKILL)
                kills.append(executors[0])

    start = time.monotonic()
    killer = threading.Thread(target=kill)
    killer.start()
    disturbed = catalogue.answers("far", "--new")
    killer.join()
    assert len(kills) == 2, "nothing was killed"
    print(f"undisturbed in {duration:.1f} s; executors {kills} were killed in the middle of another run, of {time.monotonic() - start:.1f} s")
    same(quiet, disturbed)
    (folder / "whole").mkdir()
    join_files(path, folder / "whole/one.parquet")
    catalogue.describe("near", f'source = "{folder}/whole/one.parquet"')
    catalogue.make_ledger("near")
    same(quiet, catalogue.answers("near"))


class TlsProxy(threading.Thread):
    """Terminates TLS in front of a server without TLS, as a gateway does."""

    def __init__(self, folder, port):
        super().__init__(daemon=True)
        output("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
               "-keyout", f"{folder}/key.pem", "-out", f"{folder}/certificate.pem")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{folder}/certificate.pem", f"{folder}/key.pem")
        context.set_alpn_protocols(["h2"])
        self.context, self.behind = context, port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def run(self):
        while True:
            outside, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(outside,), daemon=True).start()

    def serve(self, outside):
        try:
            outside = self.context.wrap_socket(outside, server_side=True)
            inside = socket.create_connection(("127.0.0.1", self.behind))
            outside.setblocking(False)
            while True:
                ready = [outside] if outside.pending() else select.select([outside, inside], [], [], 60)[0]
                for one, other in ((outside, inside), (inside, outside)):
                    if one in ready:
                        try:
                            data = one.recv(65536)
                        except ssl.SSLWantReadError:
                            continue
                        if not data:
                            return
                        other.setblocking(True)
                        other.sendall(data)
                        outside.setblocking(False)
        except OSError:
            pass


def tls(folder):
    """Tests a server behind TLS that requires a token."""
    with server.Server(build, memory="1g", settings=("spark.connect.authenticate.token=a-secret",), master="local[1]") as spark:
        proxy = TlsProxy(folder, spark.port)
        proxy.start()
        (folder / "good.token").write_text("a-secret\n")
        (folder / "bad.token").write_text("another\n")
        (folder / "open.token").write_text("a-secret\n")
        for name, mode in (("good", 0o600), ("bad", 0o600), ("open", 0o644)):
            (folder / f"{name}.token").chmod(mode)

        def init(name, *options):
            return (sotto, "data", "init", "--spark", f"sc://localhost:{proxy.port}/;use_ssl=true", "--path", folder / "one.parquet", "--unit", "row", "--rho", "1",
                    "--name", name, "--catalogue", folder, "--second-ledger", *options)

        run(python, "-c", f"import pyarrow, pyarrow.parquet as p; p.write_table(pyarrow.table({{'a': [1, 2, 3]}}), '{folder}/one.parquet')")
        known = ("--authority", folder / "certificate.pem")
        output(*init("good", *known, "--token", folder / "good.token"))
        assert "integer" in (folder / "good.data.toml").read_text()
        assert json.loads(output(sotto, "data", "check", "good", "--catalogue", folder, "--format", "json"))["records"] == 3
        expect_error("does not let this user in", *init("a", *known, "--token", folder / "bad.token"))
        expect_error("does not let this user in", *init("b", *known))
        os.environ["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"] = str(folder / "certificate.pem")  # gRPC's default authorities are not trusted
        expect_error("cannot be reached", *init("c", "--token", folder / "good.token"))  # no trusted authority signed the certificate
        expect_error("other users can read the file of the token", *init("d", *known, "--token", folder / "open.token"))
        expect_error("does not let this user in", *[str(word).replace(f"localhost:{proxy.port}/;use_ssl=true", f"127.0.0.1:{spark.port}") for word in init("e")])
        assert "a-secret" not in "".join(file.read_text() for file in folder.glob("*.toml"))


def main():
    if "tls" in parts:
        with tempfile.TemporaryDirectory(prefix="sotto-spark-test-") as folder:
            tls(Path(folder))
        print("tls: good", flush=True)
    with server.Server(build, memory="3g") as spark, tempfile.TemporaryDirectory(prefix="sotto-spark-test-") as folder:
        os.chmod(folder, 0o777)  # executors may run as another user
        environment = {**os.environ, "SOTTO_SPARK": spark.connection, "RC_PARAMS": "seed=1"}
        if "protocol" in parts:
            run(python, root / "tests/system/spark/protocol.py", root / "apps/spark/connect.proto")
        if "engine" in parts:
            run(build / "bin/unit_data", "--gtest_filter=Spark*", "--gtest_brief=1", env=environment)
            run(build / "bin/property_data", "--gtest_filter=Engines.Spark*:HostileRows.*Spark*:EveryEngine.*", "--gtest_brief=1", env=environment)
            run(build / "bin/property_study", "--gtest_filter=*Spark*", "--gtest_brief=1", env=environment)
        for part in ("study", "killed"):
            if part in parts:
                (Path(folder) / part).mkdir()
                globals()[part](spark, Path(folder) / part)
                print(f"{part}: good", flush=True)
        if "python" in parts:
            packages = next((build / "python-venv/lib").glob("python3*/site-packages"), None)
            if packages is None or not list((build / "python/sotto").glob("_sotto.*so")):
                print("python: skipped, since the Python module is not built")
            else:
                environment.update(PYTHONPATH=f"{build}/python:{packages}", SOTTO_COMMAND=str(sotto), PYTHONDONTWRITEBYTECODE="1")
                run(python, "-m", "pytest", "-q", "-rs", "bindings/python/tests/test_spark.py", cwd=root, env=environment)


main()
