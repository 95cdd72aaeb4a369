"""What a search over settings of private estimators will cost: its fits are counted and accounted together, before any of them is charged."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, ParameterSampler, RandomizedSearchCV, check_cv

from ._sotto import Bound, Plan
from .accountant import Accountant
from .errors import BudgetRefused, InvalidValue, names_arguments
from .features import width_of_bounds
from .learning import _Classifier, _Private


@dataclass(frozen=True)
class SearchCost:
    """What fits will cost together: `search_cost` makes it, and charges nothing."""

    fits: int  #: how many there are
    plan: Plan  #: all of them
    bound: Bound  #: the tight epsilon of the plan, from both sides
    delta: float
    admitted: int | None  #: how many of them the ledger admits, one after the other; None without a ledger
    refusal: str = ""  #: why the ledger refuses the next

    @property
    def epsilon(self) -> float:
        return self.bound.upper

    def require(self) -> SearchCost:
        """BudgetRefused unless the ledger admits all of them, before any is charged."""
        if self.admitted is None:
            raise BudgetRefused("no ledger would add these fits up: pass the estimator ledger=Ledger(…)")
        if self.admitted < self.fits:
            raise BudgetRefused(f"the ledger admits {self.admitted} of {self.fits} fits, and then: {self.refusal}")
        return self

    def __str__(self) -> str:
        admitted = "" if self.admitted is None else f"; the ledger admits {self.admitted if self.admitted < self.fits else 'all'} of them"
        return f"{self.fits} fits: {repr(self.bound)[1:-1]}{admitted}"


@names_arguments
def search_cost(search, n_fits=None, *, n_features=None, delta=None) -> SearchCost:
    """What a search or a cross-validation will cost, before it is charged.

    `search` is an estimator of this module, or a pipeline that ends with one, which is fitted `n_fits` times; or a GridSearchCV or RandomizedSearchCV of
    such, whose fits are counted: candidates times folds, and the refit, taken to be the costliest. `n_features` is needed where bounds= has one number
    for all. `delta` is of the total; without it the estimator's own.
    """
    fitted, refits = _fitted_by(search, n_fits)
    events = [(estimator, _event_of(estimator, n_features)) for estimator, _ in fitted]
    first = fitted[0][0]
    if any(one.ledger is not first.ledger or one._relation() != first._relation() for one, _ in fitted):
        raise InvalidValue("the candidates have one ledger and one relation: what protects under one does not add up with what protects under another")
    if delta is None:
        if any(one.delta != first.delta for one, _ in fitted):
            raise InvalidValue("pass delta=…, of the total: the candidates have different ones")
        delta = first.delta
    counted = [(estimator, event, times) for (estimator, event), (_, times) in zip(events, fitted)]
    totals = []
    for last in {str(event): (estimator, event, 1) for estimator, event in events}.values() if refits else [None]:
        all_fits = [*counted, last] if last else counted
        accountant = Accountant(relation=first._relation())
        for _, event, times in all_fits:
            accountant.compose(event, times)
        totals.append((accountant.epsilon(delta), accountant.plan, all_fits))
    bound, plan, all_fits = max(totals, key=lambda total: total[0].upper)
    fits = sum(times for _, _, times in all_fits)
    if first.ledger is None:
        return SearchCost(fits, plan, bound, delta, None)
    admitted, refusal = min((_admitted(first.ledger, orders) for _, _, orders in totals), key=lambda found: found[0])
    return SearchCost(fits, plan, bound, delta, admitted, refusal)


def _fitted_by(search, n_fits):
    """The estimators that a search fits, each so many times; and whether it fits one of them again."""
    if isinstance(search, (GridSearchCV, RandomizedSearchCV)):
        if n_fits is not None:
            raise InvalidValue("n_fits= goes with an estimator: those of a search are counted")
        if isinstance(search, GridSearchCV):
            candidates = list(ParameterGrid(search.param_grid))
        elif isinstance(search.random_state, int):
            candidates = list(ParameterSampler(search.param_distributions, search.n_iter, random_state=search.random_state))
        else:
            raise InvalidValue("pass the search random_state=…, a number: which candidates it draws decides what they cost")
        folds = check_cv(search.cv, classifier=is_classifier(search.estimator)).get_n_splits()
        return [(_last_step(clone(search.estimator).set_params(**candidate)), folds) for candidate in candidates], bool(search.refit)
    if n_fits is None or n_fits < 1 or n_fits != int(n_fits):
        raise InvalidValue("pass n_fits=…, a whole number from 1: how often the estimator is fitted")
    return [(_last_step(clone(search)), int(n_fits))], False


def _last_step(estimator):
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    if not isinstance(estimator, _Private):
        raise InvalidValue(f"{type(estimator).__name__} is no estimator of sotto's, no pipeline that ends with one, and no GridSearchCV or RandomizedSearchCV of such")
    return estimator


def _event_of(estimator, n_features):
    width = n_features or width_of_bounds(estimator.bounds)
    if width is None:
        raise InvalidValue("pass n_features=…, the number of columns of X: bounds= has one number for all of them")
    estimator._require_arguments()
    if isinstance(estimator.bounds, dict) and any(isinstance(key, str) for key in estimator.bounds):
        estimator.feature_names_in_ = list(estimator.bounds)  # in any order: the cost is the same
    if isinstance(estimator, _Classifier):
        estimator.classes_ = estimator._known_classes(None)
    return estimator._learner(width, **estimator._target()).event


def _admitted(ledger, orders):
    """How many of these fits the ledger admits, and why not the next."""
    adds_up = ledger._ledger.adds_up_epsilon
    events = [(event, estimator.delta if adds_up else None) for estimator, event, times in orders for _ in range(times)]
    return ledger._ledger.would_admit_of(events)


__all__ = ["SearchCost", "search_cost"]
