"""Measures the overhead of a call from Python, and noise on a million numbers: calls.py PROGRAM.

PROGRAM is build/bin/bench_python_calls, which makes the same calls from C++. All times are
processor time, the least of many repetitions.
"""

import subprocess
import sys
import time

import numpy
import sotto


def least_time(repetitions, calls, run):
    """Returns the least processor time of one call of `run`, in seconds.

    A repetition has several calls.
    """
    least = float("inf")
    for _ in range(repetitions):
        start = time.thread_time()
        for _ in range(calls):
            run()
        least = min(least, (time.thread_time() - start) / calls)
    return least


def main():
    output = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout
    cpp_times = {name: float(number) for name, number in (line.split("\t") for line in output.splitlines())}
    print(f"{'epsilon of':24}{'Python':>10}{'C++':>10}{'the call':>10}   µs")
    for name, cpp in cpp_times.items():
        if name.startswith("noise "):
            continue
        plan = sotto.Plan(name)
        python = 1e6 * least_time(30, 200, lambda: sotto.epsilon(plan, 1e-5))
        print(f"{name:24}{python:10.1f}{cpp:10.1f}{python - cpp:10.1f}")
    print(f"\n{'10^6 numbers in place':24}{'Python':>10}{'C++':>10}{'ratio':>10}   ms")
    values = numpy.zeros(10**6)
    for name, cpp in cpp_times.items():
        if not name.startswith("noise "):
            continue
        noise = sotto.Additive(name.removeprefix("noise "))
        python = 1e3 * least_time(30, 1, lambda: noise.release(values, out=values))
        print(f"{name:24}{python:10.2f}{cpp:10.2f}{python / cpp:10.2f}")


main()
