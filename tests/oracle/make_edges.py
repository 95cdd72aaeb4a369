#!/usr/bin/env python3
"""Privacy profiles of sampled Gaussian steps at the edges: make_edges.py writes edges.csv beside itself.

Two steps of any rate with much or little noise, by nested integrals over the outputs (mpmath, 30 digits; again with 40 and other cuts), with a
record removed and with one added, the larger one kept; one such step beside Gaussian or Laplace noise, by an integral
over its output; two steps of a rarely used sample with Laplace noise or randomized response beside the Gaussian, by the law of their
joint loss in closed form; and very many steps of which some dozens to thousands have the record, by the trapezoidal rule on a line with all
sums in 80-bit long doubles. Needs Python 3.9 or later, numpy with 80-bit long doubles, and mpmath. The seeds are fixed. Columns as in
profiles.csv: family, epsilon, delta, tolerance, plan. Nothing is shared with the library, and no loss is split.
"""

import csv
import math
import random
from pathlib import Path

import mpmath as mp
import numpy as np

FOLDER = Path(__file__).parent
LONG = np.longdouble
mp.mp.dps = 30


def removed(q, mu, eps, shift):
    """E_P[(1 - e^eps/(r r'))+], P the law with the record: the mean over the first output of one step's profile."""

    def one(x):
        b = 1 + mp.expm1(x) / q
        if b <= 0:
            return -mp.expm1(x)
        return q * (mp.ncdf(mu / 2 - mp.log(b) / mu) - b * mp.ncdf(-mu / 2 - mp.log(b) / mu))

    def f(z):
        r = 1 + q * mp.expm1(mu * z - mu * mu / 2)
        return mp.npdf(z) * r * one(eps - mp.log(r))

    kink = mp.log((mp.exp(eps) / (1 - q) - 1 + q) / q) / mu + mu / 2
    # where the second step's profile falls, and where the first output is likely, with the record and without
    places = {mp.mpf(x) for x in (-26, -14, -9, -6, -3, 0, 3, 6, 9, 14, 20, 26, mu - 6, mu - 3, mu + 3, mu + 6, mu + 14, mu + 26)}
    places |= {mu / 2 + (eps * j / 8 - mp.log(q)) / mu for j in range(0, 9)} | {kink - 1, kink - 2, kink + 1, kink + 2}
    places = {x + shift for x in places} | {kink}
    return mp.quad(f, sorted(x for x in places if -26 <= x <= mu + 27), maxdegree=9)


def added(q, mu, eps, shift):
    """E_Q[(1 - e^eps r r')+], Q the law without the record."""

    def one(x):  # E_Q[(1 - e^x r)+]
        y = mp.exp(-x) - 1 + q
        if y <= 0:
            return mp.mpf(0)
        z = mp.log(y / q) / mu + mu / 2
        return mp.ncdf(z) - mp.exp(x) * ((1 - q) * mp.ncdf(z) + q * mp.ncdf(z - mu))

    def f(z):
        return mp.npdf(z) * one(eps + mp.log1p(q * mp.expm1(mu * z - mu * mu / 2)))

    y = mp.exp(-eps) / (1 - q) - 1 + q
    if y <= 0:
        return mp.mpf(0)
    end = mp.log(y / q) / mu + mu / 2
    places = {mp.mpf(x) + shift for x in (-20, -14, -9, -6, -3, 0, 3, 6) if x + shift < end}
    return mp.quad(f, sorted(places | {mp.mpf(-40), end - 1 - shift, end - mp.mpf(1) / 4, end}), maxdegree=9)


