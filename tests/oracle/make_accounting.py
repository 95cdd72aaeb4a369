#!/usr/bin/env python3
"""Closed forms, conversions and compositions with many digits: make_accounting.py writes accounting.csv beside itself.

Columns: case, parameters (JSON), quantity, value, tolerance. Parameters mean the decimal that is written. `tolerance` bounds |value - truth|;
`rel:x` relative to the value; `bound` = the value is an upper bound by a theorem. `--check` computes every row and compares it with the table
instead of writing it. Needs mpmath; takes two minutes. Nothing here is shared with the library.

Each formula is as the literature states it. Compositions are contour integrals, delta(eps) = (1/2 pi i) int M(s)^T e^(-s eps) / (s (s+1)) ds on
Re s = c, M(s) = E e^(s L), by the trapezoid rule; M of sampled Gaussian noise is a trapezoid sum itself. Every contour is computed twice, with
another abscissa, step and grid; the difference must lie within the tolerance.
"""
import csv
import itertools
import json
import sys
from pathlib import Path

from mpmath import binomial, cosh, exp, findroot, inf, log, mp, mpc, mpf, ncdf, nstr, pi, sinh, sqrt

PLACE = Path(__file__).with_name("accounting.csv")
mp.dps = 50
DIGITS = 30


# --- Gaussian noise [Balle2018, Thm 8] ---

def gaussian_delta(mu, eps):
    return ncdf(mu / 2 - eps / mu) - exp(eps) * ncdf(-mu / 2 - eps / mu)


