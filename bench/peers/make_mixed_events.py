#!/usr/bin/env python3
"""Writes mixed_events.txt beside itself: one plan, a sum of 1000 different events, made from a fixed seed."""
import random
from pathlib import Path

KINDS = (("gaussian", 400), ("laplace", 300), ("poisson", 200), ("approx", 100))


def event(kind, rng):
    if kind == "gaussian":
        return f"gaussian({rng.randint(1500, 6000) / 100})"
    if kind == "laplace":
        return f"laplace({rng.randint(2000, 9000) / 100})"
    if kind == "approx":
        return f"approx({rng.randint(50, 500) / 10000}, {rng.randint(1, 99)}e-11)"
    step = f"poisson({rng.randint(20, 200) / 10000}, gaussian({rng.randint(80, 200) / 100}))"
    return f"{rng.randint(2, 20)} * {step}"


def main():
    rng = random.Random(20240601)
    events = {}
    for kind, count in KINDS:
        made = {}
        while len(made) < count:
            made[event(kind, rng)] = True
        events.update(made)
    events = list(events)
    rng.shuffle(events)
    (Path(__file__).parent / "mixed_events.txt").write_text("  " + "\n+ ".join(events) + "\n")


if __name__ == "__main__":
    main()