def few(draw):
    q = round(10 ** draw.uniform(-6, -0.02), 7) or 1e-6
    sigma = float(f"{10 ** draw.uniform(-0.9, 1.2):.3g}")
    mu = 1 / sigma
    hit = max(0.01, math.log1p(q * math.expm1(min(300, mu * mu * draw.uniform(0.3, 2.5) + mu * draw.uniform(0, 4)))))
    eps = float(f"{hit * draw.uniform(0.3, 2):.3g}")
    exact = [mp.mpf(repr(q)), 1 / mp.mpf(repr(sigma)), mp.mpf(repr(eps))]
    value = max(removed(*exact, 0), added(*exact, 0))
    mp.mp.dps = 40
    again = max(removed(*exact, mp.mpf("0.37")), added(*exact, mp.mpf("0.37")))
    mp.mp.dps = 30
    return eps, value, abs(again / value - 1), f"2 * poisson({q!r}, gaussian({sigma!r}))"


def beside(draw):
    """One sampled step and then Gaussian or Laplace noise, whose own profile, at any epsilon, is in closed form."""
    q = float(f"{10 ** draw.uniform(-5, -0.5):.3g}")
    sigma = float(f"{10 ** draw.uniform(-0.4, 1):.3g}")
    mu = 1 / sigma
    scale = float(f"{10 ** draw.uniform(-0.3, 2):.3g}")
    laplace = draw.random() < 0.5
    count = 1 if laplace else draw.choice((1, 3, 20))
    eps = float(f"{(1 / scale) * draw.uniform(0.3, 4 if laplace else 8) * math.sqrt(count) + q * draw.uniform(0, 5):.3g}")
    e, x = mp.mpf(repr(eps)), mp.sqrt(count) / mp.mpf(repr(scale))
    exact_q, exact_mu = mp.mpf(repr(q)), 1 / mp.mpf(repr(sigma))

    def noise(y):
        if laplace:
            return mp.mpf(0) if y >= x else -mp.expm1(y) if y <= -x else -mp.expm1((y - x) / 2)
        return mp.ncdf(x / 2 - y / x) - mp.exp(y) * mp.ncdf(-x / 2 - y / x)

    def ratio(z):
        return 1 + exact_q * mp.expm1(exact_mu * z - exact_mu**2 / 2)

    def place(loss):  # where log r is this
        y = mp.exp(loss) - 1 + exact_q
        return mp.log(y / exact_q) / exact_mu + exact_mu / 2 if y > 0 else None

    def total(shift):
        kinks = [place(v) for v in (e - x, e + x, e, x - e, -x - e, -e)]
        cuts = {mp.mpf(v) + shift for v in range(-26, 42, 2)} | {z for z in kinks if z is not None and -26 < z < 44} | {mp.mpf(-28), mp.mpf(44)}
        taken = mp.quad(lambda z: mp.npdf(z) * ratio(z) * noise(e - mp.log(ratio(z))), sorted(cuts), maxdegree=8)
        given = mp.quad(lambda z: mp.npdf(z) * noise(e + mp.log(ratio(z))), sorted(cuts), maxdegree=8)
        return max(taken, given)

    value = total(0)
    off = abs(total(mp.mpf("0.7")) / value - 1) if value else mp.mpf(1)
    other = f"laplace({scale!r})" if laplace else f"{count} * gaussian({scale!r})"
    return eps, value, off, f"poisson({q!r}, gaussian({sigma!r})) + {other}"


