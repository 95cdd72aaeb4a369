#!/usr/bin/env python3
"""The true answers to the questions of the accounting benchmark: writes truths.csv beside itself (needs mpmath and numpy).

With L the privacy loss under P and M(s) = E[e^{sL}], delta(eps) = 1/(2 pi i) int M(s) e^{-s eps} / (s (s+1)) ds on any
line Re s = c > 0, by the trapezoid rule; a sum of events multiplies their M. Each value is computed on two contours
with two steps, and only the digits on which both agree are written. Question f is an exact binomial sum, e a closed
form, h the best known upper bound (the profile of sampling without replacement), a the best Renyi order.
"""
import csv
import itertools
import math
import re
import sys
from pathlib import Path

from mpmath import mp, mpc, mpf

FOLDER = Path(__file__).parent
mp.dps = 30


class Losses:
    """Finitely many losses with their masses, a quadrature of the step's loss; `gauss` is the sum of mu^2."""

    def __init__(self):
        self.parts = []  # (count, [(loss, mass)])
        self.gauss = mpf(0)
        self.infinite = mpf(0)  # log of the mass that is not at infinity

    def add(self, count, points):
        self.parts.append((count, points))

    def log_m(self, c):
        s = float(c)
        total = float(self.gauss) * s * (s + 1) / 2
        for count, points in self.doubles():
            top = max(loss * s for loss, _ in points)
            total += count * (top + math.log(math.fsum(mass * math.exp(loss * s - top) for loss, mass in points)))
        return total

    def doubles(self):
        if not hasattr(self, "kept"):
            self.kept = [(count, [(float(loss), float(mass)) for loss, mass in points]) for count, points in self.parts]
        return self.kept

    def nodes(self, c, h, cut):
        """M at c + i h j, until it is `cut` below its value at c."""
        few = sum(len(points) for _, points in self.parts) < 5000
        values = []
        for j, steps in enumerate(self.exact_steps(c, h) if few else self.fast_steps(c, h)):
            s = mpc(c, h * j)
            value = mp.exp(self.gauss * s * (s + 1) / 2) * steps
            values.append((s, value))
            if abs(value / s**2) < cut * abs(values[0][1]):
                return values

    def exact_steps(self, c, h):
        states = [(count, [(mass * mp.exp(c * loss), mp.expj(h * loss)) for loss, mass in points]) for count, points in self.parts]
        while True:
            product = mpf(1)
            for count, points in states:
                product *= mp.fsum(term for term, _ in points) ** count
                points[:] = [(term * turn, turn) for term, turn in points]
            yield product

    def fast_steps(self, c, h):
        """The same for many events, in numpy's 64-bit mantissas."""
        import numpy

        wide = lambda x: numpy.longdouble(mp.nstr(x, 22))
        counts = numpy.array([count for count, _ in self.parts], dtype=numpy.longdouble)
        starts = numpy.cumsum([0] + [len(points) for _, points in self.parts[:-1]])
        losses = numpy.array([wide(loss) for _, points in self.parts for loss, _ in points])
        masses = numpy.array([wide(mass) for _, points in self.parts for _, mass in points]) * numpy.exp(wide(c) * losses)
        for j in itertools.count():
            turned = masses * numpy.exp(1j * (wide(h) * j * losses))
            product = numpy.prod(numpy.add.reduceat(turned, starts) ** counts)
            yield mpc(*(mpf(numpy.format_float_scientific(part, precision=21)) for part in (product.real, product.imag)))

    def epsilon(self, delta, shift=1):
        """The eps at which delta(eps) is `delta`."""
        delta = (mpf(delta) + mp.expm1(self.infinite)) / mp.exp(self.infinite)

        def saddle(eps):
            low, high = 1e-3, 1e3
            slope = lambda c: (self.log_m(c * 1.0001) - self.log_m(c)) / (c * 1e-4) - eps - 1 / c - 1 / (c + 1)
            for _ in range(50):
                middle = math.sqrt(low * high)
                low, high = (low, middle) if slope(middle) > 0 else (middle, high)
            return low

        # A first guess from Chernoff's bound in doubles, then a contour through the saddle point there.
        eps = min((self.log_m(c) - float(mp.log(delta))) / c for c in [0.5 * 1.2**i for i in range(40)])
        for _ in range(2):
            c = mpf(saddle(eps)) * shift
            # Aliases: e^{-2 pi c / h} below, delta(eps + 2 pi / h) e^{2 pi c / h} above; both far below delta.
            h = 2 * mp.pi / max((-mp.log(delta) + 45) / c, 150) / shift
            values = self.nodes(c, h, mpf(10) ** -24)

            def of(e):
                terms = [mp.re(value * mp.exp(-s * e) / (s * (s + 1))) for s, value in values]
                return h / mp.pi * (mp.fsum(terms) - terms[0] / 2)

            found = mp.findroot(lambda e: mp.log(of(e)) - mp.log(delta), (mpf(eps) * 0.99, mpf(eps)), tol=mpf(10) ** -40)
            eps = float(found)
        return found


