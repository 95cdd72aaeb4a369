#!/usr/bin/env python3
"""Privacy profiles of Gaussian steps that are sampled rarely: make_rare.py [ROWS] writes rare.csv beside itself.

`--check` compares with nested integrals over the outputs of two steps. Needs Python 3.9 or later, numpy with 80-bit long doubles, and
mpmath for the check. The seed is fixed. Columns as in profiles.csv: family, epsilon, delta, tolerance, plan; delta is that of removing
a record, which is the larger one in all rows: epsilon is above all that adding one can lose.

Nothing is shared with the library. The law of each step's loss u = log(1 - q + q e^l) is split into a heap, a middle and a far part by
incomplete gamma functions of (q e^l)^2. With A and B the transforms of heap and middle,
  delta = (1/2 pi i) int A^k K + (1/2 pi i) int ((A+B)^k - A^k) K + P(some step is far) - e^eps Q(the same),
K = e^(-s eps)/(s(s+1)), which is exact but for what the far part has below eps. A and B are sums over points on Im l = a; both integrals
are taken by the trapezoidal rule until the terms are negligible. Each row is computed a second time with other weights in other places,
another path, other lines and other steps; `tolerance` is ten times the distance of the two, at least 1e-14 and at most 1e-10.
"""

import csv
import math
import random
import sys
import time
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
LONG = np.longdouble
PI = LONG("3.14159265358979323846264338327950288")


class Failed(Exception):
    pass


def gamma_weights(n, x):
    """e^-x sum_{i<n} x^i/i! and 1 minus it."""
    x = np.asarray(x, dtype=np.clongdouble)
    small = abs(x) <= n
    safe = np.where(x.real > 3000, 3000, x)
    term, low = np.ones_like(safe), np.zeros_like(safe)
    for i in range(n):
        low = low + term
        term = term * (safe / (i + 1))
    high = np.zeros_like(safe)
    tail = np.where(small, term, 0)
    for i in range(n, n + 400):
        high = high + tail
        tail = np.where(small, tail * (safe / (i + 1)), 0)
    fall = np.exp(-safe)
    low, high = low * fall, high * fall
    return np.where(small, 1 - high, low), np.where(small, high, 1 - low)


class Step:
    """k steps poisson(q, gaussian(sigma))."""

    def __init__(self, k, q, sigma):
        self.k, self.text = k, f"{k} * poisson({q}, gaussian({sigma}))"
        self.q, self.mu = LONG(q), 1 / LONG(sigma)
        self.qf, self.muf = float(q), 1 / float(sigma)

    def points(self, angle, step, y1, n1, y2, n2):
        """weight, r - 1, u, and the weights of heap, middle and far part on Im l = angle."""
        right = max(15.0, math.log(6 * y2 / self.qf) / self.muf + self.muf / 2, self.muf + 14)
        h = LONG(step)
        z = h * np.arange(-int(14 / step), int(right / step) + 1).astype(LONG) + 1j * (LONG(angle) / self.mu)
        y = self.q * np.exp(self.mu * z - self.mu**2 / 2)
        w = h / np.sqrt(2 * PI) * np.exp(-z * z / 2)
        low, high = gamma_weights(n1, n1 * (y / LONG(y1)) ** 2)
        near, far = gamma_weights(n2, n2 * (y / LONG(y2)) ** 2)
        over = abs(y) > 5 * y2  # the middle is below e^-700 there
        return w, y - self.q, log1p(y - self.q), np.where(over, 0, low), np.where(over, 0, high * near), high * far


def log1p(x):
    real = np.log1p(x.real * (2 + x.real) + x.imag**2) / 2
    return real + 1j * np.arctan2(x.imag, 1 + x.real)