def bisected(f, low, high):
    """The zero of a falling f."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) > 0 else (low, middle)
    return (low + high) / 2


def gaussian_epsilon(mu, delta):
    return bisected(lambda x: gaussian_delta(mu, x) - delta, mpf(0), mpf(1000))


def gaussian_rows():
    for eps, sigma in [("1", "0.5"), ("4", "1"), ("0.5", "2"), ("3", "2"), ("0.5", "5"), ("2", "5"), ("0.1", "10"), ("1", "10"), ("3", "10"),
                       ("0.05", "100"), ("20", "0.3")]:
        with mp.workdps(300):
            value = gaussian_delta(1 / mpf(sigma), mpf(eps))
        yield "gaussian", {"eps": eps, "sensitivity": "1", "sigma": sigma}, "delta", value, "rel:1e-28"
    for delta in ("1e-5", "1e-10", "1e-100"):
        with mp.workdps(200):
            value = gaussian_epsilon(mpf(1), mpf(delta))
        yield "gaussian", {"delta": delta, "sensitivity": "1", "sigma": "1"}, "epsilon", value, "1e-28"
    for delta, eps in (("1e-6", "0.1"), ("1e-10", "1")):
        value = bisected(lambda s: gaussian_delta(1 / s, mpf(eps)) - mpf(delta), mpf("0.01"), mpf(1000))
        yield "gaussian_calibration", {"delta": delta, "eps": eps, "sensitivity": "1"}, "sigma", value, "rel:1e-28"
    for k, sigma, at in ((100, "10", {"eps": "1"}), (100, "10", {"delta": "1e-5"}), (1000, "10", {"eps": "5"}), (10000, "50", {"eps": "3"}),
                         (10000, "50", {"delta": "1e-5"})):
        mu = sqrt(mpf(k)) / mpf(sigma)
        if "eps" in at:
            yield "gaussian_kfold", {**at, "k": k, "sigma": sigma}, "delta", gaussian_delta(mu, mpf(at["eps"])), "rel:1e-28"
        else:
            yield "gaussian_kfold", {**at, "k": k, "sigma": sigma}, "epsilon", gaussian_epsilon(mu, mpf(at["delta"])), "1e-28"
    mu = sqrt(sum(1 / (10 + mpf(i) / 2)**2 for i in range(100)))
    sigmas = {"sigmas": "10+0.5*i, i=0..99"}
    yield "gaussian_heterogeneous", sigmas, "mu", mu, "1e-28"
    for delta in ("1e-5", "1e-10"):
        yield "gaussian_heterogeneous", {"delta": delta, **sigmas}, "epsilon", gaussian_epsilon(mu, mpf(delta)), "1e-28"
    yield "gaussian_rdp", {"alpha": "3.5", "sigma": "2"}, "rdp", mpf("3.5") / 8, "0"
    x = findroot(lambda t: ncdf(t) - mpf("0.05"), mpf("-1.6"))
    yield "gdp", {"fpr": "0.05", "mu": "1"}, "tpr", ncdf(x + 1), "1e-28"


# --- Laplace noise and randomized response [Mironov2017, Prop 5, 6; Kairouz2015; Murtagh2016] ---

def laplace_renyi(alpha, b):
    if alpha == 1:
        return 1 / b + exp(-1 / b) - 1
    weights = alpha / (2 * alpha - 1), (alpha - 1) / (2 * alpha - 1)
    return log(weights[0] * exp((alpha - 1) / b) + weights[1] * exp(-alpha / b)) / (alpha - 1)


def response_renyi(alpha, eps):
    p = exp(eps) / (1 + exp(eps))
    return log(p**alpha * (1 - p)**(1 - alpha) + (1 - p)**alpha * p**(1 - alpha)) / (alpha - 1)


def optimal_delta(k, eps0, delta0, eps):
    p = exp(eps0) / (1 + exp(eps0))
    total = sum(max(mpf(0), binomial(k, j) * (p**j * (1 - p)**(k - j) - exp(eps) * (1 - p)**j * p**(k - j))) for j in range(k + 1))
    return 1 - (1 - delta0)**k * (1 - total)


def heterogeneous_delta(epsilons, eps):
    total = mpf(0)
    for signs in itertools.product((1, -1), repeat=len(epsilons)):
        loss = sum(s * x for s, x in zip(signs, epsilons))
        mass = mpf(1)
        for s, x in zip(signs, epsilons):
            mass *= exp(x) / (1 + exp(x)) if s > 0 else 1 / (1 + exp(x))
        total += max(mpf(0), mass * (1 - exp(eps - loss)))
    return total


def pure_rows():
    for alpha, b in (("1", "1"), ("1.5", "1"), ("2", "1"), ("32", "1"), ("8", "0.5"), ("100", "10")):
        yield "laplace_rdp", {"alpha": alpha, "b": b, "sensitivity": "1"}, "rdp", laplace_renyi(mpf(alpha), mpf(b)), "rel:1e-28"
    for b, eps in (("1", "0.5"), ("10", "0.05"), ("2", "0")):
        yield "laplace_pld", {"b": b, "eps": eps, "sensitivity": "1"}, "delta", 1 - exp((mpf(eps) - 1 / mpf(b)) / 2), "rel:1e-28"
    for alpha, eps in (("2", "1"), ("1.25", "1"), ("64", "0.1"), ("5", "3")):
        yield "rr_rdp", {"alpha": alpha, "eps0": eps}, "rdp", response_renyi(mpf(alpha), mpf(eps)), "rel:1e-28"
    name = "rr_optimal_composition"
    for k, eps0, delta0, eps in ((10, "0.5", "0", "2"), (30, "0.1", "0", "1"), (100, "0.1", "0", "3"), (20, "0.2", "1e-7", "2")):
        value = optimal_delta(k, mpf(eps0), mpf(delta0), mpf(eps))
        yield name, {"delta0": delta0, "eps": eps, "eps0": eps0, "k": k}, "delta", value, "rel:1e-28"
    for k, eps0, delta in ((30, "0.1", "1e-6"), (100, "0.1", "1e-6"), (1000, "0.05", "1e-5")):
        value = bisected(lambda x: optimal_delta(k, mpf(eps0), mpf(0), x) - mpf(delta), mpf(0), k * mpf(eps0))
        yield name, {"delta": delta, "delta0": "0", "eps0": eps0, "k": k}, "epsilon", value, "1e-28"
    name = "advanced_composition"
    for k, eps0, slack in ((30, "0.1", "1e-6"), (100, "0.1", "1e-6")):  # [Dwork2010]
        x = mpf(eps0)
        value = sqrt(2 * k * log(1 / mpf(slack))) * x + k * x * (exp(x) - 1)
        yield name, {"delta0": "0", "delta_slack": slack, "eps0": eps0, "k": k}, "epsilon", value, "1e-28"
    k, x, slack = 1000, mpf("0.05"), mpf("1e-5")
    of = {"delta0": "0", "delta_slack": "1e-5", "eps0": "0.05", "k": k}
    yield name, of, "epsilon_zcdp", zcdp_epsilon(k * x**2 / 2, slack), "1e-28"
    value = k * x * (exp(x) - 1) / (exp(x) + 1) + x * sqrt(2 * k * log(1 / slack))
    yield name, of, "epsilon_kov_closed", value, "1e-28"
    epsilons = [f"{i / 10:.1f}" for i in range(1, 11)]
    value = heterogeneous_delta([mpf(x) for x in epsilons], mpf(3))
    yield "heterogeneous_optimal", {"delta": ["0"] * 10, "eps": epsilons, "eps_g": "3"}, "delta", value, "rel:1e-28"
    yield "pure_to_zcdp", {"eps0": "1"}, "rho_loose", mpf("0.5"), "0"


# --- Sampled Gaussian noise [Mironov2019] and sampling without replacement [Wang2019] ---

def ratio_grid(q, sigma, step, low, high):
    """Points of a trapezoid sum over N(0, sigma^2): weight, log of the ratio ((1-q) N(0) + q N(1)) / N(0)."""
    grid = []
    x = mpf(low)
    while x < high:
        weight = step * exp(-x**2 / (2 * sigma**2)) / (sigma * sqrt(2 * pi))
        grid.append((weight, log(1 - q + q * exp((2 * x - 1) / (2 * sigma**2)))))
        x += step
    return grid


def sampled_renyi_whole(alpha, q, sigma):
    terms = (binomial(alpha, j) * (1 - q)**(alpha - j) * q**j * exp(mpf(j * (j - 1)) / (2 * sigma**2)) for j in range(alpha + 1))
    return log(sum(terms)) / (alpha - 1)


def sampled_renyi(alpha, q, sigma, finer=1):
    step = mpf("0.06") * min(mpf(1), sigma**2) / finer  # inside the strip of analyticity, |Im x| < pi sigma^2
    grid = ratio_grid(q, sigma, step, -18 * sigma, 18 * sigma + alpha + 1)
    return log(sum(w * exp(alpha * r) for w, r in grid)) / (alpha - 1)


def without_replacement_renyi(gamma, alpha, base, worst, theorem):
    cap = lambda j: min(mpf(2), (exp(worst) - 1)**j)
    total = 1 + gamma**2 * binomial(alpha, 2) * min(4 * (exp(base(2)) - 1), exp(base(2)) * cap(2))
    moment = lambda x: mpf(1) if x < 2 else exp((x - 1) * base(x))
    difference = lambda n: abs(sum((-1)**(n - i) * binomial(n, i) * moment(i) for i in range(n + 1)))
    for j in range(3, alpha + 1):
        term = exp((j - 1) * base(j)) * cap(j)
        if theorem == 27:
            term = min(4 * sqrt(difference(2 * (j // 2)) * difference(2 * ((j + 1) // 2))), 2 * exp((j - 1) * base(j)))
        total += gamma**j * binomial(alpha, j) * term
    return log(total) / (alpha - 1)


def sampling_rows():
    for alpha, q, sigma in ((2, "0.01", "1"), (8, "0.01", "1"), (32, "0.01", "1"), (64, "0.01", "1"), (16, "0.001", "0.7"), (10, "0.1", "2"),
                            (256, "0.1", "2"), (128, "1e-5", "1")):
        of = {"alpha": alpha, "direction": "remove", "q": q, "sigma": sigma}
        yield "poisson_sgm_rdp", of, "rdp", sampled_renyi_whole(alpha, mpf(q), mpf(sigma)), "rel:1e-28"
    for alpha, q, sigma in (("1.1", "0.01", "1"), ("1.5", "0.01", "1"), ("10.9", "0.01", "1"), ("3.3", "0.1", "2")):
        value = sampled_renyi(mpf(alpha), mpf(q), mpf(sigma))
        agree(value, sampled_renyi(mpf(alpha), mpf(q), mpf(sigma), mpf(6) / 5), mpf("1e-38"))
        yield "poisson_sgm_rdp", {"alpha": alpha, "direction": "remove", "q": q, "sigma": sigma}, "rdp", value, "rel:1e-38"
    for alpha, gamma, sigma, theorem in ((2, "0.01", "1", 9), (8, "0.01", "1", 27), (32, "0.01", "2", 9), (32, "0.01", "2", 27), (10, "0.1", "5", 9)):
        value = without_replacement_renyi(mpf(gamma), alpha, lambda j: mpf(j) / (2 * mpf(sigma)**2), inf, theorem)
        of = {"alpha": alpha, "base": "gaussian", "gamma": gamma, "sigma_over_replace_sensitivity": sigma}
        yield "wor_rdp_upper", of, f"rdp_upper_thm{theorem}", value, "bound"
    value = without_replacement_renyi(mpf("0.05"), 16, lambda j: laplace_renyi(mpf(j), mpf(10)), mpf("0.1"), 9)
    yield "wor_rdp_upper", {"alpha": 16, "b_over_replace_sensitivity": "10", "base": "laplace", "gamma": "0.05"}, "rdp_upper_thm9", value, "bound"


# --- Conversions [Mironov2017, Prop 3; Canonne2020, Prop 12; Asoodeh2021; BunSteinke2016; Bun2018] ---

def zcdp_epsilon(rho, delta):
    return rho + 2 * sqrt(rho * log(1 / delta))


def renyi_epsilon(alpha, rdp, delta):
    return rdp + log(1 - 1 / alpha) + (log(1 / delta) - log(alpha)) / (alpha - 1)


def least(f, low, high):
    """The least value of a function with one minimum."""
    for _ in range(200):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if f(a) < f(b) else (a, high)
    return f((low + high) / 2)


def best_delta(alpha, rdp, eps):
    """The largest p - e^eps q over Bernoulli pairs with that Renyi divergence: with u = q/p, v = (1-q)/(1-p)."""
    def q_of(p):
        f = lambda q: p**alpha * q**(1 - alpha) + (1 - p)**alpha * (1 - q)**(1 - alpha) - exp((alpha - 1) * rdp)
        low, high = mpf(0), p
        for _ in range(220):
            middle = (low + high) / 2
            low, high = (middle, high) if f(middle) > 0 else (low, middle)
        return (low + high) / 2
    return -least(lambda t: -(exp(t) - exp(eps) * q_of(exp(t))), mpf(-60), mpf(-1) / 10**6)


def conversion_rows():
    for rho, delta in (("0.1", "1e-6"), ("0.5", "1e-5"), ("2", "1e-10"), ("0.005", "1e-6")):
        yield "zcdp_to_dp", {"delta": delta, "rho": rho}, "epsilon_classical", zcdp_epsilon(mpf(rho), mpf(delta)), "1e-28"
    for rho, delta in (("0.5", "1e-5"), ("2", "1e-10")):
        yield "zcdp_to_dp", {"delta": delta, "rho": rho}, "epsilon_exact_gaussian", gaussian_epsilon(sqrt(2 * mpf(rho)), mpf(delta)), "1e-28"
    for rho, delta in (("2", "1e-10"), ("0.005", "1e-6")):
        value = least(lambda a: renyi_epsilon(a, a * mpf(rho), mpf(delta)), mpf("1.0001"), mpf(10000))
        yield "zcdp_to_dp", {"delta": delta, "rho": rho}, "epsilon_tight_rdp", value, "1e-25"
    for alpha, eps, rdp in (("2", "2", "0.5"), ("32", "1", "0.4")):
        a, x, r = mpf(alpha), mpf(eps), mpf(rdp)
        of = {"alpha": alpha, "eps": eps, "rdp": rdp}
        yield "rdp_to_dp", of, "delta_mironov", exp((a - 1) * (r - x)), "rel:1e-28"
        yield "rdp_to_dp", of, "delta_cks", exp((a - 1) * (r - x)) / (a - 1) * (1 - 1 / a)**a, "rel:1e-28"
        yield "rdp_to_dp", of, "delta_optimal", best_delta(a, r, x), "rel:1e-20"
    a = mpf(10)
    yield "rdp_to_dp", {"alpha": "10", "eps": "2", "rdp": "1"}, "delta_cks", exp(-9) / 9 * (1 - 1 / a)**10, "rel:1e-28"
    yield "rdp_group_privacy", {"alpha": "8", "group": 2, "rdp": "0.25"}, "rdp_at_alpha_4", mpf("0.75"), "0"
    yield "rdp_group_privacy", {"alpha": "4", "group": 3, "sigma": "2"}, "rdp", mpf("4.5"), "0"
    for rho, omega, delta in (("0.1", "20", "1e-6"), ("0.01", "50", "1e-10")):  # log(1/delta) <= (omega - 1)^2 rho
        yield "tcdp_to_dp", {"delta": delta, "omega": omega, "rho": rho}, "epsilon", zcdp_epsilon(mpf(rho), mpf(delta)), "1e-28"
    for rho, omega, delta in (("0.1", "20", "1e-6"), ("0.1", "5", "1e-6"), ("0.01", "50", "1e-10")):
        value = least(lambda a: renyi_epsilon(a, a * mpf(rho), mpf(delta)), mpf("1.0001"), mpf(omega))
        yield "tcdp_to_dp", {"delta": delta, "omega": omega, "rho": rho}, "epsilon_tight_rdp", value, "1e-20"


# --- Arsinh noise: A arsinh(N(0, sigma^2) / A), shifted by 1 ---

def arsinh_renyi(alpha, width, sigma, step):
    def log_density(y):
        return log(cosh(y / width)) - (width * sinh(y / width))**2 / (2 * sigma**2)
    total, mass = mpf(0), mpf(0)
    for i in range(int(-8 * width / step), int(8 * width / step)):
        y = i * step
        mass += exp(log_density(y))
        power = alpha * log_density(y - 1) + (1 - alpha) * log_density(y)
        if power > -200:
            total += exp(power)
    return log(total / mass) / (alpha - 1)


def arsinh_rows():
    for width, alpha, sigma in (("10", "1.1", "5"), ("20", "2", "5"), ("100", "10", "10"), ("40", "15", "10")):
        of = {"A": width, "alpha": alpha, "sensitivity": "1", "sigma": sigma}
        value = arsinh_renyi(mpf(alpha), mpf(width), mpf(sigma), mpf(1) / 4)
        agree(value, arsinh_renyi(mpf(alpha), mpf(width), mpf(sigma), mpf(1) / 5), mpf("1e-30"))
        yield "arsinh_renyi_exact", of, "renyi", value, "rel:1e-30"
    for width, alpha, sigma in (("10", "1.1", "5"), ("20", "2", "5"), ("40", "4", "10"), ("100", "10", "10")):
        of = {"A": width, "alpha": alpha, "sensitivity": "1", "sigma": sigma}
        yield "arsinh_tcdp_bound", of, "16*rho*alpha", 8 * mpf(alpha) / mpf(sigma)**2, "bound"
    for width in ("8", "40"):
        yield "arsinh_omega", {"A": width, "sensitivity": "1"}, "omega_exact", 1 / (1 - exp(-2 / mpf(width))), "1e-28"


# --- Compositions by contour integrals ---

class Contour:
    """delta(eps) from M on Re s = c; `moments(c, h, n)` gives M(c + i j h) for j < n."""

    def __init__(self, moments, times, c, h, nodes):
        self.c, self.h = c, h
        self.terms = [m**times / (mpc(c, j * h) * mpc(c + 1, j * h)) for j, m in enumerate(moments(c, h, nodes))]
        last = abs(self.terms[-1]) / abs(self.terms[0])
        if last > mpf("1e-25"):
            raise ValueError(f"the contour is cut at {nstr(last, 3)} of its height")

    def delta(self, eps):
        turn, step = mpc(1), exp(mpc(0, -self.h * eps))
        total = -self.terms[0].real / 2
        for term in self.terms:
            total += (term * turn).real
            turn *= step
        return total * self.h / pi * exp(-self.c * eps)

    def epsilon(self, delta, near):
        return findroot(lambda x: log(self.delta(x)) - log(delta), (near, near * mpf("1.0001")), solver="secant", tol=mpf(10)**-60)


def abscissa(log_moment, times, delta):
    """Where (T log M(c) - log delta) / c is least: Chernoff's bound on epsilon, and its c."""
    best = min((times * log_moment(c) - log(delta)) / c for c in (mpf(k) / 4 for k in range(2, 200)))
    return best, next(c for c in (mpf(k) / 4 for k in range(2, 200)) if (times * log_moment(c) - log(delta)) / c == best)