def poisson(q, sigma, direction, coarse=1):
    """The losses of a sampled Gaussian, on a grid in x whose trapezoid error is below 1e-26."""
    q, sigma = mpf(q), mpf(sigma)
    step = sigma / 9 / coarse
    reach = 11 * sigma
    low, high = -reach - (0 if direction == "remove" else 1), reach + (22 if direction == "remove" else 1)
    points = []
    x = low
    while x <= high:
        zero, one = mp.npdf(x, 0, sigma), mp.npdf(x, 1, sigma)
        mixed = (1 - q) * zero + q * one
        loss = mp.log(mixed / zero)
        points.append((loss, step * mixed) if direction == "remove" else (-loss, step * zero))
        x += step
    return points


def laplace(b):
    """Two atoms and a density e^{(l-a)/2}/4 on (-a, a), a = 1/b, by Gauss-Legendre."""
    a = 1 / mpf(b)
    points = [(a, mpf(1) / 2), (-a, mp.exp(-a) / 2)]
    for node, weight in legendre(24):
        points.append((a * node, weight * a * mp.exp((a * node - a) / 2) / 4))
    return points


def approx(eps):
    eps = mpf(eps)
    return [(eps, 1 / (1 + mp.exp(-eps))), (-eps, 1 / (1 + mp.exp(eps)))]


def without_replacement(rate, sigma):
    """Losses above 0 of the pair (rate P + (1-rate) Q, Q), their mirror image below, the rest at 0."""
    rate, sigma = mpf(rate), mpf(sigma)
    points = []
    for panel in range(60):
        for node, weight in legendre(16):
            x = mpf(1) / 2 + sigma * (panel + (node + 1) / 2) / 2
            zero, one = mp.npdf(x, 0, sigma), mp.npdf(x, 1, sigma)
            mixed = (1 - rate) * zero + rate * one
            loss = mp.log(mixed / zero)
            points += [(loss, weight * sigma / 4 * mixed), (-loss, weight * sigma / 4 * zero)]
    points.append((mpf(0), 1 - mp.fsum(mass for _, mass in points)))
    return points


def legendre(n, kept={}):
    if n not in kept:
        roots = []
        for i in range(n):
            x = mp.cos(mp.pi * (i + mpf(3) / 4) / (n + mpf(1) / 2))
            for _ in range(8):
                x -= mp.legendre(n, x) * (1 - x * x) / (n * (mp.legendre(n - 1, x) - x * mp.legendre(n, x)))
            slope = n * (mp.legendre(n - 1, x) - x * mp.legendre(n, x)) / (1 - x * x)
            roots.append((x, 2 / ((1 - x * x) * slope**2)))
        kept[n] = roots
    return kept[n]


def training(q, sigma, steps, delta, direction="remove", shift=1):
    losses = Losses()
    losses.add(steps, poisson(q, sigma, direction, shift))
    return losses.epsilon(delta, shift)


def renyi(shift):
    """The best order of question a, by the conversion of [CanonneKamathSteinke2020, Prop 12]."""
    points = poisson("0.01", 1, "remove", shift)

    def epsilon(order):
        log_moment = 10000 * mp.log(mp.fsum(mass * mp.exp((order - 1) * loss) for loss, mass in points))
        return (log_moment - mp.log(mpf("1e-5"))) / (order - 1) + mp.log(1 - 1 / order) - mp.log(order) / (order - 1)

    order = mp.findroot(lambda a: mp.diff(epsilon, a), mpf(4 + 0.1 * shift))
    return epsilon(order)


