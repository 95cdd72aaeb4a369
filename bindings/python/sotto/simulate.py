"""Simulations of protocols without a trusted curator, among synthetic users in one process.

They show the error that the absence of a curator costs, as `sotto simulate` does. Noise has no
seed, so measured numbers differ from call to call; predicted ones do not.

>>> simulation = averaging("gopa", users=[100, 300], runs=20)
>>> simulation
<gopa: 2 rows of users, noise, mask_noise, error, predicted, curator, local, variance_ratio, epsilon, paper_epsilon>
>>> simulation.users
array([100., 300.])
>>> (simulation.predicted / simulation.curator).round(2)  # the error is that of a curator
array([1., 1.])
>>> simulation["local"].round(2)
array([0.42, 0.24])
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Callable, Sequence

import numpy

from . import _sotto
from ._sotto import Chart
from .errors import names_arguments

__all__ = ["Simulation", "averaging", "learning", "table", "tables"]

Progress = Callable[[float], None]


class Simulation:
    """The table of results of a simulation.

    Its columns are attributes: numbers are arrays and labels are lists. `print` shows the table of
    `sotto simulate`.
    """

    def __init__(self, report: _sotto.SimulationReport):
        self._report = report
        self._columns = {
            name: numpy.array(column) if column and isinstance(column[0], float) else column for name, column in report.columns.items()
        }

    @property
    def name(self) -> str:
        """The name of the simulation, such as "gopa", "learning" or "table connectivity"."""
        return self._report.simulation

    @property
    def settings(self) -> dict[str, float]:
        """The numeric settings of the simulation, by name."""
        return self._report.settings

    @property
    def columns(self) -> dict[str, numpy.ndarray | list[str]]:
        """The columns by name."""
        return dict(self._columns)

    @property
    def notes(self) -> list[tuple[str, str]]:
        """The assumptions and the meaning of the numbers, as pairs (heading, sentences)."""
        return self._report.notes

    @property
    def chart(self) -> Chart:
        """The chart of the results."""
        return self._report.chart

    def plot(self, ax=None):
        """Draws the chart with matplotlib, on `ax` or on a new figure, and returns the axes."""
        return self.chart.plot(ax)  # type: ignore[attr-defined]

    def svg(self) -> str:
        """Returns the chart as SVG."""
        return self.chart.svg()

    def __getitem__(self, name: str) -> numpy.ndarray | list[str]:
        return self._columns[name]

    def __getattr__(self, name: str) -> numpy.ndarray | list[str]:
        columns = self.__dict__.get("_columns", {})
        if name in columns:
            return columns[name]
        raise AttributeError(f"the simulation has no attribute {name!r}: it has the columns {', '.join(columns)}")

    def __dir__(self):
        return [*super().__dir__(), *self._columns]

    def to_dict(self) -> dict:
        """Returns the results in the JSON format sotto.simulation/1."""
        return json.loads(self.text("json"))

    def to_pandas(self):
        """Returns the results as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self._columns)

    def text(self, format: str = "table") -> str:
        """Returns the results as "table", "json" or "csv"."""
        return self._report.text(format)

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def __repr__(self) -> str:
        rows = len(next(iter(self._columns.values()), []))
        return f"<{self.name}: {rows} {'row' if rows == 1 else 'rows'} of {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>{self.svg()}"


@names_arguments
def averaging(
    model: str = "gopa",
    users: int | Sequence[int] | None = None,
    *,
    epsilon: float | None = None,
    delta: float = 1e-6,
    sigma: float | None = None,
    honest: float | None = None,
    dropouts: float | None = None,
    degree: int | None = None,
    rounds: int | None = None,
    runs: int = 100,
    progress: Progress | None = None,
) -> Simulation:
    """Simulates the mean of one value in [0, 1] from each user.

    The result has a row for each number in `users`. It compares the measured and the predicted
    error with the errors of a trusted curator and of local DP.

    `model` is "central", "local", "shuffle", "gopa", "ring" or "walk". The target is (epsilon,
    delta) for the replacement of one user's value, with epsilon 1 by default; or `sigma` is the
    noise (not for shuffle). `honest` is the share of users who do not collude (gopa and walk).
    `dropouts` is the share of users who leave after the masks were exchanged, and `degree` the
    number of users with whom each user shares masks (gopa). `rounds` is the number of contributions
    of each value (ring and walk). `runs` is the number of repetitions. `progress(share)` is called
    as the work advances. Raises InvalidValue for an argument that the model does not have.
    """
    counts = [] if users is None else [users] if isinstance(users, int) else [int(count) for count in users]
    return Simulation(_sotto.simulate_averaging(model, counts, honest, dropouts, degree, epsilon, delta, sigma, rounds, runs, progress))


@names_arguments
def learning(
    users: int = 1000,
    *,
    rounds: int = 50,
    honest: float = 0.5,
    epsilon: float = 1,
    delta: float = 1e-6,
    clip: float = 1,
    steps: float | Sequence[float] = (0.1, 0.3, 1, 3, 8),
    runs: int = 3,
    data: str | os.PathLike = "",
    label: str = "median_house_value",
    progress: Progress | None = None,
) -> Simulation:
    """Simulates logistic regression by federated gradient descent.

    The protocols are a trusted curator, secure aggregation, local DP, and a token on a random walk.
    (epsilon, delta) is the cost of the whole training for the replacement of one user's records.
    Every user contributes in each of the `rounds`, with gradients clipped to the norm `clip`. The
    result shows the best of the step sizes in `steps`. `data` is a CSV file of public records, and
    the classifier predicts whether `label` is above its mean; without `data` the records are
    synthetic. `honest`, `runs` and `progress` are those of `averaging`.

    >>> simulation = learning(500, rounds=5, runs=1, steps=3)
    >>> simulation.way
    ['no noise', 'central', 'aggregated', 'local', 'walk']
    >>> bool(simulation.accuracy[0] > 0.8)
    True
    """
    step_sizes = [float(steps)] if isinstance(steps, (int, float)) else [float(step) for step in steps]
    return Simulation(_sotto.simulate_learning(users, honest, rounds, epsilon, delta, clip, step_sizes, runs, os.fspath(data), label, progress))


@names_arguments
def table(name: str, *, data: str | os.PathLike = "", label: str = "median_house_value", progress: Progress | None = None) -> Simulation:
    """Returns a recomputed table or figure of the literature, with exact values.

    `tables()` returns the names. Raises InvalidValue for an unknown name.

    >>> print(table("network-gain").text("csv").splitlines()[0])
    users,contributions,noise,local,root
    """
    return Simulation(_sotto.simulation_table(name, os.fspath(data), label, progress))


def tables() -> list[str]:
    """Returns the names that `table` accepts."""
    return _sotto.simulation_tables()
