"""Estimators for scikit-learn that learn under differential privacy.

What is public is said in the constructor: bounds of the features, the classes, about how many units there are. Nothing of that is looked up in the
rows. A fit costs (epsilon, delta), by the plan in `plan_`; with `ledger=` it is charged before a row is read, and the parameters are kept there.
"""

from __future__ import annotations

import os

import numpy
import sklearn.base
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from . import _sotto
from .errors import BudgetRefused, InvalidValue, names_arguments


class _Family:
    """An estimator and its clones: how often they were fitted."""

    def __init__(self):
        self.fits = 0

    def __deepcopy__(self, memo):
        return self


class _Private(BaseEstimator):
    _kind = ""

    def __init__(
        self,
        *,
        epsilon=None,
        delta=None,
        bounds=None,
        n_units=None,
        max_rows_per_unit=1,
        relation="add-remove",
        ledger=None,
        repeated_fits="refuse",
        n_steps=None,
        batch_size=None,
        clip=None,
        step_size=None,
        l2=None,
        n_jobs=None,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.n_units = n_units
        self.max_rows_per_unit = max_rows_per_unit
        self.relation = relation
        self.ledger = ledger
        self.repeated_fits = repeated_fits
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.clip = clip
        self.step_size = step_size
        self.l2 = l2
        self.n_jobs = n_jobs

    def __sklearn_clone__(self):
        made = sklearn.base._clone_parametrized(self)
        made._family = self.__dict__.setdefault("_family", _Family())
        made._is_clone = True
        return made

    def _require_one_fit(self):
        """A search fits clones of one estimator many times on the same rows: each costs its own."""
        family = self.__dict__.setdefault("_family", _Family())
        if self.repeated_fits not in ("refuse", "allow"):
            raise InvalidValue('repeated_fits= is "refuse" or "allow"')
        if self.ledger is None and self.repeated_fits == "refuse" and getattr(self, "_is_clone", False) and family.fits > 0:
            raise BudgetRefused(
                f"clones of this estimator were fitted {family.fits} times, as a search or a cross-validation does: each fit costs its own "
                f"({self.epsilon!r}, {self.delta!r}), and nobody adds them up. Pass ledger=Ledger(…), which is charged for each fit and refuses what its "
                'budget does not cover; for rows that are public, repeated_fits="allow"'
            )

    def _learner(self, width, **target):
        for name, why in (("epsilon", "what a fit may cost"), ("delta", "well below 1 over the number of units")):
            if getattr(self, name) is None:
                raise InvalidValue(f"pass {name}=…: {why}")
        if self.bounds is None:
            raise InvalidValue("pass bounds=(lower, upper), numbers or one for each feature, from public knowledge: what lies outside is moved to the nearer one")
        if self.n_units is None:
            raise InvalidValue("pass n_units=…, about how many units there are, from public knowledge: gradients are divided by it, never by the true number")
        lower, upper = (numpy.broadcast_to(numpy.asarray(end, dtype=float), width).tolist() for end in self.bounds)
        return _sotto.Learner(
            kind=self._kind,
            lower=lower,
            upper=upper,
            epsilon=self.epsilon,
            delta=self.delta,
            units=self.n_units,
            rows_a_unit=self.max_rows_per_unit,
            relation=self.ledger.relation if self.ledger is not None else self.relation,
            steps=self.n_steps,
            batch=self.batch_size,
            clip=self.clip,
            step_size=self.step_size,
            l2=self.l2,
            **target,
        )

    def _learn(self, learner, rows, targets, units, progress):
        self._require_one_fit()
        if units is None and self.max_rows_per_unit != 1:
            raise InvalidValue("max_rows_per_unit= goes with fit(…, units=…): whose row each one is")
        if units is not None:
            rows, targets, units = _at_most(rows, targets, units, self.max_rows_per_unit)
        ledger = None if self.ledger is None else self.ledger._ledger
        request = f"fit-{os.urandom(12).hex()}"
        learner.learn(rows, targets, units, ledger, request, f"{type(self).__name__}.fit", self.n_jobs or 0, progress)
        self._family.fits += 1
        self._keep(learner)
        return self

    def _keep(self, learner):
        self._learner_ = learner
        self.plan_ = learner.event
        self.epsilon_ = learner.epsilon
        self.privacy_statement_ = learner.statement
        self.parameters_ = numpy.array(learner.parameters)
        if self._kind != "network":
            found = learner.coefficients()
            self.coef_, self.intercept_ = found[:, :-1], found[:, -1]

    def _rows(self, X):
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=numpy.float64, order="C")

    def __getstate__(self):
        """A fitted estimator is pickled by its parameters."""
        state = dict(super().__getstate__())
        for name in ("_family", "_is_clone"):
            state.pop(name, None)
        if "_learner_" in state:
            del state["_learner_"], state["plan_"]
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if hasattr(self, "parameters_"):
            learner = self._learner(self.n_features_in_, **self._target())
            learner.parameters = self.parameters_.tolist()
            self._learner_ = learner
            self.plan_ = learner.event


