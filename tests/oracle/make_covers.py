#!/usr/bin/env python3
"""Writes covers.csv: the least mu with delta(eps) <= d + (1-d) delta_mu(eps) for every eps >= 0 and both directions.

Independent of the library: delta(eps) in 60 digits, by a contour integral on one line or in closed form, and the least
mu as the largest over eps of the mu that each eps asks for, by a grid and golden sections. The numbers are good to
some 1e-9 of themselves; nothing here is a proof.
"""
import csv
import pathlib

from mpmath import mp, mpf, mpc

mp.dps = 60


def normal_tail(x):
    return mp.erfc(x / mp.sqrt(2)) / 2


def gaussian_delta(eps, mu):
    return normal_tail(eps / mu - mu / 2) - mp.exp(eps) * normal_tail(eps / mu + mu / 2)


def mu_for(eps, delta):
    low, high = mpf("1e-6"), mpf(64)
    for _ in range(70):
        middle = (low + high) / 2
        if gaussian_delta(eps, middle) < delta:
            low = middle
        else:
            high = middle
    return high


def contour(transform, steps, c, step, top):
    """delta(eps) of `steps` losses with this transform, on the line Re s = c."""
    c, step = mpf(c), mpf(step)
    nodes = []
    for n in range(int(top / step) + 1):
        s = mpc(c, n * step)
        nodes.append((s, transform(s) ** steps / (s * (s + 1)) * (mpf(1) / 2 if n == 0 else 1)))
    return lambda eps: sum((value * mp.exp(-s * eps)).real for s, value in nodes) * step / mp.pi


def sampled_gaussian(q, mu, direction):
    q, mu = mpf(q), mpf(mu)
    h = mpf("0.04")
    points = []
    for n in range(-500, 700):
        x = n * h
        ratio = 1 - q + q * mp.exp(mu * x - mu * mu / 2)
        points.append((h * mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi), mp.log(ratio)))
    if direction == "remove":
        return lambda s: sum(mass * mp.exp((s + 1) * loss) for mass, loss in points)
    return lambda s: sum(mass * mp.exp(-s * loss) for mass, loss in points)


def laplace(x):
    x = mpf(x)
    return lambda s: (s + 1) / (2 * s + 1) * mp.exp(s * x) + s / (2 * s + 1) * mp.exp(-(s + 1) * x)


def laplace_delta(x):
    return lambda eps: max(mpf(0), 1 - mp.exp((eps - mpf(x)) / 2))


def response_delta(e0, k):
    e0 = mpf(e0)
    terms = [(mp.binomial(k, i), k - i, i) for i in range(k + 1)]
    return lambda eps: sum(c * max(mpf(0), mp.exp(a * e0) - mp.exp(eps + b * e0)) for c, a, b in terms) / (1 + mp.exp(e0)) ** k


def sampled_delta(q, mu):
    """One sampled step, a record removed, which is the worse direction."""
    q, mu = mpf(q), mpf(mu)
    return lambda eps: q * gaussian_delta(mp.log1p(mp.expm1(eps) / q), mu)


def least_mu(profiles, d, end):
    d = mpf(d)

    def asked(eps):
        delta = max(profile(eps) for profile in profiles)
        return mu_for(eps, (delta - d) / (1 - d)) if delta > d else mpf(0)

    grid = [mpf(end) * n / 48 for n in range(49)]
    values = [asked(eps) for eps in grid]
    best = max(range(len(grid)), key=lambda n: values[n])
    low, high = grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)]
    golden = (mp.sqrt(5) - 1) / 2
    a, b = high - golden * (high - low), low + golden * (high - low)
    at_a, at_b = asked(a), asked(b)
    for _ in range(34):
        if at_a > at_b:
            high, b, at_b = b, a, at_a
            a = high - golden * (high - low)
            at_a = asked(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + golden * (high - low)
            at_b = asked(b)
    candidates = [(values[best], grid[best]), (at_a, a), (at_b, b)]
    return max(candidates)


def rows():
    long = [contour(sampled_gaussian("0.01", 1, direction), 10000, 5, "0.1", 16) for direction in ("remove", "add")]
    for d, end in (("1e-6", 9), ("1e-7", 10), ("1e-8", 11)):
        yield "10000 * poisson(0.01, gaussian(1))", d, *least_mu(long, d, end)
    short = [contour(sampled_gaussian("0.00427", 1 / mpf("1.1"), direction), 3500, 5, "0.2", 60) for direction in ("remove", "add")]
    for d, end in (("1e-6", 2), ("1e-7", "2.2"), ("1e-8", "2.5")):
        yield "3500 * poisson(0.00427, gaussian(1.1))", d, *least_mu(short, d, end)
    many = [contour(laplace("0.1"), 1000, 1, "0.05", 9)]
    yield "1000 * laplace(10)", "1e-7", *least_mu(many, "1e-7", 30)
    yield "laplace(1)", "0", *least_mu([laplace_delta(1)], 0, 1)
    yield "laplace(1)", "1e-7", *least_mu([laplace_delta(1)], "1e-7", 1)
    yield "pure(1)", "0", *least_mu([response_delta(1, 1)], 0, 1)
    yield "20 * pure(0.3)", "1e-7", *least_mu([response_delta("0.3", 20)], "1e-7", 6)
    yield "poisson(0.01, gaussian(1))", "1e-7", *least_mu([sampled_delta("0.01", 1)], "1e-7", 2)
    yield "poisson(0.2, gaussian(2))", "1e-9", *least_mu([sampled_delta("0.2", "0.5")], "1e-9", 3)


def main():
    path = pathlib.Path(__file__).with_name("covers.csv")
    with path.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n", delimiter=";")
        writer.writerow(["plan", "slack", "mu", "touch"])
        for plan, slack, mu, touch in rows():
            writer.writerow([plan, slack, mp.nstr(mu, 14), mp.nstr(touch, 6)])
            out.flush()


if __name__ == "__main__":
    main()