def composed_epsilon(moments, log_moment, times, delta, digits, near):
    """By two contours with steps of their own."""
    near_chernoff, c = abscissa(log_moment, times, delta)
    values = []
    for shift, finer in ((mpf(1), 1), (mpf("0.93"), mpf("1.1"))):
        at = c * shift
        needed = digits * log(mpf(10)) - log(delta)
        below = needed / at  # the period 2 pi / h that makes the aliases at lower losses small
        above = min((times * (log_moment(a) - log_moment(at)) + needed) / (a - at) for a in (at * (1 + mpf(k) / 8) for k in range(1, 40)))
        h = 2 * pi / max(below, above) / finer
        nodes = 40
        while True:
            try:
                contour = Contour(lambda *a: moments(*a, finer), times, at, h, nodes)
                break
            except ValueError:
                nodes *= 2
                if nodes > 6000:
                    raise
        values.append(contour.epsilon(delta, near or near_chernoff * mpf("0.97")))
    agree(values[0], values[1], mpf(10)**-(digits - 6))
    return values[0]


def rotating(grid, weight):
    """M on a contour from a grid (w, r): sum of weight(w, r, c) e^(i t sign r), turned from node to node."""
    def moments(c, h, nodes, finer=1):
        points = [(mpc(w), exp(mpc(0, h * r))) for w, r in weight(grid(finer, c), c)]
        for _ in range(nodes):
            yield sum((w for w, _ in points), mpc(0))
            points = [(w * turn, turn) for w, turn in points]
    return moments


