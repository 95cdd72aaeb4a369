#!/usr/bin/env python3
"""Reference values for the unit tests: make_tables.py [NAME…] writes NAME.csv beside itself (default: all).

Each formula is written as the theory states it (definitions, plain sums, numerical maxima and minima), not as the
library rearranges it, and is computed from the exact binary value of its inputs with 60 digits or more. Inputs are
printed so that they read back exactly. A result is high + low: the nearest double, and the remainder.
"""
import csv
import math
import random
import sys
from fractions import Fraction
from pathlib import Path

from mpmath import mp, mpf

FOLDER = Path(__file__).parent
INF = math.inf


def split(value):
    """The nearest double, and the rest with 30 digits."""
    if isinstance(value, Fraction):
        high = value.numerator / value.denominator
        rest = value - Fraction(high)
        with mp.workdps(40):
            return high, mp.nstr(mpf(rest.numerator) / rest.denominator, 30)
    value = mpf(value)
    if mp.isinf(value):
        return float(value), "0"
    if value != 0 and abs(value) < mpf(2) ** -1200:
        high = 0.0
    else:
        high = float(value)
        for near in (math.nextafter(high, -INF), math.nextafter(high, INF)):
            if math.isfinite(near) and abs(value - near) < abs(value - high):
                high = near
    return high, mp.nstr(value - mpf(high), 30)


def show(x):
    return repr(x) if isinstance(x, float) else str(x)


