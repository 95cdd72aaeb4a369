#!/usr/bin/env python3
"""Privacy profiles of plans whose pair has several stages, with many digits: writes joint.csv beside itself.

Columns as in profiles.csv. Needs mpmath. Nothing here is shared with the library: the privacy loss of one sample is
integrated as it is defined, over the noise and the outcomes of all mechanisms together. One step, and one step beside a
Gaussian, come from the law of the loss; many steps from delta = (1/2 pi i) int M(s)^k e^(-s eps) / (s (s+1)) ds by the
trapezoidal rule, whose aliases are far below the tolerance.
"""

import csv
from itertools import product
from pathlib import Path

from mpmath import cos, erfc, exp, log, mp, mpc, mpf, pi, quad, sqrt

mp.dps = 30


def cdf(x):
    return erfc(-x / sqrt(mpf(2))) / 2


def gaussian_profile(mu, eps):
    return cdf(mu / 2 - eps / mu) - exp(eps) * cdf(-mu / 2 - eps / mu)


def outcomes(pures):
    """All sums of losses of randomized responses, with their masses under Q."""
    for signs in product((1, -1), repeat=len(pures)):
        loss, mass = mpf(0), mpf(1)
        for sign, eps in zip(signs, pures):
            loss += sign * eps
            mass *= 1 / (1 + exp(sign * eps))
        yield loss, mass


def over_gaussian(mu):
    """The mean of a function of a Gaussian's loss under Q, with kinks at the cuts."""
    return lambda f, cuts: quad(
        lambda z: exp(-z * z / 2) / sqrt(2 * pi) * f(mu * z - mu * mu / 2),
        sorted({mpf(-16), mpf(-8), mpf(-4), mpf(0), mpf(4), mpf(8), mpf(16)} | {(c + mu * mu / 2) / mu for c in cuts if abs(c) < 15 * mu}),
    )


def over_laplace(x):
    def mean(f, cuts):
        points = sorted({-x, mpf(0), x} | {c for c in cuts if -x < c < x})
        return f(-x) / 2 + exp(-x) * f(x) / 2 + quad(lambda l: exp(-(l + x) / 2) / 4 * f(l), points)

    return mean


def one_step(q, pures, mean, value, kink):
    """The mean under Q of value(log r), with a kink where r is kink."""
    total = mpf(0)
    for loss, mass in outcomes(pures):
        level = (kink - (1 - q)) / q
        cuts = [log(level) - loss] if level > 0 else []
        total += mass * mean(lambda l: value(1 - q + q * exp(l + loss)), cuts)
    return total


def single(q, pures, mean, eps):
    a = exp(eps)
    removed = one_step(q, pures, mean, lambda r: max(r - a, mpf(0)), a)
    added = one_step(q, pures, mean, lambda r: max(1 - a * r, mpf(0)), 1 / a)
    return max(removed, added)


def beside_gaussian(q, pures, mean, mu, eps):
    removed = one_step(q, pures, mean, lambda r: r * gaussian_profile(mu, eps - log(r)), mpf(-1))
    added = one_step(q, pures, mean, lambda r: gaussian_profile(mu, eps + log(r)), mpf(-1))
    return max(removed, added)


def many(q, pures, mu, k, eps):
    """Sampled Gaussian beside pures, k times."""
    points = []
    h = mpf(1) / 8
    for loss, mass in outcomes(pures):
        for j in range(-110, 161):
            z = h * j
            points.append((mass * h * exp(-z * z / 2) / sqrt(2 * pi), log(1 - q + q * exp(loss + mu * z - mu * mu / 2))))

    def delta(sign, c, step):
        def transform(s):
            beta = s + 1 if sign > 0 else -s
            return sum(m * exp(beta * u) for m, u in points)

        total = mpf(0)
        n = 0
        while True:
            s = mpc(c, n * step)
            term = k * log(transform(s)) - s * eps
            value = exp(term) / (s * (s + 1))
            total += value.real if n else value.real / 2
            if n > 3 and abs(value) < mpf(10) ** -25 * abs(total):
                return total * step / pi
            n += 1

    worst = mpf(0)
    for sign in (1, -1):
        c = min((k * log(sum(m * exp((c + 1 if sign > 0 else -c) * u) for m, u in points)) - c * eps, c) for c in range(2, 60, 3))[1]
        first = delta(sign, mpf(c), mpf(c) / 16)
        assert abs(first - delta(sign, mpf(c) + 1, mpf(c) / 17)) < mpf(10) ** -18 * first
        worst = max(worst, first)
    return worst


def legendre(n):
    """Nodes and weights of the Gauss rule on (-1, 1), by Newton's method."""
    rule = []
    for i in range(n):
        x = cos(pi * (i + mpf(3) / 4) / (n + mpf(1) / 2))
        for _ in range(12):
            before, here = mpf(1), x
            for k in range(2, n + 1):
                before, here = here, ((2 * k - 1) * x * here - (k - 1) * before) / k
            slope = n * (x * here - before) / (x * x - 1)
            x -= here / slope
        rule.append((x, 2 / ((1 - x * x) * slope * slope)))
    return rule