def sampled_composition(q, sigma, direction, times, delta, digits, near):
    sign = 1 if direction == "remove" else -1

    def grid(finer, c):
        step = mpf("0.08") * min(mpf(1), sigma**2) / finer
        return ratio_grid(q, sigma, step, -16 * sigma, 16 * sigma + (c + 2 if sign > 0 else 0))

    def weight(points, c):
        power = c + 1 if sign > 0 else -c
        return [(w * exp(power * r), sign * r) for w, r in points]
    moments = rotating(grid, weight)
    with mp.workdps(18):
        rough = ratio_grid(q, sigma, mpf("0.2") * min(mpf(1), sigma**2), -10 * sigma, 12 * sigma + 40)
    log_moment = lambda c: log(sum(w * exp((c + 1 if sign > 0 else -c) * r) for w, r in rough))
    return composed_epsilon(moments, log_moment, times, delta, digits, near)


def without_replacement_composition(gamma, mu, times, delta, near):
    """The pair of the profile of sampling without replacement: docs/theory/accounting.md."""
    def grid(finer, c):
        points = []
        step = mpf(1) / (80 * finer)
        for i in range(int(-5 / step), int(5 / step)):
            u = i * step
            x = exp(u - exp(-u))  # doubly exponential on the half line
            at = mu / 2 + x
            w = step * x * (1 + exp(-u)) * exp(-at**2 / 2) / sqrt(2 * pi)
            if w > mpf("1e-70"):
                points.append((w, log(1 - gamma + gamma * exp(mu * at - mu**2 / 2))))
        return points
    atom = (1 - gamma) * (ncdf(mu / 2) - ncdf(-mu / 2))

    def weight(points, c):
        return ([(w * exp((c + 1) * r), r) for w, r in points] + [(w * exp(-c * r), -r) for w, r in points] + [(atom, mpf(0))])
    rough = grid(1, mpf(1))
    log_moment = lambda c: log(sum(w for w, _ in weight(rough, c)))
    return composed_epsilon(rotating(grid, weight), log_moment, times, delta, 26, near)


