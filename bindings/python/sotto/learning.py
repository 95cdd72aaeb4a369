"""Estimators for scikit-learn that learn under differential privacy.

The constructor takes the public facts: bounds of the features, the classes, and the approximate
number of units. They are never computed from the rows. A fit costs at most (epsilon, delta), and
`plan_` is its plan. With `ledger=` a fit is charged before a row is read, and its parameters are
stored in the ledger.
"""

from __future__ import annotations

import copy
import os
import re
import warnings

import numpy
import sklearn.base
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from . import _sotto
from ._sotto import Bound, Plan
from .accountant import Accountant
from .errors import BudgetRefused, InvalidValue, PrivacyWarning, names_arguments, outside, warn_of_delta
from .features import feature_bounds, steps_that_learn
from .repeated_fits import Family, families, remember, were_learned_from


class _Private(BaseEstimator):
    """The base class of all estimators: their arguments, charges and the limit on fits.

    Without a ledger nothing adds up the costs of several fits. An estimator, its clones, copies and
    pickles therefore form a Family, which may be fitted once per process; rows are remembered too.
    """

    _kind = ""

    def __init__(
        self,
        *,
        epsilon=None,
        delta=None,
        bounds=None,
        n_units=None,
        max_rows_per_unit=None,
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
        clone = sklearn.base._clone_parametrized(self)
        clone._family = self._family_here()
        clone._is_clone = True
        return clone

    def __copy__(self):
        return self._from_state(self.__getstate__())

    def __deepcopy__(self, memo):
        return self._from_state(copy.deepcopy(self.__getstate__(), memo))

    def _from_state(self, state):
        """Returns a copy of this estimator with this state, in the family of this estimator."""
        duplicate = type(self).__new__(type(self))
        duplicate.__setstate__(state)
        duplicate._family = self._family_here()
        return duplicate

    def _family_here(self):
        """Returns the family of this estimator in this process; a new one if it has none."""
        if "_family" not in self.__dict__:
            self._family = Family()
        return self._family

    def _require_one_fit(self, goes_on, rows):
        """Raises BudgetRefused for a second fit without a ledger.

        That is a fit of this estimator's family, or of any estimator on the same rows.

        `goes_on` says that partial_fit continues an earlier fit.
        """
        if self.repeated_fits not in ("refuse", "allow"):
            raise InvalidValue('repeated_fits= must be "refuse" or "allow"')
        is_clone = getattr(self, "_is_clone", False)
        # A clone that was pickled to another process has no family, and other clones may be fitted
        # elsewhere.
        is_elsewhere = is_clone and "_family" not in self.__dict__
        family = self._family_here()
        if self.ledger is not None or self.repeated_fits == "allow":
            return
        cost = f"each fit costs a further ({self.epsilon!r}, {self.delta!r}), and nobody adds them up"
        remedy = (
            "Pass ledger=Ledger(…), which is charged for each fit and refuses a fit that its budget does not cover; "
            'for public rows, pass repeated_fits="allow"'
        )
        if goes_on or hasattr(self, "parameters_"):
            fitted = "this estimator was fitted before"
        elif is_elsewhere:
            fitted = "this is a clone, in a process of its own, of an estimator that other processes fit too, as a search with n_jobs does"
        elif family.fits > 0:
            copies = "clones" if is_clone else "copies"
            fitted = f"{copies} of this estimator were fitted {family.fits} times, as a search or a cross-validation does"
        elif were_learned_from(rows):
            fitted = "another estimator learned from these rows without a ledger"
        else:
            return
        raise BudgetRefused(f"{fitted}: {cost}. {remedy}")

    # The required arguments: an example of each, and its meaning.
    _needs = {
        "epsilon": ("1", "the most that a fit may cost"),
        "delta": ("1e-6", "well below 1 over the number of units"),
        "bounds": ("(0, 1)", "the bounds of the features, (lower, upper) or {column: (low, high)}; a value outside is moved to the nearer bound"),
        "classes": ("[0, 1]", "all classes that may occur, even if the rows lack some: which classes occur is private"),
        "target_bounds": ("(0, 100)", "the bounds of the target, (lower, upper)"),
        "n_units": ("10_000", "the approximate number of units; gradients are divided by it, never by the true number"),
    }

    def _require_arguments(self, known=(), units=None):
        """Raises InvalidValue if required arguments are missing, except those in `known`."""
        missing = [name for name in self._needs if hasattr(self, name) and getattr(self, name) is None and name not in known]
        if not missing:
            return
        if units is not None and self.max_rows_per_unit is None:
            missing.append("max_rows_per_unit")
        words = ", ".join(f"{name}=…" for name in missing)
        needs = {**self._needs, "max_rows_per_unit": ("1", "the most rows of a unit that count; further rows are left out, and a higher limit needs more noise")}
        example = ", ".join(f"{name}={needs[name][0]}" for name in missing)
        reasons = "".join(f"\n  {name}: {needs[name][1]}" for name in missing)
        raise InvalidValue(f"pass {words}, from public knowledge:{reasons}\nsuch as {type(self).__name__}({example})")

    def _learner(self, width, *, by_steps=False, **target):
        """Returns the library's learner for `width` features."""
        warn_of_delta(self.delta, self.n_units)
        lower, upper = feature_bounds(self.bounds, width, getattr(self, "feature_names_in_", None))
        return _sotto.Learner(
            kind=self._kind,
            lower=lower.tolist(),
            upper=upper.tolist(),
            epsilon=self.epsilon,
            delta=self.delta,
            units=self.n_units,
            rows_a_unit=1 if self.max_rows_per_unit is None else self.max_rows_per_unit,
            relation=self._relation(),
            steps=self.n_steps,
            batch=self.batch_size,
            clip=self.clip,
            step_size=self.step_size,
            l2=self.l2,
            by_steps=by_steps,
            **target,
        )

    def _learn(self, rows, targets, units, progress, checkpoint, further):
        """Charges and runs a fit, and returns the estimator.

        `further` says that partial_fit was called.
        """
        learner = self._learner(rows.shape[1], by_steps=further, **self._target())
        all_rows = rows
        goes_on = further and hasattr(self, "parameters_")
        if units is None and self.max_rows_per_unit not in (None, 1):
            raise InvalidValue("max_rows_per_unit= goes with fit(…, units=…): pass the unit of each row there")
        if goes_on:
            self._require_same_frame(learner, units)
        if units is not None and self.max_rows_per_unit is None:
            raise InvalidValue(
                f"with units= a unit may have several rows: pass {type(self).__name__}(max_rows_per_unit=…), the most rows of a unit that count, from "
                "public knowledge; further rows are left out, and a higher limit needs more noise"
            )
        self._require_one_fit(goes_on, all_rows)
        unprotected_steps = _warn_of_steps_that_learn(type(self).__name__)
        if units is not None:
            rows, targets, units = _at_most(rows, targets, units, self.max_rows_per_unit)
        ledger = None if self.ledger is None else self.ledger._ledger
        request = f"fit-{os.urandom(12).hex()}" if checkpoint is None else self._request_of(checkpoint)
        start = self.parameters_.tolist() if goes_on else []
        title = f"{type(self).__name__}.{'partial_fit' if further else 'fit'}"
        folder = "" if checkpoint is None else os.fspath(checkpoint)
        self.repeated_ = learner.learn(rows, targets, units, start, ledger, request, title, folder, self.n_jobs or 0, progress)
        self._family.fits += 1
        if self.ledger is None:
            remember(all_rows)
        self._set_result(learner, units is not None, self._events if goes_on else [])
        if unprotected_steps:
            self.privacy_statement_ += f"; of {type(self).__name__} alone, and not of {unprotected_steps}"
        return self

    def _require_same_frame(self, learner, units):
        """Raises InvalidValue unless partial_fit has the bounds and units of the first call.

        Parameters have no meaning under other bounds, and guarantees for rows and for whole units
        do not add up.
        """
        if learner.frame != self._frame:
            raise InvalidValue("partial_fit continues with the same bounds, classes, relation, max_rows_per_unit and layers: call fit to change them")
        if (units is not None) != self._whole_units:
            raise InvalidValue("partial_fit needs units= if the first call had it, and must not have it otherwise: each call protects the same units")

    def _request_of(self, folder):
        """Returns the request of a checkpoint folder; stores a new one if the folder has none.

        It is on the disk before it is charged, so that a stopped fit continues under its charge.
        """
        if self.ledger is None:
            raise InvalidValue("checkpoint= goes with ledger=Ledger(…): its key seals the checkpoints, and it stores the parameters")
        if getattr(self, "_is_clone", False):
            raise InvalidValue("checkpoint= is a folder of one fit, and a search or a cross-validation fits clones: pass checkpoint= to a direct call of fit instead")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, "request")
        if not os.path.exists(path):
            temporary = f"{path}.{os.urandom(6).hex()}"
            with open(temporary, "x") as file:
                file.write(f"fit-{os.urandom(12).hex()}\n")
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(temporary, path)  # fails if another process was first, whose request counts
            except FileExistsError:
                pass
            os.unlink(temporary)
            directory = os.open(folder, os.O_RDONLY)
            os.fsync(directory)
            os.close(directory)
        request = _sotto.read_text_file(path).strip()
        if not re.fullmatch(r"fit-[0-9a-f]{24}", request):
            raise InvalidValue(f"{path} names no fit: pass checkpoint= a new folder, or the folder of a stopped fit")
        return request

    def _set_result(self, learner, whole_units, before):
        """Sets the attributes of a fitted estimator.

        `before` are the events of earlier calls of partial_fit.
        """
        self._learner_ = learner
        self._frame, self._whole_units, self._events = learner.frame, whole_units, [*before, str(learner.event)]
        self.plan_ = _sum_of(self._events)
        if before:
            self.epsilon_, words = _sotto.fit_statement(self.plan_, self.delta, self._relation(), whole_units)
            self.privacy_statement_ = f"{words}, {len(self._events)} calls that are fixed in advance"
        else:
            self.epsilon_, self.privacy_statement_ = learner.epsilon, learner.statement(whole_units)
        self.parameters_ = numpy.array(learner.parameters)
        if self._kind != "network":
            coefficients = learner.coefficients()
            self.coef_, self.intercept_ = coefficients[:, :-1], coefficients[:, -1]

    def _relation(self):
        """Returns the neighbouring relation of the ledger, or of the constructor without a ledger."""
        return self.ledger.relation if self.ledger is not None else self.relation

    def _rows(self, X):
        """Returns the rows to predict, validated. Raises NotFittedError before the first fit."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=numpy.float64, order="C")

    def __getstate__(self):
        """Returns the state for a pickle or a copy: parameters, and events as text."""
        state = dict(super().__getstate__())
        if "_family" in self.__dict__ or not state.get("_is_clone", False):
            state["_family_name"] = self._family_here().name
        for name in ("_family", "_learner_", "plan_"):
            state.pop(name, None)
        return state

    def __setstate__(self, state):
        state = dict(state)
        name = state.pop("_family_name", None)
        family = families.get(name)
        # A clone that is pickled to another process gets no family, since other clones may be
        # fitted elsewhere.
        if family is None and name is not None and not state.get("_is_clone", False):
            family = Family(name)
        if family is not None:
            state["_family"] = family
        super().__setstate__(state)
        if hasattr(self, "parameters_"):
            learner = self._learner(self.n_features_in_, **self._target())
            learner.parameters = self.parameters_.tolist()
            self._learner_ = learner
            self.plan_ = _sum_of(self._events)


def _warn_of_steps_that_learn(name):
    """Returns the pipeline steps in front of an estimator that learn from rows, and warns."""
    steps = steps_that_learn()
    if not steps:
        return ""
    words = ", ".join(steps)
    warnings.warn(
        f"{words}, in front of {name} in a pipeline, learned from the private rows without noise: the guarantee holds for {name} alone. "
        "Scale by public bounds with sotto.BoundedScaler(bounds=…) or with bounds= of the estimator, and pass an encoder its categories=",
        PrivacyWarning,
        stacklevel=outside(),
    )
    return words


def _sum_of(events):
    """Returns the plan of all events together."""
    accountant = Accountant()
    for event in events:
        accountant.compose(event)
    return accountant.plan


def _at_most(rows, targets, units, most):
    """Returns the first `most` rows of each unit, with targets and numbers of units.

    The choice depends on the rows of the unit alone, as the sensitivity requires.
    """
    units = numpy.unique(column_or_1d(units), return_inverse=True)[1]
    order = numpy.argsort(units, kind="stable")
    place = numpy.empty(len(units), dtype=numpy.int64)
    starts = numpy.flatnonzero(numpy.diff(units[order], prepend=-1))
    place[order] = numpy.arange(len(units)) - numpy.repeat(starts, numpy.diff(numpy.append(starts, len(units))))
    counts = place < most
    return rows[counts], targets[counts], numpy.ascontiguousarray(units[counts], dtype=numpy.int64)


class _Classifier(ClassifierMixin, _Private):
    """The base class of all classifiers: their classes, scores and predictions."""

    def _target(self):
        return {"classes": len(self.classes_)}

    @names_arguments
    def fit(self, X, y, *, units=None, progress=None, checkpoint=None):
        """Fits the estimator to rows and their classes, and returns it.

        `units` has the unit of each row; without it each row is a unit. `progress(share)` is called
        as the work advances. `checkpoint` is a folder for this fit alone. If the fit was stopped, a
        repeated call continues it under its charge; if it was finished, the call returns the stored
        parameters. Raises BudgetRefused if the ledger does not cover the fit, or for a second fit
        without a ledger.
        """
        return self._fit(X, y, None, units, progress, checkpoint, further=False)

    @names_arguments
    def partial_fit(self, X, y, classes=None, *, units=None, progress=None, checkpoint=None):
        """Continues the training on these rows, and returns the estimator.

        Each call costs a further (epsilon, delta), and `plan_` is the sum of all calls. The
        arguments are those of `fit`; `classes` is an alternative to classes= of the constructor.
        """
        return self._fit(X, y, classes, units, progress, checkpoint, further=True)

    def _fit(self, X, y, classes, units, progress, checkpoint, further):
        goes_on = further and hasattr(self, "parameters_")
        X, y = validate_data(self, X, y, dtype=numpy.float64, order="C", reset=not goes_on)
        check_classification_targets(y)
        self._require_arguments(known=() if classes is None and not hasattr(self, "parameters_") else ("classes",), units=units)
        known = self._known_classes(classes)
        if goes_on and not numpy.array_equal(known, self.classes_):
            raise InvalidValue("partial_fit continues with the same classes: call fit to change them")
        kind = type_of_target(y)
        if self._binary and kind == "multiclass":
            raise InvalidValue(f"Only binary classification is supported. The type of the target is {kind}: use SoftmaxRegression or MLPClassifier")
        codes = numpy.searchsorted(known, y)
        codes = numpy.minimum(codes, len(known) - 1)
        if not (known[codes] == y).all():
            raise InvalidValue("a row has a class that is not in classes=: add the class, or leave out such rows")
        self.classes_ = known
        return self._learn(X, codes.astype(numpy.float64), units, progress, checkpoint, further)

    def _known_classes(self, passed):
        """Returns the classes.

        They are those of the constructor, else those `passed` to partial_fit, else those of its
        first call.

        Raises InvalidValue if there are none or too few, or if those passed are not among the
        constructor's.
        """
        if self.classes is not None:
            known = numpy.unique(numpy.asarray(self.classes))
            if passed is not None and not numpy.isin(passed, known).all():
                raise InvalidValue("partial_fit(…, classes=…) has a class that is not in the constructor's classes=: leave it out, or add it to the constructor")
        elif passed is not None:
            known = numpy.unique(numpy.asarray(passed))
        elif hasattr(self, "parameters_"):
            known = self.classes_
        else:
            self._require_arguments()
        if len(known) < 2:
            raise InvalidValue("classes= needs at least two classes: with one there is nothing to learn")
        if self._binary and len(known) != 2:
            raise InvalidValue(f"{type(self).__name__} separates two classes, and classes= has {len(known)}: use SoftmaxRegression or MLPClassifier")
        return known

    def decision_function(self, X):
        """Returns the score of each row; for several classes, of each row and class."""
        scores = self._outputs(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _outputs(self, X):
        rows = self._rows(X)
        return self._learner_.outputs(rows)

    def predict(self, X):
        """Returns the class of each row."""
        scores = self._outputs(X)
        return self.classes_[(scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._binary
        tags.non_deterministic = True
        return tags


class _Probable(_Classifier):
    """A classifier that predicts probabilities."""

    def predict_proba(self, X):
        """Returns the probability of each class for each row."""
        rows = self._rows(X)
        return self._learner_.probabilities(rows)


# The second part of the docstring of each estimator.
_DOC = """
    Parameters
    ----------
    epsilon, delta : the most that a fit may cost.
    bounds : the bounds of the features, from public knowledge. Either (lower, upper), each a number
        or a list with one number for each feature; or a list of pairs (low, high); or a dict
        {{column: (low, high)}}. A value outside is moved to the nearer bound, and features are
        scaled to the bounds.
    {target}
    n_units : the approximate number of units, from public knowledge.
    max_rows_per_unit : the most rows of a unit that count, for `fit(…, units=…)`. All rows of a
        unit are protected together.
    relation : "add-remove", "replace-one" or "zero-out". A ledger has its own relation, which is
        used instead.
    ledger : a sotto.Ledger, which is charged for each fit.
    repeated_fits : "refuse" allows one fit without a ledger, of the estimator and all its clones
        and copies, and of all estimators on the same rows. "allow" is for public rows.
    n_steps, batch_size, clip, step_size, l2 : the settings of the training. None derives a setting
        from public numbers, without tuning.

    Attributes
    ----------
    privacy_statement_ : the guarantee in words.
    plan_, epsilon_ : the plan of the fit, and its epsilon at delta. After several calls of
        partial_fit they are for all calls together, whether these had the same units or others.
    repeated_ : whether the parameters were stored in the ledger before, so that nothing was
        charged.