def gaussians():
    mu = mp.sqrt(mp.fsum(1 / (10 + mpf(i) / 2) ** 2 for i in range(100)))
    profile = lambda e: mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu)
    return mp.findroot(lambda e: mp.log(profile(e) / mpf("1e-5")), (mpf("1.5"), mpf("1.7")))


def optimal(steps=10**6, eps0="1e-3", delta0="1e-12", delta="1e-6"):
    """[KairouzOhViswanath2015, Thm 3.3] at every real eps."""
    eps0 = mpf(eps0)
    missing = mp.expm1(steps * mp.log1p(-mpf(delta0)))  # minus the mass at infinity
    left = (mpf(delta) + missing) / (1 + missing)
    log_up, log_down = -mp.log1p(mp.exp(-eps0)), -mp.log1p(mp.exp(eps0))

    def fine(eps):
        downs = int(mp.floor((steps - eps / eps0) / 2))
        mass = mp.exp(
            mp.loggamma(steps + 1) - mp.loggamma(downs + 1) - mp.loggamma(steps - downs + 1) + (steps - downs) * log_up + downs * log_down
        )
        total, ratio, first = mpf(0), mp.exp(log_down - log_up), mass
        while downs >= 0 and mass > first * mpf(10) ** -32:
            total += mass * -mp.expm1(eps - eps0 * (steps - 2 * downs))
            mass *= downs / (mpf(steps - downs + 1) * ratio)
            downs -= 1
        return total

    low, high = mpf(1), mpf(20)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if fine(middle) < left else (middle, high)
    return high


def calibration(shift):
    return mp.findroot(
        lambda sigma: training("0.004", sigma, 15000, "1e-5", "remove", shift) - 1, (mpf("1.968"), mpf("1.969")), tol=mpf(10) ** -36
    )


def mixed(direction, shift):
    losses = Losses()
    for event in (FOLDER / "mixed_events.txt").read_text().split("+"):
        kind, *numbers = re.sub(r"[(),*]", " ", event).split()
        if kind == "gaussian":
            losses.gauss += 1 / mpf(numbers[0]) ** 2
        elif kind == "laplace":
            losses.add(1, laplace(numbers[0]))
        elif kind == "approx":
            losses.add(1, approx(numbers[0]))
            losses.infinite += mp.log1p(-mpf(numbers[1]))
        else:
            _, rate, _, sigma = numbers
            losses.add(int(kind), poisson(rate, sigma, direction, shift))
    return losses.epsilon("1e-6", shift)


def laplaces(shift):
    losses = Losses()
    losses.add(1000, laplace(10))
    return losses.epsilon("1e-5", shift)


def sampled_without_replacement(shift):
    losses = Losses()
    losses.add(1000, without_replacement("0.01", 1))
    return losses.epsilon("1e-5", shift)


def agreed(values):
    """Both values, to the digits on which they agree."""
    first, second = values
    gap = abs(first - second)
    digits = 20 if gap == 0 else max(1, int(-mp.log10(gap / abs(first))))
    return mp.nstr(first, min(digits, 20))


TASKS = {
    "a": [("1e-5", "epsilon", renyi)],
    "b": [
        (delta, "epsilon", lambda shift, delta=delta: training("0.01", 1, 10000, delta, "remove", shift))
        for delta in ("1e-5", "1e-10", "1e-15", "1e-30")
    ],
    "c": [("1e-5", "epsilon", laplaces)],
    "d": [("1e-5", "sigma", calibration)],
    "e": [("1e-5", "epsilon", lambda shift: gaussians())],
    "f": [("1e-6", "epsilon", lambda shift: optimal())],
    "g": [("1e-6", "epsilon", lambda shift: max(mixed("remove", shift), mixed("add", shift)))],
    "h": [("1e-5", "epsilon", sampled_without_replacement)],
}


def main():
    rows = []
    for question in sys.argv[1:] or TASKS:
        for delta, quantity, task in TASKS[question]:
            rows.append((question, delta, quantity, agreed([task(1), task(mpf("1.15"))])))
            print(*rows[-1], flush=True)
    if not sys.argv[1:]:
        with open(FOLDER / "truths.csv", "w", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(("question", "delta", "quantity", "value"))
            table.writerows(rows)


if __name__ == "__main__":
    main()
