#!/usr/bin/env python3
"""Privacy profiles of two steps whose losses have kinks and atoms: make_two.py writes two.csv beside itself.

Sampling without replacement of Gaussian and of Laplace noise (the symmetrised amplified profile, which is what is composed), and Poisson sampling of
Laplace noise, with a record removed and with one added, the larger one kept. One step's profile is in closed form at every epsilon, below 0 too; two steps
are its mean over the loss of the first: atoms, and an integral piece by piece (mpmath, 30 digits; again with 40 digits and other cuts). Needs
Python 3.9 or later and mpmath. The seed is fixed. Columns as in profiles.csv. Nothing is shared with the library: no grid, no transform.
"""

import csv
import math
import random
from pathlib import Path

import mpmath as mp

FOLDER = Path(__file__).parent
mp.mp.dps = 30


class Gaussian:
    def __init__(self, size):
        self.mu = 1 / mp.mpf(repr(size))
        self.top = None
        self.cuts = [self.mu * z for z in range(-30, 31)]

    def profile(self, a):  # sup of P - a Q
        if a <= 0:
            return 1 - a
        y = mp.log(a)
        return mp.ncdf(self.mu / 2 - y / self.mu) - a * mp.ncdf(-self.mu / 2 - y / self.mu)

    def density(self, l):  # of the loss, under Q
        return mp.npdf(l / self.mu + self.mu / 2) / self.mu

    def atoms(self):
        return []


class Laplace:
    def __init__(self, size):
        self.x = 1 / mp.mpf(repr(size))
        self.top = self.x
        self.cuts = []

    def profile(self, a):
        if a <= 0:
            return 1 - a
        y = mp.log(a)
        return mp.mpf(0) if y >= self.x else 1 - a if y <= -self.x else -mp.expm1((y - self.x) / 2)

    def density(self, l):
        return mp.exp(-(l + self.x) / 2) / 4 if abs(l) < self.x else mp.mpf(0)

    def atoms(self):
        return [(-self.x, mp.mpf(1) / 2), (self.x, mp.exp(-self.x) / 2)]


class Replaced:
    """Symmetric: the amplified profile above 0, its mirror below."""

    def __init__(self, base, s):
        self.base, self.s = base, s

    def profile(self, y):
        if y < 0:
            return -mp.expm1(y) + mp.exp(y) * self.profile(-y)
        return self.s * self.base.profile(1 + mp.expm1(y) / self.s)

    def moved(self, l):
        return mp.log1p(self.s * mp.expm1(l))

    def mean(self, f, kinks, cuts):
        """The mean under P of f over the loss."""
        above = [(self.moved(l), mass) for l, mass in self.base.atoms() if l > 0]
        total, used = mp.mpf(0), mp.mpf(0)
        for u, mass in above:
            total += mass * mp.exp(u) * f(u) + mass * f(-u)
            used += mass * (1 + mp.exp(u))

        def both(l):
            u, q = self.moved(l), self.base.density(l)
            return q * (mp.exp(u) * f(u) + f(-u))

        def weight(l):
            return self.base.density(l) * (1 + mp.exp(self.moved(l)))

        ends = sorted({mp.mpf(0), cuts[-1]} | {c for c in cuts if 0 < c < cuts[-1]} | {k for k in kinks if 0 < k < cuts[-1]})
        total += mp.quad(both, ends, maxdegree=8)
        used += mp.quad(weight, ends, maxdegree=8)
        return total + (1 - used) * f(mp.mpf(0))


class Removed:
    def __init__(self, base, q):
        self.base, self.q = base, q

    def profile(self, y):
        b = 1 + mp.expm1(y) / self.q
        return -mp.expm1(y) if b <= 0 else self.q * self.base.profile(b)

    def mean(self, f, kinks, cuts):
        r = lambda l: 1 + self.q * mp.expm1(l)
        total = sum(mass * r(l) * f(mp.log(r(l))) for l, mass in self.base.atoms())
        ends = sorted({-cuts[-1], cuts[-1]} | {c for c in list(cuts) + list(kinks) if abs(c) < cuts[-1]})
        return total + mp.quad(lambda l: self.base.density(l) * r(l) * f(mp.log(r(l))), ends, maxdegree=8)