def laplace_law(x, rule):
    """A Laplace loss under Q as points with masses: exact to all digits for the mean of a smooth function."""
    inside = [(x * t, x * w * exp(-(x * t + x) / 2) / 4) for t, w in rule]
    return [(-x, mpf(1) / 2), (x, exp(-x) / 2)] + inside


def gaussian_law(mu):
    h = min(mpf(1) / 3, 1 / (9 * mu))
    return [(mu * h * j - mu * mu / 2, h * exp(-((h * j) ** 2) / 2) / sqrt(2 * pi)) for j in range(-int(11 / h), int((11 + 11 * mu) / h))]


def response_law(eps):
    return [(eps, 1 / (1 + exp(eps))), (-eps, 1 / (1 + exp(-eps)))]


def contour(points, signs, k, mu, eps):
    """k times the loss u with masses under Q, and a Gaussian of mu beside: the worse direction of those named."""
    worst = mpf(0)
    for sign in signs:

        def term(s):
            beta = s + 1 if sign > 0 else -s
            return k * log(sum(m * exp(beta * u) for m, u in points)) + s * (s + 1) * mu * mu / 2 - s * eps

        c = min((term(mpf(c)).real, c) for c in (2, 4, 8, 12, 18, 26, 38, 54))[1]
        values = []
        for line, step in ((mpf(c), mpf(c) / 14), (mpf(c) + 1, mpf(c) / 15)):
            total = mpf(0)
            n = 0
            faint = 0  # how many values in a row are: the transform may have zeros
            terms = [mpc(m * exp((line + 1 if sign > 0 else -line) * u)) for m, u in points]
            turns = [exp(mpc(0, sign * step * u)) for _, u in points]  # from one node to the next
            while faint < 8:
                s = mpc(line, n * step)
                value = exp(k * log(sum(terms)) + s * (s + 1) * mu * mu / 2 - s * eps) / (s * (s + 1))
                total += value.real if n else value.real / 2
                faint = faint + 1 if abs(value) < mpf(10) ** -22 * abs(total) else 0
                terms = [a * b for a, b in zip(terms, turns)]
                n += 1
            values.append(total * step / pi)
        assert max(values) < worst / 2 or abs(values[0] - values[1]) < mpf(10) ** -16 * values[0], (k, eps, values, c)
        worst = max(worst, values[0])
    return worst


def sums_of(laws):
    sums = [(mpf(0), mpf(1))]
    for law in laws:
        sums = [(a + b, m * n) for a, m in sums for b, n in law if m * n > mpf(10) ** -32]
    return sums


def joint(q, laws, k, mu, eps):
    """All laws on one Poisson sample, k times, and a Gaussian of mu beside."""
    return contour([(m, log(1 - q + q * exp(l))) for l, m in sums_of(laws)], (1, -1), k, mu, eps)


def joint_without_replacement(s, sigma, laws, rule, k, mu, eps):
    """The same without replacement, with a Gaussian among them whose density makes that of all: losses above 0, mirrored, the rest at 0."""
    nu = 1 / sigma
    shifts = sums_of(laws)
    points = []
    rest = mpf(1)
    for p in range(int(14 * nu + 4) * 2):
        for t, w in rule:
            l = (p + (1 + t) / 2) / 2
            density = sum(m * exp(-((l - a + nu * nu / 2) ** 2) / (2 * nu * nu)) for a, m in shifts) / (nu * sqrt(2 * pi))
            u = log(1 - s + s * exp(l))
            points += [(density * w / 4, u), (density * w / 4 * exp(u), -u)]
            rest -= density * w / 4 * (1 + exp(u))
    return contour(points + [(rest, mpf(0))], (1,), k, mu, eps)


def without_replacement_laplace(s, x, eps, mu):
    """Laplace noise under replace-one, and a Gaussian of mu beside it: losses above 0 of ((1-s)Q + sP, Q), mirrored, the rest at 0."""
    above = mpf(0)
    rest = mpf(1)

    def pair(l, mass):
        r = 1 - s + s * exp(l)
        u = log(r)
        return mass * (r * gaussian_profile(mu, eps - u) + gaussian_profile(mu, eps + u)), mass * (r + 1)

    for value in (0, 1):
        part = pair(x, exp(-x) / 2)[value] + quad(lambda l: pair(l, exp(-(l + x) / 2) / 4)[value], [0, x / 2, x])
        if value == 0:
            above = part
        else:
            rest -= part
    return above + rest * gaussian_profile(mu, eps)