def write(name, columns, rows):
    """`rows` yields tuples: one input per column, then the result."""
    with open(FOLDER / f"{name}.csv", "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([*columns, "high", "low"])
        count = 0
        for *inputs, value in rows:
            high, low = split(value)
            table.writerow([*map(show, inputs), show(high), low])
            count += 1
    print(f"{name}: {count} rows")


def spread(rng, count, low, high):
    """Doubles from `low` to `high`, spread evenly in the logarithm."""
    return [math.exp(rng.uniform(math.log(low), math.log(high))) for _ in range(count)]


# --- arithmetic ---


def arithmetic():
    rng = random.Random(1)

    def operand(smallest, largest):
        high = math.ldexp(rng.choice((-1, 1)) * (1 + rng.random()), rng.randint(smallest, largest))
        kind = rng.random()
        if kind < 0.3:
            return high, 0.0
        if kind < 0.4:
            return float(round(high)), 0.0
        low = rng.uniform(-0.5, 0.5) * math.ulp(high) * rng.choice((1, 1, 1, 2.0 ** -rng.randint(1, 40)))
        return (high, low) if high + low == high else (high, 0.0)

    def pairs():
        for _ in range(250):
            yield operand(-40, 40), operand(-40, 40)
        for _ in range(60):  # near cancellation
            a = operand(-10, 10)
            yield a, (math.nextafter(a[0], INF), rng.uniform(-0.4, 0.4) * math.ulp(a[0]))
        for _ in range(60):  # products and quotients at the edge of the range
            yield operand(-1074, -900), operand(-60, 60)
            yield operand(-560, -500), operand(-560, -500)
        for _ in range(20):
            yield operand(-1070, -1000), operand(-1070, -1000)
            yield operand(900, 1020), operand(-100, 0)

    exact = {
        "add": lambda a, b: a + b,
        "subtract": lambda a, b: a - b,
        "multiply": lambda a, b: a * b,
        "divide": lambda a, b: a / b,
    }
    for a, b in pairs():
        for name in exact:
            if name == "divide" and b[0] == 0:
                continue
            value = exact[name](Fraction(a[0]) + Fraction(a[1]), Fraction(b[0]) + Fraction(b[1]))
            if abs(value) < Fraction(2) ** 1023:
                yield name, *a, *b, value


# --- numerics ---


def numerics():
    rng = random.Random(2)
    tiny = [5e-324, 1e-320, 1e-310, 1e-300, 1e-200, 1e-100, 1e-50, 1e-20, 1e-10]
    both = lambda xs: [*xs, *(-x for x in xs)]
    around_one = [1 + k * 2.0**-52 for k in (1, 2, 3, 1000)] + [1 - k * 2.0**-53 for k in (1, 2, 3, 1000)]

    def emit(function, digits, formula, arguments):
        for x in arguments:
            with mp.workdps(digits):
                yield function, x, 0.0, +formula(mpf(x))

    moderate = both(spread(rng, 40, 1e-8, 30.0)) + both([0.4, math.nextafter(0.4, 0), 0.125, math.nextafter(0.125, 0), 0.5, 1.0, 2.0, 20.0])
    large = both(spread(rng, 15, 30.0, 700.0))
    yield from emit("exp", 1000, mp.exp, [0.0, *both(tiny), *moderate, *large, 709.7, -700.0, -708.4, -720.5, -739.9, -740.1, -744.4, -745.5, -760.0, -5000.0])
    yield from emit("expm1", 1000, mp.expm1, [0.0, *both(tiny), *moderate, *large, 709.0, -745.0, -760.0, -2000.0])
    yield from emit("log", 80, mp.log, [*tiny, *spread(rng, 60, 1e-307, 1e307), *around_one, 1.0, 2.0, 0.5, 10.0, 1.7976931348623157e308, 2.2250738585072014e-308])
    yield from emit("log1p", 400, mp.log1p, [0.0, *both(tiny), *[m for m in moderate if m > -1], *(-1 + 2.0**-n for n in (1, 2, 5, 20, 40, 53)), *spread(rng, 20, 1.0, 1e307), *around_one])
    yield from emit("sqrt", 80, mp.sqrt, [0.0, 1.0, 2.0, 4.0, 0.25, 1e6, *tiny, *spread(rng, 60, 1e-300, 1e307), 1.7976931348623157e308, *around_one])
    yield from emit("sinh", 1000, mp.sinh, [0.0, *both(tiny), *moderate, *large, 709.0])
    yield from emit("tanh", 1000, mp.tanh, [0.0, *both(tiny), *moderate, *large, 1000.0])
    yield from emit("log1pexp", 1000, lambda x: mp.log(1 + mp.exp(x)), [0.0, *both(tiny), *moderate, *large, 1500.0, -740.0])
    near_two = [1 + 2.0**-n for n in (3, 10, 30, 50)] + [2 + 2.0**-n for n in (3, 10, 30, 50)] + [2 - 2.0**-n for n in (3, 10, 30, 50)]
    yield from emit("log_gamma", 80, mp.loggamma, [1.0, 2.0, 3.0, 4.0, 23.0, 24.0, 25.0, 100.5, *near_two, *(1 + x for x in spread(rng, 40, 1e-6, 100.0)), *spread(rng, 30, 100.0, 1e15)])
    tail = lambda x: mp.erfc(x / mp.sqrt(2)) / 2
    density = lambda x: mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)
    line = [0.0, *both([1e-300, 1e-20, 1e-8]), *both(spread(rng, 45, 1e-4, 37.0)), *both([4.9, math.nextafter(5.0, 0), 5.0, 5.1]), 11.9, 12.0, math.nextafter(12.0, 13), 12.1]
    yield from emit("mills_ratio", 80, lambda x: tail(x) / density(x), [*line, *(-x for x in spread(rng, 12, 15.0, 37.0)), *spread(rng, 20, 37.0, 1e10)])
    yield from emit("normal_tail", 1000, tail, [*line, -38.0, -39.5, 37.5, 37.7, 38.0, 38.3, 38.45, 38.6, 45.0])
    yield from emit("normal_cdf", 1000, lambda x: tail(-x), [*line[::3], -38.4])
    yield from emit("normal_density", 80, density, [*line[::2], 37.6, 38.2, 38.7])
    choose = [(n, k) for n in (2, 5, 10, 57, 200, 1000) for k in {1, 2, n // 3, n // 2, n - 1} if 0 < k < n]
    choose += [(10**5, 7), (10**5, 50000), (10**6, 1), (10**6, 268941), (10**6, 999999), (10**9, 3), (10**12, 10**6), (2**53, 1), (2**53, 2**52), (4096, 2048), (4097, 17), (8192, 4096)]
    for n, k in choose:
        with mp.workdps(80):
            exact = mp.log(math.comb(n, k)) if n <= 10**4 else mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)
            yield "log_binomial", float(n), float(k), +exact
    for x in (1.5, 0.7, 3.0, 1e-100, 1e100, math.nextafter(1.0, 2)):
        for y in (0.5, -2.25, 3.0, 1.0, 1e-10, 1.7):
            with mp.workdps(80):
                yield "pow", x, y, mp.power(mpf(x), mpf(y))


# --- mechanisms: profiles ---


def hockey_stick(pairs, epsilon):
    """δ(ε) of two laws given as a list of (P(x), Q(x))."""
    return mp.fsum(p - mp.exp(epsilon) * q for p, q in pairs if p > mp.exp(epsilon) * q)


def gaussian_delta():
    rng = random.Random(3)
    grid = [(e, m) for e in (0.0, 1e-12, 1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0) for m in (1e-4, 0.003, 0.05, 0.3, 1.0, 2.0, 4.5, 10.0, 20.0, 50.0)]
    for _ in range(250):  # δ from 1 down to 1e-280: x = ε/μ - μ/2 up to 35.6
        m = spread(rng, 1, 1e-4, 50.0)[0]
        grid.append((max(0.0, m * (rng.uniform(-3, 35.6) + m / 2)), m))
    grid += [(3.9, 0.1), (38.0, 1.0), (39.5, 1.0), (200.0, 1.0), (0.0, 200.0)]
    for e, m in grid:
        if e > 100 and e != 200.0:
            continue
        with mp.workdps(400):
            eps, mu = mpf(e), mpf(m)
            phi = lambda x: mp.erfc(-x / mp.sqrt(2)) / 2
            yield e, m, phi(mu / 2 - eps / mu) - mp.exp(eps) * phi(-mu / 2 - eps / mu)


def below(rng, top, count):
    """Values of ε from 0 to beyond `top`, some just below it."""
    return [0.0, math.nextafter(top, 0), top * (1 - 1e-10), top, top * 1.5, *(rng.uniform(0, top) for _ in range(count))]


PURE = [1e-12, 1e-6, 1e-3, 0.1, 0.5, 1.0, 3.0, 10.0, 40.0, 300.0, 690.0, 1000.0]


def laplace_delta():
    rng = random.Random(4)
    for x in PURE:
        for e in below(rng, x, 10):
            with mp.workdps(1000):
                yield e, x, mpf(0) if e >= x else 1 - mp.exp((mpf(e) - mpf(x)) / 2)


def response(p, k):
    r = (1 - p) / (k - 1)
    return [(p, r), (r, p)] + [(r, r)] * (k - 2)


def pure_delta():
    rng = random.Random(5)
    for top in PURE:
        for e in below(rng, top, 10):
            with mp.workdps(1000):
                p = mp.exp(mpf(top)) / (1 + mp.exp(mpf(top)))
                yield e, top, hockey_stick(response(p, 2), mpf(e)) if e < top else mpf(0)


RESPONSES = [(p, k) for k in (2, 3, 10) for p in (1e-6, 0.01, 0.0999, 0.25, 0.33, 0.5, 0.500001, 0.6, 0.75, 0.9, 0.999, 1 - 2.0**-30)]


def response_delta():
    rng = random.Random(6)
    for p, k in RESPONSES:
        with mp.workdps(80):
            losses = response(mpf(p), k)
            top = float(abs(mp.log(losses[0][0] / losses[0][1])))
            for e in below(rng, top, 8):
                # at the end itself the sign of what is left is a matter of the last bit
                if e != top or top == 0:
                    yield p, k, e, hockey_stick(losses, mpf(e))


def golden(f, a, b, digits=40):
    """The point of [a, b] where a unimodal f is least."""
    ratio = (mp.sqrt(5) - 1) / 2
    x1, x2 = b - ratio * (b - a), a + ratio * (b - a)
    f1, f2 = f(x1), f(x2)
    while b - a > mpf(10) ** -digits * (1 + abs(a) + abs(b)):
        if f1 < f2:
            b, x2, f2 = x2, x1, f1
            x1 = b - ratio * (b - a)
            f1 = f(x1)
        else:
            a, x1, f1 = x1, x2, f2
            x2 = a + ratio * (b - a)
            f2 = f(x2)
    return (a + b) / 2


def two_losses(t, top):
    """The pair with losses t and t - top: P's masses (a, 1 - a), and Q's sum to 1."""
    a = (mp.exp(top - t) - 1) / (mp.exp(top - t) - mp.exp(-t))
    return [(a, a * mp.exp(-t)), (1 - a, (1 - a) * mp.exp(top - t))]


def exponential_delta():
    rng = random.Random(7)
    for top in (1e-6, 1e-3, 0.1, 1.0, 3.0, 10.0, 40.0):
        for e in [0.0, top * 0.999, top, 2 * top, *(rng.uniform(0, top) for _ in range(6))]:
            with mp.workdps(90):
                if e >= top:
                    yield e, top, mpf(0)
                    continue
                value = lambda t: -(lambda pair: pair[0] - mp.exp(mpf(e)) * pair[1])(two_losses(t, mpf(top))[0])
                yield e, top, -value(golden(value, mpf(e), mpf(top)))


def discrete_laplace(b, reach):
    t = mp.exp(-1 / mpf(b))
    weight, half = (1 - t) / (1 + t), []
    for _ in range(reach + 1):
        half.append(weight)
        weight *= t
    return lambda x: half[abs(x)]


def discrete_gaussian(sigma, reach):
    half = [mp.exp(-mpf(x) ** 2 / (2 * mpf(sigma) ** 2)) for x in range(reach + 1)]
    total = 2 * mp.fsum(half) - half[0]
    half = [w / total for w in half]
    return lambda x: half[abs(x)]


def shifted(pmf, shift, reach):
    return [(pmf(x), pmf(x - shift)) for x in range(-reach + shift, reach + 1)]


def around(x):
    return [math.nextafter(x, -INF), x, math.nextafter(x, INF)]


def discrete_delta():
    # ε also where a point enters the best set, and one double to either side
    rng = random.Random(8)
    for b, shift in [(0.2, 1), (0.5, 1), (1.0, 1), (1.0, 2), (3.7, 1), (3.7, 5), (10.0, 1), (10.0, 7), (25.0, 100)]:
        with mp.workdps(60):
            reach = int(170 * b) + shift + 10
            losses = shifted(discrete_laplace(b, reach), shift, reach)
            top = shift / b
            ties = [e for n in range(1, min(shift, 12), 2) for e in around((shift - n if shift % 2 else shift - n - 1) / b)]
            for e in [0.0, top * 0.99, top * 1.01, *(rng.uniform(0, top) for _ in range(7)), *ties]:
                if e >= 0:
                    yield "laplace", b, shift, e, hockey_stick(losses, mpf(e))
    for sigma, shift in [(0.25, 1), (0.5, 1), (1.0, 1), (1.0, 3), (2.5, 1), (2.5, 4), (10.0, 1), (10.0, 25), (60.0, 1), (60.0, 40)]:
        with mp.workdps(60):
            reach = int(40 * sigma) + shift + 10
            losses = shifted(discrete_gaussian(sigma, reach), shift, reach)
            top = (shift / sigma) ** 2 / 2 + 19.3 * shift / sigma
            ties = [e for n in range(1, 5) for e in around((shift / 2 + n) * shift / sigma**2) if sigma > 0.3]
            for e in [0.0, 1e-6, 1.01, top, *(rng.uniform(0, top) for _ in range(5)), *ties]:
                if e <= top:  # within the reach of the sum
                    yield "gaussian", sigma, shift, e, hockey_stick(losses, mpf(e))
    with mp.workdps(60):  # 38 standard deviations out, where δ is subnormal
        losses = shifted(discrete_gaussian(60.0, 3000), 1, 3000)
        for e in (0.62, 0.63, 0.633, 0.6333, 0.6336, 0.634, 0.64):
            yield "far gaussian", 60.0, 1, e, hockey_stick(losses, mpf(e))


# --- mechanisms: Rényi divergences ---

ORDERS = [1.0, 1 + 2.0**-30, 1.001, 1.1, 1.5, 2.0, 2.5, 3.0, 7.3, 32.0, 256.0, 1e4, 1e6, INF]


def renyi(pairs, a):
    """D_α(P‖Q) from its definition."""
    if a == 1:
        return mp.fsum(p * mp.log(p / q) for p, q in pairs)
    if mp.isinf(a):
        return max(mp.log(p / q) for p, q in pairs)
    return mp.log(mp.fsum(p**a * q ** (1 - a) for p, q in pairs)) / (a - 1)


def laplace_renyi():
    for v in (1e-8, 1e-3, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0, 800.0):
        for order in ORDERS:
            with mp.workdps(800):
                x, a = mpf(v), mpf(order)
                if order == 1:
                    yield v, order, x + mp.exp(-x) - 1
                elif order == INF:
                    yield v, order, x
                else:
                    yield v, order, mp.log(a / (2 * a - 1) * mp.exp((a - 1) * x) + (a - 1) / (2 * a - 1) * mp.exp(-a * x)) / (a - 1)


def pure_renyi():
    for v in (1e-8, 1e-3, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0, 690.0):
        for order in ORDERS:
            with mp.workdps(800):
                e, a = mpf(v), mpf(order)
                if order == 1:
                    yield v, order, e * mp.tanh(e / 2)
                elif order == INF:
                    yield v, order, e
                else:
                    yield v, order, mp.log((mp.sinh(a * e) - mp.sinh((a - 1) * e)) / mp.sinh(e)) / (a - 1)


def response_renyi():
    for p, k in RESPONSES:
        for order in [*ORDERS, 2.0**53 + 2]:  # α - 1 is no double
            with mp.workdps(120):
                t = mpf(p)
                r = (1 - t) / (k - 1)
                if p == 0.5 and k == 2:
                    yield p, k, order, mpf(0)
                elif order in (1, INF):
                    yield p, k, order, renyi(response(t, k), mpf(order))
                else:
                    a = mpf(order)
                    yield p, k, order, mp.log(t**a * r ** (1 - a) + r**a * t ** (1 - a) + (1 - t - r)) / (a - 1)


def exponential_renyi():
    for v in (1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 10.0, 40.0):
        for order in ORDERS:
            with mp.workdps(120):
                e, a = mpf(v), mpf(order)
                if order == 1:
                    # the largest KL of the pairs with losses t and t - ε
                    loss = lambda t: -renyi(two_losses(t, e), mpf(1))
                    margin = e * mpf(10) ** -60
                    value = -loss(golden(loss, margin, e - margin))
                    x = e / (1 - mp.exp(-e))
                    assert abs(value - (x - 1 - mp.log(x))) < mpf(10) ** -45 * value
                    yield v, order, value
                elif order == INF:
                    yield v, order, e
                else:
                    any_pure = mp.log((mp.sinh(a * e) - mp.sinh((a - 1) * e)) / mp.sinh(e)) / (a - 1)
                    yield v, order, min(any_pure, a * e**2 / 8)


def discrete_laplace_renyi():
    for b, shift in [(0.2, 1), (0.5, 1), (1.0, 1), (1.0, 2), (3.7, 5), (10.0, 7), (10.0, 30)]:
        for order in (1.0, 1.001, 1.1, 1.5, 2.0, 3.0, 7.3, 32.0, 256.0, INF):
            with mp.workdps(60):
                reach = int(170 * b) + shift + 10
                if order == INF:  # the largest loss, without the rounding of two logarithms
                    yield b, shift, order, max(Fraction(abs(x - shift) - abs(x)) / Fraction(b) for x in range(-reach, reach))
                else:
                    yield b, shift, order, renyi(shifted(discrete_laplace(b, reach), shift, reach), mpf(order))


# --- conversions ---


def least(f, top=None):
    """The least value of f over orders in (1, top], by a scan in log(α - 1) and golden sections."""
    last = mp.log(mpf(top) - 1) if top else mpf(40)
    grid = [u for u in (mpf(i) / 4 for i in range(-112, 161)) if u < last] + [last]
    at = lambda u: f(1 + mp.exp(u))
    values = [at(u) for u in grid]
    best = values.index(min(values))
    point = golden(at, grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)], 32)
    return min(values[best], at(point))