def laplace_moment(s, b):
    x = 1 / b
    return exp(s * x) / 2 + exp(-(s + 1) * x) / 2 + exp(-x / 2) * (exp((s + mpf(1) / 2) * x) - exp(-(s + mpf(1) / 2) * x)) / (4 * (s + mpf(1) / 2))


def laplace_contour(k, b, c, h, nodes):
    return Contour(lambda c, h, n: (laplace_moment(mpc(c, j * h), b) for j in range(n)), k, c, h, nodes)


def composition_rows():
    mp.dps = 42
    k, b = 1000, mpf(10)
    for at, c in (({"eps": "10"}, mpf("0.75")), ({"delta": "1e-5"}, mpf(1)), ({"delta": "1e-6"}, mpf("1.1")), ({"delta": "1e-10"}, mpf("1.5"))):
        values = []
        for shift in (1, mpf("0.95")):
            contour = laplace_contour(k, b, c * shift, c * shift / 20, 170)  # the atoms' recurrences begin at t = 10 pi
            values.append(contour.delta(mpf(10)) if "eps" in at else contour.epsilon(mpf(at["delta"]), mpf(20)))
        agree(values[0], values[1], mpf("1e-17"))
        yield "laplace_kfold", {"b": "10", **at, "k": k}, "delta" if "eps" in at else "epsilon", values[0], "rel:1e-17" if "eps" in at else "1e-17"
    for T, delta, direction, q, sigma in ((10000, "1e-5", "remove", "0.01", "1"), (15000, "1e-5", "add", "0.004", "2"),
                                          (50000, "1e-6", "remove", "0.001", "0.8"), (50000, "1e-6", "add", "0.001", "0.8")):
        value = sampled_composition(mpf(q), mpf(sigma), direction, T, mpf(delta), 30, None)
        yield "dpsgd_pld", {"T": T, "delta": delta, "direction": direction, "q": q, "sigma": sigma}, "epsilon", value, "1e-22"
    for delta in ("1e-8", "1e-10", "1e-12", "1e-14", "1e-18", "1e-30"):
        value = sampled_composition(mpf("0.01"), mpf(1), "remove", 10000, mpf(delta), 30, None)
        of = {"T": 10000, "delta": delta, "direction": "remove", "q": "0.01", "sigma": "1"}
        yield "dpsgd_pld_small_delta", of, "epsilon", value, "1e-22"
    with mp.workdps(30):
        line = lambda a: renyi_epsilon(a, 10000 * sampled_renyi(a, mpf("0.01"), mpf(1)), mpf("1e-5"))
        low, high = mpf(4), mpf("4.3")
        for _ in range(28):
            a, b = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, b) if line(a) < line(b) else (a, high)
        best = line((low + high) / 2)
    yield "dpsgd_rdp", {"T": 10000, "delta": "1e-5", "q": "0.01", "sigma": "1"}, "epsilon_best_real_order", best, "1e-12"
    for T, delta, gamma, sigma in ((1000, "1e-5", "0.01", "1"), (1000, "1e-5", "0.01", "2"), (100, "1e-7", "0.02", "0.8")):
        value = without_replacement_composition(mpf(gamma), 1 / mpf(sigma), T, mpf(delta), None)
        of = {"T": T, "delta": delta, "gamma": gamma, "sigma_over_replace_sensitivity": sigma}
        yield "wor_profile_pld", of, "epsilon_upper", +value, "bound"


