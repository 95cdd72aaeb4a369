#!/usr/bin/env python3
"""Tests that no command waits for a pipe or reads a device: special_files.py [--build BUILD]
[--command PATH] [--show].

Every file that a command opens is replaced by a pipe, a socket, a folder, links to devices, a link
to itself and a sparse file of 300 MB. The command must end within the time limit, with little
memory, and with an error in a sentence. Commands that list or scan a catalogue must still succeed.
"""
import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 20
MEMORY = 1 << 19  # KiB: the limit of the data segment (ulimit -d)
HUGE = 300_000_000
INNER = re.compile(r"std::|bad_alloc|basic_|terminate called|what\(\)|_M_|Error while parsing|filesystem error")

STUDY = """data = "people"
[budget]
epsilon = 1
[[query]]
name = "n"
ask = "count"
"""
TRAIN = """data = "people"
[budget]
epsilon = 5
delta = 1e-7
[columns.age]
bounds = [0, 100]
[[train]]
name = "m"
model = "logistic"
target = "ill"
features = ["age"]
units = 1000
"""


def make_socket(path):
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's path has 107 bytes at most
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


def make_huge(path):
    path.touch()
    os.truncate(path, HUGE)


KINDS = {
    "pipe": lambda path: os.mkfifo(path, 0o600),
    "link to a pipe": lambda path: (os.mkfifo(f"{path}.pipe", 0o600), path.symlink_to(f"{path}.pipe")),
    "socket": make_socket,
    "folder": lambda path: path.mkdir(),
    "zero": lambda path: path.symlink_to("/dev/zero"),
    "random": lambda path: path.symlink_to("/dev/urandom"),
    "null": lambda path: path.symlink_to("/dev/null"),
    "terminal": lambda path: path.symlink_to("/dev/ptmx"),
    "itself": lambda path: path.symlink_to(path.name),
    "huge": make_huge,
}

# (the file that is replaced, the command, whether it must fail: None if it may do either)
PLACES = [
    ("cat/people.data.toml", "run study.toml --catalogue cat", True),
    ("cat/people.data.toml", "data check people --catalogue cat", True),
    ("cat/people.data.toml", "study init people - --catalogue cat", True),
    ("cat/people.data.toml", "ledger show people --catalogue cat", True),
    ("cat/people.data.toml", "data init people.csv --name other --unit row --epsilon 1 --catalogue cat", False),
    ("cat/other.data.toml", "data list --catalogue cat", False),
    ("cat/other.data.toml", "data check people --catalogue cat", False),
    ("cat/other.data.toml", "run study.toml --catalogue cat --dry-run", False),
    ("cat/other.data.toml", "study init people - --catalogue cat", False),
    ("cat/other.data.toml", "study init none - --catalogue cat", True),
    ("study.toml", "run study.toml --catalogue cat", True),
    ("study.toml", "run study.toml --catalogue cat --dry-run", True),
    ("people.csv", "run study.toml --catalogue cat", True),
    ("people.csv", "data check people --catalogue cat", True),
    ("people.csv", "data init people.csv --name other --unit row --epsilon 1 --catalogue cat", True),
    ("p.parquet", "data init p.parquet --name other --unit row --epsilon 1 --catalogue cat", True),
    ("p.json", "data init p.json --name other --unit row --epsilon 1 --catalogue cat", True),
    ("cat/people.sotto", "run study.toml --catalogue cat", True),
    ("cat/people.sotto", "ledger show people --catalogue cat", True),
    ("cat/people.sotto", "ledger verify cat/people.sotto", True),
    ("cat/people.sotto", "ledger export cat/people.sotto", True),
    ("cat/people.sotto", "ledger charge cat/people.sotto laplace(9) --request r", True),
    ("cat/people.sotto", "study init people - --catalogue cat", None),
    ("cat/people.sotto-journal", "ledger show cat/people.sotto", None),
    ("cat/people.sotto-journal", "ledger charge cat/people.sotto laplace(9) --request r", None),
    ("cat/people.sotto-wal", "ledger charge cat/people.sotto laplace(9) --request r", None),
    ("cat/people.key", "run study.toml --catalogue cat", True),
    ("cat/people.key", "ledger charge cat/people.sotto laplace(9) --request r", True),
    ("other.key", "ledger charge cat/people.sotto laplace(9) --request r --key other.key", True),
    ("heads", "ledger charge cat/people.sotto laplace(9) --request r --witness heads", True),
    ("heads", "ledger verify cat/people.sotto --witness heads", None),
    ("heads", "run study.toml --catalogue cat --witness heads", True),
    ("cat/people.sources", "run stored.toml --catalogue cat", False),
    ("cat/people.sotto.sources", "run stored.toml --catalogue cat", False),
    ("export.json", "ledger import new.sotto export.json", True),
    ("model.json", "predict model.json people.csv", True),
    ("rows.csv", "predict good.model.json rows.csv", True),
    ("plan.txt", "epsilon @plan.txt --delta 1e-6", True),
    ("plan.txt", "compare @plan.txt --delta 1e-6", True),
    ("plan.txt", "calibrate @plan.txt --epsilon 1", True),
    ("plan.txt", "ledger charge cat/people.sotto @plan.txt --request r", True),
    ("numbers.txt", "noise laplace --epsilon 1 numbers.txt", True),
    ("library.so", "data check people --catalogue cat --duckdb library.so", True),
    ("configuration/sotto/config.toml", "data list", True),
    ("images.idx", "predict good.model.json images.idx", True),
]