class Shared:
    """Gaussian noise with randomized response (eps = x) or Laplace noise (x = 1/b): the joint loss under Q in closed form."""

    def __init__(self, mu, x, laplace):
        self.mu, self.x, self.laplace = mu, x, laplace

    def over(self, gaussian, between):
        """A mean over the other mechanism's loss l: atoms, and a density e^(-(l+x)/2)/4 whose mean is `between`."""
        x = self.x
        if not self.laplace:
            return gaussian(-x) / (1 + mp.exp(-x)) + gaussian(x) / (1 + mp.exp(x))
        return gaussian(-x) / 2 + gaussian(x) * mp.exp(-x) / 2 + mp.exp(-x / 2) / 4 * between

    def density(self, t):
        mu, x, at = self.mu, self.x, t + self.mu**2 / 2
        # e^(-l/2) times a normal density about `at` is one about at - mu^2/2
        between = mp.exp(-at / 2 + mu**2 / 8) * (mp.ncdf((x - at) / mu + mu / 2) - mp.ncdf((-x - at) / mu + mu / 2))
        return self.over(lambda l: mp.npdf((at - l) / mu) / mu, between)

    def above(self, t):  # Q(L > t)
        mu, x, at = self.mu, self.x, t + self.mu**2 / 2
        tail = lambda l: mp.ncdf((l - at) / mu)
        # by parts: of e^(-l/2) tail(l)
        between = 2 * (mp.exp(x / 2) * tail(-x) - mp.exp(-x / 2) * tail(x))
        between += 2 * mp.exp(-at / 2 + mu**2 / 8) * (mp.ncdf((x - at) / mu + mu / 2) - mp.ncdf((-x - at) / mu + mu / 2))
        return self.over(tail, between)

    def above_with(self, t):  # P(L > t) = Q(L < -t)
        mu, x, at = self.mu, self.x, -t + self.mu**2 / 2
        head = lambda l: mp.ncdf((at - l) / mu)
        between = 2 * (mp.exp(x / 2) * head(-x) - mp.exp(-x / 2) * head(x))
        between -= 2 * mp.exp(-at / 2 + mu**2 / 8) * (mp.ncdf((x - at) / mu + mu / 2) - mp.ncdf((-x - at) / mu + mu / 2))
        return self.over(head, between)


def shared(draw):
    q = float(f"{10 ** draw.uniform(-5, -1):.3g}")
    sigma = float(f"{10 ** draw.uniform(-0.3, 0.9):.3g}")
    laplace = draw.random() < 0.5
    size = float(f"{10 ** draw.uniform(-0.2, 1.3):.3g}" if laplace else f"{10 ** draw.uniform(-1.5, 0.3):.3g}")
    x = 1 / mp.mpf(repr(size)) if laplace else mp.mpf(repr(size))
    mu, exact_q = 1 / mp.mpf(repr(sigma)), mp.mpf(repr(q))
    base = Shared(mu, x, laplace)
    loss = float(x) * draw.uniform(0, 1) + float(mu) ** 2 / 2 + float(mu) * draw.uniform(0, 6)
    eps = float(f"{math.log1p(q * math.expm1(loss)) * draw.uniform(0.3, 2):.3g}")
    e = mp.mpf(repr(eps))

    def one(y):  # sup over sets of P - e^y Q of one step, record removed
        b = 1 + mp.expm1(y) / exact_q
        if b <= 0:
            return -mp.expm1(y)
        t = mp.log(b)
        return exact_q * (base.above_with(t) - b * base.above(t))

    def one_added(y):  # E_Q[(1 - e^y r)+]
        b = 1 + mp.expm1(-y) / exact_q
        if b <= 0:
            return mp.mpf(0)
        t = mp.log(b)
        return -mp.expm1(y) * (1 - base.above(t)) - mp.exp(y) * exact_q * (base.above(t) - base.above_with(t))

    def ratio(l):
        return 1 + exact_q * mp.expm1(l)

    def total(shift):
        reach = x + 14 * mu
        places = {-mu**2 / 2 + centre + mu * (n + shift) for centre in (-x, 0, x, mu**2 - x, mu**2, mu**2 + x) for n in range(-14, 15, 2)}
        kinks = {mp.log(1 + mp.expm1(v) / exact_q) for v in (e - mp.log1p(-exact_q), e, e / 2, -e - mp.log1p(-exact_q)) if 1 + mp.expm1(v) / exact_q > 0}
        cuts = sorted(v for v in places | kinks if -reach - 2 * mu**2 < v < reach + 3 * mu**2 + 12 * mu)
        taken = mp.quad(lambda l: base.density(l) * ratio(l) * one(e - mp.log(ratio(l))), cuts, maxdegree=6)
        given = mp.quad(lambda l: base.density(l) * one_added(e + mp.log(ratio(l))), cuts, maxdegree=6)
        return max(taken, given)

    value = total(0)
    off = abs(total(mp.mpf("0.7")) / value - 1) if value > 0 else mp.mpf(1)
    other = f"laplace({size!r})" if laplace else f"pure({size!r})"
    return eps, value, off, f"2 * poisson({q!r}, gaussian({sigma!r}) + {other})"


