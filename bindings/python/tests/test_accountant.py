"""The verbs that users of other libraries know, and plans from their events."""

from dataclasses import dataclass, field

import pytest
import sotto
from sotto import Accountant, Plan, gaussian, poisson


def test_compose_and_get_epsilon_are_epsilon_of_the_sum():
    accountant = Accountant().compose(poisson(0.01, gaussian(1)), 500).compose("laplace(10)").compose(poisson(0.01, gaussian(1)), 500)
    assert str(accountant.plan) == "500 * poisson(0.01, gaussian(1)) + laplace(10) + 500 * poisson(0.01, gaussian(1))"
    assert accountant.get_epsilon(1e-5) == sotto.epsilon(accountant.plan, 1e-5).upper
    assert accountant.get_delta(2) == sotto.delta(accountant.plan, 2).upper
    assert accountant.epsilon(1e-5).lower <= accountant.get_epsilon(1e-5)
    assert str(Accountant().compose(gaussian(1)).compose(gaussian(1), 2).plan) == "3 * gaussian(1)"
    assert Accountant().get_epsilon(1e-5) == 0
    with pytest.raises(sotto.InvalidValue, match="count=0"):
        Accountant().compose(gaussian(1), 0)


def test_opacus_history_is_a_sum_of_sampled_steps():
    history = [(1.0, 0.01, 100), (1.5, 0.02, 50), (2.0, 1, 3)]
    accountant = Accountant.from_opacus(history)
    assert str(accountant.plan) == "100 * poisson(0.01, gaussian(1)) + 50 * poisson(0.02, gaussian(1.5)) + 3 * gaussian(2)"
    stepped = Accountant()
    for _ in range(3):
        stepped.step(noise_multiplier=1.0, sample_rate=0.01)
    assert str(stepped.plan) == "3 * poisson(0.01, gaussian(1))"


# Events as dp_accounting has them, by the names of their classes and fields: the translation needs no more, and the slow test has the real ones.
@dataclass
class GaussianDpEvent:
    noise_multiplier: float


@dataclass
class SelfComposedDpEvent:
    event: object
    count: int


@dataclass
class ComposedDpEvent:
    events: list = field(default_factory=list)


@dataclass
class NoOpDpEvent:
    pass


@dataclass
class RepeatAndSelectDpEvent:
    event: object


def test_trees_of_events_become_plans():
    tree = ComposedDpEvent([SelfComposedDpEvent(GaussianDpEvent(3), 5), NoOpDpEvent(), GaussianDpEvent(2)])
    assert sotto.plan_of(tree) == Plan("5 * gaussian(3) + gaussian(2)")
    assert sotto.plan_of(ComposedDpEvent([NoOpDpEvent()])) is None
    with pytest.raises(sotto.OutsideConditions, match="no plan describes a RepeatAndSelectDpEvent"):
        sotto.plan_of(RepeatAndSelectDpEvent(tree))


@pytest.mark.slow
def test_the_real_dp_accounting_agrees_within_its_own_error():
    dp = pytest.importorskip("dp_accounting", reason="dp_accounting is not installed: ./dev python slow")
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    sampled = dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.0))
    cases = [
        dp.SelfComposedDpEvent(sampled, 1000),
        dp.ComposedDpEvent([dp.SelfComposedDpEvent(dp.LaplaceDpEvent(10.0), 50), dp.GaussianDpEvent(3.0)]),
        dp.SelfComposedDpEvent(dp.dp_event.DiscreteLaplaceDpEvent(0.1, 2), 20),
        dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.1, dp.LaplaceDpEvent(5.0)), 30),
    ]
    for event in cases:
        theirs = PLDAccountant().compose(event).get_epsilon(1e-6)
        ours = Accountant().compose(event).epsilon(1e-6)
        assert ours.upper == pytest.approx(theirs, rel=2e-3), sotto.plan_of(event)
        assert ours.lower <= theirs * (1 + 1e-9)  # theirs is pessimistic by design
    response = dp.dp_event.RandomizedResponseDpEvent(0.5, 4)
    replaced = dp.NeighboringRelation.REPLACE_ONE
    one_by_one = PLDAccountant(neighboring_relation=replaced)  # its count is not counted for this event: docs/howto/switching.md
    for _ in range(10):
        one_by_one.compose(response)
    assert Accountant().compose(response, 10).get_epsilon(1e-6) == pytest.approx(one_by_one.get_epsilon(1e-6), rel=2e-3)
    without = dp.SampledWithoutReplacementDpEvent(1000, 10, dp.GaussianDpEvent(2.0))
    theirs = RdpAccountant(neighboring_relation=replaced).compose(without, 100).get_epsilon(1e-6)
    assert Accountant().compose(without, 100).get_epsilon(1e-6) <= theirs
    with pytest.raises(sotto.OutsideConditions):
        sotto.plan_of(dp.NonPrivateDpEvent())


@pytest.mark.slow
def test_dp_accounting_is_too_small_at_a_small_delta_and_sotto_says_by_how_much():
    dp = pytest.importorskip("dp_accounting", reason="dp_accounting is not installed: ./dev python slow")
    from dp_accounting.pld import PLDAccountant

    event = dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.0)), 10000)
    theirs = PLDAccountant().compose(event).get_epsilon(1e-10)
    ours = Accountant().compose(event).epsilon(1e-10)
    assert theirs < ours.lower