def _at_most(rows, targets, units, most):
    """The first rows of each unit, at most so many: which ones depends on the unit's own rows alone."""
    units = numpy.unique(column_or_1d(units), return_inverse=True)[1]
    order = numpy.argsort(units, kind="stable")
    place = numpy.empty(len(units), dtype=numpy.int64)
    starts = numpy.flatnonzero(numpy.diff(units[order], prepend=-1))
    place[order] = numpy.arange(len(units)) - numpy.repeat(starts, numpy.diff(numpy.append(starts, len(units))))
    kept = place < most
    return rows[kept], targets[kept], numpy.ascontiguousarray(units[kept], dtype=numpy.int64)


class _Classifier(ClassifierMixin, _Private):
    def _target(self):
        return {"classes": len(self.classes_)}

    @names_arguments
    def fit(self, X, y, *, units=None, progress=None):
        """Learns from rows and their classes. `units`: whose row each one is; without it each row is a unit of its own."""
        X, y = validate_data(self, X, y, dtype=numpy.float64, order="C")
        check_classification_targets(y)
        if self.classes is None:
            raise InvalidValue("pass classes=[…], all that there may be, from public knowledge: which ones occur is a secret of the rows")
        self.classes_ = numpy.unique(numpy.asarray(self.classes))
        if len(self.classes_) < 2:
            raise InvalidValue("classes= needs at least two: with one class there is nothing to learn")
        if self._binary and len(self.classes_) != 2:
            raise InvalidValue(f"{type(self).__name__} tells two classes apart, and classes= has {len(self.classes_)}: use SoftmaxRegression or MLPClassifier")
        kind = type_of_target(y)
        if self._binary and kind == "multiclass":
            raise InvalidValue(f"Only binary classification is supported. The type of the target is {kind}: use SoftmaxRegression or MLPClassifier")
        codes = numpy.searchsorted(self.classes_, y)
        codes = numpy.minimum(codes, len(self.classes_) - 1)
        if not (self.classes_[codes] == y).all():
            raise InvalidValue("a row has a class that is not in classes=: list it, or leave such rows out")
        return self._learn(self._learner(X.shape[1], **self._target()), X, codes.astype(numpy.float64), units, progress)

    def decision_function(self, X):
        found = self._outputs(X)
        return found[:, 0] if found.shape[1] == 1 else found

    def _outputs(self, X):
        rows = self._rows(X)
        return self._learner_.outputs(rows)

    def predict(self, X):
        found = self._outputs(X)
        return self.classes_[(found[:, 0] > 0).astype(int) if found.shape[1] == 1 else found.argmax(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._binary
        tags.non_deterministic = True
        return tags


class _Probable(_Classifier):
    def predict_proba(self, X):
        """The probability of each class."""
        rows = self._rows(X)
        return self._learner_.probabilities(rows)


_DOC = """
    Parameters
    ----------
    epsilon, delta : what a fit costs at most.
    bounds : (lower, upper), numbers or one for each feature, from public knowledge; features are moved into them and scaled.
    {target}
    n_units : about how many units there are, from public knowledge.
    max_rows_per_unit : of `fit(…, units=…)`; a unit's rows are protected together.
    relation : "add-remove", "replace-one" or "zero-out"; a ledger's own where there is one.
    ledger : a sotto.Ledger that is charged for each fit.
    repeated_fits : "refuse" lets no clone be fitted after another without a ledger, as a search would; "allow" does, for public rows.
    n_steps, batch_size, clip, step_size, l2 : of the training; what is None is derived from public numbers, and needs no tuning.

    Attributes
    ----------
    privacy_statement_ : what was guaranteed to whom, in words.
    plan_, epsilon_ : the event of the fit, and what it costs at delta.
"""


class LogisticRegression(_Probable):
    __doc__ = "Logistic regression of two classes, by private gradient descent." + _DOC.format(target="classes : both of them.")
    _kind, _binary = "logistic", True

    def __init__(self, *, epsilon=None, delta=None, bounds=None, classes=None, n_units=None, max_rows_per_unit=1, relation="add-remove", ledger=None,
                 repeated_fits="refuse", n_steps=None, batch_size=None, clip=None, step_size=None, l2=None, n_jobs=None):  # fmt: skip
        _Private.__init__(self, epsilon=epsilon, delta=delta, bounds=bounds, n_units=n_units, max_rows_per_unit=max_rows_per_unit, relation=relation,
                          ledger=ledger, repeated_fits=repeated_fits, n_steps=n_steps, batch_size=batch_size, clip=clip, step_size=step_size, l2=l2,
                          n_jobs=n_jobs)  # fmt: skip
        self.classes = classes


class LinearSVC(_Classifier):
    __doc__ = "A linear support vector machine with squared hinge loss, of two classes." + _DOC.format(target="classes : both of them.")
    _kind, _binary = "svm", True
    __init__ = LogisticRegression.__init__


class SoftmaxRegression(_Probable):
    __doc__ = "Softmax regression of several classes, by private gradient descent." + _DOC.format(target="classes : all of them.")
    _kind, _binary = "softmax", False
    __init__ = LogisticRegression.__init__


class MLPClassifier(_Probable):
    __doc__ = "A multilayer perceptron of several classes, by DP-SGD." + _DOC.format(
        target='classes : all of them.\n    hidden_layer_sizes, activation : (32,), "tanh" or "relu".'
    )
    _kind, _binary = "network", False

    def __init__(self, *, epsilon=None, delta=None, bounds=None, classes=None, hidden_layer_sizes=(32,), activation="tanh", n_units=None,
                 max_rows_per_unit=1, relation="add-remove", ledger=None, repeated_fits="refuse", n_steps=None, batch_size=None, clip=None,
                 step_size=None, l2=None, n_jobs=None):  # fmt: skip
        _Private.__init__(self, epsilon=epsilon, delta=delta, bounds=bounds, n_units=n_units, max_rows_per_unit=max_rows_per_unit, relation=relation,
                          ledger=ledger, repeated_fits=repeated_fits, n_steps=n_steps, batch_size=batch_size, clip=clip, step_size=step_size, l2=l2,
                          n_jobs=n_jobs)  # fmt: skip
        self.classes = classes
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation

    def _target(self):
        return {"classes": len(self.classes_), "hidden": [int(n) for n in self.hidden_layer_sizes], "activation": self.activation}


class LinearRegression(RegressorMixin, _Private):
    __doc__ = "Linear regression from noisy sufficient statistics, or by gradient descent where steps are asked for." + _DOC.format(
        target="target_bounds : (lower, upper) of the target."
    )
    _kind = "linear"

    def __init__(self, *, epsilon=None, delta=None, bounds=None, target_bounds=None, n_units=None, max_rows_per_unit=1, relation="add-remove",
                 ledger=None, repeated_fits="refuse", n_steps=None, batch_size=None, clip=None, step_size=None, l2=None, n_jobs=None):  # fmt: skip
        super().__init__(epsilon=epsilon, delta=delta, bounds=bounds, n_units=n_units, max_rows_per_unit=max_rows_per_unit, relation=relation,
                         ledger=ledger, repeated_fits=repeated_fits, n_steps=n_steps, batch_size=batch_size, clip=clip, step_size=step_size, l2=l2,
                         n_jobs=n_jobs)  # fmt: skip
        self.target_bounds = target_bounds

    def _target(self):
        if self.target_bounds is None:
            raise InvalidValue("pass target_bounds=(lower, upper), from public knowledge")
        lower, upper = self.target_bounds
        return {"target_lower": float(lower), "target_upper": float(upper)}

    @names_arguments
    def fit(self, X, y, *, units=None, progress=None):
        """Learns from rows and their numbers. `units`: whose row each one is."""
        X, y = validate_data(self, X, y, dtype=numpy.float64, order="C", y_numeric=True)
        targets = numpy.ascontiguousarray(column_or_1d(y, warn=True), dtype=numpy.float64)
        self._learn(self._learner(X.shape[1], **self._target()), X, targets, units, progress)
        self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])
        return self

    def predict(self, X):
        rows = self._rows(X)
        return self._learner_.outputs(rows)[:, 0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


__all__ = ["LinearRegression", "LinearSVC", "LogisticRegression", "MLPClassifier", "SoftmaxRegression"]