def prepare(command, folder):
    """Creates a catalogue with people.data.toml and its ledger, studies, a stored answer and a
    model.
    """
    (folder / "cat").mkdir()
    (folder / "people.csv").write_text("age,ill\n" + "30,true\n40,false\n" * 500)
    (folder / "configuration/sotto").mkdir(parents=True)
    run(command, folder, "data init people.csv --unit row --epsilon 100 --delta 1e-6 --catalogue cat")
    (folder / "study.toml").write_text(STUDY)
    (folder / "stored.toml").write_text(STUDY.replace('"n"', '"stored"'))
    (folder / "train.toml").write_text(TRAIN)
    for study in ("run stored.toml --catalogue cat", "run train.toml --catalogue cat --models ."):
        status, _, words = run(command, folder, study)
        assert status == 0, words
    os.rename(next(folder.glob("*.model.json")), folder / "good.model.json")
    status, words, _ = run(command, folder, "predict good.model.json people.csv")
    assert status == 0 and len(words.splitlines()) == 1001, words


def run(command, folder, line):
    """Runs a command line, and returns its status (None if it did not end in time), its output and
    its errors.
    """
    environment = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "configuration"), "PATH": os.environ["PATH"], "TMPDIR": str(folder)}
    limited = f"ulimit -d {MEMORY}; exec {command} {' '.join(quoted(word) for word in line.split())}"
    try:
        process = subprocess.run(["sh", "-c", limited], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None, "", "it did not end"
    return process.returncode, process.stdout.decode(errors="replace"), process.stderr.decode(errors="replace")


def quoted(word):
    return "'" + word + "'"


def problem_of(command, pattern, folder, place, line, must_fail, kind, show):
    """Runs a command in a copy of `pattern` with `place` replaced, and returns the problem; empty
    if there is none.
    """
    shutil.rmtree(folder)
    shutil.copytree(pattern, folder)
    path = folder / place
    path.unlink(missing_ok=True)
    KINDS[kind](path)
    if place.endswith(".key") and kind in ("huge", "folder"):
        path.chmod(0o700)
    status, _, words = run(command, folder, line)
    words = words.strip()[-300:]
    if show:
        print(f"[{status}] {kind}: {place}: {line}\n      {words}")
    if status is None:
        return words
    if status < 0 or status >= 126 or INNER.search(words):
        return f"status {status}: {words}"
    if must_fail is True and status == 0:
        return "it succeeded, and must fail"
    if must_fail is False and status != 0:
        return f"status {status}: {words}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--command", default="", help="another command than the build's")
    parser.add_argument("--only", default="", help="run the cases whose line contains these words")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    command = options.command or str(Path(options.build).resolve() / "bin/sotto")
    failures = cases = 0
    with tempfile.TemporaryDirectory(prefix="sotto-special-") as name:
        folder, pattern = Path(name) / "folder", Path(name) / "pattern"  # one path for all cases, since a ledger stores the path of its data
        folder.mkdir()
        prepare(command, folder)
        shutil.copytree(folder, pattern)
        for place, line, must_fail in PLACES:
            for kind in KINDS:
                if options.only not in f"{kind}: {place}: {line}":
                    continue
                cases += 1
                words = problem_of(command, pattern, folder, place, line, must_fail, kind, options.show)
                if words:
                    failures += 1
                    print(f"{kind} as {place}: sotto {line}\n    {words}")
    print(f"{cases} cases, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