def conversions():
    better_epsilon = lambda a, bar, delta: max(mpf(0), bar + mp.log((a - 1) / a) - (mp.log(delta) + mp.log(a)) / (a - 1))
    better_delta = lambda a, bar, eps: min(mpf(1), mp.exp((a - 1) * (bar - eps)) / (a - 1) * (1 - 1 / a) ** a)
    deltas = (0.5, 0.01, 1e-5, 1e-12, 1e-100, 1e-300)
    mp.dps = 80
    for order in (1.0001, 1.5, 2.0, 8.5, 64.0, 1e5):
        for bar in (0.0, 1e-6, 0.3, 5.0, 200.0):
            a, e = mpf(order), mpf(bar)
            for delta in deltas:
                yield "epsilon_from_renyi_classic", order, bar, delta, e + mp.log(1 / mpf(delta)) / (a - 1)
                yield "epsilon_from_renyi", order, bar, delta, better_epsilon(a, e, mpf(delta))
            for eps in (0.0, 0.1, 1.0, 10.0):
                if (order - 1) * (bar - eps) > -700:
                    yield "delta_from_renyi_classic", order, bar, eps, min(mpf(1), mp.exp((a - 1) * (e - mpf(eps))))
                    yield "delta_from_renyi", order, bar, eps, better_delta(a, e, mpf(eps))
    for eps in (0.01, 0.5, 1.0, 8.0):
        for delta in deltas:
            e, l = mpf(eps), mp.log(1 / mpf(delta))
            yield "target_order", eps, 0.0, delta, 2 * l / e + 1
            yield "rho_for_target_classic", eps, 0.0, delta, (mp.sqrt(e + l) - mp.sqrt(l)) ** 2
    for rho in (1e-8, 1e-4, 0.02, 0.5, 3.0, 100.0, 5000.0, 1e9):
        r = mpf(rho)
        for delta in deltas:
            d = mpf(delta)
            yield "epsilon_from_zcdp_classic", rho, 0.0, delta, r + 2 * mp.sqrt(r * mp.log(1 / d))
            yield "epsilon_from_zcdp", rho, 0.0, delta, least(lambda a: better_epsilon(a, a * r, d))
            for omega in (1.01, 2.0, 17.5, 1000.0):
                w, l = mpf(omega), mp.log(1 / d)
                classic = r + 2 * mp.sqrt(r * l) if l <= (w - 1) ** 2 * r else r * w + l / (w - 1)
                yield "epsilon_from_tcdp_classic", rho, omega, delta, classic
                yield "epsilon_from_tcdp", rho, omega, delta, least(lambda a: better_epsilon(a, a * r, d), w)
        for factor in (0.5, 1.0, 1.5, 4.0, 12.0):
            eps = rho * factor if rho > 1 else math.sqrt(rho) * factor
            e = mpf(eps)
            if eps >= rho and (eps - rho) ** 2 / (4 * rho) < 690:
                yield "delta_from_zcdp_classic", rho, 0.0, eps, mp.exp(-((e - r) ** 2) / (4 * r))
                yield "delta_from_zcdp", rho, 0.0, eps, least(lambda a: better_delta(a, a * r, e))
                for omega in (1.01, 2.0, 17.5):
                    yield "delta_from_tcdp", rho, omega, eps, least(lambda a: better_delta(a, a * r, e), mpf(omega))
    for mu in (0.01, 0.7, 3.0):
        m = mpf(mu)
        for order in (1.0, 1.5, 2.0, 30.0):
            yield "gaussian_renyi", mu, 0.0, order, mpf(order) * m**2 / 2
        yield "gaussian_rho", mu, 0.0, 0.0, m**2 / 2
        yield "gaussian_sigma_for_rho", mu, 0.0, 0.0, mp.sqrt(1 / (2 * m))
        yield "gaussian_sigma_for_renyi", mu, 0.0, 8.0, mp.sqrt(mpf(8) / (2 * m))
        yield "laplace_rho", mu, 0.0, 0.0, m + mp.exp(-m) - 1
        yield "pure_rho", mu, 0.0, 0.0, m * mp.tanh(m / 2)
        yield "pure_rho_classic", mu, 0.0, 0.0, m**2 / 2
        yield "exponential_rho", mu, 0.0, 0.0, m**2 / 8
    for eps in (0.01, 0.5, 1.0):
        for delta in deltas[1:]:
            yield "gaussian_classical_sigma", eps, 0.0, delta, mp.sqrt(2 * mp.log(mpf(1.25) / mpf(delta))) / mpf(eps)
            yield "gaussian_classical_epsilon", eps / 40, 0.0, delta, mpf(eps / 40) * mp.sqrt(2 * mp.log(mpf(1.25) / mpf(delta)))


