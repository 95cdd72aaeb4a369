#!/usr/bin/env python3
"""Private statistics by sotto, beside plain DuckDB and other libraries: release.py [--rows N] [--threads N] [--repeats N] [PEER…]

Run by `./dev bench release`; ../../README.md says what is asked and how it is measured. This process stays small: a child's peak of memory counts
from its parent's on.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

from question import EPSILON, GROUPS, LOWER, REGIONS, ROWS, UPPER

HERE = Path(__file__).parent
PEERS = ("opendp", "pipeline-dp", "smartnoise", "diffprivlib")
PLAIN, SOTTO, START = "plain DuckDB", "sotto run", "sotto run --dry-run"
HEADINGS = ("tool", "wall s", "CPU s", "MB", "wall/plain", "CPU/plain", "RMSE counts", "sums", "means")
LIMIT = 3600  # seconds a peer may take
PATIENCE = 60  # seconds of repeats
DATA = """name = "{name}"
version = "1"
source = {source}
unit = "{unit}"
ledger = "{name}.sotto"
[columns.region]
type = "text"
null = "drop"
values = {regions}
[columns.v]
type = "real"
null = {{ value = {lower} }}
bounds = [{lower}, {upper}]
"""
STUDY = """title = "Visits by region"
data = "{name}"
groups = {groups}
rows = {rows}
[budget]
epsilon = {epsilon}
[[query]]
name = "count"
ask = "count"
by = ["region"]
[[query]]
name = "sum"
ask = "sum"
of = "v"
by = ["region"]
[[query]]
name = "mean"
ask = "mean"
of = "v"
by = ["region"]
"""
UNIT = """[columns.unit]
type = "integer"
null = "drop"
"""


def say(words):
    print(words, file=sys.stderr, flush=True)


def child(command, **variables):
    """Its output, its error's last line, and of the whole process wall and processor seconds and peak memory in MB."""
    start = time.perf_counter()
    with open("build/bench-release/stderr", "w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env={**os.environ, **variables})
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
        errors.seek(0)
        words = errors.read().strip().splitlines() or [f"status {process.returncode}"]
    found = {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "mb": usage.ru_maxrss / 1024}
    return output, None if process.returncode == 0 else words[-1][:200], found


def python(peer):
    return f"build/bench-release-{peer}/bin/python"


def run_script(peer, table, setting, threads):
    script = HERE / f"with_{peer.replace('-', '_')}.py"
    if not os.path.exists(f"build/bench-release-{peer}/made-for"):
        return {"error": "it could not be installed"}
    output, error, measured = child(["timeout", str(LIMIT), python(peer), str(script), table, setting], THREADS=str(threads))
    if error:
        return {"error": error}
    # without the start of the interpreter and the imports
    return {**measured, **json.loads(output.strip().splitlines()[-1])}


def study_file(folder, table, setting):
    """The two files of a study, in a folder that is its catalogue."""
    by_unit = setting == "B"
    data = DATA.format(name=setting, source=json.dumps(os.path.abspath(table)), unit="unit" if by_unit else "row", regions=json.dumps(REGIONS),
                       lower=LOWER, upper=UPPER)
    (folder / f"{setting}.data.toml").write_text(data + (UNIT if by_unit else ""))
    path = folder / f"{setting}.toml"
    path.write_text(STUDY.format(name=setting, groups=GROUPS if by_unit else 1, rows=ROWS if by_unit else 1, epsilon=EPSILON))
    return str(path)


def run_sotto(folder, table, setting, threads, dry=False):
    study, ledger = study_file(folder, table, setting), folder / f"{setting}.sotto"
    if not ledger.exists():
        create = ["build/bin/sotto", "data", "ledger", setting, "--catalogue", str(folder), "--second-ledger", "--epsilon", "1000", "--delta", "1e-3", "--quiet"]
        subprocess.run(create, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    how = ["--dry-run"] if dry else ["--new", "--format", "json"]
    output, error, measured = child(["build/bin/sotto", "run", study, "--catalogue", str(folder), "--threads", str(threads), "--quiet"] + how)
    if error:
        return {"error": error}
    told = "what comes before the data are read" if dry else "epsilon 1, pure" + (f"; {GROUPS} groups of {ROWS} rows" if setting == "B" else "")
    found = {**measured, "told": told, "bound": setting}
    if not dry:
        columns = [{line["keys"][0]: line["value"] for line in query["estimates"]} for query in json.loads(output)["answers"]]
        found["answers"] = {key: [column[key] for column in columns] for key in REGIONS}
    return found


def repeated(run, repeats):
    """The runs, at most so many, fewer where they take long."""
    start, runs = time.perf_counter(), []
    while len(runs) < repeats and (not runs or time.perf_counter() - start < PATIENCE):
        runs.append(run())
        if "error" in runs[-1]:
            break
    return runs


def errors_of(runs, truth):
    """By number (count, sum, mean): every answer less the truth."""
    lists = ([], [], [])
    for run in runs:
        for key, numbers in run.get("answers", {}).items():
            for errors, number, exact in zip(lists, numbers, truth[run["bound"]][key]):
                errors.append(number - exact)
    return lists


def rmse(errors):
    return math.sqrt(sum(e * e for e in errors) / len(errors)) if errors else None


def is_one_sided(errors):
    return len(errors) >= 30 and any(errors) and max(errors) <= 0


def summary(tool, runs, truth):
    failed = next((run["error"] for run in runs if "error" in run), None)
    if failed:
        return {"tool": tool, "error": failed}
    lists = errors_of(runs, truth)
    found = {"tool": tool, "told": runs[0]["told"], "runs": len(runs), "rmse": [rmse(errors) for errors in lists]}
    for name in ("wall", "cpu", "mb"):
        found[name] = min(run[name] for run in runs)
    if lists[0]:
        exact = truth[runs[0]["bound"]].values()
        bias = sum(lists[0]) / len(lists[0])
        share = bias / (sum(numbers[0] for numbers in exact) / len(exact))
        if abs(bias) > 5 * rmse(lists[0]) / math.sqrt(len(lists[0])) and abs(share) > 1e-4:
            found["note"] = f"its counts are {abs(share):.2%} {'below' if bias < 0 else 'above'} those of the bounding it was told"
        if is_one_sided(lists[0]):
            found["one_sided"] = True
            found["note"] = "none of its counts is above the truth, which so bounds it: left out of the comparison of counts"
        missing = len(REGIONS) * len(runs) - len(lists[0])
        if missing:
            found["note"] = f"{missing} of {len(REGIONS) * len(runs)} keys have no answer"
    return found


def row(line, plain):
    if "error" in line:
        return (line["tool"], line["error"])
    ratios = [f"{line[name] / plain[name]:.2f}" if plain else "" for name in ("wall", "cpu")]
    errors = [f"{error:.4g}" if error is not None else "" for error in line["rmse"]]
    return (line["tool"], f"{line['wall']:.3g}", f"{line['cpu']:.3g}", f"{line['mb']:.0f}", *ratios, *errors)


def show(rows):
    widths = [max(len(r[i]) for r in rows if len(r) == len(HEADINGS)) for i in range(len(HEADINGS))]
    widths[0] = max(len(r[0]) for r in rows)
    for cells in rows:
        if len(cells) == 2:  # no answer: the reason runs over the columns
            print(f"  {cells[0].ljust(widths[0])}  {cells[1]}")
        else:
            print("  " + "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths))))


def goals(setting, lines):
    by_name = {line["tool"]: line for line in lines if "error" not in line}
    sotto, plain = by_name.get(SOTTO), by_name.get(PLAIN)
    peers = [by_name[peer] for peer in PEERS if peer in by_name]
    most = 2.0 if setting == "A" else 1.3

    def goal(words, value, sign, bound):
        met = value <= bound if sign == "<=" else value >= bound
        print(f"  goal: {words}: {value:.2f} {sign} {bound:g}: {'met' if met else 'NOT met'}")

    if sotto and plain:
        goal("sotto's wall time in plain DuckDB's", sotto["wall"] / plain["wall"], "<=", most)
        goal("its CPU time", sotto["cpu"] / plain["cpu"], "<=", most)
        goal("its memory", sotto["mb"] / plain["mb"], "<=", 1.2)
    if sotto and peers:
        fastest = min(peers, key=lambda line: line["wall"])
        goal(f"the fastest peer's wall time ({fastest['tool']}) in sotto's", fastest["wall"] / sotto["wall"], ">=", 5)
        for i, name in enumerate(("counts", "sums", "means")):
            fair = [line for line in peers if i > 0 or "one_sided" not in line]
            if not fair:
                continue
            best = min(fair, key=lambda line: line["rmse"][i])
            goal(f"sotto's RMSE of {name} in the best peer's ({best['tool']})", sotto["rmse"][i] / best["rmse"][i], "<=", 1)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench release")
    parser.add_argument("peers", nargs="*", metavar="PEER", help=f"of {', '.join(PEERS)} (all), or none")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--threads", type=int, default=2, help="of DuckDB, alone and in sotto")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--settings", default="AB")
    typed = parser.parse_args()
    unknown = set(typed.peers) - {*PEERS, "none"}
    if unknown:
        parser.error(f"no peer {', '.join(sorted(unknown))}; there are: {', '.join(PEERS)}, none")
    peers = [peer for peer in PEERS if peer in typed.peers or not typed.peers]
    folder = Path("build/bench-release")
    table = str(folder / f"{typed.rows}.parquet")
    if not os.path.exists(table):
        say(f"making a table of {typed.rows} rows…")
        subprocess.run([python("duckdb"), str(HERE / "make_table.py"), str(typed.rows), table + ".part"], check=True)
        os.rename(table + ".part", table)
    for old in folder.glob("*.sotto"):
        old.unlink()
    say("computing the exact answers…")
    truth = json.loads(subprocess.run([python("duckdb"), str(HERE / "truth.py"), table], check=True, capture_output=True, text=True).stdout)
    everything = {}
    for setting in typed.settings:
        tools = [
            (PLAIN, lambda: run_script("duckdb", table, setting, typed.threads)),
            (SOTTO, lambda: run_sotto(folder, table, setting, typed.threads)),
            (START, lambda: run_sotto(folder, table, setting, typed.threads, dry=True)),
        ]
        tools += [(peer, lambda peer=peer: run_script(peer, table, setting, 1)) for peer in peers]
        lines = []
        for tool, run in tools:
            say(f"setting {setting}: {tool}…")
            lines.append(summary(tool, repeated(run, typed.repeats), truth))
        everything[setting] = lines
        plain = next((line for line in lines if line["tool"] == PLAIN and "error" not in line), None)
        what = "a row is the unit" if setting == "A" else f"a unit has at most {GROUPS} groups, and {ROWS} rows in each"
        print(f"({setting}) {what}: count, sum and mean by {len(REGIONS)} keys, {typed.rows} rows, {typed.threads} threads")
        show([HEADINGS] + [row(line, plain) for line in lines])
        for line in lines:
            if "error" not in line:
                times = "once" if line["runs"] == 1 else f"best of {line['runs']}"
                print(f"  {line['tool']}: {line['told']}; {times}" + (f"; NOTE: {line['note']}" if "note" in line else ""))
        goals(setting, lines)
        print(flush=True)
    (folder / "release.json").write_text(json.dumps(everything, indent=1))
    busy = [line for lines in everything.values() for line in lines if line.get("cpu", 1e9) < 0.8 * line.get("wall", 0)]
    if busy:
        print(f"{len(busy)} tools had less of the processor than they wanted: measure again on an idle machine, or compare CPU times.")


if __name__ == "__main__":
    main()
