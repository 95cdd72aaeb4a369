#!/usr/bin/env python3
"""What noise on several coordinates costs: make_vectors.py writes vectors.csv beside itself.

Each coordinate has noise of its own, and two neighbours differ by the vector `shift`. delta(epsilon) is summed, or integrated, over all
outcomes: for noise on the integers over the whole numbers that the loss depends on, convolved coordinate by coordinate; for Laplace and arsinh noise as the
mean, over the first coordinate, of the rest's profile in closed form (mpmath, 40 digits). Nothing is shared with the library, and nothing is
assumed about which shift is the worst. Needs Python 3.9 or later and mpmath. Columns: leaf (with sensitivity 1), shift, epsilon, delta.
"""

import csv
from pathlib import Path

import mpmath as mp

FOLDER = Path(__file__).parent
mp.mp.dps = 40


def convolved(laws):
    total = {0: mp.mpf(1)}
    for law in laws:
        after = {}
        for a, p in total.items():
            for b, q in law.items():
                after[a + b] = after.get(a + b, 0) + p * q
        total = after
    return total


def discrete_gaussian(sigma, shift, epsilon):
    """The loss at x is (|v|^2 - 2 v.x)/(2 sigma^2): it depends on v.x alone."""
    reach = int(16 * sigma) + 2
    weights = {x: mp.exp(-mp.mpf(x) ** 2 / (2 * sigma**2)) for x in range(-reach, reach + 1)}
    total = mp.fsum(weights.values())
    law = convolved([{v * x: w / total for x, w in weights.items()} for v in shift])
    square = sum(v * v for v in shift)
    losses = [((square - 2 * key) / (2 * sigma**2), p) for key, p in law.items()]
    return mp.fsum(p * -mp.expm1(epsilon - loss) for loss, p in losses if loss > epsilon)


def discrete_laplace(b, shift, epsilon):
    """A coordinate's loss is (|x - v| - |x|)/b: a whole number from -v to v, over b."""
    t = mp.exp(-1 / b)
    laws = []
    for v in shift:
        law = {v: 1 / (1 + t), -v: t**v / (1 + t)}  # x <= 0, and x >= v
        for x in range(1, v):
            law[v - 2 * x] = (1 - t) / (1 + t) * t**x
        laws.append(law)
    return mp.fsum(p * -mp.expm1(epsilon - key / b) for key, p in convolved(laws).items() if key / b > epsilon)


def laplace_one(x, epsilon):
    """delta(epsilon) of one coordinate moved by x scales, at every epsilon, below 0 too."""
    if epsilon >= x:
        return mp.mpf(0)
    return -mp.expm1((epsilon - x) / 2) if epsilon >= -x else -mp.expm1(epsilon)


def laplace(b, shift, epsilon):
    x, rest = mp.mpf(shift[0]) / b, shift[1:]
    if not rest:
        return laplace_one(x, epsilon)
    # the first coordinate: x <= 0, x >= shift, and between
    ends = laplace(b, rest, epsilon - x) / 2 + mp.exp(-x) * laplace(b, rest, epsilon + x) / 2
    # kinks: where epsilon - loss is plus or minus the sum of the others, or a difference of two of them
    sums = {0}
    for r in rest:
        sums = {s + sign * mp.mpf(r) / b for s in sums for sign in (-1, 1)}
    kinks = sorted({0, x, *((x - epsilon + s) / 2 for s in sums if 0 < (x - epsilon + s) / 2 < x)})
    return ends + mp.quad(lambda z: mp.exp(-z) / 2 * laplace(b, rest, epsilon - (x - 2 * z)), kinks)


class Arsinh:
    """Density cosh u exp(-kappa sinh^2 u), u = y/A; the loss falls in u."""

    def __init__(self, rho, a):
        self.a = mp.mpf(a)
        self.kappa = mp.mpf(rho) * self.a**2
        self.root = mp.sqrt(2 * self.kappa)  # sqrt(2 kappa) sinh u is standard normal

    def loss(self, u, d):
        return mp.log(mp.cosh(u)) - mp.log(mp.cosh(u - d)) - self.kappa * mp.sinh(d) * mp.sinh(2 * u - d)

    def one(self, move, epsilon):
        d = move / self.a
        low, high = mp.mpf(-6), mp.mpf(6)
        if self.loss(low, d) < epsilon or self.loss(high, d) > epsilon:
            raise ValueError("the loss is out of reach")
        for _ in range(150):
            middle = (low + high) / 2
            low, high = (middle, high) if self.loss(middle, d) > epsilon else (low, middle)
        return mp.ncdf(self.root * mp.sinh(low)) - mp.exp(epsilon) * mp.ncdf(self.root * mp.sinh(low - d))

    def delta(self, shift, epsilon):
        move, rest = mp.mpf(shift[0]), shift[1:]
        if not rest:
            return self.one(move, epsilon)
        d = move / self.a

        def inner(z):
            return mp.npdf(z) * self.delta(rest, epsilon - self.loss(mp.asinh(z / self.root), d))

        with mp.workdps(20):
            return mp.quad(inner, [-9, -6, -3, 0, 3, 6, 9])


def number(text):
    return mp.mpf(text)


def rows():
    for sigma in ("0.5", "1", "2.5"):
        for shift in ([2], [1, 1], [1, 1, 1, 1], [2, 2, 1], [3], [1] * 9, [2, 1, 1]):
            scale = sum(v * v for v in shift) / number(sigma) ** 2
            for epsilon in (scale / 4, scale / 2, 2 * scale + 1, mp.mpf(8)):
                epsilon = number(mp.nstr(epsilon, 6))
                yield f"discrete_gaussian({sigma})", shift, epsilon, discrete_gaussian(number(sigma), shift, epsilon)
    for b in ("0.5", "1", "3"):
        for shift in ([4], [2, 2], [3, 1], [1, 1, 1, 1], [2, 1, 1], [2], [1, 1]):
            whole = sum(shift) / number(b)
            for part in ("0", "0.1", "0.37", "0.5", "0.8", "0.99"):
                epsilon = number(mp.nstr(whole * number(part), 6))
                yield f"discrete_laplace({b})", shift, epsilon, discrete_laplace(number(b), shift, epsilon)
    for b in ("0.5", "2"):
        for shift in ([2], [1, 1], ["0.3", "1.7"], ["0.5", "0.5", 1], ["0.2", "0.2", "1.6"]):
            moves = [number(v) for v in shift]
            for part in ("0", "0.25", "0.6", "0.95"):
                epsilon = number(mp.nstr(mp.fsum(moves) / number(b) * number(part), 6))
                yield f"laplace({b})", shift, epsilon, laplace(number(b), moves, epsilon)
    for rho, a in (("0.1", "5"), ("0.02", "40")):
        for shift in ([1], [1, 1], ["0.70710678118654752"] * 2):
            for epsilon in ("0.234744", "1"):
                noise = Arsinh(number(rho), number(a))
                yield f"arsinh({rho}; {a})", shift, number(epsilon), noise.delta([number(v) for v in shift], number(epsilon))


def main():
    with open(FOLDER / "vectors.csv", "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["leaf", "shift", "epsilon", "delta"])
        for leaf, shift, epsilon, delta in rows():
            out.writerow([leaf, " ".join(str(v) for v in shift), mp.nstr(epsilon, 6), mp.nstr(delta, 18)])


if __name__ == "__main__":
    main()
