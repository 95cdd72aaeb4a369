"""What a call from Python costs beyond the library's own time, and noise on a million numbers: calls.py PROGRAM.

PROGRAM is build/bin/bench_python_calls, which measures the same without Python. Processor time, the best of many turns.
"""

import subprocess
import sys
import time

import numpy
import sotto


def best(turns, times, run):
    least = float("inf")
    for _ in range(turns):
        start = time.thread_time()
        for _ in range(times):
            run()
        least = min(least, (time.thread_time() - start) / times)
    return least


def main():
    said = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout
    alone = {name: float(number) for name, number in (line.split("\t") for line in said.splitlines())}
    print(f"{'epsilon of':24}{'Python':>10}{'C++':>10}{'the call':>10}   µs")
    for name, there in alone.items():
        if name.startswith("noise "):
            continue
        plan = sotto.Plan(name)
        here = 1e6 * best(30, 200, lambda: sotto.epsilon(plan, 1e-5))
        print(f"{name:24}{here:10.1f}{there:10.1f}{here - there:10.1f}")
    print(f"\n{'10^6 numbers in place':24}{'Python':>10}{'C++':>10}{'ratio':>10}   ms")
    values = numpy.zeros(10**6)
    for name, there in alone.items():
        if not name.startswith("noise "):
            continue
        noise = sotto.Additive(name.removeprefix("noise "))
        here = 1e3 * best(30, 1, lambda: noise.release(values, out=values))
        print(f"{name:24}{here:10.2f}{there:10.2f}{here / there:10.2f}")


main()
