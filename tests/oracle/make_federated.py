#!/usr/bin/env python3
"""Profiles of shuffled reports and of tokens that walk, and theta of GOPA's complete graph: make_federated.py writes federated.csv beside itself.

Needs mpmath. Nothing is shared with the library: every law is enumerated from its definition. Columns: kind, a, b, c, count, epsilon, value.
  shuffle: a the local epsilon, b the reports, c 2022 or 2021 (which clone probability); value is delta(epsilon), over all (C, A) one by one
  gap:     a the mu of one step, b users, c colluders, count contributions (1 or 2); delta(epsilon) over all gaps
  cycle:   the same of one visit of a sum, over all (m, j)
  group-cycle: as cycle, of a group of `count` users; here over J geometric, and M negative binomial given J
  group-gap:   as gap, one contribution of each of a group of `count` users (2 of them)
  gopa:    a own noise, b masks' noise, c honest users; theta by inverting the covariance
"""

import csv
import math
from pathlib import Path

import mpmath as mp

mp.mp.dps = 20


def gaussian(eps, squared):
    if squared == 0:
        return mp.mpf(0)
    mu = mp.sqrt(squared)
    return mp.ncdf(mu / 2 - eps / mu) - mp.exp(eps) * mp.ncdf(-mu / 2 - eps / mu)


def shuffle(local, n, year, eps):
    """The counts of the two reports, over C ~ Bin(n-1, p), A ~ Bin(C, 1/2) and the report itself, as they are defined."""
    p = 2 / (math.exp(local) + 1) if year == 2022 else math.exp(-local)
    q = math.exp(local) / (1 + math.exp(local))
    log_fact = [math.lgamma(i + 1) for i in range(n + 2)]
    total = []
    for c in range(n):
        log_c = log_fact[n - 1] - log_fact[c] - log_fact[n - 1 - c] + c * math.log(p) + (n - 1 - c) * math.log1p(-p)
        if log_c < -90:
            continue
        here = []
        for a in range(c + 2):  # the first count, of c + 1
            if abs(a - (c + 1) / 2) > 8 * math.sqrt(c + 2):
                continue
            one = math.exp(log_fact[c] - log_fact[a] - log_fact[c - a] - c * math.log(2)) if a <= c else 0.0  # A = a, B = 0
            other = math.exp(log_fact[c] - log_fact[a - 1] - log_fact[c - a + 1] - c * math.log(2)) if a >= 1 else 0.0  # A = a - 1, B = 1
            here.append(max(0.0, (q * other + (1 - q) * one) - math.exp(eps) * ((1 - q) * other + q * one)))
        total.append(math.exp(log_c) * math.fsum(here))
    return math.fsum(total)


def strong_shuffle(local, n, eps):
    """The same as `shuffle` where e^local leaves the digits of a double."""
    with mp.workdps(700):
        p, q = 2 / (mp.exp(local) + 1), 1 / (1 + mp.exp(-mp.mpf(local)))
        total = mp.mpf(0)
        for c in range(n):
            of_c = mp.binomial(n - 1, c) * p**c * (1 - p) ** (n - 1 - c)
            if of_c < mp.mpf(10) ** -40:
                break
            for a in range(c + 2):
                one = mp.binomial(c, a) / mp.mpf(2) ** c
                other = mp.binomial(c, a - 1) / mp.mpf(2) ** c if a >= 1 else 0
                total += of_c * max(0, q * other + (1 - q) * one - mp.exp(eps) * ((1 - q) * other + q * one))
        return total


def gaps(n, c):
    q = mp.mpf(c + 1) / n
    law, g, left = [], 1, mp.mpf(1)
    while left > mp.mpf(10) ** -18:
        law.append((mp.mpf(1) / g, left * q))
        left *= 1 - q
        g += 1
    return law


def gap(mu, n, c, count, eps):
    law = gaps(n, c)
    square = mp.mpf(mu) ** 2
    if count == 1:
        return mp.fsum(p * gaussian(eps, square * w) for w, p in law)
    law = [(w, p) for w, p in law if p > mp.mpf(10) ** -16]
    return mp.fsum((1 if i == j else 2) * law[i][1] * law[j][1] * gaussian(eps, square * (law[i][0] + law[j][0])) for i in range(len(law)) for j in range(i + 1))


