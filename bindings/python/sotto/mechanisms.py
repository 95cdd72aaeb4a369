"""Mechanisms that add noise to numbers and NumPy arrays.

The noise has exactly the stated distribution, rounded to a public grid. `event` is the plan that
one release costs.
"""

from __future__ import annotations

import numpy

from . import _sotto
from ._sotto import Plan
from .errors import InvalidValue, names_arguments, warn_of_delta


class Additive:
    """A mechanism that adds independent noise to each number.

    Create it as Gaussian, Laplace or Arsinh, or from the leaf of a plan as `Additive(leaf)`. With
    `grid` the spacing of the grid is 2^grid, which must be public; by default it follows from the
    scale.
    """

    def __init__(self, leaf: Plan | str | _sotto.Noise, grid: int | None = None):
        if isinstance(leaf, str):
            leaf = Plan(leaf)
        self._noise = leaf if isinstance(leaf, _sotto.Noise) else _sotto.Noise(leaf, grid)

    @property
    def event(self) -> Plan:
        """The plan that one release costs."""
        return self._noise.event

    @property
    def scale(self) -> float:
        """The standard deviation of Gaussian noise (of N for arsinh noise), or b of Laplace noise."""
        return self._noise.scale

    @property
    def grid(self) -> float:
        """The spacing of the grid: released numbers are whole multiples of it."""
        return self._noise.grid

    def margin(self, probability: float = 0.95) -> float:
        """Returns a bound on the error of a released number that holds with this probability."""
        return self._noise.margin(probability)

    @names_arguments
    def release(self, values, out=None, *, each: bool = False):
        """Returns the values with noise, as one event.

        Its sensitivity is that of all values together.

        >>> noisy = Gaussian(10, sensitivity=3).release(numpy.zeros(4))
        >>> noisy.shape
        (4,)

        Returns a float for a number, and a new array of float64 for an array. With `out=array` the
        result is written into that array, a C-contiguous array of float64, which may be `values`.
        With `each=True` every number is a separate query, and the release costs one event for each
        number. Raises InvalidValue if `out` has the wrong type or a value is not finite, and
        OutsideConditions for arsinh noise on several numbers.
        """
        if out is None and numpy.ndim(values) == 0 and not isinstance(values, numpy.ndarray):
            return self._noise.release_number(values)
        if out is None:
            out = numpy.array(values, dtype=numpy.float64, order="C")
        elif not (isinstance(out, numpy.ndarray) and out.dtype == numpy.float64 and out.flags.c_contiguous and out.flags.writeable):
            raise InvalidValue("out= must be a writable, C-contiguous array of float64: pass such an array, or leave out= away for a new one")
        elif out is not values:
            out[...] = values
        self._noise.release_in_place(out, each)
        return out

    def __repr__(self) -> str:
        return f"<{self.event}, on a grid of {self.grid!r}>"


class Gaussian(Additive):
    """Gaussian noise of standard deviation sigma.

    `sensitivity` is the L2 sensitivity of all numbers of a release together.

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
        """Returns the least noise for a target.

        The target is epsilon and delta, rho (zCDP), or epsilon at an order (Rényi DP).

        `classical` uses the classical formula for epsilon and delta instead of the tight one.
        Raises InvalidValue unless the arguments name one target.

        >>> Gaussian.calibrated(epsilon=1, delta=1e-6).scale
        4.22467...
        """
        if rho is not None and epsilon is None and delta is None and order is None:
            noise = _sotto.gaussian_for_zcdp(rho, sensitivity)
        elif epsilon is not None and order is not None and delta is None and rho is None:
            noise = _sotto.gaussian_for_renyi(order, epsilon, sensitivity)
        elif epsilon is not None and delta is not None and order is None and rho is None:
            warn_of_delta(delta)
            noise = _sotto.gaussian_for(epsilon, delta, sensitivity, classical)
        else:
            raise InvalidValue("Gaussian noise is calibrated to one target: pass epsilon= and delta=, rho=, or epsilon= and order=")
        return _of(cls, noise)


class Laplace(Additive):
    """Laplace noise of scale b.

    `sensitivity` is the L1 sensitivity of all numbers of a release together.
    """

    def __init__(self, b: float, sensitivity: float = 1, *, grid: int | None = None):
        super().__init__(_sotto.laplace(b, sensitivity), grid)

    @classmethod
    def calibrated(cls, sensitivity: float = 1, *, epsilon: float) -> Laplace:
        """Returns the least noise for epsilon.

        >>> Laplace.calibrated(2, epsilon=0.5).event
        Plan('laplace(4, sensitivity=2)')
        """
        return _of(cls, _sotto.laplace_for(epsilon, sensitivity))


class Arsinh(Additive):
    """The noise a·arsinh(N/a) on one number, where N is Gaussian. It satisfies tCDP."""

    def __init__(self, rho: float, a: float, sensitivity: float = 1, *, grid: int | None = None):
        super().__init__(_sotto.arsinh(rho, a, sensitivity), grid)


def noise_for(plan: Plan | str, *, epsilon: float, delta: float) -> Additive:
    """Returns the calibrated mechanism of a plan with a hole, such as `100 * gaussian(?)`.

    All of the plan, here 100 releases, costs (epsilon, delta).
    """
    warn_of_delta(delta)
    return Additive(_sotto.noise_for(Plan(plan) if isinstance(plan, str) else plan, epsilon, delta))


def _of(cls, noise):
    """Returns a mechanism of class `cls` with this noise, without its constructor."""
    mechanism = cls.__new__(cls)
    mechanism._noise = noise
    return mechanism