def group():
    mp.dps = 80
    for k in (1, 2, 3, 4, 7, 16, 1000):
        for eps in (0.0, 1e-9, 0.1, 0.6):
            for delta in (0.0, 1e-300, 1e-9, 1e-5):
                e, d = mpf(eps), mpf(delta)
                yield "approximate_epsilon", k, eps, delta, k * e
                yield "approximate_delta", k, eps, delta, k * d if eps == 0 else d * (mp.exp(k * e) - 1) / (mp.exp(e) - 1)
        for rho in (1e-9, 0.3):
            yield "zcdp", k, rho, 0.0, k**2 * mpf(rho)
            yield "gdp", k, rho, 0.0, k * mpf(rho)
            for omega in (1.5, 2.25, 5000.5):
                if omega > k:
                    yield "tcdp_rho", k, rho, omega, k**2 * mpf(rho)
                    yield "tcdp_omega", k, rho, omega, mpf(omega) / k
            for order in (2.0, 4.0, 9.75, 4096.0):
                c = next(c for c in range(20) if 2**c >= k)
                if order >= 2 ** (c + 1):
                    yield "renyi_order", k, rho, order, mpf(order) / 2**c
                    yield "renyi_epsilon", k, rho, order, 3**c * mpf(rho)


# --- composition ---


