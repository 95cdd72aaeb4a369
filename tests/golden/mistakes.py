#!/usr/bin/env python3
"""What the command says of common mistakes: mistakes.py [--build BUILD] [--show] [NAME…].

One row a mistake: what is typed, the exit code, and what the message must hold. A good message is a sentence that
names what is wrong, where it is, and what to type instead, so each row's last pattern is the cure. Every row runs in a
folder of its own with the data set `people`. No message may hold the words of a parser or of the C++ library.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

CSV = """sex,education,age,hours_per_week,income
Male,Bachelors,39,40,1000
Female,Masters,50,13,2000
Male,Preschool,38,40,500
"""
DATA = """name = "people"
version = "2026"
source = "../people.csv"
unit = "row"
ledger = "people.sotto"
key = "people.key"

[columns.sex]
type = "text"
null = "drop"
values = ["Male", "Female"]

[columns.education]
type = "text"
null = "drop"

[columns.age]
type = "integer"
null = "drop"
bounds = [17, 90]

[columns.hours_per_week]
type = "integer"
null = "drop"
bounds = [1, 99]

[columns.income]
type = "integer"
null = "drop"
"""

# Words of toml++, CLI11, the C++ library and the system that say nothing to a user.
INNER = re.compile(
    r"Error while parsing|_M_range|std::|basic_string|bad_alloc|bad_cast|terminate called|what\(\)|stod|stoi\b"
    r"|arguments? (was|were) not expected|expected but received|\bNaN\b.*assert|regex_error|filesystem error"
)


class Mistake:
    def __init__(self, name, command, status, *patterns, files=None):
        self.name, self.command, self.status, self.patterns, self.files = name, command, status, patterns, files or {}


def study(body, data="people"):
    return {"study.toml": f'data = "{data}"\n' + body}


def of_study(name, body, status, *patterns, data="people"):
    """A mistake in a study's text."""
    return Mistake(name, "sotto run study.toml --dry-run", status, *patterns, files=study(body, data))


CATALOGUE = [
    Mistake("show: a file that is absent", "sotto ledger show peple.sotto", 2, "no ledger file peple.sotto", 'did you mean "people"', "sotto data list"),
    Mistake("show: a misspelt data set", "sotto ledger show peple", 2, "no ledger file peple", 'did you mean "people"'),
    Mistake("verify: a misspelt data set", "sotto ledger verify Peopel", 2, 'did you mean "people"'),
    Mistake("export: a misspelt data set", "sotto ledger export people-", 2, 'did you mean "people"'),
    Mistake("charge: a misspelt data set", "sotto ledger charge peopl 'gaussian(9)' --request a", 2, 'did you mean "people"'),
    Mistake("show: a name in an empty catalogue", "sotto ledger show people --catalogue empty", 2, "empty, which is empty", "sotto data list"),
    Mistake(
        "run: the ledger's file is absent",
        "rm catalogue/people.sotto; sotto run study.toml",
        1,
        'ledger of "people" is not at .*/catalogue/people.sotto',
        "correct `ledger` in the data file",
        "sotto data ledger people --epsilon",
        files=study('[budget]\nepsilon = 1\n[[query]]\nname = "q"\nask = "count"\n'),
    ),
    Mistake("study init: the ledger's file is absent", "rm catalogue/people.sotto; sotto study init people", 1, "sotto data ledger people --epsilon"),
    Mistake("show: the ledger's file is absent", "rm catalogue/people.sotto; sotto ledger show people", 1, "sotto data ledger people --epsilon"),
    Mistake("check: a catalogue that is absent", "sotto data check people --catalogue nowhere", 2, "/nowhere, which does not exist", "sotto data init FILE"),
    Mistake("check: a misspelt data set", "sotto data check Peple", 2, 'no data "Peple"', 'did you mean "people"'),
    Mistake("check: a catalogue that is a file", "sotto data check people --catalogue people.csv", 2, "people.csv is a file", "--catalogue FOLDER"),
    Mistake("list: a catalogue that is absent", "sotto data list --catalogue nowhere", 0, "does not exist", "sotto data init FILE --catalogue nowhere"),
    Mistake("run: a misspelt data set", "sotto run study.toml", 2, 'no data "peeple"', 'did you mean "people"', files=study("", "peeple")),
]

