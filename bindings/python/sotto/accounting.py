"""What a plan costs: thin functions over the library, with defaults and the words of Python."""

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
    """What the plan costs: epsilon at delta, from above and from below.

    >>> bound = epsilon("10000 * poisson(0.01, gaussian(1))", delta=1e-5)
    >>> bound
    <epsilon <= 6.187713 (>= 6.187712) at delta = 1e-05, by pld, add-remove>
    >>> bound.upper - bound.lower < 1e-9
    True

    `by` fixes the method, `order` the order of a Rényi method, `relation` the neighbouring relation. `precision` is the relative width of the bracket
    that is worth minutes; `seconds` a clock in place of counted work.
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
    """The smallest delta for which the plan is (epsilon, delta)-DP.

    >>> delta("gaussian(1)", epsilon=1)
    <delta <= 0.1269368 (>= 0.1269367) at epsilon = 1, by pld, as stated>
    """
    return _sotto.delta(_plan(plan), epsilon, by, relation, order, precision, seconds)


@names_arguments
def divergence(plan: Plan | str, order: float = 2, *, relation: str | None = None, seconds: float | None = None) -> Bound:
    """The Rényi divergence of an order from 1 (Kullback-Leibler) to inf (max divergence).

    >>> divergence("gaussian(1)", 8).upper
    4.0
    """
    return _sotto.divergence(_plan(plan), order, relation, seconds)


class Comparison(Sequence[Method]):
    """Every method side by side: rows, the same as a table, `to_pandas()`."""

    def __init__(self, table: _sotto.ComparisonTable):
        self._table = table

    @property
    def plan(self) -> Plan:
        return self._table.plan

    @property
    def delta(self) -> float:
        return self._table.delta

    def __getitem__(self, key):
        """A row by its number, or by its method's name."""
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
        """A pandas DataFrame, one row a method, the best first."""
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
    """Every method side by side, what each wastes in epsilon and in noise, or why it does not apply.

    >>> compare("500 * gaussian(200)", delta=1e-5)["advanced"].waste
    9.99882...

    `noise=True` also computes the waste in noise where that takes seconds.
    """
    warn_of_delta(delta)
    return Comparison(_sotto.compare(_plan(plan), delta, order, relation, seconds, noise))


class Explanation:
    """Why a bound holds: a tree of theorems."""

    def __init__(self, bound: Bound):
        self.bound = bound

    @property
    def tree(self) -> Derivation:
        return self.bound.derivation

    def text(self, format: str = "table") -> str:
        return self.bound.explanation(format)

    def to_dict(self) -> dict:
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
    """The derivation of epsilon: each theorem, its reference, its conditions with the numbers, what comes out.

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
    """The least noise, or the most steps, rate or budget, that meets a target: what fills the plan's holes.

    >>> from sotto import gaussian, hole
    >>> found = calibrate(100 * gaussian(hole), epsilon=1, delta=1e-5)
    >>> found.value
    37.30631634815943
    >>> found.bound.upper <= 1
    True

    Targets: epsilon and delta; renyi at an order; rho (zCDP); rho and omega (tCDP).
    """
    targets = "epsilon= and delta=, renyi= and order=, rho=, or rho= and omega="
    if sum((epsilon is not None or delta is not None, renyi is not None, rho is not None)) != 1:
        raise InvalidValue(f"calibrate needs one target: {targets}")
    if omega is not None and rho is None:
        raise InvalidValue("omega= goes with rho=: together they are a tCDP target")
    if epsilon is not None or delta is not None:
        if epsilon is None or delta is None:
            raise InvalidValue(f"epsilon= and delta= go together; the targets are {targets}")
        warn_of_delta(delta)
        return _sotto.calibrate_epsilon(_plan(plan), epsilon, delta, by, relation, order, precision, seconds)
    if renyi is not None and order is None:
        raise InvalidValue("renyi= needs order=, the order of the divergence")
    if rho is not None and order is not None:
        raise InvalidValue("order= does not go with rho=: zCDP and tCDP are about all orders; for one use renyi=")
    return _sotto.calibrate_divergence(_plan(plan), order, renyi, rho, omega, by, relation, precision, seconds)


@names_arguments
def tradeoff(plan: Plan | str, *, relation: str | None = None, seconds: float | None = None) -> Tradeoff:
    """What an attacker can tell: the trade-off curve of f-DP, from both sides.

    >>> lower, upper = tradeoff("gaussian(1)").true_positive_rate(0.01)
    >>> lower <= 0.09236225 <= upper + 1e-8
    True
    """
    return Tradeoff(_plan(plan), relation, seconds)


trade_off = tradeoff


@names_arguments
def privacy_loss(plan: Plan | str, *, relation: str | None = None, seconds: float | None = None) -> PrivacyLoss:
    """The distribution of the privacy loss L: P(L > epsilon) beside delta(epsilon)."""
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
    """Epsilon after some of the plan's steps, up to all of them.

    >>> epsilon_over_steps("100 * gaussian(10)", delta=1e-5, points=3).steps
    [1, 10, 100]

    `progress` is told (done, all) after each point; True shows a bar by tqdm.
    """
    if progress is True:
        progress = bar()
    warn_of_delta(delta)
    return _sotto.epsilon_over_steps(_plan(plan), delta, points, even, by, relation, order, precision, seconds, progress or None)


def bar() -> Callable[[int, int], None]:
    """A callback that shows a bar by tqdm, if it is installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return lambda done, total: None
    shown = None

    def tell(done, total):
        nonlocal shown
        if shown is None:
            shown = tqdm(total=total)
        shown.update(done - shown.n)
        if done >= total:
            shown.close()

    return tell
