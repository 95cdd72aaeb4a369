#!/usr/bin/env python3
"""Tests `sotto serve` as a browser and as an attacker: run.py BUILD.

The command serves a catalogue on a free port, to an HTTP client and to plain sockets. Pages and
JSON must equal the output of the commands, pages must show later charges, and requests without the
token must reveal nothing. With DuckDB the test includes a stored answer, and with PostgreSQL a
ledger in a database.
"""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from free_port import free_port  # noqa: E402

BUILD = Path(sys.argv[1]).resolve()
SOTTO = str(BUILD / "bin/sotto")
DUCKDB = BUILD / "duckdb/libduckdb.so"

DATA = """name = "{name}"
version = "1"
source = "../people.csv"
records = "lines"
unit = "person"
ledger = "{ledger}"
{more}
[columns.person]
type = "integer"
null = "drop"
[columns.region]
type = "text"
null = "drop"
values = ["north", "south"]
"""
STUDY = """title = "Where <they> live"
data = "people"
groups = 1
[budget]
epsilon = 1
[[query]]
name = "people"
ask = "distinct"
by = ["region"]
"""


def check(condition, words):
    if not condition:
        print(f"FAILED: {words}")
        sys.exit(1)


class Folder:
    """A folder with a catalogue, data and a study, in which commands run."""

    def __init__(self, path):
        self.path = path
        self.environment = {**os.environ, "HOME": str(path)}
        (path / "catalogue").mkdir()
        lines = ["person,region"] + [f"{i % 500},{'north' if i % 3 else 'south'}" for i in range(1000)]
        (path / "people.csv").write_text("\n".join(lines) + "\n")
        (path / "study.toml").write_text(STUDY)

    def data(self, name, ledger, more=""):
        (self.path / f"catalogue/{name}.data.toml").write_text(DATA.format(name=name, ledger=ledger, more=more))

    def sotto(self, *words):
        process = subprocess.run([SOTTO, *words], cwd=self.path, env=self.environment, capture_output=True, text=True, timeout=300, check=False)
        check(process.returncode == 0, f"{words}: {process.stderr}")
        return process.stdout


class Server:
    """A running server, and a client with its cookie."""

    def __init__(self, folder, *words):
        self.process = subprocess.Popen([SOTTO, "serve", "--catalogue", "catalogue", *words], cwd=folder.path, env=folder.environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        address = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{64})", self.url)
        check(address, f"the address is {self.url!r}")
        self.port, self.token = int(address[1]), address[2]
        answer, _ = self.send(f"/?token={self.token}", cookie="")
        check(answer.status == 303, f"the address is answered by {answer.status}")
        self.room = answer.headers["Location"].rstrip("/")
        check(re.fullmatch(r"/[0-9a-f]{32}", self.room) and self.token not in self.room, f"it leads to {self.room}")
        self.cookie = answer.headers["Set-Cookie"].split(";")[0]
        check(answer.headers["Set-Cookie"] == f"sotto={self.token}; Path={self.room}/; HttpOnly; SameSite=Strict", answer.headers["Set-Cookie"])

    def send(self, path, cookie=None, method="GET", headers=(), body=None):
        """Sends a request, and returns the response and its text.

        Without `cookie` it has the server's cookie.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        all_headers = {"Host": f"127.0.0.1:{self.port}", "Cookie": self.cookie if cookie is None else cookie, **dict(headers)}
        if body is not None:
            all_headers["Content-Length"] = str(len(body))
        for name, value in all_headers.items():
            if value:
                connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer, text

    def page(self, path, status=200, **more):
        """Returns the text of a page after checks of its status and its security headers."""
        answer, text = self.send(self.room + path, **more)
        check(answer.status == status, f"{path}: {answer.status} instead of {status}\n{text}")
        policy = answer.headers["Content-Security-Policy"]
        check("default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "script" not in policy, policy)
        for name, value in {"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}.items():
            check(answer.headers[name] == value, f"{path}: {name} is {answer.headers[name]}")
        check("<script" not in text or answer.headers["Content-Type"] == "application/json", f"{path} has a script")
        return text

    def raw(self, request):
        """Sends bytes, and returns the first line of the response."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(request)
            answer = b""
            while data := connection.recv(65536):
                answer += data
        return answer.split(b"\r\n")[0].decode()

    def end(self, number):
        """Ends the server with a signal, and returns its errors."""
        start = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(timeout=30)
        check(self.process.returncode == 0, f"signal {number}: it ends with {self.process.returncode}")
        check(time.monotonic() - start < 10, "it takes long to end")
        return self.process.stderr.read()


def pages(folder, server):
    text = server.page("/")
    check('<a href="data/people/">people</a>' in text and "no charges" in text, text)
    check("broken.data.toml: line 2" in text and "data/open/" not in text and "public: nobody is protected" in text, text)
    folder.sotto("ledger", "charge", "catalogue/people.sotto", "gaussian(50)", "--request", "by-hand", "--title", "<script>alert(1)</script>")
    text = server.page("/data/people/")
    check("by-hand" in text and "&lt;script&gt;alert(1)" in text and "Sound:" in text and "<svg" in text, text)
    check("1 charge" in server.page("/"), "the page does not show a later charge")
    output = folder.sotto("ledger", "show", "catalogue/people.sotto", "--format", "json")
    check(server.page("/data/people/ledger.json") == output, "ledger.json is not what the command prints")
    server.page("/data/people/1/", status=404)