# Not mistakes: what used to be one.
GOOD = [
    Mistake("show a data set's ledger", "sotto ledger show people", 0),
    Mistake("verify a data set's ledger", "sotto ledger verify people", 0),
    Mistake("export a data set's ledger", "sotto ledger export people", 0),
    Mistake("charge a data set's ledger", "sotto ledger charge people 'gaussian(99)' --request a", 0, "charged"),
    Mistake("show by the name in a catalogue that is named", "sotto ledger show people --catalogue catalogue", 0),
    Mistake("a catalogue is made", "sotto data init people.csv --unit row --rho 1 --name new --catalogue a/b && test -f a/b/new.sotto", 0),
    Mistake("a file hides the name", "cp catalogue/people.sotto people && rm catalogue/people.sotto && sotto ledger show people", 0),
]

ALL = CATALOGUE + GOOD


def environment(build, folder):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    path = f"{build / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**inherited, "HOME": str(folder), "PATH": path, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100"}


def make_example(build, folder):
    catalogue = folder / "catalogue"
    catalogue.mkdir()
    (folder / "empty").mkdir()
    (folder / "people.csv").write_text(CSV)
    (catalogue / "people.data.toml").write_text(DATA)
    (folder / ".config/sotto").mkdir(parents=True)
    (folder / ".config/sotto/config.toml").write_text('catalogue = "../../catalogue"\n')
    command = ["sotto", "data", "ledger", "people", "--epsilon", "3", "--delta", "1e-6", "--quiet"]
    subprocess.run(command, env=environment(build, folder), cwd=folder, check=True, stdout=subprocess.DEVNULL)


def faults(mistake, status, words):
    found = [] if status == mistake.status else [f"exit {status}, expected {mistake.status}"]
    flat = " ".join(words.split())
    found += [f"the message does not match: {pattern}" for pattern in mistake.patterns if not re.search(pattern, flat)]
    found += [f"the message holds inner words: {inner[0]}" for inner in [INNER.search(words)] if inner]
    if status != 0 and not words.startswith("sotto: "):
        found.append("the message does not begin with `sotto: `")
    return found


def run(mistake, build, example):
    with tempfile.TemporaryDirectory(prefix="sotto-mistake-") as made:
        folder = Path(made) / "work"
        shutil.copytree(example, folder)
        for name, content in mistake.files.items():
            place = folder / name
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        done = subprocess.run(["sh", "-c", mistake.command], cwd=folder, env=environment(build, folder), capture_output=True, timeout=60)
    words = done.stderr.decode(errors="backslashreplace").replace(str(folder), "FOLDER")
    return mistake, words, faults(mistake, done.returncode, words)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the build tree (build/)")
    parser.add_argument("--show", action="store_true", help="print every message")
    parser.add_argument("names", nargs="*", help="run the rows whose names contain one of these")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    chosen = [m for m in ALL if not arguments.names or any(name in m.name for name in arguments.names)]
    if len({m.name for m in ALL}) != len(ALL):
        sys.exit("two rows have the same name")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="sotto-mistakes-") as made:
        example = Path(made)
        make_example(build, example)
        with ThreadPoolExecutor(2) as pool:
            for mistake, words, found in pool.map(lambda m: run(m, build, example), chosen):
                failed += bool(found)
                if found or arguments.show:
                    text = "".join(f"    {line}\n" for line in [*words.splitlines(), *found])
                    print(f"{'FAILED' if found else 'ok'}: {mistake.name}: $ {mistake.command}\n{text}")
    print(f"{len(chosen)} mistakes, {failed} of them answered badly")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
