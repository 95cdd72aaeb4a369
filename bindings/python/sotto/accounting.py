"""The privacy cost of plans: bounds, comparisons, derivations, calibration and curves."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Sequence

from . import _sotto
from ._sotto import Bound, Calibration, Derivation, Method, OverSteps, Plan, PrivacyLoss, Tradeoff
from .errors import InvalidValue, names_arguments, warn_of_delta


def _plan(plan: Plan | str) -> Plan:
    return Plan(plan) if isinstance(plan, str) else plan


@names_arguments
def epsilon(
    plan: Plan | str,
    delta: float,
    *,
    by: str = "tight",
    relation: str | None = None,
    order: float | None = None,
    precision: float | None = None,
    seconds: float | None = None,
) -> Bound:
    """Returns certified upper and lower bounds on the plan's epsilon at `delta`.

    >>> bound = epsilon("10000 * poisson(0.01, gaussian(1))", delta=1e-5)
    >>> bound
    <epsilon <= 6.187713 (>= 6.187712) at delta = 1e-05, by pld, add-remove>
    >>> bound.upper - bound.lower < 1e-9
    True

    `by` selects the accounting method, and `order` the order of a Rényi method. `relation` is the
    neighbouring relation; without it the plan's sampling decides. `precision` is the relative width
    of the interval between the bounds that the method "pld" should reach; with it the call may take
    minutes and a gigabyte. `seconds` limits the time instead of the amount of work, so that the
    result depends on the machine.

    Raises OutsideConditions if no theorem applies, and OutOfWork if the limit is reached before any
    bound is proved. These arguments and errors apply to the other functions of this module too.
    """
    warn_of_delta(delta)
    return _sotto.epsilon(_plan(plan), delta, by, relation, order, precision, seconds)


@names_arguments
def delta(
    plan: Plan | str,
    epsilon: float,
    *,
    by: str = "tight",
    relation: str | None = None,
    order: float | None = None,
    precision: float | None = None,
    seconds: float | None = None,
) -> Bound:
    """Returns certified bounds on the smallest delta for which the plan is (epsilon, delta)-DP.

    >>> delta("gaussian(1)", epsilon=1)
    <delta <= 0.1269368 (>= 0.1269367) at epsilon = 1, by pld, as stated>
    """
    return _sotto.delta(_plan(plan), epsilon, by, relation, order, precision, seconds)


@names_arguments
def divergence(plan: Plan | str, order: float = 2, *, relation: str | None = None, seconds: float | None = None) -> Bound:
    """Returns bounds on the Rényi divergence of an order from 1 (KL) to inf (max divergence).

    >>> divergence("gaussian(1)", 8).upper
    4.0
    """
    return _sotto.divergence(_plan(plan), order, relation, seconds)


class Comparison(Sequence[Method]):
    """A comparison has the bound of every accounting method on one plan, or its refusal.

    `print` shows it as a table.
    """

    def __init__(self, table: _sotto.ComparisonTable):
        self._table = table

    @property
    def plan(self) -> Plan:
        return self._table.plan

    @property
    def delta(self) -> float:
        return self._table.delta

    def __getitem__(self, key):
        """Returns a row by its number or by the name of its method.

        Raises KeyError for an unknown name.
        """
        if isinstance(key, str):
            for row in self._table.rows:
                if row.by == key:
                    return row
            raise KeyError(key)
        return self._table.rows[key]

    def __len__(self) -> int:
        return len(self._table.rows)

    def __iter__(self) -> Iterator[Method]:
        return iter(self._table.rows)

    def text(self, format: str = "table") -> str:
        return self._table.text(format)

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def __repr__(self) -> str:
        return f"<{len(self)} methods for {self.plan} at delta = {self.delta!r}>"

    def to_pandas(self):
        """Returns a pandas DataFrame with a row for each method, the best first."""
        import pandas

        columns = ["by", "upper", "lower", "waste", "noise", "order", "refusal"]
        frame = pandas.DataFrame([[getattr(row, name) for name in columns] for row in self], columns=columns)
        return frame.sort_values("upper", na_position="last", ignore_index=True)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("method", "ε ≤", "waste", "in noise", "order"))
        body = []
        for row in sorted(self, key=lambda row: float("inf") if row.upper is None else row.upper):
            if row.upper is None:
                body.append(f"<tr><td>{row.by}</td><td colspan=4>{html.escape(row.refusal)}</td></tr>")
                continue
            cells = [f"{row.upper:.7g}", *("" if x is None else f"{x:.4g}" for x in (row.waste, row.noise, row.order))]
            body.append(f"<tr><td>{row.by}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
        return f"<table><caption>{html.escape(str(self.plan))}, δ = {self.delta!r}</caption><tr>{head}</tr>{''.join(body)}</table>"


@names_arguments
def compare(
    plan: Plan | str, delta: float, *, order: float | None = None, relation: str | None = None, seconds: float | None = None, noise: bool | None = None
) -> Comparison:
    """Returns the bound and the waste of every method, or the reason why it does not apply.

    >>> compare("500 * gaussian(200)", delta=1e-5)["advanced"].waste
    9.99882...

    The waste is relative to the tight bound. `noise=True` computes the waste in noise even where
    that takes seconds, and `noise=False` never does.
    """
    warn_of_delta(delta)
    return Comparison(_sotto.compare(_plan(plan), delta, order, relation, seconds, noise))


class Explanation:
    """An explanation is the derivation of a bound: a tree of theorems with their conditions."""

    def __init__(self, bound: Bound):
        self.bound = bound

    @property
    def tree(self) -> Derivation:
        return self.bound.derivation

    def text(self, format: str = "table") -> str:
        return self.bound.explanation(format)

    def to_dict(self) -> dict:
        """Returns the derivation in its JSON format."""
        return json.loads(self.text("json"))

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def __repr__(self) -> str:
        return f"<why {self.bound.quantity} <= {self.bound.upper:.7g}: {self.tree.theorem} [{self.tree.reference}]>"

    def _repr_html_(self) -> str:
        def node(step: Derivation) -> str:
            of = f" for <code>{html.escape(step.plan)}</code>" if step.plan else ""
            conditions = "".join(f"<li>with {html.escape(c)}</li>" for c in step.conditions)
            reference = f" [{html.escape(step.reference)}]" if step.reference else ""
            return (
                f"<details open><summary>{html.escape(step.guarantee)}{of}</summary>"
                f"<ul><li>by {html.escape(step.theorem)}{reference}</li>{conditions}</ul>"
                f"<div style='margin-left:1.5em'>{''.join(node(premise) for premise in step.premises)}</div></details>"
            )

        return node(self.tree)


@names_arguments
def explain(
    plan: Plan | str,
    delta: float,
    *,
    by: str = "tight",
    relation: str | None = None,
    order: float | None = None,
    precision: float | None = None,
    seconds: float | None = None,
) -> Explanation:
    """Returns the derivation of epsilon, theorem by theorem.

    >>> explain("10 * gaussian(3)", delta=1e-5).tree.premises[0].conditions
    ['μ = 1.05409']
    """
    warn_of_delta(delta)
    return Explanation(_sotto.epsilon(_plan(plan), delta, by, relation, order, precision, seconds))


@names_arguments
def calibrate(
    plan: Plan | str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    renyi: float | None = None,
    order: float | None = None,
    rho: float | None = None,
    omega: float | None = None,
    by: str = "tight",
    relation: str | None = None,
    precision: float | None = None,
    seconds: float | None = None,
) -> Calibration:
    """Returns the best value of the plan's hole that meets a target.

    That is the least noise, or the most steps, rate or budget.

    >>> from sotto import gaussian, hole
    >>> calibration = calibrate(100 * gaussian(hole), epsilon=1, delta=1e-5)
    >>> calibration.value
    37.30631634815943
    >>> calibration.bound.upper <= 1
    True

    The target is `epsilon` and `delta`, `renyi` at an `order`, `rho` (zCDP), or `rho` and `omega`
    (tCDP). Raises InvalidValue for any other combination.
    """
    targets = "epsilon= and delta=, renyi= and order=, rho=, or rho= and omega="
    if sum((epsilon is not None or delta is not None, renyi is not None, rho is not None)) != 1:
        raise InvalidValue(f"calibrate needs one target: pass {targets}")
    if omega is not None and rho is None:
        raise InvalidValue("omega= goes with rho=: pass both for a tCDP target")
    if epsilon is not None or delta is not None:
        if epsilon is None or delta is None:
            raise InvalidValue(f"epsilon= and delta= go together; the targets are {targets}")
        warn_of_delta(delta)
        return _sotto.calibrate_epsilon(_plan(plan), epsilon, delta, by, relation, order, precision, seconds)
    if renyi is not None and order is None:
        raise InvalidValue("renyi= needs order=, the order of the divergence")
    if rho is not None and order is not None:
        raise InvalidValue("order= does not go with rho=, since zCDP and tCDP bound all orders: leave it out, or pass renyi= and order= for one order")
    return _sotto.calibrate_divergence(_plan(plan), order, renyi, rho, omega, by, relation, precision, seconds)


@names_arguments
def tradeoff(plan: Plan | str, *, relation: str | None = None, seconds: float | None = None) -> Tradeoff:
    """Returns certified upper and lower bounds on the plan's trade-off curve (f-DP).

    The curve bounds how well an attacker can tell two neighbouring tables apart.

    >>> lower, upper = tradeoff("gaussian(1)").true_positive_rate(0.01)
    >>> lower <= 0.09236225 <= upper + 1e-8
    True
    """
    return Tradeoff(_plan(plan), relation, seconds)


trade_off = tradeoff


@names_arguments
def privacy_loss(plan: Plan | str, *, relation: str | None = None, seconds: float | None = None) -> PrivacyLoss:
    """Returns the distribution of the privacy loss L.

    It has P(L > epsilon) and delta(epsilon) as functions of epsilon.
    """
    return PrivacyLoss(_plan(plan), relation, seconds)


@names_arguments
def epsilon_over_steps(
    plan: Plan | str,
    delta: float,
    points: int = 50,
    *,
    even: bool = False,
    by: str = "tight",
    relation: str | None = None,
    order: float | None = None,
    precision: float | None = None,
    seconds: float | None = None,
    progress: Callable[[int, int], None] | bool | None = None,
) -> OverSteps:
    """Returns epsilon after each of `points` numbers of the plan's steps, up to all of them.

    >>> epsilon_over_steps("100 * gaussian(10)", delta=1e-5, points=3).steps
    [1, 10, 100]

    The numbers of steps are spaced geometrically, or evenly with `even=True`. After each point
    `progress(done, total)` is called; `progress=True` shows a bar by tqdm if it is installed.
    """
    if progress is True:
        progress = bar()
    warn_of_delta(delta)
    return _sotto.epsilon_over_steps(_plan(plan), delta, points, even, by, relation, order, precision, seconds, progress or None)


def bar() -> Callable[[int, int], None]:
    """Returns a progress callback, which draws a bar if tqdm is installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return lambda done, total: None
    display = None

    def update(done, total):
        nonlocal display
        if display is None:
            display = tqdm(total=total)
        display.update(done - display.n)
        if done >= total:
            display.close()

    return update