def concurrent_charges(folder, server):
    """Tests that a client which reads without pause blocks no charge, and that every page it reads
    is consistent.
    """
    reading = True
    texts = []

    def read():
        while reading:
            texts.append(server.page("/data/people/"))

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for i in range(20):
            folder.sotto("ledger", "charge", "catalogue/people.sotto", "gaussian(500)", "--request", f"concurrent-{i}")
    finally:
        reading = False
        thread.join()
    check(len(texts) > 1 and all("Sound:" in text for text in texts), "a page during concurrent charges is not sound")
    check("concurrent-19" in server.page("/data/people/"), "the last charge is not there")


def answers(folder, server):
    if not DUCKDB.exists():
        print("skipped the stored answer: there is no DuckDB; type: ./dev duckdb")
        return
    output = folder.sotto("run", "study.toml", "--catalogue", "catalogue", "--duckdb", str(DUCKDB), "--report", "report.html", "--format", "json")
    link = re.search(r'<a href="(\d+)/">answered</a>', server.page("/data/people/"))
    check(link, "the ledger's page has no link to the answer")
    check(server.page(f"/data/people/{link[1]}/") == (folder.path / "report.html").read_text(), "the page is not the report of sotto run --report")
    check(server.page(f"/data/people/{link[1]}/answer.json") == output, "answer.json is not what the command prints")
    check(json.loads(output)["title"] == "Where <they> live", output)


def attacks(server):
    wrong = server.cookie[:-1] + ("0" if server.cookie[-1] != "0" else "1")
    expected = {(403, "Forbidden\n")}
    responses = set()
    for path, cookie in [("/", ""), ("/", server.cookie), ("/?token=", ""), (f"/?token={server.token[:-1]}", ""), (f"/?token={wrong[6:]}", server.cookie),
                         (server.room + "/", ""), (server.room + "/", wrong), (server.room + "/data/people/", ""), (server.room + "/data/nobody/", ""),
                         ("/data/people/", server.cookie), ("/favicon.ico", server.cookie), (server.room, server.cookie)]:
        answer, text = server.send(path, cookie=cookie)
        responses.add((answer.status, text))
    for host in ["evil.example", f"evil.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}", f"0.0.0.0:{server.port}"]:
        for path, cookie in [(server.room + "/", server.cookie), (f"/?token={server.token}", "")]:
            answer, text = server.send(path, cookie=cookie, headers={"Host": host})
            responses.add((answer.status, text))
    answer, text = server.send("/", cookie="", method="POST", body=b"x=1")
    responses.add((answer.status, text))
    check(responses == expected, f"a request without the token gets {responses - expected}")
    check(server.page("/", headers={"Host": f"localhost:{server.port}"}), "the host localhost is refused")
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"]:
        check(server.send(server.room + "/", method=method)[0].status == 405, f"{method} is answered")
    check(server.send(server.room + "/", body=b"x")[0].status == 400, "GET with a body is answered")
    answer, text = server.send(server.room + "/", method="HEAD")
    check(answer.status == 200 and text == "" and int(answer.headers["Content-Length"]) > 1000, "HEAD has a body, or no length")
    for path in ["/data/../../etc/passwd", "/data/%2e%2e/people/", "/data/people.sotto", "/../people.csv", "/data/people/..%2f", "//data/people/", "/%00", "/data/people/?x"]:
        server.page(path, status=404)
    for request, status in [(b"GET / HTTP/1.1\r\n\r\n", 400), (b"nonsense\r\n\r\n", 400), (b"GET /" + b"a" * 5000, 414),
                            (b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"a" * 100000, 431), (b"\x16\x03\x01\x02\x00\n", 400), (b"GET / HTTP/3.0\r\nHost: h\r\n\r\n", 505)]:
        line = server.raw(request)
        check(line.startswith(f"HTTP/1.1 {status} "), f"{request[:40]!r}: {line}")
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
    check("people" in server.page("/"), "silent connections block a browser")
    for connection in silent:
        connection.close()