def many(draw):
    k = int(10 ** draw.uniform(4, 7.8))
    rate = 10 ** draw.uniform(1.6, 3.3)
    q = float(f"{rate / k:.3g}")
    sigma = float(f"{10 ** draw.uniform(-0.2, 1.3):.3g}")
    mu = 1 / LONG(repr(sigma))
    exact_q = LONG(repr(q))
    spread = math.sqrt(k * q * q * math.expm1(1 / sigma**2))
    eps = float(f"{spread * draw.uniform(1, 9):.3g}")
    h = LONG(1) / 64
    z = h * np.arange(-64 * 20, 64 * 40 + 1).astype(LONG)
    w = h / np.sqrt(2 * LONG("3.14159265358979323846264338327950288")) * np.exp(-z * z / 2)
    rise = exact_q * np.expm1(mu * z - mu * mu / 2)
    u = np.log1p(rise)

    def excess(p, u):  # e^(pu) - 1 - p u
        x = p * u
        small = abs(x) < 0.3
        s, term = np.zeros_like(x), x * x / 2
        for n in range(3, 24):
            s, term = s + term, term * x / n
        return np.where(small, s, np.exp(np.where(small, 0, x)) - 1 - x)

    second = np.where(abs(u) < 0.3, excess(LONG(1), u), rise - u)

    def log_m(s):  # log E_Q[r^(s+1)], as E_Q[r - 1] = 0
        p = np.clongdouble(s + 1)
        x = (w * (excess(p, u.astype(np.clongdouble)) - p * second)).sum()
        return np.log1p(x.real * (2 + x.real) + x.imag**2) / 2 + 1j * np.arctan2(x.imag, 1 + x.real)

    height = lambda c: float((k * log_m(LONG(c))).real) - c * eps - math.log(c) - math.log1p(c)
    c = min((height(x), x) for x in (2 ** (i / 4) / spread for i in range(-20, 40)))[1]

    def rule(step):
        total, n, top = LONG(0), 0, None
        while True:
            s = LONG(c) + 1j * LONG(step) * n
            term = np.exp(k * log_m(s) - s * LONG(repr(eps))) / (s * (s + 1))
            top = abs(term) if top is None else top
            total += term.real / (2 if n == 0 else 1)
            if abs(term) < 1e-21 * top or n > 6000:
                return total * LONG(step) / LONG("3.14159265358979323846264338327950288"), abs(term) * n / top
            n += 1

    first, cut = rule(2 * math.pi * c / 70)
    again, _ = rule(2 * math.pi * c / 61)
    off = abs(float(again / first - 1)) + float(cut)
    return eps, mp.mpf(np.format_float_scientific(first, precision=20)), off, f"{k} * poisson({q!r}, gaussian({sigma!r}))"


def main():
    rows = []
    for family, make, wanted, seed in (("few", few, 40, 5), ("beside", beside, 40, 7), ("shared", shared, 30, 8), ("many", many, 30, 6)):
        draw = random.Random(seed)
        found = 0
        while found < wanted:
            eps, value, off, plan = make(draw)
            fine = 1e-100 < value < 0.5 and off < 1e-11 and eps < 600
            print("" if fine else "left out: ", family, plan, eps, mp.nstr(value, 18), mp.nstr(off, 2), flush=True)
            if not fine:
                continue
            rows.append((family, repr(eps), mp.nstr(value, 18), f"{max(1e-14, 10 * float(off)):.0e}", plan))
            found += 1
    with open(FOLDER / "edges.csv", "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["family", "epsilon", "delta", "tolerance", "plan"])
        table.writerows(rows)


if __name__ == "__main__":
    main()
