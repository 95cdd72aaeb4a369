#!/usr/bin/env python3
"""Privacy profiles of two rarely sampled Gaussian steps, far down: make_deep.py [ROWS] writes deep.csv beside itself.

Needs mpmath. The seed is fixed. Columns as in rare.csv; delta is that of removing a record, and epsilon is above all that adding one can lose.
Nothing is shared with the library: delta is the mean over the second step's loss, under Q, of r times the first step's profile, which has a
closed form, by Gauss-Legendre between points that close in on the kink. Each row is computed on two grids; `tolerance` is ten times their
distance, at least 1e-15, and at most 1e-11.
"""

import csv
import math
import random
import sys
from pathlib import Path

import mpmath as mp

mp.mp.dps = 30


def one(q, mu, eps):
    b = 1 + mp.expm1(eps) / q
    if b <= 0:
        return -mp.expm1(eps)
    return q * mp.ncdf(mu / 2 - mp.log(b) / mu) - (mp.expm1(eps) + q) * mp.ncdf(-mu / 2 - mp.log(b) / mu)


def profile(first, second, eps, width):
    (q1, mu1), (q, mu) = first, second

    def f(z):
        r = 1 + q * mp.expm1(mu * z - mu * mu / 2)
        return mp.npdf(z) * r * one(q1, mu1, eps - mp.log(r))

    kink = mp.log((mp.exp(eps) / (1 - q1) - 1 + q) / q) / mu + mu / 2
    cuts = {mp.mpf(i) * width for i in range(-int(14 / width), int(max(30, kink + 12) / width))}
    cuts |= {kink} | {kink + sign * mp.mpf(2) ** -j for j in range(16) for sign in (-1, 1)}
    return mp.quad(f, sorted(cuts), maxdegree=5)


def make(rows):
    draw = random.Random(3)
    out = []
    while len(out) < rows:
        def step():
            return f"{10 ** draw.uniform(-7, -2):.3g}", f"{10 ** draw.uniform(-0.3, 0.7):.3g}"

        first = step()
        second = first if draw.random() < 0.5 else step()
        mu = 1 / float(first[1])
        eps = f"{math.log1p(float(first[0]) * math.expm1(min(60, mu * draw.uniform(4, 20)))):.4g}"
        if not max(1e-6, 2 * (float(first[0]) + float(second[0]))) < float(eps) < 40:
            continue
        laws = [(mp.mpf(q), 1 / mp.mpf(sigma)) for q, sigma in (first, second)]
        value = profile(*laws, mp.mpf(eps), mp.mpf("0.2"))
        if not mp.mpf("1e-110") < value < mp.mpf("1e-3"):
            continue
        off = abs(profile(*laws, mp.mpf(eps), mp.mpf("0.27")) / value - 1)
        text = [f"poisson({q}, gaussian({sigma}))" for q, sigma in (first, second)]
        plan = "2 * " + text[0] if first == second else " + ".join(text)
        print(len(out), plan, eps, mp.nstr(value, 18), mp.nstr(off, 3), flush=True)
        if off > mp.mpf("1e-12"):
            continue
        out.append(("deep", eps, mp.nstr(value, 18, min_fixed=1, max_fixed=0), f"{max(1e-15, 10 * float(off)):.0e}", plan))
    with open(Path(__file__).parent / "deep.csv", "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["family", "epsilon", "delta", "tolerance", "plan"])
        table.writerows(out)


if __name__ == "__main__":
    make(int(sys.argv[1]) if len(sys.argv) > 1 else 21)