"""


class LogisticRegression(_Probable):
    __doc__ = "Logistic regression for two classes, by private gradient descent." + _DOC.format(target="classes : the list of both classes.")
    _kind, _binary = "logistic", True

    def __init__(self, *, epsilon=None, delta=None, bounds=None, classes=None, n_units=None, max_rows_per_unit=None, relation="add-remove", ledger=None,
                 repeated_fits="refuse", n_steps=None, batch_size=None, clip=None, step_size=None, l2=None, n_jobs=None):  # fmt: skip
        _Private.__init__(self, epsilon=epsilon, delta=delta, bounds=bounds, n_units=n_units, max_rows_per_unit=max_rows_per_unit, relation=relation,
                          ledger=ledger, repeated_fits=repeated_fits, n_steps=n_steps, batch_size=batch_size, clip=clip, step_size=step_size, l2=l2,
                          n_jobs=n_jobs)  # fmt: skip
        self.classes = classes


class LinearSVC(_Classifier):
    __doc__ = "A linear support vector machine for two classes, with squared hinge loss." + _DOC.format(target="classes : the list of both classes.")
    _kind, _binary = "svm", True
    __init__ = LogisticRegression.__init__


class SoftmaxRegression(_Probable):
    __doc__ = "Softmax regression for several classes, by private gradient descent." + _DOC.format(target="classes : the list of all classes.")
    _kind, _binary = "softmax", False
    __init__ = LogisticRegression.__init__


class MLPClassifier(_Probable):
    __doc__ = "A multilayer perceptron for several classes, by DP-SGD." + _DOC.format(
        target='classes : the list of all classes.\n    hidden_layer_sizes, activation : the layers, such as (32,), and "tanh" or "relu".'
    )
    _kind, _binary = "network", False

    def __init__(self, *, epsilon=None, delta=None, bounds=None, classes=None, hidden_layer_sizes=(32,), activation="tanh", n_units=None,
                 max_rows_per_unit=None, relation="add-remove", ledger=None, repeated_fits="refuse", n_steps=None, batch_size=None, clip=None,
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
    __doc__ = "Linear regression from noisy sufficient statistics, or by gradient descent if n_steps is set." + _DOC.format(
        target="target_bounds : (lower, upper), the bounds of the target."
    )
    _kind = "linear"

    def __init__(self, *, epsilon=None, delta=None, bounds=None, target_bounds=None, n_units=None, max_rows_per_unit=None, relation="add-remove",
                 ledger=None, repeated_fits="refuse", n_steps=None, batch_size=None, clip=None, step_size=None, l2=None, n_jobs=None):  # fmt: skip
        super().__init__(epsilon=epsilon, delta=delta, bounds=bounds, n_units=n_units, max_rows_per_unit=max_rows_per_unit, relation=relation,
                         ledger=ledger, repeated_fits=repeated_fits, n_steps=n_steps, batch_size=batch_size, clip=clip, step_size=step_size, l2=l2,
                         n_jobs=n_jobs)  # fmt: skip
        self.target_bounds = target_bounds

    def _target(self):
        lower, upper = self.target_bounds
        return {"target_lower": float(lower), "target_upper": float(upper)}

    @names_arguments
    def fit(self, X, y, *, units=None, progress=None, checkpoint=None):
        """Fits the estimator to rows and their targets, and returns it.

        The arguments and errors are those of the classifiers. `checkpoint` is of use for gradient
        descent only: the noisy statistics are measured in one step.
        """
        return self._fit(X, y, units, progress, checkpoint, further=False)

    @names_arguments
    def partial_fit(self, X, y, *, units=None, progress=None, checkpoint=None):
        """Continues the training on these rows by gradient descent, and returns the estimator.

        Each call costs a further (epsilon, delta), and `plan_` is the sum of all calls.
        """
        return self._fit(X, y, units, progress, checkpoint, further=True)

    def _fit(self, X, y, units, progress, checkpoint, further):
        reset = not (further and hasattr(self, "parameters_"))
        X, y = validate_data(self, X, y, dtype=numpy.float64, order="C", y_numeric=True, reset=reset)
        self._require_arguments(units=units)
        targets = numpy.ascontiguousarray(column_or_1d(y, warn=True), dtype=numpy.float64)
        self._learn(X, targets, units, progress, checkpoint, further)
        self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])
        return self

    def predict(self, X):
        """Returns the predicted target of each row."""
        rows = self._rows(X)
        return self._learner_.outputs(rows)[:, 0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


__all__ = ["LinearRegression", "LinearSVC", "LogisticRegression", "MLPClassifier", "SoftmaxRegression"]
