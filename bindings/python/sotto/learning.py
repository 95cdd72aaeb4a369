"""Estimators for scikit-learn that learn under differential privacy.

What is public is said in the constructor: bounds of the features, the classes, about how many units there are. Nothing of that is looked up in the
rows. A fit costs (epsilon, delta), by the plan in `plan_`; with `ledger=` it is charged before a row is read, and the parameters are kept there.
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
        made = sklearn.base._clone_parametrized(self)
        made._family = self._family_here()
        made._is_clone = True
        return made

    def __copy__(self):
        return self._copied(self.__getstate__())

    def __deepcopy__(self, memo):
        return self._copied(copy.deepcopy(self.__getstate__(), memo))

    def _copied(self, state):
        made = type(self).__new__(type(self))
        made.__setstate__(state)
        made._family = self._family_here()
        return made

    def _family_here(self):
        if "_family" not in self.__dict__:
            self._family = Family()
        return self._family

    def _require_one_fit(self, goes_on, rows):
        """BudgetRefused for a second fit without a ledger, of this estimator, its clones, copies and pickles, or from the same rows: nobody adds fits up."""
        if self.repeated_fits not in ("refuse", "allow"):
            raise InvalidValue('repeated_fits= is "refuse" or "allow"')
        is_clone = getattr(self, "_is_clone", False)
        # A clone that reached another process has no family: others may be fitted beside it.
        is_elsewhere = is_clone and "_family" not in self.__dict__
        family = self._family_here()
        if self.ledger is not None or self.repeated_fits == "allow":
            return
        cost = f"each fit costs its own ({self.epsilon!r}, {self.delta!r}), and nobody adds them up"
        remedy = (
            "Pass ledger=Ledger(…), which is charged for each fit and refuses what its budget does not cover; "
            'for rows that are public, repeated_fits="allow"'
        )
        if goes_on or hasattr(self, "parameters_"):
            fitted = "this estimator was fitted before"
        elif is_elsewhere:
            fitted = "this is a clone, in a process of its own, of an estimator that others fit too, as a search with n_jobs does"
        elif family.fits > 0:
            copies = "clones" if is_clone else "copies"
            fitted = f"{copies} of this estimator were fitted {family.fits} times, as a search or a cross-validation does"
        elif were_learned_from(rows):
            fitted = "another estimator learned from these rows without a ledger"
        else:
            return
        raise BudgetRefused(f"{fitted}: {cost}. {remedy}")

    _needs = {
        "epsilon": ("1", "what a fit may cost"),
        "delta": ("1e-6", "well below 1 over the number of units"),
        "bounds": ("(0, 1)", "of the features, (lower, upper) or {column: (low, high)}; what lies outside is moved to the nearer one"),
        "classes": ("[0, 1]", "all that there may be: which ones occur is a secret of the rows"),
        "target_bounds": ("(0, 100)", "of the target, (lower, upper)"),
        "n_units": ("10_000", "about how many units there are: gradients are divided by it, never by the true number"),
    }

    def _require_arguments(self, known=(), units=None):
        """InvalidValue that names all arguments that are missing, of those that have no default; `known` are passed elsewhere."""
        missing = [name for name in self._needs if hasattr(self, name) and getattr(self, name) is None and name not in known]
        if not missing:
            return
        if units is not None and self.max_rows_per_unit is None:
            missing.append("max_rows_per_unit")
        words = ", ".join(f"{name}=…" for name in missing)
        needs = {**self._needs, "max_rows_per_unit": ("1", "how many rows of a unit count at most; what is above is left out, and a higher limit needs more noise")}
        example = ", ".join(f"{name}={needs[name][0]}" for name in missing)
        reasons = "".join(f"\n  {name}: {needs[name][1]}" for name in missing)
        raise InvalidValue(f"pass {words}, from public knowledge:{reasons}\nsuch as {type(self).__name__}({example})")

    def _learner(self, width, *, by_steps=False, **target):
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
        learner = self._learner(rows.shape[1], by_steps=further, **self._target())
        all_rows = rows
        goes_on = further and hasattr(self, "parameters_")
        if units is None and self.max_rows_per_unit not in (None, 1):
            raise InvalidValue("max_rows_per_unit= goes with fit(…, units=…): whose row each one is")
        if goes_on:
            self._require_same_frame(learner, units)
        if units is not None and self.max_rows_per_unit is None:
            raise InvalidValue(
                f"with units= a unit may have several rows: pass {type(self).__name__}(max_rows_per_unit=…), how many of them count at most, from public "
                "knowledge; what is above is left out, and a higher limit needs more noise"
            )
        self._require_one_fit(goes_on, all_rows)
        read_by_others = _warn_of_steps_that_learn(type(self).__name__)
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
        self._keep(learner, units is not None, self._events if goes_on else [])
        if read_by_others:
            self.privacy_statement_ += f"; of {type(self).__name__} alone, and not of {read_by_others}"
        return self

    def _require_same_frame(self, learner, units):
        """Parameters mean nothing under other bounds, and what protects rows does not add up with what protects whole units."""
        if learner.frame != self._frame:
            raise InvalidValue("partial_fit goes on with the same bounds, classes, relation, max_rows_per_unit and layers; for others, fit anew")
        if (units is not None) != self._whole_units:
            raise InvalidValue("partial_fit goes on with units= if it began with them, and without if not: each call protects the same units")

    def _request_of(self, folder):
        """The request that a folder's checkpoints are of: on the disk before it is charged, so that a fit that is stopped is found again."""
        if self.ledger is None:
            raise InvalidValue("checkpoint= goes with ledger=Ledger(…), which seals checkpoints and keeps what was learned")
        if getattr(self, "_is_clone", False):
            raise InvalidValue("checkpoint= is a folder of one fit, and a search or a cross-validation fits clones: pass it to the fit of an estimator of your own")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, "request")
        if not os.path.exists(path):
            made = f"{path}.{os.urandom(6).hex()}"
            with open(made, "x") as file:
                file.write(f"fit-{os.urandom(12).hex()}\n")
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(made, path)  # unless another process was first
            except FileExistsError:
                pass
            os.unlink(made)
            directory = os.open(folder, os.O_RDONLY)
            os.fsync(directory)
            os.close(directory)
        request = _sotto.read_text_file(path).strip()
        if not re.fullmatch(r"fit-[0-9a-f]{24}", request):
            raise InvalidValue(f"{path} names no fit: pass checkpoint= a folder that is new, or the one of a fit that was stopped")
        return request

    def _keep(self, learner, whole_units, before):
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
            found = learner.coefficients()
            self.coef_, self.intercept_ = found[:, :-1], found[:, -1]

    def _relation(self):
        return self.ledger.relation if self.ledger is not None else self.relation

    def _rows(self, X):
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=numpy.float64, order="C")

    def __getstate__(self):
        """A fitted estimator is pickled by its parameters and the text of its events."""
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
        # A clone that reaches another process stays without a family: others may be fitted beside it.
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
    """The steps in front of an estimator that learn from the same rows, in words; warns if there are some."""
    steps = steps_that_learn()
    if not steps:
        return ""
    words = ", ".join(steps)
    warnings.warn(
        f"{words}, in front of {name} in a pipeline, learned from the private rows without noise: the guarantee is of {name} alone. "
        "Scale by public bounds: sotto.BoundedScaler(bounds=…), or bounds= of the estimator; give an encoder its categories=",
        PrivacyWarning,
        stacklevel=outside(),
    )
    return words


