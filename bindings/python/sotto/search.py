"""The cost of a search over settings of private estimators, before any fit is charged."""

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
    """The predicted cost of several fits together, as `search_cost` returns it. Nothing is charged."""

    fits: int  #: the number of fits
    plan: Plan  #: the plan of all fits together
    bound: Bound  #: certified bounds on the tight epsilon of the plan
    delta: float  #: the delta of the bound
    admitted: int | None  #: the number of fits that the ledger admits, one after the other; None without a ledger
    refusal: str = ""  #: the reason why the ledger refuses the next fit; empty if it admits all

    @property
    def epsilon(self) -> float:
        """A certified upper bound on the epsilon of all fits together."""
        return self.bound.upper

    def require(self) -> SearchCost:
        """Returns this cost. Raises BudgetRefused unless the ledger admits all fits."""
        if self.admitted is None:
            raise BudgetRefused("the estimator has no ledger to charge these fits: pass the estimator ledger=Ledger(…)")
        if self.admitted < self.fits:
            raise BudgetRefused(f"the ledger admits {self.admitted} of {self.fits} fits, and then: {self.refusal}")
        return self

    def __str__(self) -> str:
        admitted = "" if self.admitted is None else f"; the ledger admits {self.admitted if self.admitted < self.fits else 'all'} of them"
        return f"{self.fits} fits: {repr(self.bound)[1:-1]}{admitted}"


@names_arguments
def search_cost(search, n_fits=None, *, n_features=None, delta=None) -> SearchCost:
    """Returns the cost of a search or a cross-validation, and charges nothing.

    `search` is a private estimator, or a pipeline that ends with one, which is fitted `n_fits`
    times. Or it is a GridSearchCV or RandomizedSearchCV of one, whose number of fits is candidates
    times folds, and one for the refit. The refit is assumed to be of the candidate with the largest
    total cost. `n_features` is the number of columns, needed if bounds= has one number for all of
    them. `delta` is the delta of the total, by default that of the estimator. Raises InvalidValue
    if the cost does not follow from these arguments.
    """
    candidates, refits = _candidates_of(search, n_fits)
    events = [(estimator, _event_of(estimator, n_features)) for estimator, _ in candidates]
    first = candidates[0][0]
    if any(estimator.ledger is not first.ledger or estimator._relation() != first._relation() for estimator, _ in candidates):
        raise InvalidValue("the candidates must have one ledger and one relation: costs under different ones do not add up")
    if delta is None:
        if any(estimator.delta != first.delta for estimator, _ in candidates):
            raise InvalidValue("pass delta=…, the delta of the total: the candidates have different values of delta")
        delta = first.delta
    search_fits = [(estimator, event, times) for (estimator, event), (_, times) in zip(events, candidates)]
    # The refit may be of any candidate: compute the total for each distinct one, and report the
    # largest.
    totals = []
    for last in {str(event): (estimator, event, 1) for estimator, event in events}.values() if refits else [None]:
        all_fits = [*search_fits, last] if last else search_fits
        accountant = Accountant(relation=first._relation())
        for _, event, times in all_fits:
            accountant.compose(event, times)
        totals.append((accountant.epsilon(delta), accountant.plan, all_fits))
    bound, plan, all_fits = max(totals, key=lambda total: total[0].upper)
    fits = sum(times for _, _, times in all_fits)
    if first.ledger is None:
        return SearchCost(fits, plan, bound, delta, None)
    admitted, refusal = min((_preview(first.ledger, fits_of_total) for _, _, fits_of_total in totals), key=lambda preview: preview[0])
    return SearchCost(fits, plan, bound, delta, admitted, refusal)


def _candidates_of(search, n_fits):
    """Returns the estimators of a search with their numbers of fits, and whether it refits one."""
    if isinstance(search, (GridSearchCV, RandomizedSearchCV)):
        if n_fits is not None:
            raise InvalidValue("n_fits= goes with an estimator: leave it out for a search, whose fits are counted")
        if isinstance(search, GridSearchCV):
            candidates = list(ParameterGrid(search.param_grid))
        elif isinstance(search.random_state, int):
            candidates = list(ParameterSampler(search.param_distributions, search.n_iter, random_state=search.random_state))
        else:
            raise InvalidValue("pass the search random_state=…, a whole number: the cost depends on the candidates that it draws")
        folds = check_cv(search.cv, classifier=is_classifier(search.estimator)).get_n_splits()
        return [(_last_step(clone(search.estimator).set_params(**candidate)), folds) for candidate in candidates], bool(search.refit)
    if n_fits is None or n_fits < 1 or n_fits != int(n_fits):
        raise InvalidValue("pass n_fits=…, the number of fits of the estimator: a whole number of at least 1")
    return [(_last_step(clone(search)), int(n_fits))], False


def _last_step(estimator):
    """Returns the last step of a pipeline, or the estimator itself.

    Raises InvalidValue unless it is private.
    """
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    if not isinstance(estimator, _Private):
        raise InvalidValue(
            f"{type(estimator).__name__} is no estimator of sotto's: pass one, a pipeline that ends with one, or a GridSearchCV or RandomizedSearchCV of one"
        )
    return estimator


def _event_of(estimator, n_features):
    """Returns the plan of one fit of an estimator with `n_features` columns."""
    width = n_features or width_of_bounds(estimator.bounds)
    if width is None:
        raise InvalidValue("pass n_features=…, the number of columns of X: bounds= has one number for all of them")
    estimator._require_arguments()
    if isinstance(estimator.bounds, dict) and any(isinstance(key, str) for key in estimator.bounds):
        estimator.feature_names_in_ = list(estimator.bounds)  # any order: the cost does not depend on it
    if isinstance(estimator, _Classifier):
        estimator.classes_ = estimator._known_classes(None)
    return estimator._learner(width, **estimator._target()).event


def _preview(ledger, fits):
    """Returns the number of fits that the ledger admits, and why it refuses the next."""
    adds_up = ledger._ledger.adds_up_epsilon
    events = [(event, estimator.delta if adds_up else None) for estimator, event, times in fits for _ in range(times)]
    return ledger._ledger.would_admit_of(events)


__all__ = ["SearchCost", "search_cost"]
