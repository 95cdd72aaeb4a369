"""What every tool is asked, and how a peer's script answers: count, sum and mean of a value by 50 public keys.

Setting A: a row is the unit. Setting B: a unit counts in at most GROUPS groups and with at most ROWS rows in each.
"""
import json
import sys
import time

REGIONS = [f"region {i:02}" for i in range(50)]
LOWER, UPPER = 0.0, 100.0
GROUPS, ROWS = 3, 5
EPSILON, DELTA = 1.0, 1e-7


class Stopwatch:
    """Wall and processor seconds since it was made."""

    def __init__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def read(self):
        return time.perf_counter() - self.wall, time.process_time() - self.cpu


def peer(told, ask):
    """A peer's main: SCRIPT TABLE SETTING prints one line of JSON. ask(table, setting) gives {key: (count, sum, mean)}; told[setting] says what
    the peer was given, or why it has no answer. Imports are done by now and not timed."""
    table, setting = sys.argv[1:]
    words = told[setting]
    if not words.get("can", True):
        print(json.dumps({"told": words["told"], "error": words["told"]}))
        return
    watch = Stopwatch()
    answers = ask(table, setting)
    wall, cpu = watch.read()
    found = {key: [float(n) for n in answers[key]] for key in REGIONS if key in answers}
    print(json.dumps({"told": words["told"], "wall": wall, "cpu": cpu, "bound": words.get("bound", setting), "answers": found}))
