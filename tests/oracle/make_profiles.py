#!/usr/bin/env python3
"""Privacy profiles of random plans with many digits: make_profiles.py [ROWS [NAME]] writes NAME.csv beside itself.

Without arguments it writes profiles.csv (300 rows) and profiles_slow.csv (10000 rows); `--check` only compares the
methods with known values and with each other. Needs Python 3.9 or later and python-flint (Arb), 0.6 or later. The
seed is fixed, so that the same version of python-flint writes the same bytes.

Columns: family, epsilon, delta, tolerance, plan. delta is the hockey-stick divergence of the composed plan at epsilon,
the worse of the two directions where the plan samples. Every number of a plan, and epsilon, means the *decimal* that
is written (0.1 is one tenth, not the double next to it). |delta - truth| <= tolerance * truth.

Nothing here is shared with the library. One method per shape of plan:
  closed     Gaussians merged into one; one sampled step from the profile of its base; one step of arsinh noise.
  atoms      losses with finitely many values: all sums, by two halves and suffix sums.
  mixed      atoms plus Gaussians: the sum over the atoms of the Gaussian profile at epsilon - atom.
  residues   Laplace, exponential and atoms: M(s) = sum of terms w e^(s tau) (s+1)^a s^b / (s+1/2)^n, inverted exactly.
  lattice    many steps of one kind on a lattice: the discrete contour sum over one period.
  contour    delta = (1/2 pi i) int M(s) e^(-s eps) / (s (s+1)) ds by the trapezoid rule.
All arithmetic is in balls, and what balls do not see is bounded: the aliases of the trapezoid rule by 1 below and by
Chernoff above, the quadrature that gives M in its strip of analyticity, the cut of the contour by a bound on |M|. Only
for sampled Gaussians and arsinh noise, where no other part gives a bound, is the cut judged by the values of |M| at and
beyond it, and for arsinh noise the quadrature by a second grid; such rows are computed twice, on another contour with
another step, one time in seven (in a table of at most 1000 rows always), and must agree.

What a leaf means: `pure` and `approx` are the pair of randomized response with an atom at infinity, `arsinh` is the
noise at 0 against the noise at 1, `discrete_…` that at 0 against that at the whole sensitivity. Those rows are
attained by a mechanism that the plan names or allows, so they lie in every correct bracket. `exponential` is the pair
whose profile is the largest over its threshold, composed as a pair: from two steps on nothing need attain it, and a
theorem on exponential mechanisms may prove less than such a row says, though not the accountant of that pair. These
rows have a family whose name begins with "exponential".
"""

import bisect
import cmath
import csv
import math
import random
import sys
import time
from decimal import Decimal
from pathlib import Path

from flint import acb, acb_mat, arb, arb_poly, ctx, fmpq, fmpq_poly, fmpz

FOLDER = Path(__file__).parent
LOG10 = math.log(10)
DIGITS = 26  # printed
WANTED = 28  # digits that the bounds aim at
BITS = 224
MOST_NODES = 4000
MOST_WORK = 3_000_000
ctx.prec = BITS


class Infeasible(Exception):
    pass


def exact(text):
    d = Decimal(text)
    sign, digits, exponent = d.as_tuple()
    n = int("".join(map(str, digits))) * (-1 if sign else 1)
    return fmpq(n * 10 ** max(exponent, 0), 10 ** max(-exponent, 0))


def A(x):
    return arb(x)


def up(x):
    """An upper bound of the logarithm of a ball's magnitude, as a float."""
    x = abs(x).upper() if isinstance(x, acb) else abs(x)
    x = x.upper()
    if not x > 0:
        return -math.inf
    return float(x.log().upper())


def log_float(x):
    """The logarithm of a positive ball, roughly, as a float."""
    return float(x.mid().log().mid())


def log_sum(values):
    top = max(values)
    return top + math.log(math.fsum(math.exp(v - top) for v in values))


def phi(x):
    """The normal distribution function."""
    return (-x / arb(2).sqrt()).erfc() / 2


def gaussian_profile(mu2, eps):
    """delta(eps) of Gaussian noise, mu^2 and eps balls (eps of either sign)."""
    mu = mu2.sqrt()
    return phi(mu / 2 - eps / mu) - eps.exp() * phi(-mu / 2 - eps / mu)


def refine(f, start=BITS, digits=WANTED):
    """f() with as much precision as its cancellation needs."""
    bits = start
    while True:
        ctx.prec = bits
        try:
            x = f()
            if x > 0 and x.rel_accuracy_bits() > digits * 3.33 + 4:
                return x
        finally:
            ctx.prec = BITS
        bits *= 2
        if bits > 4000:
            raise Infeasible("cancellation")


# --- parts of a plan: k independent steps of one pair ---


class Part:
    """One kind of step. `direction` is +1 for remove, -1 for add; only sampled parts know a difference."""

    sampled = False
    atomic = False
    rational = False
    relation = None
    limit = math.inf  # M(s) is finite for Re s < limit

    def __init__(self, k, text):
        self.k, self.text = k, text

    def top(self, direction):
        """The largest loss of one step, as a float."""
        return math.inf

    def tail(self, c, t, direction):
        """log of a bound on |M(c + iu)| for all u >= t, of one step; None where nothing better than M(c) is known."""
        return None


class Gauss(Part):
    def __init__(self, k, sigma, sens="1"):
        super().__init__(k, f"gaussian({sigma})" if sens == "1" else f"gaussian({sigma}, {sens})")
        self.mu2 = (exact(sens) / exact(sigma)) ** 2
        self.mu2f = float(A(self.mu2))

    def log_m(self, c, direction):
        return self.mu2f * c * (c + 1) / 2

    def values(self, c, h, j0, n, direction, digits):
        mu2 = A(self.mu2) * self.k / 2
        out = []
        for j in range(j0, j0 + n):
            s = acb(c, h * j)
            out.append((mu2 * s * (s + 1)).exp())
        return out

    def tail(self, c, t, direction):
        return self.mu2f * (c * (c + 1) - t * t) / 2


