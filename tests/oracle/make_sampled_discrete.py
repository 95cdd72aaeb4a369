#!/usr/bin/env python3
"""Privacy profiles of Poisson-sampled discrete Gaussian noise: make_sampled_discrete.py writes sampled_discrete.csv beside itself.

From the probability mass function p alone: removing a record is (1-q) p(x) + q p(x-d) against p(x), adding one the reverse; the larger delta is kept.
One and two steps are sums over all outcomes, max(P - e^eps Q, 0) each; more steps are the inversion integral of the moment generating function on a
vertical line (in doubles; two lines and spacings must agree). Needs Python 3.9 or later and mpmath. Columns as in profiles.csv; the
tolerance is relative. Nothing is shared with the library: no lattice, no grid, no truncation above 1e-60.
"""

import cmath
import csv
import itertools
import math
from pathlib import Path

import mpmath as mp

FOLDER = Path(__file__).parent
mp.mp.dps = 30


def outcomes(q, sigma, d):
    """[(P(x), Q(x))] for removing the record."""
    q, sigma = mp.mpf(q), mp.mpf(sigma)
    reach = int(mp.ceil(17 * sigma))
    weight = {x: mp.exp(-mp.mpf(x) ** 2 / (2 * sigma**2)) for x in range(-reach - 2 * d, reach + 2 * d + 1)}
    total = mp.fsum(weight.values())
    return [
        ((1 - q) * weight[x] / total + q * weight[x - d] / total, weight[x] / total)
        for x in range(-reach - d, reach + 2 * d + 1)
    ]


def by_sum(pairs, steps, epsilon):
    a = mp.exp(epsilon)
    total = mp.mpf(0)
    for chosen in itertools.product(pairs, repeat=steps):
        p = mp.mpf(1)
        r = mp.mpf(1)
        for one, other in chosen:
            p *= one
            r *= other
        if p > a * r:
            total += p - a * r
    return total


def by_inversion(pairs, steps, epsilon):
    """delta = 1/(2 pi i) integral of M(z)^k e^(-z eps)/(z (z+1)) dz on Re z = c > 0, M(z) = sum P e^(zL): the trapezoidal rule, in doubles."""
    atoms = [(float(p), float(mp.log(p / r))) for p, r in pairs]
    epsilon = float(epsilon)

    def exponent(z):  # log of M(z)^k e^(-z eps)
        return steps * cmath.log(sum(p * cmath.exp(z * loss) for p, loss in atoms)) - z * epsilon

    c = min((n / 4 for n in range(2, 240)), key=lambda x: exponent(x).real - math.log(x * (x + 1)))
    spread = math.sqrt(steps * sum(p * loss * loss for p, loss in atoms))
    values = []
    for line, spacing in ((c, 0.04 / spread), (1.1 * c, 0.03 / spread)):
        scale = exponent(line).real
        top = int(60 / spread / spacing)
        terms = [(cmath.exp(exponent(z) - scale) / (z * (z + 1))).real for z in (complex(line, n * spacing) for n in range(top))]
        far = max(abs(cmath.exp(exponent(complex(line, top * spacing * (1 + n / 20))) - scale)) for n in range(1000))
        assert far * line**2 * spread < 1e-10 * top * spacing, far  # what is left out, beside the whole
        values.append((math.fsum(terms) - terms[0] / 2) * spacing / math.pi * math.exp(scale))
    assert abs(values[0] / values[1] - 1) < 1e-10, values
    return mp.mpf(values[0])


def main():
    rows = []
    for steps, q, sigma, d, epsilon in [
        (1, "0.1", "2", 1, "0.05"),
        (1, "0.3", "0.7", 1, "0.4"),
        (1, "0.02", "5", 3, "0.02"),
        (2, "0.1", "2", 1, "0.08"),
        (2, "0.5", "1.3", 2, "0.9"),
        (2, "0.01", "0.8", 1, "0.03"),
        (100, "0.1", "2", 1, "2.3"),
        (200, "0.1", "2", 1, "0.5"),
        (300, "0.05", "1.5", 1, "1.5"),
        (1000, "0.02", "4", 2, "1"),
    ]:
        pairs = outcomes(q, sigma, d)
        backward = [(r, p) for p, r in pairs]
        one = by_sum if steps <= 2 else by_inversion
        delta = max(one(pairs, steps, mp.mpf(epsilon)), one(backward, steps, mp.mpf(epsilon)))
        inner = f"discrete_gaussian({sigma}, {d})" if d != 1 else f"discrete_gaussian({sigma})"
        plan = f"{steps} * poisson({q}, {inner})" if steps > 1 else f"poisson({q}, {inner})"
        rows.append(["sum" if steps <= 2 else "inversion", epsilon, mp.nstr(delta, 18), "1e-12" if steps <= 2 else "1e-9", plan])
        print(rows[-1], flush=True)
    with open(FOLDER / "sampled_discrete.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["family", "epsilon", "delta", "tolerance", "plan"], *rows])


if __name__ == "__main__":
    main()
