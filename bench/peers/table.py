#!/usr/bin/env python3
"""One table of the accounting benchmark: table.py FILE… reads lines of JSON, as accounting.py and sotto print them.

"error" is the answer less the truth (truths.csv); an answer below it is no bound and is marked "too small" (but in a, where the
"truth" is the best that the usual conversion from RDP gives, and a better conversion lies below). "x sotto" is the time in units of sotto's. Memory is the peak of the whole process, in brackets what its imports took.
"""
import csv
import json
import sys
from pathlib import Path

QUESTIONS = {
    "a": "epsilon by Renyi DP of 10000 * poisson(0.01, gaussian(1))",
    "b": "tight epsilon of 10000 * poisson(0.01, gaussian(1))",
    "c": "epsilon of 1000 * laplace(10)",
    "d": "sigma of 15000 * poisson(0.004, gaussian(?)) for epsilon 1",
    "e": "epsilon of 100 different Gaussians, sigma = 10, 10.5, ..., 59.5",
    "f": "epsilon of 1000000 * approx(0.001, 1e-12)",
    "g": "epsilon of the 1000 mixed events of mixed_events.txt",
    "h": "epsilon of 1000 * without_replacement(600, 60000, gaussian(1))",
}
HEADINGS = ("delta", "who", "answer", "error", "time", "x sotto", "memory")
ROUNDING = 1e-11  # an answer this little below the truth is its rounding


def truths():
    with open(Path(__file__).parent / "truths.csv") as file:
        return {(row["question"], float(row["delta"])): float(row["value"]) for row in csv.DictReader(file)}


def read(names):
    for name in names:
        for line in Path(name).read_text().splitlines():
            if line.startswith("{"):
                yield json.loads(line)


def duration(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def row(line, truth, of_sotto):
    answer = line.get("sigma", line.get("epsilon"))
    if answer is None:
        shown, error = line.get("error", "no answer"), ""
    else:
        shown, error = f"{answer:.10g}", f"{answer - truth:+.1e}" if truth is not None else ""
        if truth is not None and answer < truth - ROUNDING * max(1, abs(truth)):
            error += " by a better line" if line.get("question") == "a" else " too small"
    seconds, peak = line.get("seconds"), line.get("peak_mb")
    time = duration(seconds) if seconds is not None else ""
    ratio = f"{seconds / of_sotto:.3g}" if seconds is not None and of_sotto else ""
    memory = f"{peak:.0f} MB" if peak is not None else ""
    if "import_mb" in line:
        memory += f" ({line['import_mb']:.0f})"
    return f"{line['delta']:.0e}".replace("e-0", "e-"), line["peer"], shown, error, time, ratio, memory


def main():
    lines = list(read(sys.argv[1:]))
    if not lines:
        sys.exit("table.py: there are no lines of JSON in " + (" ".join(sys.argv[1:]) or "no files"))
    known = truths()
    of_sotto = {}
    for line in lines:
        if line["peer"] == "sotto" and "seconds" in line:
            of_sotto[line["question"], line["delta"]] = line["seconds"]
    for question in sorted({line["question"] for line in lines}):
        of_question = [line for line in lines if line["question"] == question]
        of_question.sort(key=lambda line: (-line["delta"], line["peer"] != "sotto"))
        rows = [HEADINGS]
        for line in of_question:
            key = line["question"], line["delta"]
            rows.append(row(line, known.get(key), of_sotto.get(key)))
        print(f"({question}) {QUESTIONS.get(question, '')}")
        for delta in sorted({line["delta"] for line in of_question}, reverse=True):
            if (question, delta) in known:
                print(f"    truth at delta {delta:g}: {known[question, delta]:.15g}")
        # A message in place of an answer may run over the columns after it, which are empty.
        widths = [max(len(r[i]) for r in rows if i != 2 or r[3] or r is rows[0]) for i in range(len(HEADINGS))]
        for cells in rows:
            print(("    " + "  ".join(cell.ljust(width) for cell, width in zip(cells, widths))).rstrip())
        print()
    busy = [line for line in lines if line.get("cpu_seconds", 1e9) < 0.8 * line.get("seconds", 0)]
    if busy:
        print(f"In {len(busy)} of {len(lines)} answers the machine was busy with something else: measure again on an idle one.")


if __name__ == "__main__":
    main()