def main():
    rows = []

    def row(family, plan, eps, delta):
        rows.append([family, eps, mp.nstr(delta, 18), "1e-16", plan])

    m = mpf
    for q, pures, sigma, eps in (("0.1", ["0.5"], "2", "0.2"), ("0.3", ["1", "0.4"], "1", "1.5"), ("0.02", ["2"], "0.7", "0.5")):
        inside = " + ".join(f"pure({p})" for p in pures) + f" + gaussian({sigma})"
        mean = over_gaussian(1 / m(sigma))
        row("joint gaussian", f"poisson({q}, {inside})", eps, single(m(q), [m(p) for p in pures], mean, m(eps)))
        row("joint gaussian", f"poisson({q}, {inside}) + gaussian(2)", eps, beside_gaussian(m(q), [m(p) for p in pures], mean, m("0.5"), m(eps)))
    for q, pures, b, eps in (("0.1", ["0.5"], "4", "0.05"), ("0.4", ["1", "0.4"], "2", "1"), ("0.02", ["2"], "0.7", "0.1")):
        inside = " + ".join(f"pure({p})" for p in pures) + f" + laplace({b})"
        mean = over_laplace(1 / m(b))
        row("joint laplace", f"poisson({q}, {inside})", eps, single(m(q), [m(p) for p in pures], mean, m(eps)))
        row("joint laplace", f"poisson({q}, {inside}) + gaussian(2)", eps, beside_gaussian(m(q), [m(p) for p in pures], mean, m("0.5"), m(eps)))
    for q, pures, sigma, k, eps in (("0.1", ["0.5"], "2", 100, "4"), ("0.01", ["1", "0.4"], "1", 2000, "3")):
        inside = " + ".join(f"pure({p})" for p in pures) + f" + gaussian({sigma})"
        row("joint gaussian", f"{k} * poisson({q}, {inside})", eps, many(m(q), [m(p) for p in pures], 1 / m(sigma), k, m(eps)))
    for s, n, b, eps in ((100, 1000, "2", "0.4"), (300, 1000, "0.5", "1")):
        row("replaced laplace", f"without_replacement({s}, {n}, laplace({b})) + gaussian(2)", eps,
            without_replacement_laplace(m(s) / n, 1 / m(b), m(eps), m("0.5")))
    rule = legendre(24)
    small_rule = legendre(12)
    for q, kinds, k, beside, eps in (
        ("0.1", [("gaussian", "1"), ("laplace", "2")], 1, "2", "1"),
        ("0.01", [("gaussian", "2"), ("laplace", "5")], 1000, "", "0.6"),
        ("0.01", [("gaussian", "2"), ("laplace", "5")], 1000, "", "1.1"),
        ("0.3", [("gaussian", "3"), ("laplace", "1")], 20, "", "4"),
        ("0.05", [("gaussian", "1"), ("laplace", "3"), ("pure", "0.5")], 100, "3", "3"),
        ("0.02", [("gaussian", "2"), ("laplace", "3"), ("laplace", "6")], 300, "", "0.5"),
        ("0.1", [("laplace", "2"), ("laplace", "4")], 10, "2", "1.5"),
        ("0.5", [("laplace", "1"), ("laplace", "1"), ("pure", "0.25")], 3, "1", "3"),
    ):
        laws = {"gaussian": lambda v: gaussian_law(1 / m(v)), "laplace": lambda v: laplace_law(1 / m(v), rule if m(v) < 3 else small_rule), "pure": lambda v: response_law(m(v))}
        inside = " + ".join(f"{kind}({value})" for kind, value in kinds)
        plan = (f"{k} * " if k > 1 else "") + f"poisson({q}, {inside})" + (f" + gaussian({beside})" if beside else "")
        mu = 1 / m(beside) if beside else mpf(0)
        row("mixed", plan, eps, joint(m(q), [laws[kind](value) for kind, value in kinds], k, mu, m(eps)))
    for b, n, sigma, kinds, k, beside, eps in (
        (10, 1000, "2", [("laplace", "5")], 1000, "", "0.7"),
        (200, 1000, "1", [("laplace", "2"), ("pure", "0.5")], 1, "2", "1"),
        (100, 1000, "1", [("pure", "0.25")], 20, "3", "2"),
    ):
        inside = f"gaussian({sigma}) + " + " + ".join(f"{kind}({value})" for kind, value in kinds)
        plan = (f"{k} * " if k > 1 else "") + f"without_replacement({b}, {n}, {inside})" + (f" + gaussian({beside})" if beside else "")
        mu = 1 / m(beside) if beside else mpf(0)
        rest = [laws[kind](value) for kind, value in kinds]
        row("mixed replaced", plan, eps, joint_without_replacement(m(b) / n, m(sigma), rest, rule, k, mu, m(eps)))
    with open(Path(__file__).parent / "joint.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["family", "epsilon", "delta", "tolerance", "plan"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