def agree(a, b, tolerance):
    if abs(a - b) > tolerance * abs(a):
        raise ValueError(f"two ways differ: {nstr(a, 30)} and {nstr(b, 30)}")


def rows():
    for part in (gaussian_rows, pure_rows, sampling_rows, conversion_rows, arsinh_rows, composition_rows):
        for case, parameters, quantity, value, tolerance in part():
            digits = 16 if tolerance in ("1e-12",) else 17 if case == "wor_profile_pld" else 20 if tolerance.endswith("1e-17") else 25 if tolerance in ("1e-22",) else DIGITS
            yield case, json.dumps(parameters, sort_keys=True), quantity, nstr(value, digits, min_fixed=-8), tolerance


def check():
    with open(PLACE, newline="") as file:
        kept = {tuple(row[:3]): row[3:] for row in list(csv.reader(file))[1:]}
    for *key, value, tolerance in rows():
        known = kept.pop(tuple(key))
        allowed = mpf("1e-15") if tolerance == "bound" else mpf(tolerance.removeprefix("rel:")) * 10 + mpf("1e-29")
        if abs(mpf(value) - mpf(known[0])) > allowed * max(1, abs(mpf(value))) or known[1] != tolerance:
            sys.exit(f"{key}: {value}, the table has {known}")
    if kept:
        sys.exit(f"not computed: {list(kept)}")
    print("every row is as in the table")


def main():
    if sys.argv[1:] == ["--check"]:
        return check()
    with open(PLACE, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["case", "parameters", "quantity", "value", "tolerance"])
        count = 0
        for row in rows():
            table.writerow(row)
            count += 1
    print(f"accounting: {count} rows")


if __name__ == "__main__":
    main()