def _sum_of(events):
    accountant = Accountant()
    for event in events:
        accountant.compose(event)
    return accountant.plan


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
    def fit(self, X, y, *, units=None, progress=None, checkpoint=None):
        """Learns from rows and their classes. `units`: whose row each one is; without it each row is a unit of its own. `checkpoint`: a folder of this fit
        alone, from which it goes on under its charge if it was stopped, and has its kept parameters if it was not."""
        return self._fit(X, y, None, units, progress, checkpoint, further=False)

    @names_arguments
    def partial_fit(self, X, y, classes=None, *, units=None, progress=None, checkpoint=None):
        """Learns on from these rows, starting at the parameters so far: a further training, at a cost of its own. `plan_` is the sum of all."""
        return self._fit(X, y, classes, units, progress, checkpoint, further=True)

    def _fit(self, X, y, classes, units, progress, checkpoint, further):
        goes_on = further and hasattr(self, "parameters_")
        X, y = validate_data(self, X, y, dtype=numpy.float64, order="C", reset=not goes_on)
        check_classification_targets(y)
        self._require_arguments(known=() if classes is None and not hasattr(self, "parameters_") else ("classes",), units=units)
        known = self._known_classes(classes)
        if goes_on and not numpy.array_equal(known, self.classes_):
            raise InvalidValue("partial_fit goes on with the same classes; for others, fit anew")
        kind = type_of_target(y)
        if self._binary and kind == "multiclass":
            raise InvalidValue(f"Only binary classification is supported. The type of the target is {kind}: use SoftmaxRegression or MLPClassifier")
        codes = numpy.searchsorted(known, y)
        codes = numpy.minimum(codes, len(known) - 1)
        if not (known[codes] == y).all():
            raise InvalidValue("a row has a class that is not in classes=: list it, or leave such rows out")
        self.classes_ = known
        return self._learn(X, codes.astype(numpy.float64), units, progress, checkpoint, further)

    def _known_classes(self, passed):
        """As the constructor has them; or partial_fit's own, as its protocol wants it; in later calls those of the first."""
        if self.classes is not None:
            known = numpy.unique(numpy.asarray(self.classes))
            if passed is not None and not numpy.isin(passed, known).all():
                raise InvalidValue("partial_fit(…, classes=…) has one that the constructor's classes= has not: leave it out, since the constructor's count")
        elif passed is not None:
            known = numpy.unique(numpy.asarray(passed))
        elif hasattr(self, "parameters_"):
            known = self.classes_
        else:
            self._require_arguments()
        if len(known) < 2:
            raise InvalidValue("classes= needs at least two: with one class there is nothing to learn")
        if self._binary and len(known) != 2:
            raise InvalidValue(f"{type(self).__name__} tells two classes apart, and classes= has {len(known)}: use SoftmaxRegression or MLPClassifier")
        return known

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
    bounds : (lower, upper), numbers or one for each feature; a list of pairs (low, high); or a dict {{column: (low, high)}}; from public knowledge.
        Features are moved into them and scaled.
    {target}
    n_units : about how many units there are, from public knowledge.
    max_rows_per_unit : needed by `fit(…, units=…)`; a unit's rows are protected together, and at most so many count.
    relation : "add-remove", "replace-one" or "zero-out"; a ledger's own where there is one.
    ledger : a sotto.Ledger that is charged for each fit.
    repeated_fits : "refuse" lets an estimator, its clones and copies be fitted once without a ledger, and no other one on the same rows; "allow" is for
        public rows.
    n_steps, batch_size, clip, step_size, l2 : of the training; what is None is derived from public numbers, and needs no tuning.

    Attributes
    ----------
    privacy_statement_ : what was guaranteed to whom, in words.
    plan_, epsilon_ : the event of the fit, and what it costs at delta; after calls of partial_fit the sum of all, whether they saw the same units or others.
    repeated_ : whether the parameters had been kept in the ledger, so that nothing was charged.
"""


class LogisticRegression(_Probable):
    __doc__ = "Logistic regression of two classes, by private gradient descent." + _DOC.format(target="classes : both of them.")
    _kind, _binary = "logistic", True

    def __init__(self, *, epsilon=None, delta=None, bounds=None, classes=None, n_units=None, max_rows_per_unit=None, relation="add-remove", ledger=None,
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
    __doc__ = "Linear regression from noisy sufficient statistics, or by gradient descent where steps are asked for." + _DOC.format(
        target="target_bounds : (lower, upper) of the target."
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
        """Learns from rows and their numbers. `units`: whose row each one is. `checkpoint`: a folder of this fit alone, from which it goes on under its
        charge if it was stopped; moments are measured at once, and do not need it."""
        return self._fit(X, y, units, progress, checkpoint, further=False)

    @names_arguments
    def partial_fit(self, X, y, *, units=None, progress=None, checkpoint=None):
        """Learns on from these rows by steps, starting at the parameters so far: a further training, at a cost of its own. `plan_` is the sum of all."""
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
        rows = self._rows(X)
        return self._learner_.outputs(rows)[:, 0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


__all__ = ["LinearRegression", "LinearSVC", "LogisticRegression", "MLPClassifier", "SoftmaxRegression"]