def cycle(mu, n, c, eps):
    visit, own = mp.mpf(c) / n, mp.mpf(1) / (n - c)
    square = mp.mpf(mu) ** 2
    total, m, left = mp.mpf(0), 0, mp.mpf(1)
    while left > mp.mpf(10) ** -15:
        for j in range(1, m + 1):
            p = left * visit * mp.binomial(m, j) * own**j * (1 - own) ** (m - j)
            if p > mp.mpf(10) ** -20:
                total += p * gaussian(eps, square * j * j / m)
        left *= 1 - visit
        m += 1
    return total


def group_cycle(mu, n, c, g, eps):
    """J meetings of the group come before the coalition is met; the (J+1)st meeting of either ends the cycle, after M hops."""
    square = mp.mpf(mu) ** 2
    q = mp.mpf(g + c) / n
    total, j, prior = mp.mpf(0), 1, mp.mpf(c) / (g + c)
    while prior > mp.mpf(10) ** -17:
        prior *= mp.mpf(g) / (g + c)
        m, at, seen = j, prior * q ** (j + 1), mp.mpf(0)  # P(J = j, M = j)
        while q < 1 and seen < prior * (1 - mp.mpf(10) ** -14) or m == j:
            total += at * gaussian(eps, square * j * j / m)
            seen += at
            m += 1
            at *= mp.mpf(m) / (m - j) * (1 - q)
        j += 1
    return total


def group_gap(mu, n, c, eps):
    """Two contributions, one of each of two users, whom the same hops meet."""
    law = [(w, p) for w, p in gaps(n, c + 1) if p > mp.mpf(10) ** -16]
    square = mp.mpf(mu) ** 2
    return mp.fsum(p * r * gaussian(eps, square * (w + v)) for w, p in law for v, r in law)


def gopa(own, mask, m):
    sigma = mp.matrix(m, m)
    for i in range(m):
        for j in range(m):
            sigma[i, j] = own**2 + (m - 1) * mask**2 if i == j else -(mask**2)
    return (sigma**-1)[0, 0]


def rows():
    for local, n, year, eps in [(1, 1, 2022, 0.5), (1, 2, 2022, 0.3), (2, 10, 2022, 0.5), (0.5, 100, 2022, 0.1), (4, 300, 2022, 1.0), (1, 1000, 2022, 0.1),
                                (1, 1000, 2021, 0.1), (3, 2000, 2022, 0.3), (1, 10000, 2022, 0.0432), (1, 10000, 2021, 0.0531)]:
        yield "shuffle", local, n, year, 1, eps, shuffle(local, n, year, eps)
    for local in [20, 33, 34.5, 35.4, 37, 41, 60, 300, 599]:
        for n in [2, 1000]:
            for eps in [1, local - 0.5]:
                yield "shuffle", local, n, 2022, 1, eps, strong_shuffle(local, n, eps)
    for mu, n, c, count, eps in [(1, 10, 1, 1, 0.5), (0.2, 100, 1, 1, 0.05), (0.5, 50, 5, 1, 0.3), (1, 20, 18, 1, 1), (0.3, 10, 1, 2, 0.2)]:
        yield "gap", mu, n, c, count, eps, gap(mu, n, c, count, eps)
    for mu, n, c, eps in [(1, 10, 1, 0.5), (0.3, 20, 2, 0.1), (0.5, 4, 2, 0.3)]:
        yield "cycle", mu, n, c, 1, eps, cycle(mu, n, c, eps)
    for mu, n, c, g, eps in [(1, 20, 1, 5, 0), (1, 20, 1, 5, 0.5), (10, 1000, 100, 5, 3.5), (0.3, 30, 4, 3, 0.1), (2, 8, 3, 5, 1), (0.7, 12, 1, 10, 0.2)]:
        yield "group-cycle", mu, n, c, g, eps, group_cycle(mu, n, c, g, eps)
    for mu, n, c, eps in [(1, 10, 1, 0.5), (0.3, 20, 4, 0.1)]:
        yield "group-gap", mu, n, c, 2, eps, group_gap(mu, n, c, eps)
    for own, mask, m in [(1, 1, 2), (1.676, 3.78, 30), (0.5, 2, 7), (2, 0.25, 12)]:
        yield "gopa", own, mask, m, 1, 0, gopa(mp.mpf(own), mp.mpf(mask), m)


if __name__ == "__main__":
    with open(Path(__file__).with_name("federated.csv"), "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["kind", "a", "b", "c", "count", "epsilon", "value"])
        for row in rows():
            writer.writerow([*row[:6], mp.nstr(mp.mpf(row[6]), 17)])
            print(*row[:6], mp.nstr(mp.mpf(row[6]), 8), flush=True)