def optimal(k, top, delta0, eps):
    """Kairouz, Oh and Viswanath's optimum at a real ε, by the plain binomial sum."""
    e0, e = mpf(top), mpf(eps)
    up, total, choose = mp.exp(e0), mpf(0), mpf(1)
    first, second, step = mp.exp(k * e0), mp.exp(e), mp.exp(-e0)
    for i in range(k + 1):
        if first <= second:
            break
        total += choose * (first - second)
        choose = choose * (k - i) / (i + 1)
        first *= step
        second *= up
    return 1 - (1 - mpf(delta0)) ** k * (1 - total / (1 + up) ** k)


def composition():
    rng = random.Random(9)
    for k in (1, 2, 10, 80, 500, 10**6):
        for eps in (1e-6, 0.01, 0.1, 1.0, 3.0):
            for slack in (0.1, 1e-5, 1e-30):
                with mp.workdps(80):
                    e, d = mpf(eps), mpf(slack)
                    deviation, drift = e * mp.sqrt(2 * k * mp.log(1 / d)), k * e * (mp.exp(e) - 1)
                    mean = k * e * mp.tanh(e / 2)
                    yield "basic", k, eps, slack, 0.0, k * e
                    yield "advanced", k, eps, slack, 0.0, deviation + drift
                    yield "advanced_simple_formula", k, eps, slack, 0.0, 2 * deviation
                    if drift < deviation:
                        yield "advanced_simple", k, eps, slack, 0.0, 2 * deviation
                    yield "kov", k, eps, slack, 0.0, min(k * e, mean + e * mp.sqrt(2 * k * mp.log(mp.e + e * mp.sqrt(k) / d)), mean + deviation)
                    yield "failures", k, eps, slack, 0.0, 1 - (1 - d) ** k
                    if eps < 1:
                        yield "either", k, eps, slack, 0.0, 1 - (1 - e) * (1 - d)
    for k in (1, 2, 3, 10, 57, 200):
        for top in (1e-4, 0.01, 0.1, 0.5, 1.0, 4.0):
            for delta0 in (0.0, 1e-7):
                for share in (0.0, 0.999, *(rng.random() for _ in range(4))):
                    with mp.workdps(500):
                        eps = k * top * share
                        yield "optimal", k, top, delta0, eps, optimal(k, top, delta0, eps)
    for k, top in ((9, 0.1), (10, 0.3), (57, 0.1), (200, 0.7), (201, 0.1)):  # where a term enters the sum
        for n in range(1, k // 2, max(1, k // 16)):
            for eps in around((k - 2 * n) * top):
                with mp.workdps(500):
                    yield "optimal", k, top, 0.0, eps, optimal(k, top, 0.0, eps)
    for top, eps in ((0.01, 0.0), (0.01, 1.5), (0.1, 10.0), (0.1, 25.0), (1.0, 400.0), (1.0, 600.0), (1.0, 999.0), (2.0, 1600.0)):
        with mp.workdps(1000):
            yield "optimal", 1000, top, 0.0, eps, optimal(1000, top, 0.0, eps)
            yield "optimal", 1000, top, 1e-9, eps, optimal(1000, top, 1e-9, eps)
    # a million steps: ε near the mean loss, and far above it
    with mp.workdps(60):
        for top, eps in ((0.001, 2.5), (0.01, 90.0), (1.0, 461317.0), (1.0, 462117.0), (1.0, 465000.0)):
            yield "optimal", 10**6, top, 0.0, eps, optimal(10**6, top, 0.0, eps)


# --- amplification ---


def poisson(s, a, bar, factor):
    """Zhu and Wang's line at a whole order a."""
    first = (1 - s) ** (a - 1) * (a * s - s + 1)
    second = math.comb(a, 2) * s**2 * (1 - s) ** (a - 2) * mp.exp(bar(2))
    later = mp.fsum(math.comb(a, j) * (1 - s) ** (a - j) * s**j * mp.exp((j - 1) * bar(j)) for j in range(3, a + 1))
    return mp.log(first + second + factor * later) / (a - 1)


def mixture(s, a, mu):
    """D_α((1-s)N(0,1) + sN(μ,1) ‖ N(0,1)) by quadrature."""
    density = lambda x: mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)
    moment = mp.quad(lambda x: density(x) * ((1 - s) + s * mp.exp(mu * x - mu**2 / 2)) ** a, [-40, -20, -10, -5, 0, 5, 10, 20, 30, 40])
    return mp.log(moment) / (a - 1)