def profile(steps, eps, variant=0):
    """delta at eps and the shares of the three parts."""
    e, exact = float(eps), LONG(eps)
    rates = sum(s.k * s.qf for s in steps)
    sigma = math.sqrt(sum(s.k * s.qf**2 * math.expm1(min(4.0, s.muf**2)) for s in steps))
    reach = e + min(rates, 9 * sigma)
    n1, n2 = ((40, 40), (35, 36))[variant]
    y1 = math.expm1(reach / 3) * (1.0, 1.13)[variant]
    y2 = 2.6 * math.expm1(reach) * (1.0, 1.13)[variant]
    tables = []
    for s in steps:
        a = min((0.20, 0.22)[variant], 1.3 * s.muf)
        cost = 60 + (2 * a / s.muf) ** 2 / 2 - n1 * math.log(math.cos(4 * a))
        tables.append(s.points(a, 2 * math.pi * a / (s.muf * cost), y1, n1, y2, n2))
    none_q, none_p = LONG(0), LONG(0)
    for s, (w, rise, _, _, _, far) in zip(steps, tables):
        g, d = (w * far).sum().real, (w * far * rise).sum().real
        none_q += s.k * np.log1p(-g)
        none_p += s.k * np.log1p(-g - d)
    parts = [-np.expm1(none_p) + np.exp(exact) * np.expm1(none_q)]
    rough = [[np.asarray(x.real, dtype=float) for x in s.points(0, 0.25 / max(1, s.muf), y1, n1, y2, n2)] for s in steps]

    def level(c, heap):
        base = rise = 0.0
        for s, (w, _, u, low, middle, _) in zip(steps, rough):
            power = np.exp(np.minimum((c + 1) * u, 700))
            a = float((w * low * power).sum())
            base += s.k * math.log(max(a, 1e-300))
            rise += s.k * math.log1p(float((w * middle * power).sum()) / max(a, 1e-300))
        return base if heap else base + (rise if rise > 30 else math.log(math.expm1(rise)))

    for heap in (False, True):
        best = min((level(x / reach, heap) - x / reach * e - 2 * math.log(x), x) for x in (0.5 * 1.25**i for i in range(24)))
        if heap and best[0] + 2 * math.log(best[1]) < math.log(max(1e-300, float(parts[0] + parts[1]))) - 40:
            parts.append(LONG(0))  # by Chernoff's bound
            continue
        c = best[1] / reach * (1.0, 1.13)[variant]
        top = max(0.0, level(1.5 * c, heap) - level(c, heap) - 0.5 * c * e)
        h = math.pi * c / (46 + top) * (1.0, 0.93)[variant]
        parts.append(integral(steps, tables, exact, LONG(c), LONG(h), heap))
    value = sum(parts)
    if not value > 0:
        raise Failed("sign")
    return value, [float(p / value) for p in parts]


def integral(steps, tables, eps, c, h, heap):
    total, largest, start, block = LONG(0), 0.0, 0, 200
    p = c + 1
    while True:
        t = h * np.arange(start, start + block).astype(LONG)
        power, ratio = np.zeros(block, dtype=np.clongdouble), np.zeros(block, dtype=np.clongdouble)
        for s, (w, rise, u, low, middle, _) in zip(steps, tables):
            fixed = np.where(abs(low) + abs(middle) > 0, np.exp(p * np.where(abs(low) + abs(middle) > 0, u, 0)), 0) * w
            keep = (abs(fixed * low) + abs(fixed * middle)) * np.exp(-float(t[0]) * u.imag) > 1e-45
            waves = np.exp(1j * t[:, None] * u[None, keep])
            a = waves @ (fixed * low)[keep]
            b = waves @ (fixed * middle)[keep]
            power += s.k * np.log(a)
            ratio += s.k * log1p(b / a)
        terms = np.exp(power) if heap else np.exp(power) * (np.exp(ratio) - 1)
        point = c + 1j * t
        terms = terms * np.exp(-point * eps) / (point * (point + 1))
        total += terms.real.sum() * 2 - (terms[0].real if start == 0 else 0)
        sizes = abs(terms).astype(float)
        largest = max(largest, sizes.max())
        start += block
        if sizes.max() < max(1e-16 / start, 1e-18) * largest:
            return total * h / (2 * PI)
        if start > 12000:
            raise Failed("nodes")


