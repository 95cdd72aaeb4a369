"""An accountant for events of Opacus and dp_accounting, which become plans."""

from __future__ import annotations

from collections.abc import Iterable

from . import _sotto
from ._sotto import Bound, Plan
from .accounting import delta as _delta
from .accounting import epsilon as _epsilon
from .errors import InvalidValue, OutsideConditions, names_arguments


class Accountant:
    """An accountant composes events and returns the tight epsilon or delta of their composition.

    >>> from sotto import gaussian, poisson
    >>> Accountant().compose(poisson(0.01, gaussian(1.0)), 10_000).get_epsilon(1e-5)
    6.18771238...

    The bounds hold for events that are fixed in advance. Use a Ledger for events that are chosen
    after earlier answers. `relation` is the neighbouring relation, such as "replace-one"; without
    it the sampling of the events decides.
    """

    def __init__(self, *, relation: str | None = None):
        self._relation = relation
        self._events: list[tuple[Plan, int]] = []

    @property
    def plan(self) -> Plan:
        """The plan of all events so far. Raises InvalidValue if there are none."""
        if not self._events:
            raise InvalidValue("the accountant has no events: call compose(event, count) first")
        return sum(count * event if count > 1 else event for event, count in self._events)

    def compose(self, event, count: int = 1) -> Accountant:
        """Adds an event `count` times and returns the accountant.

        The event is a plan, the text of a plan, or an event of dp_accounting. Raises InvalidValue
        if `count` is not a positive whole number, and OutsideConditions if no plan describes the
        event.
        """
        plan = plan_of(event)
        if count < 1 or count != int(count):
            raise InvalidValue(f"count={count!r} is not allowed: pass a whole number of at least 1")
        if plan is None:
            return self
        if self._events and self._events[-1][0] == plan:
            self._events[-1] = (plan, self._events[-1][1] + int(count))
        else:
            self._events.append((plan, int(count)))
        return self

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Adds one step of DP-SGD, with the arguments of Opacus' accountants."""
        self.compose(_step(noise_multiplier, sample_rate))

    @classmethod
    def from_opacus(cls, history: Iterable[tuple[float, float, int]]) -> Accountant:
        """Returns the accountant of an Opacus history.

        The history is a sequence of (noise multiplier, sample rate, steps).
        """
        accountant = cls()
        for noise, rate, steps in history:
            accountant.compose(_step(noise, rate), steps)
        return accountant

    @names_arguments
    def epsilon(self, delta: float, *, by: str = "tight", precision: float | None = None, seconds: float | None = None) -> Bound:
        """Returns certified bounds on epsilon, with the arguments of `sotto.epsilon`."""
        return _epsilon(self.plan, delta, by=by, relation=self._relation, precision=precision, seconds=seconds)

    def get_epsilon(self, delta: float) -> float:
        """Returns a certified upper bound on epsilon at `delta`; 0 if there are no events."""
        return self.epsilon(delta).upper if self._events else 0.0

    def get_delta(self, epsilon: float) -> float:
        """Returns a certified upper bound on delta at `epsilon`; 0 if there are no events."""
        return _delta(self.plan, epsilon, relation=self._relation).upper if self._events else 0.0

    def __repr__(self) -> str:
        return f"<Accountant: {self.plan if self._events else 'nothing composed'}>"


def _step(noise_multiplier: float, sample_rate: float) -> Plan:
    step = _sotto.gaussian(noise_multiplier)
    return step if sample_rate == 1 else _sotto.poisson(sample_rate, step)


def plan_of(event) -> Plan | None:
    """Returns the plan of an event, or None for an event that reads no data.

    An event is a plan, the text of a plan, or an event of dp_accounting, which may contain events.
    A noise multiplier becomes noise for sensitivity 1. Raises OutsideConditions if no plan
    describes an event.
    """
    if isinstance(event, Plan):
        return event
    if isinstance(event, str):
        return Plan(event)
    kind = type(event).__name__
    translate = _EVENTS.get(kind)
    if translate is None:
        known = ", ".join(sorted(_EVENTS))
        raise OutsideConditions(f"no plan describes a {kind}: pass its guarantee, as approx(eps, delta), zcdp(rho) or rdp(alpha, eps), or one of these events: {known}")
    return translate(event)


def _self_composed(event):
    plan = plan_of(event.event)
    return None if plan is None or event.count == 0 else plan if event.count == 1 else event.count * plan


def _composed(event):
    plans = [plan for plan in map(plan_of, event.events) if plan is not None]
    return sum(plans) if plans else None


def _sampled(event, sample):
    """Returns sample(plan) for the plan of the sampled event; None if it reads no data."""
    plan = plan_of(event.event)
    return None if plan is None else sample(plan)


def _poisson(event):
    rate = event.sampling_probability
    return None if rate == 0 else _sampled(event, lambda plan: plan if rate == 1 else _sotto.poisson(rate, plan))


def _zcdp(event):
    if event.xi != 0:
        raise OutsideConditions(f"a ZCDpEvent with xi = {event.xi!r} has no plan: only xi = 0 is zCDP. Pass an event with xi = 0, or its guarantee as rdp(alpha, eps)")
    return _sotto.zcdp(event.rho)


# The plan of each of dp_accounting's events, by the name of its class: dp_accounting is not
# imported.
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