def database(folder):
    """Tests the pages of a ledger in PostgreSQL."""
    postgres = shutil.which("postgres") or next((str(p) for p in sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))), None)
    if postgres is None:
        print("skipped the ledger in a database: there is no PostgreSQL; type: apt-get install postgresql")
        return
    binaries = Path(postgres).resolve().parent
    place = folder.path / "database"
    place.mkdir()
    # PostgreSQL refuses to run as root
    prefix = []
    if os.geteuid() == 0:
        shutil.chown(place, "postgres")
        folder.path.chmod(0o755)
        prefix = ["runuser", "-u", "postgres", "--"]
    port = free_port()
    subprocess.run([*prefix, str(binaries / "initdb"), "-D", str(place / "data"), "-U", "owner", "-A", "trust", "-E", "UTF8"], check=True, capture_output=True, cwd="/")
    running = subprocess.Popen([*prefix, str(binaries / "postgres"), "-D", str(place / "data"), "-k", str(place), "-c", "listen_addresses=127.0.0.1", "-p", str(port)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
    try:
        for _ in range(200):
            if subprocess.run([str(binaries / "pg_isready"), "-h", "127.0.0.1", "-p", str(port)], capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.1)
        uri = f"postgresql://owner@127.0.0.1:{port}/postgres"
        folder.data("shared", uri, 'key = "shared.key"')
        folder.sotto("ledger", "create", uri, "--key", "catalogue/shared.key", "--name", "shared", "--unit", "person", "--unit-type", "integer", "--relation",
                     "add-remove", "--rho", "1")
        server = Server(folder)
        check("no charges" in server.page("/data/shared/").replace("Nothing was charged yet", "no charges"), "an empty ledger")
        folder.sotto("ledger", "charge", uri, "gaussian(20)", "--request", "in-a-database", "--key", "catalogue/shared.key")
        (folder.path / "catalogue/shared.key").unlink()
        text = server.page("/data/shared/")
        check("in-a-database" in text and "Sound:" in text, text)
        check(server.page("/data/shared/ledger.json") == folder.sotto("ledger", "show", uri, "--format", "json"), "ledger.json of a database")
        server.end(signal.SIGTERM)
    finally:
        subprocess.run(["kill", "-INT", (place / "data/postmaster.pid").read_text().split()[0]], check=False)
        running.wait(timeout=60)


def special_files(folder):
    """Tests that pipes, sockets, devices and huge files in the catalogue block no page."""
    catalogue = folder.path / "catalogue"
    os.mkfifo(catalogue / "a1.data.toml")
    (catalogue / "a2.data.toml").symlink_to("/dev/zero")
    (catalogue / "a3.data.toml").mkdir()
    here = os.getcwd()
    os.chdir(catalogue)  # the path of a socket is limited to 107 bytes
    socket.socket(socket.AF_UNIX).bind("a4.data.toml")
    os.chdir(here)
    (catalogue / "a5.data.toml").touch()
    os.truncate(catalogue / "a5.data.toml", 300_000_000)
    os.mkfifo(catalogue / "pipe.sotto")
    for name, ledger in {"b1": "pipe.sotto", "b2": "/dev/zero", "b3": "people.sotto/", "b4": "a4.data.toml", "b5": "/dev/tty"}.items():
        folder.data(name, ledger)
    shutil.copy(catalogue / "people.sotto", catalogue / "copy.sotto")
    os.mkfifo(catalogue / "copy.sotto-journal")
    folder.data("b6", "copy.sotto")
    server = Server(folder)
    start = time.monotonic()
    text = server.page("/")
    for number, words in {1: "it is a pipe", 2: "it is a device", 3: "it is a folder", 4: "it is a socket", 5: "it is larger than 32 MiB"}.items():
        check(re.search(rf"a{number}\.data\.toml: [^<]*{words}|cannot read [^<]*a{number}\.data\.toml: {words}", text), f"a{number}: {words}: {text}")
        server.page(f"/data/a{number}/", status=500)
    for number in range(1, 7):
        server.send(server.room + f"/data/b{number}/")
    server.page("/data/people/")
    check(time.monotonic() - start < 30, "the pages took long")
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{server.process.pid}/status").read_text())[1])
    check(peak < 200_000, f"the server took {peak} kB")
    server.end(signal.SIGTERM)


def main():
    with tempfile.TemporaryDirectory(prefix="sotto-serve-") as name:
        folder = Folder(Path(name))
        folder.data("people", "people.sotto")
        folder.data("open", "x")
        text = (folder.path / "catalogue/open.data.toml").read_text()
        (folder.path / "catalogue/open.data.toml").write_text(text.replace('unit = "person"\nledger = "x"', "public = true").replace("people.csv", "open.csv"))
        (folder.path / "catalogue/broken.data.toml").write_text('name = "broken"\nversion = <script>\n')
        folder.sotto("data", "ledger", "people", "--catalogue", "catalogue", "--rho", "1")
        server = Server(folder)
        pages(folder, server)
        answers(folder, server)
        concurrent_charges(folder, server)
        attacks(server)
        other = Server(folder, "--quiet")  # the cookies of two servers on one host do not conflict
        check(other.send(other.room + "/", cookie=f"{server.cookie}; {other.cookie}")[0].status == 200, "two servers at once")
        check(other.send(other.room + "/", cookie=server.cookie)[0].status == 403, "another server's token")
        second = subprocess.run([SOTTO, "serve", "--catalogue", "catalogue", "--port", str(server.port)], cwd=folder.path, env=folder.environment,
                               capture_output=True, text=True, timeout=60, check=False)
        check(second.returncode == 2 and "is in use: type another --port" in second.stderr, second.stderr)
        check(other.end(signal.SIGTERM) == "", "it prints something despite --quiet")
        words = server.end(signal.SIGINT)
        check("Ctrl-C ends it" in words and server.token not in words, words)
        database(folder)
        special_files(folder)
    print("good")


if __name__ == "__main__":
    main()