class Added(Removed):
    def profile(self, y):
        b = 1 + mp.expm1(-y) / self.q
        return mp.mpf(0) if b <= 0 else mp.exp(y) * self.q * b * self.base.profile(1 / b)

    def mean(self, f, kinks, cuts):
        r = lambda l: 1 + self.q * mp.expm1(l)
        total = sum(mass * f(-mp.log(r(l))) for l, mass in self.base.atoms())
        ends = sorted({-cuts[-1], cuts[-1]} | {c for c in list(cuts) + list(kinks) if abs(c) < cuts[-1]})
        return total + mp.quad(lambda l: self.base.density(l) * f(-mp.log(r(l))), ends, maxdegree=8)


def two(step, eps, shift):
    base, rate = step.base, step.s if isinstance(step, Replaced) else step.q
    places = {eps, -eps, mp.mpf(0)}
    for l, _ in base.atoms():
        u = mp.log1p(rate * mp.expm1(l))
        places |= {eps - u, eps + u, u - eps, -u - eps}
    kinks = {mp.log1p(mp.expm1(u) / rate) for u in places if mp.expm1(u) / rate > -1}
    kinks |= {-k for k in kinks}
    if base.top is None:
        cuts = sorted(set(base.cuts) | {c + shift * base.mu for c in base.cuts})[:-1]
    else:
        cuts = sorted({base.x * (mp.mpf(j) + shift) / 4 for j in range(-4, 4)} | {base.x})
    return step.mean(lambda l: step.profile(eps - l), kinks, cuts)


def draw_plan(draw, family):
    gaussian = family == "replaced gaussian"
    size = float(f"{10 ** draw.uniform(-0.3, 1.2):.3g}")
    make = Gaussian if gaussian else Laplace
    if family == "sampled laplace":
        q = float(f"{10 ** draw.uniform(-4, -0.3):.3g}")
        rate, text = mp.mpf(repr(q)), f"2 * poisson({q!r}, laplace({size!r}))"
        steps = lambda: [Removed(make(size), rate), Added(make(size), rate)]
    else:
        batch = draw.randint(1, 600)
        rate = mp.mpf(batch) / 1000
        text = f"2 * without_replacement({batch}, 1000, {'gaussian' if gaussian else 'laplace'}({size!r}))"
        steps = lambda: [Replaced(make(size), rate)]
    loss = 1 / size * draw.uniform(0.1, 1) if not gaussian else 1 / size * draw.uniform(0.1, 5) + 0.5 / size**2
    eps = float(f"{math.log1p(float(rate) * math.expm1(loss)) * draw.uniform(0.3, 1.9):.4g}")
    return eps, steps, text


def main():
    rows = []
    draw = random.Random(11)
    for family, wanted in (("replaced gaussian", 24), ("replaced laplace", 16), ("sampled laplace", 20)):
        found = 0
        while found < wanted:
            eps, steps, plan = draw_plan(draw, family)
            exact = mp.mpf(repr(eps))
            value = max(two(step, exact, mp.mpf(0)) for step in steps())
            mp.mp.dps = 40
            again = max(two(step, mp.mpf(repr(eps)), mp.mpf("0.37")) for step in steps())
            mp.mp.dps = 30
            off = abs(again / value - 1) if value > 0 else mp.mpf(1)
            fine = 1e-90 < value < 0.5 and off < 1e-11
            print("" if fine else "left out: ", plan, eps, mp.nstr(value, 18), mp.nstr(off, 2), flush=True)
            if not fine:
                continue
            rows.append((family, repr(eps), mp.nstr(value, 18), f"{max(1e-14, 10 * float(off)):.0e}", plan))
            found += 1
    with open(FOLDER / "two.csv", "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["family", "epsilon", "delta", "tolerance", "plan"])
        table.writerows(rows)


if __name__ == "__main__":
    main()