def powers(z, n):
    """1, z, … z^(n-1), none by a long chain of products (each widens a turned ball)."""
    out = [acb(1), z]
    for i in range(2, n):
        out.append(out[i // 2] * out[i - i // 2])
    return out[:n]


class NodePart(Part):
    """M(s) = sum of w e^(s L) over nodes, exactly or by quadrature."""

    def values(self, c, h, j0, n, direction, digits):
        nodes = self.nodes(c, float(h) * (j0 + n), direction, digits)
        if len(nodes) * n > MOST_WORK:
            raise Infeasible("nodes")
        rows = max(1, math.isqrt(n))
        columns = (n + rows - 1) // rows
        size = len(nodes)
        left, right = [None] * (rows * size), [None] * (columns * size)
        for x, (w, loss) in enumerate(nodes):
            z = acb(0, h * loss).exp()
            for r, p in enumerate(powers(z, rows)):
                left[r * size + x] = p
            first = acb(0, h * loss * j0).exp() * (w * (loss * c).exp())
            z = acb(0, h * loss * rows).exp()
            for g, p in enumerate(powers(z, columns)):
                right[x * columns + g] = first * p
        product = acb_mat(rows, size, left) * acb_mat(size, columns, right)
        return [product[j % rows, j // rows] ** self.k for j in range(n)]


class Atomic(NodePart):
    """Finitely many losses. `fail` is the atom at +infinity."""

    atomic = True

    def __init__(self, k, text, fail=fmpq(0)):
        super().__init__(k, text)
        self.fail = fail

    def atoms(self, direction):
        """(mass under P, loss), as balls at the current precision; masses sum to one (failure apart)."""
        raise NotImplementedError

    def nodes(self, c, t, direction, digits):
        return self.atoms(direction)

    def floats(self, direction):
        if not hasattr(self, "_floats"):
            self._floats = {}
        if direction not in self._floats:
            self._floats[direction] = [(log_float(w), float(x.mid())) for w, x in self.atoms(direction) if w > 0]
        return self._floats[direction]

    def log_m(self, c, direction):
        return log_sum([w + c * x for w, x in self.floats(direction)])

    def tail(self, c, t, direction):
        return self.log_m(c, direction)

    def top(self, direction):
        return max(x for _, x in self.floats(direction))

    def modulus(self, c, angle):
        """|M(c + it)| of one step as a float logarithm, angle = step * t."""
        atoms = self.floats(1) if not self.sampled else self.floats(self.way)
        first, step = min(x for _, x in atoms), float(self.step(1).mid())
        top = max(w + c * x for w, x in atoms)
        z = sum(cmath.rect(math.exp(w + c * x - top), angle * round((x - first) / step)) for w, x in atoms)
        return top + math.log(max(abs(z), 1e-300))

    def ranges(self, c, direction, count, threshold):
        """Which nodes j = 0 … count/2, at the angles 2 pi j/count, are needed: at all others log |M| < threshold."""
        self.way = direction
        last = count // 2
        # for two points, three in a row, and discrete Gaussians |M|^2 is a convex function of the cosine, or rises with
        # it: beyond an angle it is at most the larger of its values there and at pi
        if self.modulus(c, math.pi) >= threshold:
            return [(0, last + 1)]
        low, high = 0.0, math.pi
        while high - low > 1e-4 * high:
            middle = (low + high) / 2
            if self.modulus(c, middle) < threshold:
                high = middle
            else:
                low = middle
        return [(0, min(last, math.ceil(high / (2 * math.pi) * count)) + 1)]

    def lattice(self, direction):
        """(first, step): the losses are first + j step, j = 0, 1, …"""
        losses = [x for _, x in self.atoms(direction)]
        return min(losses, key=lambda x: float(x.mid())), self.step(direction)

    def power(self, direction):
        """The atoms of k steps, in the order of their losses."""
        atoms = sorted(self.atoms(direction), key=lambda wx: float(wx[1].mid()))
        if self.k == 1:
            return atoms
        step = self.step(direction)
        first = atoms[0][1]
        top = round(float(((atoms[-1][1] - first) / step).mid()))
        if top * self.k > 6000:
            raise Infeasible("atoms")
        if len(atoms) == 2:
            (r, low), (p, high) = atoms
            out, w = [], r**self.k
            ratio = p / r
            for i in range(self.k + 1):
                out.append((w, low * (self.k - i) + high * i))
                w = w * ratio * (self.k - i) / (i + 1)
            return out
        coefficients = [arb(0)] * (top + 1)
        for w, x in atoms:
            coefficients[round(float(((x - first) / step).mid()))] += w
        power = arb_poly(coefficients) ** self.k
        return [(power[i], first * self.k + step * i) for i in range(top * self.k + 1)]


class Pure(Atomic):
    rational = True

    def __init__(self, k, eps, delta=None):
        super().__init__(k, f"pure({eps})" if delta is None else f"approx({eps}, {delta})", exact(delta or "0"))
        self.eps = exact(eps)

    def atoms(self, direction):
        e = A(self.eps)
        return [(1 / (1 + (-e).exp()), e), (1 / (1 + e.exp()), -e)]

    def step(self, direction):
        return 2 * A(self.eps)


class Response(Atomic):
    relation = "replace"

    def __init__(self, k, p, values=2):
        super().__init__(k, f"randomized_response({p})" if values == 2 else f"randomized_response({p}, {values})")
        self.p, self.values_ = exact(p), values
        self.r = (1 - self.p) / (values - 1)

    def atoms(self, direction):
        loss = A(self.p / self.r).log()
        out = [(A(self.p), loss), (A(self.r), -loss)]
        if self.values_ > 2:
            out.append((A(1 - self.p - self.r), arb(0)))
        return out

    def step(self, direction):
        return abs(A(self.p / self.r).log()) * (2 if self.values_ == 2 else 1)


class DiscreteLaplace(Atomic):
    def __init__(self, k, b, d):
        super().__init__(k, f"discrete_laplace({b}, {d})" if d != 1 else f"discrete_laplace({b})")
        self.b, self.d = exact(b), d

    def atoms(self, direction):
        # mass (1-r)/(1+r) r^|n|, loss (|n-d| - |n|)/b: the noise at 0 against the noise at d
        r = A(-1 / self.b).exp()
        one = (1 - r) / (1 + r)
        out = [(1 / (1 + r), A(self.d / self.b))]  # n <= 0
        out += [(one * r**n, A(fmpq(self.d - 2 * n) / self.b)) for n in range(1, self.d)]
        out.append((r**self.d / (1 + r), A(-self.d / self.b)))  # n >= d
        return out

    def step(self, direction):
        return A(2 / self.b)

    def ranges(self, c, direction, count, threshold):
        # |M| <= |top + bottom e^(i d angle)| + the rest: large near the multiples of 2 pi/d only
        atoms = [math.exp(w + c * (x - self.d / float(A(self.b)))) for w, x in self.floats(1)]
        a, b, rest = atoms[0], atoms[-1], math.fsum(atoms[1:-1])
        base = c * self.d / float(A(self.b))
        bound = lambda turn: base + math.log(
            math.sqrt(max(0.0, (a - b) ** 2 + 2 * a * b * (1 + math.cos(turn)))) + rest
        )
        last = count // 2
        if bound(math.pi) >= threshold:
            return [(0, last + 1)]
        low, high = 0.0, math.pi
        while high - low > 1e-4 * high:
            middle = (low + high) / 2
            if bound(middle) < threshold:
                high = middle
            else:
                low = middle
        width = high / (2 * math.pi * self.d) * count + 1
        out = []
        for r in range(self.d // 2 + 1):
            begin, end = (
                max(0, math.floor(r * count / self.d - width)),
                min(last, math.ceil(r * count / self.d + width)) + 1,
            )
            if out and begin <= out[-1][1]:
                out[-1] = (out[-1][0], max(end, out[-1][1]))
            elif begin <= last:
                out.append((begin, end))
        return out


class DiscreteGauss(Atomic):
    def top(self, direction):
        return math.inf

    def __init__(self, k, sigma, d):
        super().__init__(k, f"discrete_gaussian({sigma}, {d})" if d != 1 else f"discrete_gaussian({sigma})")
        self.sigma, self.d = exact(sigma), d
        self.s2 = self.sigma**2
        self.sf = float(A(self.sigma))

    def window(self, c):
        # e^(cL) with L = (d^2 - 2nd)/(2 sigma^2) moves the centre of n to -cd
        reach = math.sqrt(2 * 105) * self.sf + 3
        return math.floor(-c * self.d - reach), math.ceil(reach)

    def atoms(self, direction, c=None):
        # without a tilt: all masses above e^-420, enough for every delta of the tables
        low, high = self.window(15 * self.sf / self.d if c is None else c)
        if c is None and self.sf > 60:
            raise Infeasible("atoms")
        if high - low > 40000:
            raise Infeasible("atoms")
        # outward from 0 by ratios: e^(-n^2/2s^2)
        q = A(fmpq(-1, 2) / self.s2).exp()
        q2 = q * q
        total, reach = arb(1), math.ceil(math.sqrt(2 * 0.7 * ctx.prec) * self.sf) + 3
        w, ratio, right = arb(1), q, [arb(1)]
        for n in range(1, max(reach, -low, high) + 1):
            w = w * ratio
            ratio = ratio * q2
            right.append(w)
            if n <= reach:
                total += 2 * w
        # both tails together: a geometric series of ratio below q^(2n)
        total += arb(0, (2 * right[reach] / (1 - q2**reach)).upper())
        return [
            (right[abs(n)] / total, A(fmpq(self.d * self.d - 2 * n * self.d) / (2 * self.s2)))
            for n in range(low, high + 1)
        ]

    def nodes(self, c, t, direction, digits):
        return self.atoms(direction, float(c))

    def values(self, c, h, j0, n, direction, digits):
        # within half a period (d t <= pi sigma^2) the terms from m = 7 on are below the weight of m = 6
        if self.sf < 1.5 or self.d * float(h) * (j0 + n) > 3.15 * self.sf**2 + 1:
            return super().values(c, h, j0, n, direction, digits)
        # Poisson summation: M(s) = e^(d^2 s(s+1)/2 sigma^2) times the sum over m of e^(-2 pi^2 sigma^2 m^2 + 2 pi i m s d),
        # over that sum at s = 0
        pi, s2 = arb.pi(), A(self.s2)
        weights = [(-2 * pi * pi * s2 * m * m).exp() for m in range(7)]
        rest = arb(0, weights[6])
        zero = 1 + 2 * sum(weights[1:], arb(0)) + rest
        out = []
        for j in range(j0, j0 + n):
            s = acb(c, h * j)
            turn = 2 * pi * self.d * s
            sum_ = 1 + 2 * sum((w * (turn * m).cos() for m, w in enumerate(weights) if m), acb(0)) + acb(rest, rest)
            out.append(((s * (s + 1) * A(self.d**2) / (2 * s2)).exp() * sum_ / zero) ** self.k)
        return out

    def log_m(self, c, direction):
        d, s2 = self.d, self.sf**2
        if self.sf > 1.5:
            return c * (c + 1) * d * d / (2 * s2) + 2 * math.exp(-2 * math.pi**2 * s2) * (
                math.cos(2 * math.pi * c * d) - 1
            )

        def theta(shift):
            centre = round(shift)
            reach = math.ceil(9 * self.sf) + 3
            return log_sum([-((n - shift) ** 2) / (2 * s2) for n in range(centre - reach, centre + reach + 1)])

        return c * (c + 1) * d * d / (2 * s2) + theta(-c * d) - theta(0.0)

    def step(self, direction):
        return A(self.d / self.s2)

    def modulus(self, c, angle):
        # the triple product: each factor falls as the angle grows to pi
        q = math.exp(-1 / (2 * self.sf**2))
        d, s2 = self.d, self.sf**2
        if self.sf > 1.5:  # the dual sum's main terms, e^(-angle^2 sigma^2/2) and its neighbour at 2 pi - angle
            return (
                self.log_m(c, 1)
                + math.log(
                    math.exp(-(angle**2) * s2 / 2) + 1.1 * math.exp(-((2 * math.pi - angle) ** 2) * s2 / 2) + 1e-300
                )
                + 1e-9
            )
        centre = -c * d
        terms = [(math.exp(-((n - centre) ** 2) / (2 * s2)), n) for n in range(round(centre) - 16, round(centre) + 17)]
        z = sum(cmath.rect(w, angle * n) for w, n in terms)
        return self.log_m(c, 1) + math.log(max(abs(z), 1e-300) / math.fsum(w for w, _ in terms))

    def lattice(self, direction):
        return A(fmpq(self.d * self.d) / (2 * self.s2)), self.step(direction)

    def power(self, direction):
        if self.k > 1:
            raise Infeasible("atoms")
        return super().power(direction)


class SampledPure(Atomic):
    """poisson(q, pure(eps)): the pair of randomized response, sampled."""

    sampled = True

    def __init__(self, k, q, eps):
        super().__init__(k, f"poisson({q}, pure({eps}))")
        self.q, self.eps = exact(q), exact(eps)

    def atoms(self, direction):
        q, e = A(self.q), A(self.eps)
        r, p = 1 / (1 + e.exp()), 1 / (1 + (-e).exp())
        high, low = 1 + q * e.expm1(), 1 + q * (-e).expm1()
        if direction > 0:  # under (1-q)Q + qP
            return [(r * high, high.log()), (p * low, low.log())]
        return [(p, -low.log()), (r, -high.log())]  # under P: the likelier outcome has Q/P = e^-eps

    def step(self, direction):
        q, e = A(self.q), A(self.eps)
        return ((1 + q * e.expm1()) / (1 + q * (-e).expm1())).log()


class Laplace(Part):
    rational = True

    def __init__(self, k, b, sens="1"):
        super().__init__(k, f"laplace({b})" if sens == "1" else f"laplace({b}, {sens})")
        self.x = exact(sens) / exact(b)
        self.xf = float(A(self.x))

    def top(self, direction):
        return self.xf

    def log_m(self, c, direction):
        x = self.xf
        return c * x + math.log(((c + 1) + c * math.exp(-(2 * c + 1) * x)) / (2 * c + 1))

    def values(self, c, h, j0, n, direction, digits):
        x = A(self.x)
        out = []
        for j in range(j0, j0 + n):
            s = acb(c, h * j)
            e = (s * x).exp()
            out.append((((s + 1) * e + s * (-x).exp() / e) / (2 * s + 1)) ** self.k)
        return out

    def tail(self, c, t, direction):
        # |s+1|/|2s+1| falls to 1/2, |s|/|2s+1| rises to 1/2
        x = self.xf
        return c * x + math.log(math.hypot(c + 1, t) / math.hypot(2 * c + 1, 2 * t) + 0.5 * math.exp(-(2 * c + 1) * x))


class Exponential(Part):
    """Density e^(l/2)/(4 sinh(eps/2)) on [-eps, eps]: its profile is (e^(eps/2) - e^(l/2))^2/(e^eps - 1)."""

    rational = True

    def __init__(self, k, eps):
        super().__init__(k, f"exponential({eps})")
        self.eps = exact(eps)
        self.ef = float(A(self.eps))

    def top(self, direction):
        return self.ef

    def log_m(self, c, direction):
        e, v = self.ef, c + 0.5
        return e * c + math.log(-math.expm1(-2 * e * v) / (-2 * math.expm1(-e) * v))

    def values(self, c, h, j0, n, direction, digits):
        e = A(self.eps)
        d = 2 * (e / 2).sinh()
        out = []
        for j in range(j0, j0 + n):
            v = acb(c, h * j) + arb(0.5)
            out.append(((e * v).sinh() / (d * v)) ** self.k)
        return out

    def tail(self, c, t, direction):
        e = self.ef
        return e * c + math.log((1 + math.exp(-2 * e * (c + 0.5))) / (-2 * math.expm1(-e) * math.hypot(c + 0.5, t)))


class SampledGauss(NodePart):
    """poisson(q, gaussian(sigma)): remove M(s) = int phi(x) g(x)^(s+1) dx, g = 1-q+q e^(mu x - mu^2/2); add: g^(-s)."""

    sampled = True

    def __init__(self, k, q, sigmas):
        super().__init__(k, f"poisson({q}, {' + '.join(f'gaussian({s})' for s in sigmas)})")
        self.q = exact(q)
        self.mu2 = sum((1 / exact(s) ** 2 for s in sigmas), fmpq(0))
        self.qf, self.mu = float(A(self.q)), math.sqrt(float(A(self.mu2)))

    def log_g(self, x):
        v = self.mu * x - self.mu**2 / 2
        if v > 30:
            return v + math.log(self.qf + (1 - self.qf) * math.exp(-v))
        return math.log1p(self.qf * math.expm1(v))

    def top(self, direction):
        return math.inf if direction > 0 else -math.log1p(-self.qf) if self.qf < 1 else math.inf

    def span(self, power, reach):
        shift = power * self.mu
        return (min(0.0, shift) - reach, max(0.0, shift) + reach)

    def log_m(self, c, direction):
        power = c + 1 if direction > 0 else -c
        low, high = self.span(power, 9.0)
        h = min(0.35, 1.0 / self.mu)
        n = int((high - low) / h) + 1
        h = (high - low) / n
        if n > 200000:
            raise Infeasible("span")
        return log_sum([-((low + i * h) ** 2) / 2 + power * self.log_g(low + i * h) for i in range(n + 1)]) + math.log(
            h / math.sqrt(2 * math.pi)
        )

    def nodes(self, c, t, direction, digits):
        c = float(c)
        power = c + 1 if direction > 0 else -c
        error = digits * LOG10 + math.log(self.k) + 6
        # shifting the line by iy costs e^(y^2/2 + t mu y), and cos(mu y/2)^-c where the power is negative
        best = 0.0
        for i in range(1, 60):
            y = i / 60 * math.pi / self.mu
            cost = (
                error + y * y / 2 + t * self.mu * y - (0 if direction > 0 else c * math.log(math.cos(self.mu * y / 2)))
            )
            best = max(best, 2 * math.pi * y / cost)
        for y in (8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 16.0, 18.0, 20.0):
            if y < math.pi / self.mu:
                cost = (
                    error
                    + y * y / 2
                    + t * self.mu * y
                    - (0 if direction > 0 else c * math.log(math.cos(self.mu * y / 2)))
                )
                best = max(best, 2 * math.pi * y / cost)
        step = Decimal(f"{best * 0.999:.3g}")
        h = A(exact(str(step)))
        hf = float(step)
        low, high = self.span(power, math.sqrt(2 * (error + 4)))
        first, last = math.floor(low / hf), math.ceil(high / hf)
        if last - first > 30000:
            raise Infeasible("span")
        logs = [-((i * hf) ** 2) / 2 + power * self.log_g(i * hf) for i in range(first, last + 1)]
        top = max(logs)
        mu = A(self.mu2).sqrt()
        q = A(self.q)
        scale = h / (2 * arb.pi()).sqrt()
        out = []
        for i, size in zip(range(first, last + 1), logs):
            if size < top - error - 14:
                continue
            x = h * i
            g = 1 + q * (mu * x - A(self.mu2) / 2).expm1()
            w = scale * (-x * x / 2).exp()
            out.append((w * g, g.log()) if direction > 0 else (w, -g.log()))
        return out

    def one(self, eps, direction):
        """delta of one step at eps (of either sign)."""
        return amplified(lambda a: gaussian_profile(A(self.mu2), a.log()), A(self.q), eps, direction)


def amplified(base, q, eps, direction):
    """One sampled step: remove q base(1 + (a-1)/q), add (1 - a(1-q)) base(aq/(1 - a(1-q))), with a = e^eps."""
    a = eps.exp()
    if direction > 0:
        b = 1 + eps.expm1() / q
        if b > 0:
            return q * base(b)
        if b <= 0:
            return -eps.expm1()
        raise Infeasible("edge")
    rest = 1 - a * (1 - q)
    if rest > 0:
        return rest * base(a * q / rest)
    if rest <= 0:
        return arb(0)
    raise Infeasible("edge")


FIVE = (
    (0.0, 0.5688888888888889),
    (-0.5384693101056831, 0.47862867049936647),
    (0.5384693101056831, 0.47862867049936647),
    (-0.906179845938664, 0.23692688505618908),
    (0.906179845938664, 0.23692688505618908),
)
_legendre = {}


def legendre(n):
    """Nodes and weights on [-1, 1]."""
    if n not in _legendre:
        _legendre[n] = [arb.legendre_p_root(n, i, weight=True) for i in range(n)]
    return _legendre[n]


class SampledLaplace(NodePart):
    """poisson(q, laplace(b)): Q has atoms e^-x/2 at l = x, 1/2 at l = -x, density e^(-(l+x)/2)/4 between."""

    sampled = True

    def __init__(self, k, q, b):
        super().__init__(k, f"poisson({q}, laplace({b}))")
        self.q, self.x = exact(q), 1 / exact(b)
        self.qf, self.xf = float(A(self.q)), float(A(self.x))

    def top(self, direction):
        return (
            math.log1p(self.qf * math.expm1(self.xf)) if direction > 0 else -math.log1p(self.qf * math.expm1(-self.xf))
        )

    def log_m(self, c, direction):
        power = c + 1 if direction > 0 else -c
        x, q = self.xf, self.qf
        # under Q for remove (power c+1); under P mirrored (the same law, as the pair is symmetric) for add
        logs = [
            power * math.log1p(q * math.expm1(x)) - x - math.log(2),
            power * math.log1p(q * math.expm1(-x)) - math.log(2),
        ]
        n = 3 + int(x) + int(abs(power) * x / 4)
        if n > 4000:
            raise Infeasible("span")
        for i in range(n):
            for g, w in FIVE:
                l = -x + (2 * x / n) * (i + 0.5 + g / 2)
                logs.append(math.log(w * x / n / 4) - (l + x) / 2 + power * math.log1p(q * math.expm1(l)))
        return log_sum(logs)

    def nodes(self, c, t, direction, digits):
        q, x = A(self.q), A(self.x)
        high, low = math.log1p(self.qf * math.expm1(self.xf)), math.log1p(self.qf * math.expm1(-self.xf))
        size = math.hypot(float(c) + 1, t)
        panels = max(1, math.ceil(size * (high - low) / 24), math.ceil(self.xf / 0.75))
        # one panel of a convex loss may hold more than its share of the swing: L' <= its value at the end
        steep = 1 - (1 - self.qf) * math.exp(-high)
        panels = max(panels, math.ceil(size * steep * 2 * self.xf / 30))
        if panels > 60:
            raise Infeasible("panels")

        def law(l, w):
            g = 1 + q * l.expm1()
            return (w * g, g.log()) if direction > 0 else (w, -g.log())

        out = [law(x, (-x).exp() / 2), law(-x, arb(1) / 2)]
        half = x / panels
        for p in range(panels):
            centre = -x + half * (2 * p + 1)
            for y, w in legendre(48):
                l = centre + half * y
                out.append(law(l, w * half * (-(l + x) / 2).exp() / 4))
        return out

    def tail(self, c, t, direction):
        # by parts: log F = -3l/2 + (power + 1) log g, F = f/L', is convex or falls:
        # F varies by at most the sum at its ends
        q, x = self.qf, self.xf
        power = c + 1 if direction > 0 else -c

        def end(l):
            g = math.log1p(q * math.expm1(l))
            return power * g, math.exp(-(l + x) / 2 + g - l) / (4 * q)

        total = []
        for l, mass in ((x, math.exp(-x) / 2), (-x, 0.5)):
            a, f = end(l)
            total.append(a + math.log(mass + 2 * f / t))
        return log_sum(total)

    def one(self, eps, direction):
        x = A(self.x)

        def base(a):
            l = a.log()
            if l >= x:
                return arb(0)
            if l <= -x:
                return 1 - a
            return -((l - x) / 2).expm1()

        return amplified(base, A(self.q), eps, direction)


class Arsinh(NodePart):
    """A arsinh(N(0, 1/(2 rho))/A), at 0 against at 1; the middle between the two is z = 0."""

    def __init__(self, k, rho, a):
        super().__init__(k, f"arsinh({rho}, {a})")
        self.rho, self.a = exact(rho), exact(a)
        self.rf, self.af = float(A(self.rho)), float(A(self.a))
        self.limit = 1 / math.expm1(2 / self.af)

    def log_w(self, z, c):
        """log of density times e^(cL), as a float."""
        a, r = self.af, self.rf
        lc = lambda v: abs(v) + math.log1p(math.exp(-2 * abs(v))) - math.log(2)
        up_, down = (z + 0.5) / a, (z - 0.5) / a
        if abs(up_) > 300:
            return -1e300, 0.0
        loss = lc(up_) - lc(down) - a * a * r * math.sinh(2 * z / a) * math.sinh(1 / a)
        density = lc(up_) - r * (a * math.sinh(up_)) ** 2 + 0.5 * math.log(r / math.pi)
        return density + c * loss, loss

    def spread(self, c, depth):
        """The interval of z outside which the integrand is below e^-depth of its top."""
        f = lambda z: self.log_w(z, c)[0]
        far = -1.0
        while f(far * 2) > f(far):
            far *= 2
        low, high = far * 2, 1.0
        while high - low > 1e-3 * (1 + abs(low)):  # one peak
            one, two = low + (high - low) * 0.4, low + (high - low) * 0.6
            if f(one) < f(two):
                low = one
            else:
                high = two
        peak = (low + high) / 2

        def edge(sign):
            inside, outside = 0.0, 1.0
            while f(peak + sign * outside) > f(peak) - depth:
                outside *= 2
            while outside - inside > 1e-2 * outside:
                middle = (inside + outside) / 2
                if f(peak + sign * middle) > f(peak) - depth:
                    inside = middle
                else:
                    outside = middle
            return peak + sign * outside

        low, high = edge(-1), edge(1)
        return low, high

    def log_m(self, c, direction):
        if c >= self.limit:
            return math.inf
        low, high = self.spread(c, 45)
        n = 160
        h = (high - low) / n
        return log_sum([self.log_w(low + i * h, c)[0] for i in range(n + 1)]) + math.log(h)

    def grid(self, low, h, n, offset):
        a, r = A(self.a), A(self.rho)
        scale = h * (r / arb.pi()).sqrt()
        swing = a * a * r * (1 / a).sinh()
        out = []
        for i in range(n):
            z = low + h * (i + offset)
            u, d = (z + arb(0.5)) / a, (z - arb(0.5)) / a
            su, cu = u.sinh_cosh()
            out.append((scale * cu * (-r * (a * su) ** 2).exp(), (cu / d.cosh()).log() - swing * (2 * z / a).sinh()))
        return out

    def nodes(self, c, t, direction, digits):
        cf = float(c)
        depth = digits * LOG10 + math.log(self.k) + 8
        low, high = self.spread(cf, depth)
        swing = self.log_w(low, cf)[1] - self.log_w(high, cf)[1]
        n = int(90 + 0.6 * t * swing / math.pi)
        start = A(exact(f"{low:.6f}"))
        while True:
            if n > 20000:
                raise Infeasible("grid")
            h = A(exact(f"{(high - low) / n:.9g}"))
            one, two = self.grid(start, h, n + 1, arb(0)), self.grid(start, h, n + 1, arb(0.5))
            worst = -math.inf
            base = None
            for s in (acb(c), acb(c, arb(t) / 2), acb(c, arb(t))):
                x = sum(((s * l).exp() * w for w, l in one), acb(0))
                y = sum(((s * l).exp() * w for w, l in two), acb(0))
                base = base if base is not None else up(x)
                worst = max(worst, up(x - y) - base)
            if worst < -depth + 7:
                return one
            n = int(n * 1.3) + 8

    def one(self, eps, direction):
        a, r = A(self.a), A(self.rho)
        ef = float(eps.mid())
        low, high = -1.0, 1.0
        while self.log_w(low, 0)[1] < ef:
            low *= 2
        while self.log_w(high, 0)[1] > ef:
            high *= 2
        for _ in range(60):
            z = (low + high) / 2
            if self.log_w(z, 0)[1] > ef:
                low = z
            else:
                high = z
        swing = a * a * r * (1 / a).sinh()

        def gap(z):
            return (
                ((z + arb(0.5)) / a).cosh().log() - ((z - arb(0.5)) / a).cosh().log() - swing * (2 * z / a).sinh() - eps
            )

        def slope(z):
            return (((z + arb(0.5)) / a).tanh() - ((z - arb(0.5)) / a).tanh() - 2 * swing * (2 * z / a).cosh()) / a

        z = arb(low)
        for _ in range(12):
            z = (z - gap(z.mid()) / slope(z.mid())).mid()
        # an enclosure: the gap changes sign across it (the loss falls in z under the theorem's conditions)
        width = arb(2) ** (-ctx.prec * 3 // 4) * (1 + abs(z))
        if not (gap(z - width) > 0 and gap(z + width) < 0):
            raise Infeasible("root")
        z = z.union(z - width).union(z + width)
        root = (2 * r).sqrt()
        p = phi(a * ((z + arb(0.5)) / a).sinh() * root)
        q = phi(a * ((z - arb(0.5)) / a).sinh() * root)
        return p - eps.exp() * q


# --- methods ---


class Result:
    def __init__(self, value, relative, proved=True, again=None):
        self.value, self.relative, self.proved, self.again = value, relative, proved, again


def ball(value, proved=True):
    return Result(value.mid(), float((value.rad() / value.mid()).upper()), proved)


def with_failure(parts, make):
    """1 - (1-fail)(1-delta): the atoms at infinity, exactly."""
    failures = [p for p in parts if p.atomic and p.fail != 0]
    result = make()
    if not failures:
        return result
    log_live = sum((A(-p.fail).log1p() * p.k for p in failures), arb(0))
    live, x = log_live.exp(), result.value
    total = live * x - log_live.expm1()
    relative = result.relative * float((live * x / total).upper()) + float((total.rad() / total.mid()).upper())
    return Result(
        total.mid(), relative, result.proved, (lambda: with_failure(parts, result.again)) if result.again else None
    )


def halves(first, second, eps):
    """sum of w v (1 - e^(eps - a - b))_+ over the atoms of two independent losses."""
    if len(first) > len(second):
        first, second = second, first
    second = sorted(second, key=lambda wx: float(wx[1].mid()))
    losses = [float(x.mid()) for _, x in second]
    mass, tilted = [arb(0)], [arb(0)]
    for w, x in reversed(second):
        mass.append(mass[-1] + w)
        tilted.append(tilted[-1] + w * (-x).exp())
    total = arb(0)
    for w, a in first:
        edge = eps - a
        at = bisect.bisect_left(losses, float(edge.mid()))
        for i in (at - 1, at):
            if 0 <= i < len(losses) and abs(losses[i] - float(edge.mid())) < 1e-9:
                gap = abs(second[i][1] - edge)
                if not (gap < arb(2) ** -150 or gap > arb(2) ** -45):
                    raise Infeasible("a near tie")
        n = len(losses) - at
        if n:
            total += w * (mass[n] - edge.exp() * tilted[n])
    return total


def cross(one, two):
    return [(w * v, a + b) for w, a in one for v, b in two]


def by_atoms(parts, eps, direction, most=4000):
    def value():
        first, second = [(arb(1), arb(0))], [(arb(1), arb(0))]
        for power in sorted((p.power(direction) for p in parts), key=len, reverse=True):
            if len(first) > len(second):
                first, second = second, first
            if len(first) * len(power) > most and len(power) > 1 and len(first) > 1:
                raise Infeasible("atoms")
            first = cross(first, power)
        return halves(first, second, A(eps))

    return ball(refine(value))


def all_atoms(parts, direction, most):
    out = [(arb(1), arb(0))]
    for part in parts:
        power = part.power(direction)
        if len(power) * len(out) > most:
            raise Infeasible("atoms")
        out = cross(out, power)
    return out


def by_mixed(parts, eps, direction):
    """Atoms and Gaussians."""
    mu2 = sum((p.mu2 * p.k for p in parts if isinstance(p, Gauss)), fmpq(0))
    rest = [p for p in parts if not isinstance(p, Gauss)]

    def value():
        return sum((w * gaussian_profile(A(mu2), A(eps) - a) for w, a in all_atoms(rest, direction, 1500)), arb(0))

    return ball(refine(value))


_series = {}


def residue_polynomial(a, b, n):
    """u -> [w^(n-1)] e^(wu) (1/2+w)^(a-1) (w-1/2)^(b-1), its coefficients exact."""
    key = (a, b, n)
    if key not in _series:
        half = fmpq(1, 2)

        def binomial(power, point):  # (point + w)^power up to w^(n-1)
            out, c = [], point**power if power >= 0 else 1 / point ** (-power)
            for r in range(n):
                out.append(c)
                c = c * fmpq(power - r, r + 1) / point
            return fmpq_poly(out)

        product = binomial(a - 1, half) * binomial(b - 1, -half)
        factorial, coefficients = fmpz(1), []
        for power in range(n):
            if power:
                factorial *= power
            coefficients.append(product[n - 1 - power] / factorial)
        _series[key] = coefficients
        if len(_series) > 3000:
            _series.pop(next(iter(_series)))
    return _series[key]


def by_residues(parts, eps, direction):
    n = sum(p.k for p in parts if not p.atomic)
    size = 1
    for p in parts:
        size *= p.k + 1
    if size * n > 60000:
        raise Infeasible("terms")

    def value():
        terms = [(arb(1), arb(0), 0, 0)]
        for part in parts:
            k, new = part.k, []
            for i in range(k + 1):
                choose = A(fmpz.bin_uiui(k, i))
                if isinstance(part, Laplace):
                    x = A(part.x)
                    one = (choose * (-x * i).exp() / arb(2) ** k, x * (k - 2 * i), k - i, i)
                elif isinstance(part, Exponential):
                    x = A(part.eps)
                    one = (
                        choose * (-1) ** i * (x * fmpq(k - 2 * i, 2)).exp() / (4 * (x / 2).sinh()) ** k,
                        x * (k - 2 * i),
                        0,
                        0,
                    )
                else:
                    x = A(part.eps)
                    p = 1 / (1 + (-x).exp())
                    one = (choose * p**k * (-x * i).exp(), x * (k - 2 * i), 0, 0)
                new.append(one)
            terms = [(w * v, a + b, p + r, q + s) for w, a, p, q in terms for v, b, r, s in new]
        total = arb(0)
        for w, shift, a, b in terms:
            u = shift - A(eps)
            if u <= 0:
                continue
            if not u > 0:
                if u < arb(2) ** -150:
                    continue  # a tie: every term is continuous there (n >= 1), and zero
                raise Infeasible("a near tie")
            at = arb(0)
            if n:
                at += (-u / 2).exp() * arb_poly(residue_polynomial(a, b, n))(u)
            if b == 0:
                at += arb(2) ** n
            if a == 0:
                at += (-u).exp() * (-1) ** (b - 1 + n) * arb(2) ** n
            total += w * at
        return total

    return ball(refine(value, BITS + 8 * n))


def log_total(parts, c, direction):
    return math.fsum(p.k * p.log_m(c, direction) for p in parts)


def saddle(parts, eps, direction):
    """The c that makes the integrand's value smallest, and log of that value."""
    limit = min(p.limit for p in parts)

    def f(v):
        c = math.exp(v)
        if c >= limit:
            return math.inf
        return log_total(parts, c, direction) - c * eps - math.log(c) - math.log1p(c)

    low, high = math.log(1e-6), min(math.log(1e6), math.log(limit) - 1e-3 if limit < math.inf else 99.0)
    for p in parts:
        if isinstance(p, (SampledGauss,)):
            high = min(high, math.log(3000 / p.mu))
        if isinstance(p, DiscreteGauss):
            high = min(high, math.log(3000 * p.sf / p.d))
        if isinstance(p, SampledLaplace):
            high = min(high, math.log(2000 / p.xf))
    # a convex function of c: golden section in log c finds its only minimum
    ratio = (math.sqrt(5) - 1) / 2
    a, b = low, high
    x, y = b - ratio * (b - a), a + ratio * (b - a)
    fx, fy = f(x), f(y)
    while b - a > 0.004:
        if fx <= fy:
            b, y, fy = y, x, fx
            x = b - ratio * (b - a)
            fx = f(x)
        else:
            a, x, fx = x, y, fy
            y = a + ratio * (b - a)
            fy = f(y)
    v = (a + b) / 2
    if v < low + 0.01 or v > high - 0.01:
        raise Infeasible("saddle at the edge")
    return math.exp(v), f(v)


def chernoff(parts, eps, direction):
    """log of an upper bound of delta: min over c of M(c) e^(-c eps) c^c/(c+1)^(c+1)."""
    try:
        points = [saddle(parts, eps, direction)[0]]
    except Infeasible:
        points = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0]
    best = math.inf
    for c in points:
        try:
            best = min(
                best, log_total(parts, c, direction) - c * eps + c * math.log(c) - (c + 1) * math.log1p(c) + 1e-6
            )
        except (Infeasible, OverflowError):
            break
    return best


def period(parts, eps, direction, c, logdelta, digits):
    """u with both aliases of eps +- u below 10^-digits of delta, and log of their bound."""
    goal = logdelta - digits * LOG10
    limit = min(p.limit for p in parts)
    options = []
    for f in (1.05, 1.1, 1.2, 1.3, 1.5, 1.75, 2, 2.5, 3, 4, 6, 10, 20):
        if c * f < limit:
            try:
                options.append((c * f, log_total(parts, c * f, direction)))
            except (Infeasible, OverflowError):
                break
    if not options:
        raise Infeasible("aliases")
    u = -goal / c
    for _ in range(200):
        above = min(k - d * eps - (d - c) * u for d, k in options)
        if above < goal:
            break
        u *= 1.08
    else:
        raise Infeasible("aliases")
    # below: e^-cu + e^-2cu + …; above: the first alias, and the rest of a geometric series
    return u, log_sum([-c * u, above]) + 0.7 + 1e-6


def rounded(x):
    return A(exact(f"{x:.4g}"))


def by_contour(parts, eps, direction, variant=0):
    e, ef = A(eps), float(A(eps))
    c, logf = saddle(parts, ef, direction)
    c *= (1, 1.11)[variant]
    # a first value of delta from the saddle point, for the choice of the step only
    d = 0.02 * c
    f = lambda v: log_total(parts, v, direction) - v * ef - math.log(v) - math.log1p(v)
    curve = max((f(c + d) + f(c - d) - 2 * f(c)) / d**2, 1e-12)
    logdelta = f(c) - 0.5 * math.log(2 * math.pi * curve)
    digits = WANTED
    u, alias = period(parts, ef, direction, c, logdelta - 3, digits)
    u *= (1, 1.09)[variant]
    h = rounded(2 * math.pi / u)
    c = rounded(c)
    cf, hf = float(c), float(h)
    goal = logdelta - digits * LOG10

    def proved_tail(t):
        bounds = [(p, p.tail(cf, t, direction)) for p in parts]
        product = sum(p.k * (p.log_m(cf, direction) if b is None else b) for p, b in bounds)
        return product - cf * ef - math.log(t * math.pi) + math.log1p(hf / t)

    unsure = any(isinstance(p, (SampledGauss, Arsinh)) for p in parts)
    total, size = arb(0), arb(0)
    j, n = 0, 48
    proved = True
    peaks = {}

    def terms(j, n):
        product = None
        for p in parts:
            v = p.values(c, h, j, n, direction, digits + 1)
            if isinstance(p, (SampledGauss, Arsinh)):
                peaks[p] = max(up(x) for x in v[n // 2 :])
            product = v if product is None else [x * y for x, y in zip(product, v)]
        return product

    while True:
        if not unsure and proved_tail(hf * MOST_NODES) > goal + 6 * LOG10:
            raise Infeasible("the cut")
        block = terms(j, n)
        for i, m in enumerate(block):
            s = acb(c, h * (j + i))
            t = m * (-e * s).exp() / (s * (s + 1))
            total += t.real if j + i == 0 else 2 * t.real
            size += 2 * abs(t)
        j += n
        t = hf * j
        cut = proved_tail(t - hf)
        if cut < goal:
            break
        # sampled Gaussians and arsinh noise have no returns: what they are at the cut, they stay beyond
        known = [p for p in parts if p not in peaks]
        rest = sum(p.k * p.tail(cf, t, direction) for p in known) - cf * ef - math.log(t * math.pi) + 1
        if unsure and rest + sum(peaks.values()) < goal - 2 * LOG10:
            for far in (1.15, 1.37, 1.71, 2.3, 3.1):
                try:
                    for p in peaks:
                        peaks[p] = max(peaks[p], up(p.values(c, arb(t * far), 1, 1, direction, digits)[0]))
                except Infeasible:
                    break
            cut = rest + sum(peaks.values())
            if cut < goal:
                proved = False
                break
        if j + n > MOST_NODES:
            if not unsure and cut < goal + 8 * LOG10:
                break
            raise Infeasible("nodes")
        n = max(48, j // 2)
    scale = h / (2 * arb.pi())
    value = total * scale
    if not value > 0:
        raise Infeasible("noise")
    error = log_sum([alias, cut, up(size * scale) - (digits - 1) * LOG10 - 1])
    relative = math.exp(error - log_float(value)) + float((value.rad() / value.mid()).upper())
    again = None if variant else (lambda: by_contour(parts, eps, direction, 1))
    return Result(value.mid(), relative, proved, again)


def by_lattice(part, eps, direction, variant=0):
    e, ef = A(eps), float(A(eps))
    first, step = part.lattice(direction)
    stepf = float(step.mid())
    place = (e - first * part.k) / step
    n0 = math.ceil(float(place.mid()) - 1e-12)
    theta = n0 - place  # in [0, 1], or a hair outside: the terms are continuous there
    if abs(float(theta.mid()) - 1) < 1e-9 or abs(float(theta.mid())) < 1e-9:
        if not (abs(theta) < arb(2) ** -100 or abs(theta) > arb(2) ** -40):
            raise Infeasible("a near tie")
    parts = [part]
    c, _ = saddle(parts, ef, direction)
    c *= (1, 1.11)[variant]
    d = 0.02 * c
    f = lambda v: log_total(parts, v, direction) - v * ef - math.log(v) - math.log1p(v)
    curve = max((f(c + d) + f(c - d) - 2 * f(c)) / d**2, 1e-12)
    logdelta = min(0.0, f(c) - 0.5 * math.log(2 * math.pi * curve))
    digits = WANTED
    u, alias = period(parts, ef, direction, c, logdelta - 7, digits)
    u *= (1, 1.09)[variant]
    count = math.ceil(u / stepf)
    c = rounded(c)
    cf = float(c)
    h = 2 * arb.pi() / (step * count)
    hf = float(h.mid())
    goal = logdelta - digits * LOG10
    tied = (-theta * step).exp()

    def kernel(s):
        return 1 / (1 - (-s * step).exp()) - tied / (1 - (-(s + 1) * step).exp())

    last = count // 2
    # the kernel is a series with positive terms: |kernel(s)| <= kernel(c)
    scale = up(kernel(acb(c))) - cf * (n0 * stepf + float(first.mid()) * part.k) + 0.1
    total, size = arb(0), arb(0)
    cut = -math.inf
    for begin, end in part.ranges(cf, direction, count, (goal - 1 - scale) / part.k):
        if end - begin > 40000:
            raise Infeasible("nodes")
        for j in range(begin, end, 512):
            n = min(512, end - j)
            for i, m in enumerate(part.values(c, h, j, n, direction, digits)):
                s = acb(c, h * (j + i))
                t = m * (-s * step * n0 - s * first * part.k).exp() * kernel(s)
                once = j + i == 0 or 2 * (j + i) == count
                total += t.real if once else 2 * t.real
                size += 2 * abs(t)
        cut = goal - 1
    value = total / count
    if not value > 0:
        raise Infeasible("noise")
    error = log_sum([alias, cut if cut > -math.inf else -1e4, up(size / count) - 36 * LOG10])
    relative = math.exp(error - log_float(value)) + float((value.rad() / value.mid()).upper())
    again = None if variant else (lambda: by_lattice(part, eps, direction, 1))
    return Result(value.mid(), relative, True, again)


def by_two(first, second, eps, direction):
    """Two sampled Laplace steps: the integral of the second's profile at eps - loss over the first's law."""
    e, q, x = A(eps), A(first.q), A(first.x)
    y, r = A(second.x), A(second.q)
    loss = lambda l: (1 + q * l.expm1()).log() * direction
    # the second's profile changes its form where its own loss ends
    cuts = [-x, x]
    for edge in (y, -y):
        v = 1 + (((e - (1 + r * edge.expm1()).log() * direction) * direction).exp() - 1) / q
        if v > 0 and -x < v.log() < x:
            cuts.append(v.log().mid())
        elif not (v <= 0) and not (v > 0 and (v.log() >= x or v.log() <= -x)):
            raise Infeasible("edge")
    cuts.sort(key=lambda v: float(v.mid()))

    def law(l, w):
        return w * (1 + q * l.expm1()) if direction > 0 else w

    def piece(l):
        """The second's profile at eps - loss, given which of its three forms holds."""
        return second.one(e - loss(l), direction)

    def total(panels):
        out = law(x, (-x).exp() / 2) * piece(x) + law(-x, arb(1) / 2) * piece(-x)
        for low, high in zip(cuts, cuts[1:]):
            half = (high - low) / (2 * panels)
            for p in range(panels):
                centre = low + half * (2 * p + 1)
                for z, w in legendre(48):
                    l = centre + half * z
                    out += w * half * law(l, (-(l + x) / 2).exp() / 4) * piece(l)
        return out

    one, two = total(5), total(8)
    if not two > 0:
        return Result(arb(0), 0.0)
    return Result(two.mid(), float((abs(one - two) / two).upper()), True)


def direction_profile(parts, eps, direction):
    """delta(eps) of the plan in one direction, by the first method that fits."""
    if sum(p.k * p.top(direction) for p in parts) * (1 + 1e-12) < float(A(eps)) and not any(
        p.atomic and p.fail != 0 for p in parts
    ):
        return Result(arb(0), 0.0)
    gauss = [p for p in parts if isinstance(p, Gauss)]
    rest = [p for p in parts if not isinstance(p, Gauss)]
    if not rest:
        mu2 = sum((p.mu2 * p.k for p in gauss), fmpq(0))
        return ball(refine(lambda: gaussian_profile(A(mu2), A(eps))))
    if len(parts) == 1 and parts[0].k == 1 and hasattr(parts[0], "one"):

        def value():
            return parts[0].one(A(eps), direction)

        if direction < 0:
            x = value()
            if x == 0:
                return Result(arb(0), 0.0)
        return ball(refine(value))
    if len(parts) <= 2 and all(isinstance(p, SampledLaplace) for p in parts) and sum(p.k for p in parts) == 2:
        return by_two(parts[0], parts[-1], eps, direction)
    attempts = []
    if all(p.atomic for p in rest):
        live = [p for p in parts if not (p.atomic and isinstance(p, Pure) and p.eps == 0)]
        if gauss:
            attempts.append(lambda: by_mixed(live, eps, direction))
        else:
            attempts.append(lambda: by_atoms(live, eps, direction))
            if len(live) == 1 and live[0].k > 1:
                attempts.append(lambda: by_lattice(live[0], eps, direction))
    if not gauss and all(p.rational for p in parts):
        attempts.append(lambda: by_residues(parts, eps, direction))
    if not (all(p.atomic for p in parts)):
        attempts.append(lambda: by_contour(parts, eps, direction))
    for attempt in attempts:
        try:
            return with_failure(parts, attempt)
        except Infeasible as error:
            last = error
    raise last


def profile(parts, eps):
    """delta(eps), the worse of the two directions, from the exact rational eps."""
    remove = direction_profile(parts, eps, 1)
    if not any(p.sampled for p in parts) or remove.value == 0:
        return remove
    if any(p.atomic and p.fail != 0 for p in parts):
        add = direction_profile(parts, eps, -1)
    else:
        # the add direction's losses are bounded, so its Chernoff bound settles most cases
        bound = math.inf
        try:
            bound = chernoff(parts, float(A(eps)), -1)
        except (Infeasible, OverflowError, ValueError):
            pass
        if bound < log_float(remove.value) - 1e-3:
            return remove
        add = direction_profile(parts, eps, -1)
    return add if add.value > remove.value else remove


# --- random plans ---


def few(x, digits=3):
    """A decimal of few digits near x, written without an exponent where that is short."""
    d = Decimal(f"{x:.{digits - 1}e}")
    text = format(d.normalize(), "f")
    return text if len(text) <= 10 else format(d.normalize(), "e").replace("e+", "e")


class Draw:
    def __init__(self, rng):
        self.rng = rng

    def log(self, low, high):
        return math.exp(self.rng.uniform(math.log(low), math.log(high)))

    def digits(self):
        return self.rng.choice((1, 2, 2, 3, 3, 4))

    def few(self, low, high):
        while True:
            text = few(self.log(low, high), self.digits())
            if low * 0.999 <= float(text) <= high * 1.001:
                return text

    def count(self, low, high):
        k = round(self.log(low, high + 0.49))
        if k > 20 and self.rng.random() < 0.5:
            k = int(float(f"{k:.{self.rng.choice((0, 1))}e}"))
        return max(low, min(k, high))

    # each kind: `spread` is the standard deviation of the loss of all its steps together
    def spread(self):
        return self.log(0.02, 15)

    def near(self, x):
        """A decimal near x, not a systematic one."""
        return few(x * self.rng.uniform(0.8, 1.25), self.digits())

    def gauss(self, high=10**8, spread=None):
        k = self.count(1, high)
        spread = spread or self.spread()
        sens = "1" if self.rng.random() < 0.7 else self.few(0.1, 30)
        return Gauss(k, self.near(math.sqrt(k) * float(sens) / spread), sens)

    def laplace(self, low, high, spread=None):
        k = self.count(low, high)
        spread = spread or self.spread()
        x = spread / math.sqrt(k)
        x = min(x, 6)
        sens = "1" if self.rng.random() < 0.8 else self.few(0.1, 30)
        return Laplace(k, self.near(float(sens) / x), sens)

    def pure_eps(self, k, spread=None):
        e = (spread or self.spread()) / math.sqrt(k)
        return self.near(min(e, 4))

    def pure(self, high=10**8, low=1, spread=None, fail=None):
        k = self.count(low, high)
        eps = self.pure_eps(k, spread)
        if fail if fail is not None else self.rng.random() < 0.3:
            return Pure(k, eps, self.few(1e-12 / k, 1e-3 / k))
        return Pure(k, eps)

    def response(self, high=10**8, low=1, spread=None):
        k = self.count(low, high)
        e = min((spread or self.spread()) / math.sqrt(k), 5)
        values = self.rng.choice((2, 2, 2, 3, 4, 10, 100))
        odds = math.exp(e) / (values - 1)
        p = odds / (1 + odds)
        size = max(2, 2 - math.floor(math.log10(max(1e-9, min(e, 1)))))
        text = few(p, min(size + 1, 9))
        if not 0 < float(text) < 1 or exact(text) * values == 1:
            raise Infeasible("degenerate")
        return Response(k, text, values)

    def discrete_laplace(self, high=10**8, low=1, most=30, spread=None):
        k = self.count(low, high)
        d = self.count(1, most)
        x = min((spread or self.spread()) / math.sqrt(k), 6)
        return DiscreteLaplace(k, self.near(d / x), d)

    def discrete_gauss(self, high=10**8, low=1, spread=None):
        k = self.count(low, high)
        d = self.count(1, 40)
        sigma = math.sqrt(k) * d / (spread or self.spread())
        if not 0.25 < sigma < 1e6:
            raise Infeasible("sigma")
        return DiscreteGauss(k, self.near(sigma), d)

    def exponential(self, low, high, spread=None):
        k = self.count(low, high)
        e = (spread or self.spread()) / math.sqrt(k) * 1.7
        return Exponential(k, self.near(min(e, 8)))

    def arsinh(self, low, high):
        k = self.count(low, high)
        rho = min(self.spread() ** 2 / (2 * k), 0.9)
        if rho < 1e-7:
            raise Infeasible("rho")
        rho = self.near(min(rho, 0.75))
        a = self.log(max(8.5, 1.05 / math.sqrt(float(rho))), max(200, 100 / math.sqrt(float(rho))))
        a = few(a, 3)
        if not (float(rho) < 1 and float(a) > 8 and float(a) ** 2 * float(rho) >= 1):
            raise Infeasible("conditions")
        return Arsinh(k, rho, a)

    def sampled_gauss(self, high=10**8, low=2, spread=None):
        q = self.few(3e-5, 0.7)
        sigmas = [self.few(0.4, 15)]
        if self.rng.random() < 0.15:
            sigmas = [self.few(0.7, 20) for _ in range(self.rng.choice((2, 2, 3)))]
        mu2 = sum(1 / float(s) ** 2 for s in sigmas)
        one = float(q) * math.sqrt(math.expm1(min(mu2, 50)))
        k = round((spread or self.spread()) ** 2 / one**2)
        if not low <= k <= high:
            raise Infeasible("count")
        if k > 20 and self.rng.random() < 0.6:
            k = int(float(f"{k:.1e}"))
        return SampledGauss(k, q, sigmas)

    def sampled_laplace(self, high=10**8, low=1, spread=None):
        q, b = self.few(1e-4, 0.8), self.few(0.3, 30)
        one = float(q) / float(b)
        k = round((spread or self.spread()) ** 2 / one**2)
        if not low <= k <= high:
            raise Infeasible("count")
        return SampledLaplace(k, q, b)

    def sampled_pure(self, high=10**8, low=1):
        q, e = self.few(1e-4, 0.8), self.few(0.05, 4)
        k = round((self.spread() / (float(q) * math.tanh(float(e) / 2) * 2)) ** 2)
        if not low <= k <= high:
            raise Infeasible("count")
        return SampledPure(k, q, e)

    def target(self):
        r = self.rng.random()
        if r < 0.7:
            return self.rng.uniform(-15, -3)
        return self.rng.uniform(-3, -0.3) if r < 0.85 else self.rng.uniform(-100, -15)


def text_of(parts, rng):
    counted = lambda p: p.text if p.k == 1 else f"{p.k} * {p.text}"
    if len(parts) > 1 and parts[0].k > 1 and all(p.k == parts[0].k for p in parts):
        return f"{parts[0].k} * ({' + '.join(p.text for p in parts)})"
    return " + ".join(map(counted, parts))


def epsilon_for(parts, target, draw):
    """A decimal epsilon where delta is near 10^target, by the saddle point."""
    limit = min(p.limit for p in parts)
    goal = target * LOG10

    def at(c):
        d = 0.01 * c
        k0, k1, k2 = (log_total(parts, v, 1) for v in (c, c + d, c - d))
        slope, curve = (k1 - k2) / (2 * d), max((k1 + k2 - 2 * k0) / d**2, 0.0)
        eps = slope - 1 / c - 1 / (c + 1)
        curve += 1 / c**2 + 1 / (c + 1) ** 2
        return eps, k0 - c * eps - math.log(c * (c + 1)) - 0.5 * math.log(2 * math.pi * curve)

    low, high = math.log(1e-4), min(math.log(2e4), math.log(limit * 0.985) if limit < math.inf else 99)
    for p in parts:
        if isinstance(p, SampledGauss):
            high = min(high, math.log(400 / p.mu))
        if isinstance(p, DiscreteGauss):
            high = min(high, math.log(400 * p.sf / p.d))
        if isinstance(p, SampledLaplace):
            high = min(high, math.log(1000 / p.xf))
    if at(math.exp(high))[1] > goal or at(math.exp(low))[1] < goal:
        raise Infeasible("target")
    for _ in range(22):
        middle = (low + high) / 2
        if at(math.exp(middle))[1] > goal:
            low = middle
        else:
            high = middle
    eps = at(math.exp((low + high) / 2))[0]
    if eps < 0:
        raise Infeasible("negative")
    return few(eps, draw.rng.choice((2, 3, 4, 5)))


def special(parts, eps, rng):
    """Now and then 0, or exactly a loss of the lattice (or halfway between two)."""
    chance = rng.random()
    if chance < 0.02:
        return "0"
    if len(parts) == 1 and isinstance(parts[0], Pure) and chance < 0.3:
        one = Decimal(parts[0].text.split("(")[1].split(",")[0].rstrip(")"))
        return format(one * max(0, round(float(eps) / float(one))), "f")
    return eps


def mixture(draw, kinds, low, high):
    return [draw.rng.choice(kinds)() for _ in range(draw.rng.randint(low, high))]


def families(draw):
    """name -> (rows of 1000, epsilons of one plan, a function that draws the parts)"""
    rng = draw.rng
    small = lambda: draw.log(0.1, 4)

    def atoms():
        pieces = [
            lambda: draw.pure(6, fail=None),
            lambda: draw.pure(3),
            lambda: draw.pure(400),
            lambda: draw.discrete_laplace(4, most=6),
            lambda: draw.discrete_gauss(1),
        ]
        if rng.random() < 0.3:
            pieces = [lambda: draw.pure(4), lambda: draw.response(4), lambda: draw.response(50)]
        return mixture(draw, pieces, 2, 4)

    def many_leaves():
        return [draw.pure(2, spread=draw.log(0.1, 1.5)) for _ in range(rng.randint(4, 10))]

    def residues():
        pieces = [
            lambda: draw.laplace(1, 8, small()),
            lambda: draw.exponential(1, 8, small()),
            lambda: draw.pure(5, spread=small()),
            lambda: draw.laplace(1, 3, small()),
        ]
        parts = mixture(draw, pieces, 2, 3)
        if all(p.atomic for p in parts):
            parts[0] = draw.laplace(1, 8, small())
        return parts

    def gauss_atoms():
        return [
            draw.gauss(),
            *mixture(
                draw,
                [
                    lambda: draw.pure(20, spread=small()),
                    lambda: draw.discrete_laplace(4, most=6, spread=small()),
                    lambda: draw.pure(3, spread=small()),
                ],
                1,
                3,
            ),
        ]

    def smooth():
        parts = [draw.gauss(spread=draw.log(0.3, 5))]
        return parts + mixture(
            draw,
            [
                lambda: draw.laplace(1, 10**6, small()),
                lambda: draw.exponential(1, 10**6, small()),
                lambda: draw.pure(10**6, spread=small()),
                lambda: draw.gauss(10**4, small()),
                lambda: draw.discrete_laplace(10**4, spread=small()),
            ],
            1,
            3,
        )

    def sampled_mixture():
        parts = [draw.sampled_gauss(10**8, 1, draw.log(0.2, 5))]
        return parts + mixture(
            draw,
            [
                lambda: draw.sampled_gauss(10**8, 1, small()),
                lambda: draw.gauss(10**5, small()),
                lambda: draw.laplace(1, 10**4, small()),
                lambda: draw.pure(10**4, spread=small()),
                lambda: draw.sampled_laplace(10**7, 1, small()),
                lambda: draw.exponential(1, 10**3, small()),
            ],
            1,
            3,
        )

    def arsinh_mixture():
        return [
            draw.arsinh(1, 10**5),
            *mixture(
                draw,
                [
                    lambda: draw.gauss(10**4, small()),
                    lambda: draw.laplace(1, 100, small()),
                    lambda: draw.pure(10, spread=small()),
                ],
                1,
                2,
            ),
        ]

    def sampled_laplace_gauss():
        return [draw.sampled_laplace(10**7, 1, small()), draw.gauss(10**6, small())]

    def two_sampled():
        q, b = draw.few(1e-3, 0.9), draw.few(0.15, 10)
        if rng.random() < 0.5:
            return [SampledLaplace(2, q, b)]
        return [SampledLaplace(1, q, b), SampledLaplace(1, draw.few(1e-3, 0.9), draw.few(0.15, 10))]

    def one_sampled():
        q = draw.few(1e-4, 0.9)
        return [
            SampledGauss(1, q, [draw.few(0.3, 10)]) if rng.random() < 0.6 else SampledLaplace(1, q, draw.few(0.1, 10))
        ]

    return {
        "gaussian": (60, 1, lambda: [draw.gauss()]),
        "gaussians": (40, 1, lambda: [draw.gauss() for _ in range(rng.randint(2, 4))]),
        "poisson-gaussian": (65, 2, lambda: [draw.sampled_gauss()]),
        "poisson-one": (30, 1, one_sampled),
        "poisson-mixture": (30, 2, sampled_mixture),
        "poisson-laplace": (40, 2, lambda: [draw.sampled_laplace()]),
        "poisson-laplace-two": (10, 1, two_sampled),
        "poisson-laplace-gaussian": (30, 2, sampled_laplace_gauss),
        "poisson-pure": (20, 1, lambda: [draw.sampled_pure()]),
        "laplace-few": (85, 1, lambda: [draw.laplace(1, 120)]),
        "laplace-many": (50, 1, lambda: [draw.laplace(100, 10**8, draw.log(1, 20))]),
        "exponential": (40, 1, lambda: [draw.exponential(1, 10**8)]),
        "residues": (40, 1, residues),
        "pure": (50, 1, lambda: [draw.pure()]),
        "response": (40, 1, lambda: [draw.response()]),
        "discrete-laplace": (50, 1, lambda: [draw.discrete_laplace()]),
        "discrete-gaussian": (50, 1, lambda: [draw.discrete_gauss()]),
        "atoms": (50, 1, atoms),
        "many-leaves": (30, 1, many_leaves),
        "gaussian-atoms": (40, 1, gauss_atoms),
        "smooth": (110, 1, smooth),
        "arsinh-one": (10, 1, lambda: [draw.arsinh(1, 1)]),
        "arsinh": (20, 2, lambda: [draw.arsinh(2, 10**6)]),
        "arsinh-mixture": (10, 2, arsinh_mixture),
    }


def compatible(parts):
    return not (any(p.sampled for p in parts) and any(p.relation == "replace" for p in parts))


def tolerance(relative):
    """A power of ten above the bound and the printed digits' rounding."""
    return 10.0 ** math.ceil(math.log10(relative + 5 * 10.0**-DIGITS))


def show(value):
    text = value.str(DIGITS + 8, radius=False)
    return f"{Decimal(text):.{DIGITS - 1}e}".replace("e+", "e")


def agree(one, two):
    return abs(one.value - two.value) <= (arb(one.relative) + arb(two.relative)) * one.value * 2


def make(rows, name, seed):
    out, began = [], time.time()
    for family in families(Draw(random.Random(0))):
        rng = random.Random(f"{seed} {family}")  # a family's rows do not depend on the others
        draw = Draw(rng)
        share, repeats, parts_of = families(draw)[family]
        wanted, start = max(1, round(rows * share / TOTAL)), time.time()
        found, tried, worst, checked, why = 0, 0, 0.0, 0, {}
        while found < wanted:
            tried += 1
            try:
                parts = parts_of()
                if not compatible(parts):
                    continue
                text = text_of(parts, rng)
                for _ in range(min(repeats, wanted - found)):
                    eps = epsilon_for(parts, draw.target(), draw)
                    eps = special(parts, eps, rng)
                    result = profile(parts, exact(eps))
                    if not arb("1e-110") < result.value < arb("0.999"):
                        raise Infeasible("range")
                    if result.relative > 1e-17:
                        raise Infeasible("accuracy")
                    if not result.proved and (rng.random() < 0.15 or rows <= 1000) and result.again:
                        checked += 1
                        if not agree(result, result.again()):
                            raise AssertionError(f"two contours disagree: {text} at {eps}")
                    label = (
                        "exponential-" + family
                        if family != "exponential" and any(isinstance(p, Exponential) for p in parts)
                        else family
                    )
                    out.append((label, eps, show(result.value), f"{tolerance(result.relative):.0e}", text))
                    worst = max(worst, result.relative)
                    found += 1
            except (Infeasible, ArithmeticError, ValueError) as error:
                why[str(error)] = why.get(str(error), 0) + 1
        print(
            f"{family:26} {found:5} rows of {tried:5} plans, {time.time() - start:6.1f} s, worst bound {worst:.0e}, {checked} checked again, {why}",
            flush=True,
        )
        with open(FOLDER / f"{name}.csv", "w", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["family", "epsilon", "delta", "tolerance", "plan"])
            table.writerows(out)
    print(f"{name}: {len(out)} rows in {time.time() - began:.0f} s")


TOTAL = sum(share for share, _, _ in families(Draw(random.Random(0))).values())


# --- known values ---


def check():
    """Known values, and one method against another."""

    def near(parts, eps, delta, places, what=profile):
        got = what(parts, exact(eps))
        ratio = abs(got.value / arb(delta) - 1)
        state = "ok" if ratio < arb(10) ** -places else "WRONG"
        print(
            f"{state:5} {text_of(parts, None)} at {eps}: {got.value.str(25, radius=False)} +- {got.relative:.0e}, off by {float(ratio.mid()):.1e}"
        )
        return state == "ok"

    good = True
    good &= near([Gauss(1, "1")], "4", "0.0000471224120079311986742112149948", 28)
    good &= near([Gauss(1, "10")], "3", "7.30480610175430977782806418957e-200", 28)
    good &= near([Gauss(10000, "50")], "3", "0.183813076544472155970107270201", 28)
    good &= near([Laplace(1, "10")], "0.05", "0.0246900879716673313730135761872", 28)
    good &= near([Laplace(1000, "10")], "10", "0.028034041215477543158447382325", 17)
    good &= near([Laplace(1000, "10")], "17.4236519875374465079382014557", "1e-5", 16)
    good &= near([Laplace(1000, "10")], "23.9444248502046177364629449245", "1e-10", 16)
    good &= near([Pure(10, "0.5")], "2", "0.145466446441117015466115816482", 28)
    good &= near([Pure(100, "0.1")], "3", "0.00136139869483163759359282904263", 28)
    good &= near([Pure(1000, "0.05")], "7.49284706641343724662994449524", "1e-5", 26)
    good &= near([Pure(20, "0.2", "1e-7")], "2", "0.00743254604228266246194555543378", 28)
    good &= near([Pure(1, f"{i / 10}") for i in range(1, 11)], KNOWN_MIXED[0], KNOWN_MIXED[1], 26)
    for eps, delta in (
        ("6.18771238997153907699761150506", "1e-5"),
        ("8.18512296779985257883534418722", "1e-8"),
        ("10.3466898376739950110054579456", "1e-12"),
        ("17.6350610528860231425504706767", "1e-30"),
    ):
        good &= near([SampledGauss(10000, "0.01", ["1"])], eps, delta, 20)

    def add(parts, eps):
        return direction_profile(parts, eps, -1)

    good &= near([SampledGauss(15000, "0.004", ["2"])], "0.961233554544234815678533698955", "1e-5", 20, add)
    good &= near([SampledGauss(50000, "0.001", ["0.8"])], "2.0244055606815233187803408493", "1e-6", 20)
    good &= near([SampledGauss(50000, "0.001", ["0.8"])], "1.84254488906532587437387263479", "1e-6", 20, add)

    def same(name, one, two):
        state = abs(one / two - 1) < arb(10) ** -17
        print("ok   " if state else "WRONG", name, one.str(22), two.str(22))
        return state

    e = exact

    def pair(name, parts, eps, methods):
        one, two = (m(parts, e(eps), 1).value for m in methods)
        return same(f"{name} {text_of(parts, None)} at {eps}", one, two)

    lattice = lambda parts, eps, direction: by_lattice(parts[0], eps, direction)
    good &= pair("lattice", [Pure(300, "0.05")], "2.5", (by_atoms, lattice))
    good &= pair("lattice, a tie", [Pure(300, "0.05")], "3", (by_atoms, lattice))
    good &= pair("lattice", [Response(100, "0.2", 4)], "0.9", (by_atoms, lattice))
    good &= pair("lattice", [DiscreteLaplace(50, "10", 3)], "4", (by_atoms, lattice))
    good &= pair("lattice", [SampledPure(500, "0.1", "1")], "1.3", (by_atoms, lattice))
    good &= pair("residues", [Laplace(120, "0.5")], "140", (by_residues, by_contour))
    good &= pair("residues", [Laplace(90, "0.4"), Exponential(3, "1")], "143", (by_residues, by_contour))
    good &= pair("residues", [Exponential(30, "0.3")], "1", (by_residues, by_contour))
    good &= pair("residues", [Exponential(25, "0.3"), Pure(2, "0.4")], "1", (by_residues, by_contour))
    good &= pair("mixed", [Gauss(4, "3"), Pure(3, "0.7"), DiscreteLaplace(2, "3", 2)], "2", (by_mixed, by_contour))
    good &= pair("mixed", [Gauss(4, "3"), DiscreteGauss(1, "3", 2)], "2", (by_mixed, by_contour))
    closed = lambda parts, eps, direction: direction_profile(parts, eps, direction)
    good &= pair("arsinh", [Arsinh(1, "0.1", "20")], "1", (closed, by_contour))
    good &= pair(
        "large arsinh is Gaussian",
        [Arsinh(3, "0.02", "1e14")],
        "1.1",
        (by_contour, lambda parts, eps, d: direction_profile([Gauss(3, "5")], eps, d)),
    )
    good &= pair("dual", [DiscreteGauss(1, "3", 2)], "1", (by_atoms, lattice))
    good &= pair("dual", [DiscreteGauss(1, "1.6", 3)], "2.2", (by_atoms, lattice))
    good &= pair("no dual", [DiscreteGauss(1, "0.7", 1)], "1.5", (by_atoms, lattice))
    good &= pair(
        "wide discrete Gaussian is Gaussian",
        [DiscreteGauss(9, "150", 40)],
        "1.5",
        (
            lambda parts, eps, d: by_contour([*parts, Gauss(1, "3")], eps, d),
            lambda parts, eps, d: direction_profile([Gauss(9, "150", "40"), Gauss(1, "3")], eps, d),
        ),
    )
    # q = 1 is no sampling
    good &= pair(
        "q = 1",
        [SampledLaplace(1000, "1", "5")],
        "35",
        (by_contour, lambda parts, eps, d: by_contour([Laplace(1000, "5")], eps, d)),
    )

    # plain integrals of (p - e^eps q)_+ over the outputs of two steps, by the midpoint rule in floats: about five digits
    def brute(parts, eps, direction, laws, points=1600):
        got = float(direction_profile(parts, e(eps), direction).value.mid())
        grids = []
        for p, q in laws:
            h = 40 / points
            xs = [-19.5 + (i + 0.5) * h for i in range(points)]
            grids.append([(p(x) * h, q(x) * h) for x in xs if p(x) > 1e-18])
        a = math.exp(float(eps))
        total = math.fsum(max(0.0, u * v - a * w * z) for u, w in grids[0] for v, z in grids[1])
        state = abs(got / total - 1) < 2e-4
        print(
            "ok   " if state else "WRONG",
            f"integral, {text_of(parts, None)} at {eps}, direction {direction}:",
            got,
            total,
        )
        return state

    normal = lambda x, m, s: math.exp(-((x - m) ** 2) / (2 * s * s)) / (s * math.sqrt(2 * math.pi))
    lap = lambda x, m, b: math.exp(-abs(x - m) / b) / (2 * b)
    sinh = lambda x, m: math.cosh((x - m) / 9) * normal(9 * math.sinh((x - m) / 9), 0, math.sqrt(1 / (2 * 0.05)))
    gauss = (lambda x: normal(x, 0, 1.5), lambda x: normal(x, 1, 1.5))
    for direction in (1, -1):
        both = lambda f, q: (lambda x: (1 - q) * f(x, 0) + q * f(x, 1), lambda x: f(x, 0))[::direction]
        good &= brute(
            [SampledGauss(1, "0.3", ["1"]), Gauss(1, "1.5")],
            "0.8",
            direction,
            [both(lambda x, m: normal(x, m, 1), 0.3), gauss],
        )
        good &= brute(
            [SampledLaplace(1, "0.3", "1"), Gauss(1, "1.5")],
            "0.8",
            direction,
            [both(lambda x, m: lap(x, m, 1), 0.3), gauss],
        )
        good &= brute(
            [SampledLaplace(2, "0.3", "0.5")], "0.3", direction, [both(lambda x, m: lap(x, m, 0.5), 0.3)] * 2, 2400
        )
        good &= brute(
            [SampledLaplace(1, "0.3", "0.5"), SampledLaplace(1, "0.6", "1")],
            "0.4",
            direction,
            [both(lambda x, m: lap(x, m, 0.5), 0.3), both(lambda x, m: lap(x, m, 1), 0.6)],
            2400,
        )
    good &= brute([Laplace(2, "1.25")], "0.6", 1, [(lambda x: lap(x, 0, 1.25), lambda x: lap(x, 1, 1.25))] * 2)
    good &= brute(
        [Arsinh(1, "0.05", "9"), Gauss(1, "1.5")], "0.4", 1, [(lambda x: sinh(x, 0), lambda x: sinh(x, 1)), gauss]
    )
    for direction in (1, -1):  # the eight steps of two outcomes, by the definition
        p, q, a = 1 / (1 + math.exp(-0.11)), 1 / (1 + math.exp(0.11)), math.exp(0.33)
        both = (
            [(0.385 * q + 0.615 * p, q), (0.385 * p + 0.615 * q, p)]
            if direction > 0
            else [(p, 0.385 * p + 0.615 * q), (q, 0.385 * q + 0.615 * p)]
        )
        (u, w), (v, z) = both
        total = math.fsum(math.comb(8, i) * max(0.0, u**i * v ** (8 - i) - a * w**i * z ** (8 - i)) for i in range(9))
        got = float(direction_profile([SampledPure(8, "0.615", "0.11")], e("0.33"), direction).value.mid())
        state = abs(got / total - 1) < 1e-11
        print("ok   " if state else "WRONG", f"eight sampled outcomes, direction {direction}:", got, total)
        good &= state
    rate = lambda direction: amplified(lambda a: gaussian_profile(arb(1), a.log()), arb(1) / 4, arb(1) / 5, direction)
    for direction in (1, -1):
        p, q = (lambda x: 0.75 * normal(x, 0, 1) + 0.25 * normal(x, 1, 1), lambda x: normal(x, 0, 1))[::direction]
        total = (
            math.fsum(max(0.0, p(x) - math.exp(0.2) * q(x)) for x in (i / 4000 for i in range(-40000, 40000))) / 4000
        )
        state = abs(float(rate(direction).mid()) / total - 1) < 1e-6
        print("ok   " if state else "WRONG", "one sampled step", float(rate(direction).mid()), total)
        good &= state
    print("all good" if good else "SOMETHING IS WRONG")
    return good


KNOWN_MIXED = ("3", "0.147984434315523865848552009238")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments == ["--check"]:
        sys.exit(0 if check() else 1)
    if arguments:
        make(int(arguments[0]), arguments[1] if len(arguments) > 1 else "profiles", 1)
    else:
        make(300, "profiles", 1)
        make(10000, "profiles_slow", 2)