def nested(q, sigma, eps):
    """Two steps: the mean over the first one's loss of one step's profile, in mpmath."""
    import mpmath as mp

    mp.mp.dps = 30
    q, mu, eps = mp.mpf(q), 1 / mp.mpf(sigma), mp.mpf(eps)

    def one(x):
        b = 1 + mp.expm1(x) / q
        if b <= 0:
            return -mp.expm1(x)
        return q * (mp.ncdf(mu / 2 - mp.log(b) / mu) - b * mp.ncdf(-mu / 2 - mp.log(b) / mu))

    def f(z):
        r = 1 + q * mp.expm1(mu * z - mu * mu / 2)
        return mp.npdf(z) * r * one(eps - mp.log(r))

    kink = mp.log((mp.exp(eps) / (1 - q) - 1 + q) / q) / mu + mu / 2
    cuts = sorted({mp.mpf(x) for x in (-14, -6, -3, 0, 2, 4, 6, 8, 11, 14 + mu, kink, kink - 1, kink - mp.mpf(1) / 4, kink + 2)})
    return mp.quad(f, cuts, maxdegree=8)


def check():
    good = True
    for q, sigma, eps in (("0.001", "1", "0.012"), ("0.0001", "0.6", "0.3"), ("0.01", "3", "0.03"), ("0.002", "2", "0.005"), ("0.00002", "1.5", "0.0004")):
        ours = profile([Step(2, q, sigma)], eps)[0]
        theirs = float(nested(q, sigma, eps))
        off = abs(float(ours) / theirs - 1)
        print("ok   " if off < 1e-13 else "WRONG", q, sigma, eps, float(ours), theirs, f"{off:.1e}", flush=True)
        good &= off < 1e-13
    return good


def three(x):
    return f"{x:.3g}" if x >= 1e-4 else f"{x:.2e}".replace("e-0", "e-")


def make(rows):
    draw = random.Random(20)
    out = []
    began = time.time()
    while len(out) < rows:
        steps = []
        for _ in range(draw.choice((1, 1, 1, 2))):
            k = draw.choice((2, 3, 5, 10, int(10 ** draw.uniform(1, 3)), int(10 ** draw.uniform(2, 6))))
            q = 10 ** draw.uniform(-6, -2)
            if k * q > 1:
                q = 10 ** draw.uniform(-6, math.log10(1 / k))
            steps.append(Step(k, three(q), f"{10 ** draw.uniform(math.log10(0.5), math.log10(5)):.3g}"))
        sigma = math.sqrt(sum(s.k * s.qf**2 * math.expm1(min(3.0, s.muf**2)) for s in steps))
        eps = three(sigma * 10 ** draw.uniform(0.2, 2.5))
        text = " + ".join(s.text for s in steps)
        start = time.time()
        try:
            # all that adding a record can lose is sum k log 1/(1-q)
            if not sum(-s.k * math.log1p(-s.qf) for s in steps) < float(eps) < 5:
                continue
            value, shares = profile(steps, eps)
            if not 1e-30 < float(value) < 0.01:
                continue
            again, _ = profile(steps, eps, 1)
            off = abs(float(again / value - 1))
            if off > 1e-11:
                raise Failed(f"off by {off:.1e}")
        except (Failed, ValueError, OverflowError, ZeroDivisionError) as error:
            print("none", text, eps, error, f"{time.time() - start:.1f} s", flush=True)
            continue
        out.append(("rare", eps, np.format_float_scientific(value, precision=17), f"{max(1e-14, 10 * off):.0e}", text))
        print(len(out), text, eps, out[-1][2], f"{off:.0e}", " ".join(f"{x:.2g}" for x in shares), f"{time.time() - start:.1f} s", flush=True)
        with open(FOLDER / "rare.csv", "w", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["family", "epsilon", "delta", "tolerance", "plan"])
            table.writerows(out)
    print(f"{len(out)} rows in {time.time() - began:.0f} s")


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if check() else 1)
    make(int(sys.argv[1]) if len(sys.argv) > 1 else 44)
