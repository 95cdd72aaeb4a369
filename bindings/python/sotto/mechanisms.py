"""Noise on numbers and NumPy arrays, drawn exactly and rounded to a public grid; each object has the plan event that a release costs."""

from __future__ import annotations

import numpy

from . import _sotto
from ._sotto import Plan
from .errors import InvalidValue, names_arguments, warn_of_delta


class Additive:
    """Noise that is added to numbers. Made by Gaussian, Laplace or Arsinh, or `Additive(leaf)` of a plan's leaf."""

    def __init__(self, leaf: Plan | str | _sotto.Noise, grid: int | None = None):
        if isinstance(leaf, str):
            leaf = Plan(leaf)
        self._noise = leaf if isinstance(leaf, _sotto.Noise) else _sotto.Noise(leaf, grid)

    @property
    def event(self) -> Plan:
        """What one release costs."""
        return self._noise.event

    @property
    def scale(self) -> float:
        return self._noise.scale

    @property
    def grid(self) -> float:
        """Releases are whole multiples of it."""
        return self._noise.grid

    def margin(self, probability: float = 0.95) -> float:
        """How far a release is from the value with this probability, at most."""
        return self._noise.margin(probability)

    @names_arguments
    def release(self, values, out=None, *, each: bool = False):
        """The values with noise: one event, whose sensitivity is that of all of them together.

        >>> noisy = Gaussian(10, sensitivity=3).release(numpy.zeros(4))
        >>> noisy.shape
        (4,)

        A number gives a float, anything else a new array of doubles. `out=array`, a C-contiguous array of doubles that may be `values` itself, takes
        the result in place, without a copy. With `each=True` every number is a query of its own: together they cost as many events as there are numbers.
        """
        if out is None and numpy.ndim(values) == 0 and not isinstance(values, numpy.ndarray):
            return self._noise.release_number(values)
        if out is None:
            out = numpy.array(values, dtype=numpy.float64, order="C")
        elif not (isinstance(out, numpy.ndarray) and out.dtype == numpy.float64 and out.flags.c_contiguous and out.flags.writeable):
            raise InvalidValue("out= must be a C-contiguous, writable array of float64: it takes the result without a copy")
        elif out is not values:
            out[...] = values
        self._noise.release_in_place(out, each)
        return out

    def __repr__(self) -> str:
        return f"<{self.event}, on a grid of {self.grid!r}>"


class Gaussian(Additive):
    """Gaussian noise of standard deviation sigma; the L2 sensitivity is that of all numbers of a release together.

    >>> Gaussian(10, sensitivity=3).event
    Plan('gaussian(10, sensitivity=3)')
    """

    def __init__(self, sigma: float, sensitivity: float = 1, *, grid: int | None = None):
        super().__init__(_sotto.gaussian(sigma, sensitivity), grid)

    @classmethod
    def calibrated(
        cls,
        sensitivity: float = 1,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        order: float | None = None,
        classical: bool = False,
    ) -> Gaussian:
        """The least noise for epsilon and delta, for rho (zCDP), or for epsilon at an order (Rényi DP).

        >>> Gaussian.calibrated(epsilon=1, delta=1e-6).scale
        4.22467...
        """
        if rho is not None and epsilon is None and delta is None and order is None:
            made = _sotto.gaussian_for_zcdp(rho, sensitivity)
        elif epsilon is not None and order is not None and delta is None and rho is None:
            made = _sotto.gaussian_for_renyi(order, epsilon, sensitivity)
        elif epsilon is not None and delta is not None and order is None and rho is None:
            warn_of_delta(delta)
            made = _sotto.gaussian_for(epsilon, delta, sensitivity, classical)
        else:
            raise InvalidValue("gaussian noise is calibrated to one target: epsilon= and delta=, rho=, or epsilon= and order=")
        return _of(cls, made)


class Laplace(Additive):
    """Laplace noise of scale b; L1 sensitivity."""

    def __init__(self, b: float, sensitivity: float = 1, *, grid: int | None = None):
        super().__init__(_sotto.laplace(b, sensitivity), grid)

    @classmethod
    def calibrated(cls, sensitivity: float = 1, *, epsilon: float) -> Laplace:
        """The least noise for epsilon.

        >>> Laplace.calibrated(2, epsilon=0.5).event
        Plan('laplace(4, sensitivity=2)')
        """
        return _of(cls, _sotto.laplace_for(epsilon, sensitivity))


class Arsinh(Additive):
    """a·arsinh(N/a) on one number, N Gaussian: for tCDP."""

    def __init__(self, rho: float, a: float, sensitivity: float = 1, *, grid: int | None = None):
        super().__init__(_sotto.arsinh(rho, a, sensitivity), grid)


def noise_for(plan: Plan | str, *, epsilon: float, delta: float) -> Additive:
    """The leaf of a plan with holes, calibrated: `100 * gaussian(?)` gives the mechanism to apply 100 times."""
    warn_of_delta(delta)
    return Additive(_sotto.noise_for(Plan(plan) if isinstance(plan, str) else plan, epsilon, delta))


def _of(kind, noise):
    made = kind.__new__(kind)
    made._noise = noise
    return made
