"""What it costs that nobody is trusted with all the data: protocols among made-up users in one process, as by `sotto simulate`.

Noise cannot be seeded: what was measured differs a little from call to call, what is predicted does not.

>>> found = averaging("gopa", users=[100, 300], runs=20)
>>> found
<gopa: 2 rows of users, noise, mask_noise, error, predicted, curator, local, variance_ratio, epsilon, paper_epsilon>
>>> found.users
array([100., 300.])
>>> (found.predicted / found.curator).round(2)  # a curator's error, without a curator
array([1., 1.])
>>> found["local"].round(2)
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
    """What a simulation found: its columns are attributes, numbers as arrays and labels as lists; `str()` is the command's table."""

    def __init__(self, report: _sotto.SimulationReport):
        self._report = report
        self._columns = {name: numpy.array(found) if found and isinstance(found[0], float) else found for name, found in report.columns.items()}

    @property
    def name(self) -> str:
        """"gopa", "learning", "table connectivity", …"""
        return self._report.simulation

    @property
    def settings(self) -> dict[str, float]:
        return self._report.settings

    @property
    def columns(self) -> dict[str, numpy.ndarray | list[str]]:
        return dict(self._columns)

    @property
    def notes(self) -> list[tuple[str, str]]:
        """What the numbers mean and against whom they hold: a word or two, and sentences."""
        return self._report.notes

    @property
    def chart(self) -> Chart:
        """What is drawn: `chart.svg()`, or `plot()` with matplotlib."""
        return self._report.chart

    def plot(self, ax=None):
        """Draws it with matplotlib, on `ax` or a new figure; returns the axes."""
        return self.chart.plot(ax)  # type: ignore[attr-defined]

    def svg(self) -> str:
        return self.chart.svg()

    def __getitem__(self, name: str) -> numpy.ndarray | list[str]:
        return self._columns[name]

    def __getattr__(self, name: str) -> numpy.ndarray | list[str]:
        columns = self.__dict__.get("_columns", {})
        if name in columns:
            return columns[name]
        raise AttributeError(f"the simulation has no {name!r}: it has the columns {', '.join(columns)}")

    def __dir__(self):
        return [*super().__dir__(), *self._columns]

    def to_dict(self) -> dict:
        """sotto.simulation/1."""
        return json.loads(self.text("json"))

    def to_pandas(self):
        import pandas

        return pandas.DataFrame(self._columns)

    def text(self, format: str = "table") -> str:
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
    """The mean of values in [0, 1], one of each user: how far it is off, measured and predicted, beside a curator's and local DP's, and what it costs.

    `model`: "central", "local", "shuffle", "gopa", "ring" or "walk"; a row for each number of users. The target is (epsilon, delta) for one user's value
    replaced, epsilon 1 by default, or `sigma` is the noise for which one value costs the target (shuffle has none). `honest`, of gopa and walk: the share of
    users who do not collude. `dropouts` and `degree`, of gopa: the share who vanish after masks were exchanged, and with how many others a user shares masks.
    `rounds`, of ring and walk: how often each value is contributed. `progress(share)` is told how far it is.
    """
    numbers = [] if users is None else [users] if isinstance(users, int) else [int(one) for one in users]
    return Simulation(_sotto.simulate_averaging(model, numbers, honest, dropouts, degree, epsilon, delta, sigma, rounds, runs, progress))


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
    """Logistic regression by federated gradient descent: with a trusted curator, aggregated, with local DP, and on a token that walks.

    (epsilon, delta) is for the whole training, one user's records replaced. In each of the rounds every user contributes, gradients clipped to `clip`; the best
    of the steps is shown. `data`: a CSV file of public records, of which is learned whether `label` is above its mean; without it they are made up.

    >>> found = learning(500, rounds=5, runs=1, steps=3)
    >>> found.way
    ['no noise', 'central', 'aggregated', 'local', 'walk']
    >>> bool(found.accuracy[0] > 0.8)
    True
    """
    tried = [float(steps)] if isinstance(steps, (int, float)) else [float(step) for step in steps]
    return Simulation(_sotto.simulate_learning(users, honest, rounds, epsilon, delta, clip, tried, runs, os.fspath(data), label, progress))


@names_arguments
def table(name: str, *, data: str | os.PathLike = "", label: str = "median_house_value", progress: Progress | None = None) -> Simulation:
    """A table or figure of the papers on learning without a trusted curator, recomputed, beside what is exact; `tables()` has the names.

    >>> print(table("network-gain").text("csv").splitlines()[0])
    users,contributions,noise,local,root
    """
    return Simulation(_sotto.simulation_table(name, os.fspath(data), label, progress))


def tables() -> list[str]:
    return _sotto.simulation_tables()
