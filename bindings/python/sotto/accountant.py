"""An accountant with the verbs that users of other libraries know, and plans from their events."""

from __future__ import annotations

from collections.abc import Iterable

from . import _sotto
from ._sotto import Bound, Plan
from .accounting import delta as _delta
from .accounting import epsilon as _epsilon
from .errors import InvalidValue, OutsideConditions, names_arguments


class Accountant:
    """Adds up events; epsilon is the tight one of their sum.

    >>> from sotto import gaussian, poisson
    >>> Accountant().compose(poisson(0.01, gaussian(1.0)), 10_000).get_epsilon(1e-5)
    6.18771238...

    The events are fixed in advance: for events that are chosen from the answers so far, keep a Ledger. `compose` takes plans, their text, and the event
    trees of dp_accounting.
    """

    def __init__(self, *, relation: str | None = None):
        self._relation = relation
        self._events: list[tuple[Plan, int]] = []

    @property
    def plan(self) -> Plan:
        """All events so far."""
        if not self._events:
            raise InvalidValue("nothing was composed yet: compose(event, count) first")
        return sum(count * event if count > 1 else event for event, count in self._events)

    def compose(self, event, count: int = 1) -> Accountant:
        """Adds an event, so many times."""
        plan = plan_of(event)
        if count < 1 or count != int(count):
            raise InvalidValue(f"count={count!r} is not allowed: it must be a whole number from 1")
        if plan is None:
            return self
        if self._events and self._events[-1][0] == plan:
            self._events[-1] = (plan, self._events[-1][1] + int(count))
        else:
            self._events.append((plan, int(count)))
        return self

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """One step of DP-SGD, as Opacus' accountants have it."""
        self.compose(_step(noise_multiplier, sample_rate))

    @classmethod
    def from_opacus(cls, history: Iterable[tuple[float, float, int]]) -> Accountant:
        """From the history of an Opacus accountant: (noise multiplier, sample rate, steps)."""
        accountant = cls()
        for noise, rate, steps in history:
            accountant.compose(_step(noise, rate), steps)
        return accountant

    @names_arguments
    def epsilon(self, delta: float, *, by: str = "tight", precision: float | None = None, seconds: float | None = None) -> Bound:
        """The bound from both sides."""
        return _epsilon(self.plan, delta, by=by, relation=self._relation, precision=precision, seconds=seconds)

    def get_epsilon(self, delta: float) -> float:
        """A certified upper bound."""
        return self.epsilon(delta).upper if self._events else 0.0

    def get_delta(self, epsilon: float) -> float:
        """A certified upper bound."""
        return _delta(self.plan, epsilon, relation=self._relation).upper if self._events else 0.0

    def __repr__(self) -> str:
        return f"<Accountant: {self.plan if self._events else 'nothing composed'}>"


def _step(noise_multiplier: float, sample_rate: float) -> Plan:
    step = _sotto.gaussian(noise_multiplier)
    return step if sample_rate == 1 else _sotto.poisson(sample_rate, step)


def plan_of(event) -> Plan | None:
    """The plan of an event: a plan, its text, or a tree of dp_accounting's events; None for one that touches no data.

    OutsideConditions names an event that no plan describes. Sensitivities are those of the event: 1 for its noise multiplier.
    """
    if isinstance(event, Plan):
        return event
    if isinstance(event, str):
        return Plan(event)
    kind = type(event).__name__
    translate = _EVENTS.get(kind)
    if translate is None:
        known = ", ".join(sorted(_EVENTS))
        raise OutsideConditions(f"no plan describes a {kind}: write what it guarantees, as approx(eps, delta), zcdp(rho) or rdp(alpha, eps). Known are {known}")
    return translate(event)


def _self_composed(event):
    plan = plan_of(event.event)
    return None if plan is None or event.count == 0 else plan if event.count == 1 else event.count * plan


def _composed(event):
    plans = [plan for plan in map(plan_of, event.events) if plan is not None]
    return sum(plans) if plans else None


def _sampled(event, make):
    plan = plan_of(event.event)
    return None if plan is None else make(plan)


def _poisson(event):
    rate = event.sampling_probability
    return None if rate == 0 else _sampled(event, lambda plan: plan if rate == 1 else _sotto.poisson(rate, plan))


def _zcdp(event):
    if event.xi != 0:
        raise OutsideConditions(f"a ZCDpEvent with xi = {event.xi!r} has no plan: only xi = 0 is zCDP")
    return _sotto.zcdp(event.rho)


_EVENTS = {
    "NoOpDpEvent": lambda event: None,
    "GaussianDpEvent": lambda event: _sotto.gaussian(event.noise_multiplier),
    "LaplaceDpEvent": lambda event: _sotto.laplace(event.noise_multiplier),
    "DiscreteLaplaceDpEvent": lambda event: _sotto.discrete_laplace_by_rate(event.noise_parameter, event.sensitivity),
    "RandomizedResponseDpEvent": lambda event: _sotto.randomized_response_by_noise(event.noise_parameter, event.num_buckets),
    "ZCDpEvent": _zcdp,
    "SelfComposedDpEvent": _self_composed,
    "ComposedDpEvent": _composed,
    "PoissonSampledDpEvent": _poisson,
    "SampledWithoutReplacementDpEvent": lambda event: _sampled(
        event, lambda plan: _sotto.without_replacement(event.sample_size, event.source_dataset_size, plan)
    ),
}