def without_replacement(s, a, bar, worst, later):
    finite = mp.exp(bar(2)) * min(mpf(2), (mp.exp(worst) - 1) ** 2) if worst else 2 * mp.exp(bar(2))
    second = s**2 * math.comb(a, 2) * min(4 * (mp.exp(bar(2)) - 1), finite)
    total = 1 + second + mp.fsum(s**j * math.comb(a, j) * later(j) for j in range(3, a + 1))
    return min(mp.log(total) / (a - 1), bar(a))  # a sample never costs more than the whole


def wang9(s, a, bar, worst):
    cap = lambda j: min(mpf(2), (mp.exp(worst) - 1) ** j) if worst else mpf(2)
    return without_replacement(s, a, bar, worst, lambda j: mp.exp((j - 1) * bar(j)) * cap(j))


def wang27(s, a, bar, worst):
    moment = lambda x: mpf(1) if x < 2 else mp.exp((x - 1) * bar(x))
    difference = lambda l: abs(mp.fsum((-1) ** (l - i) * math.comb(l, i) * moment(i) for i in range(l + 1)))
    later = lambda j: min(4 * mp.sqrt(difference(2 * (j // 2)) * difference(2 * ((j + 1) // 2))), 2 * mp.exp((j - 1) * bar(j)))
    return without_replacement(s, a, bar, worst, later)


def amplification():
    def laplace_curve(x):
        return lambda a: mp.log(mpf(a) / (2 * a - 1) * mp.exp((a - 1) * x) + mpf(a - 1) / (2 * a - 1) * mp.exp(-a * x)) / (a - 1)

    def gaussian_curve(mu):
        return lambda a: a * mu**2 / 2

    mp.dps = 120
    with mp.workdps(30):
        for s, a, mu in ((0.01, 2, 1.0), (0.1, 5, 0.7), (0.3, 12, 0.5)):
            exact, line = mixture(mpf(s), a, mpf(mu)), poisson(mpf(s), a, gaussian_curve(mpf(mu)), 1)
            assert abs(exact - line) < mpf(10) ** -18 * line
    for s in (1e-5, 0.001, 0.01, 0.1, 0.5, 0.999):
        for name, scale, curve, worst in [(n, v, c(mpf(v)), w(v)) for n, c, w, vs in (("gaussian", gaussian_curve, lambda v: None, (0.1, 1.0, 3.0)), ("laplace", laplace_curve, mpf, (0.01, 0.5, 1.0, 5.0))) for v in vs]:
            for a in (2, 3, 4, 5, 17, 64, 256):
                if a > 64 and scale > 1:
                    continue
                q = mpf(s)
                yield "poisson_exact", name, scale, s, a, poisson(q, a, curve, 1)
                yield "poisson_general", name, scale, s, a, poisson(q, a, curve, 3)
                yield "wang9", name, scale, s, a, wang9(q, a, curve, worst)
                if a <= 64:
                    yield "wang27", name, scale, s, a, wang27(q, a, curve, worst)
                cheat = lambda at: mp.log(1 + mp.fsum(2 * q**j * math.comb(a, j) * mp.exp((j - 1) * at(j)) for j in range(2, a + 1))) / (a - 1)
                yield "loose", name, scale, s, a, cheat(curve)
                yield "one_order", name, scale, s, a, cheat(lambda j: curve(a))
    for s in (1e-6, 0.001, 0.01, 0.09):
        q = mpf(s)
        for rho in (1e-5, 0.001, 0.01, 0.05):
            l, r = mp.log(1 / q), mpf(rho)
            if l >= 3 * r * (2 + mp.log(1 / r) / mp.log(2)) and l / (2 * r) >= 3:
                yield "tcdp_rho", "", rho, s, 0, 13 * q**2 * r
                yield "tcdp_omega", "", rho, s, 0, l / (4 * r)
    for s in (1e-9, 0.001, 0.5, 1.0):
        for eps in (0.0, 1e-9, 0.5, 5.0, 300.0, 699.0):
            yield "approximate", "", eps, s, 0, mp.log(1 + mpf(s) * (mp.exp(mpf(eps)) - 1))


def amplified_profile():
    with mp.workdps(120):
        phi = lambda x: mp.erfc(-x / mp.sqrt(2)) / 2
        bases = {
            "gaussian": lambda e, mu: phi(mu / 2 - e / mu) - mp.exp(e) * phi(-mu / 2 - e / mu),
            "laplace": lambda e, x: 1 - mp.exp((e - x) / 2) if e < x else mpf(0),
        }
        for name, base in bases.items():
            for scale in (0.1, 1.0, 4.0):
                for s in (1e-4, 0.01, 0.3, 1.0):
                    for eps in (0.0, 1e-4, 0.01, 0.1, 0.7, 2.0):
                        a = mp.exp(mpf(eps))
                        value = mpf(s) * base(mp.log(1 + (a - 1) / mpf(s)), mpf(scale))
                        if value == 0 or value > mpf(10) ** -200:
                            yield name, scale, s, eps, value


def closed_forms():
    """Textbook closed forms where they are proved: first and second are (ρ, ω), (μ, ·) or (α, ε̄); third is δ, ε or a rate."""
    mp.dps = 80
    better_epsilon = lambda a, bar, delta: max(mpf(0), bar + mp.log((a - 1) / a) - (mp.log(delta) + mp.log(a)) / (a - 1))
    for rho in (1e-8, 1e-4, 0.02, 0.5, 3.0, 100.0):
        r = mpf(rho)
        for omega in (1.01, 2.0, 17.5, 1000.0):
            w = mpf(omega)
            for factor in (1.25, 2.0, 7.5, 40.0):
                eps = rho * factor if rho > 1 else math.sqrt(rho) * factor
                e = mpf(eps)
                if e <= r or (e - r) ** 2 / (4 * r) > 690 or (w - 1) * (w * r - e) >= 0:
                    continue
                order = min(w, (e / r + 1) / 2)  # the best of e^((α-1)(αρ-ε))
                yield "delta_from_tcdp_classic", rho, omega, eps, mp.exp((order - 1) * (order * r - e))
        for delta in (0.01, 1e-5, 1e-12, 1e-100):
            d = mpf(delta)
            simple = 2 * mp.sqrt(r * mp.log(1 / d))
            if least(lambda a: better_epsilon(a, a * r, d)) < simple * (1 - mpf(10) ** -12):
                yield "epsilon_from_zcdp_simple", rho, 0.0, delta, simple
                eps = float(simple) * (1 + 1e-9)
                yield "delta_from_zcdp_simple", rho, 0.0, eps, mp.exp(-mpf(eps) ** 2 / (4 * r))
    for mu in (1e-6, 0.025, 1.0, 10.0, 150.0):
        m = mpf(mu)
        for delta in (0.01, 1e-5, 1e-12, 1e-100):
            l, fine = mp.log(1 / mpf(delta)), mp.log(mpf(1.25) / mpf(delta))
            line = m**2 / 2 + m * mp.sqrt(2 * l)  # zCDP, ρ = μ²/2
            for name, value in (("sigma", 4 * m * mp.sqrt(l)), ("epsilon", 4 * (m * mp.sqrt(2 * fine)) * mp.sqrt(2 * l))):
                if line < value:
                    yield f"moments_{name}", mu, 0.0, delta, value
                    yield f"moments_{name}_back", mu, 0.0, float(value), mp.findroot(
                        lambda x: (4 * m * mp.sqrt(x) if name == "sigma" else 8 * m * mp.sqrt(x * (x + mp.log(mpf(1.25))))) - mpf(float(value)), l
                    )
    for order in (1.0001, 1.5, 2.0, 8.5, 64.0):
        for bar in (0.0, 1e-6, 0.3, 5.0):
            for rate in (1e-12, 0.001, 0.05, 0.5, 1.0):
                a = mpf(order)
                yield "true_positive_rate", order, bar, rate, min(mpf(1), (mp.exp(mpf(bar)) * mpf(rate)) ** ((a - 1) / a))


TABLES = {
    "arithmetic": (["operation", "a_high", "a_low", "b_high", "b_low"], arithmetic),
    "numerics": (["function", "x", "y"], numerics),
    "gaussian_delta": (["epsilon", "mu"], gaussian_delta),
    "laplace_delta": (["epsilon", "x"], laplace_delta),
    "pure_delta": (["epsilon", "epsilon0"], pure_delta),
    "response_delta": (["p", "k", "epsilon"], response_delta),
    "exponential_delta": (["epsilon", "epsilon0"], exponential_delta),
    "discrete_delta": (["noise", "scale", "sensitivity", "epsilon"], discrete_delta),
    "laplace_renyi": (["x", "order"], laplace_renyi),
    "pure_renyi": (["epsilon", "order"], pure_renyi),
    "response_renyi": (["p", "k", "order"], response_renyi),
    "exponential_renyi": (["epsilon", "order"], exponential_renyi),
    "discrete_laplace_renyi": (["b", "sensitivity", "order"], discrete_laplace_renyi),
    "conversions": (["line", "first", "second", "third"], conversions),
    "closed_forms": (["line", "first", "second", "third"], closed_forms),
    "group": (["line", "k", "first", "second"], group),
    "composition": (["line", "k", "epsilon", "delta", "at"], composition),
    "amplification": (["line", "base", "scale", "rate", "order"], amplification),
    "amplified_profile": (["base", "scale", "rate", "epsilon"], amplified_profile),
}

if __name__ == "__main__":
    for table in sys.argv[1:] or TABLES:
        mp.dps = 60
        columns, rows = TABLES[table]
        write(table, columns, rows())
