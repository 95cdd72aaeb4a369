"""Public bounds of features, and the detection of pipeline steps that learn from rows."""

from __future__ import annotations

import sys

import numpy
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from .errors import InvalidValue

_FORMS = (
    "bounds= must be (lower, upper), each a number or a list with one number for each feature; "
    "a list of pairs (low, high), one for each feature; or a dict {column: (low, high)}"
)


def feature_bounds(bounds, width, names=None):
    """Returns the lower and the upper bounds of `width` features as two arrays.

    `names` are the names of the columns, if they have some. Raises InvalidValue if the bounds have
    the wrong form, are out of order, or can be read in two ways.
    """
    if isinstance(bounds, dict):
        pairs = _pairs_of(bounds, width, names)
        lower, upper = pairs[:, 0], pairs[:, 1]
    else:
        lower, upper = _ends_of(bounds, width)
    wrong = ~(numpy.isfinite(lower) & numpy.isfinite(upper) & (lower < upper))
    if wrong.any():
        at = int(numpy.flatnonzero(wrong)[0])
        column = f"column {names[at]!r}" if names is not None else f"feature {at}"
        raise InvalidValue(f"the bounds of {column} are {lower[at]:g} and {upper[at]:g}: they must be two finite numbers, the lower one first")
    return lower, upper


def width_of_bounds(bounds):
    """Returns the number of features in the bounds; None if one pair is for all features."""
    if bounds is None:
        return None
    if isinstance(bounds, dict):
        return len(bounds)
    shape = _array(bounds).shape
    if shape == (2,) or len(shape) != 2:
        return None
    return shape[1] if shape[0] == 2 and not _is_list_of_pairs(bounds) else shape[0]


def _array(bounds):
    """Returns the bounds as an array, where one end may be a number for all features.

    Raises InvalidValue for other forms.
    """
    try:
        if len(bounds) == 2 and any(numpy.ndim(end) == 0 for end in bounds) and any(numpy.ndim(end) == 1 for end in bounds):
            bounds = numpy.broadcast_arrays(*(numpy.asarray(end, dtype=float) for end in bounds))
        return numpy.asarray(bounds, dtype=float)
    except (TypeError, ValueError):
        raise InvalidValue(_FORMS) from None


def _is_list_of_pairs(bounds):
    return isinstance(bounds, list) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in bounds)


def _ends_of(bounds, width):
    """Returns the lower and the upper bounds of `width` features, from any form but a dict."""
    array = _array(bounds)
    if array.shape == (2,):
        return numpy.full(width, array[0]), numpy.full(width, array[1])
    is_of_ends, is_of_pairs = array.shape == (2, width), array.shape == (width, 2)
    # Two features: an array of shape (2, 2) is ambiguous. A tuple of lists is (lower, upper), and a
    # list of tuples is a list of pairs; every other combination is refused.
    if is_of_ends and is_of_pairs and not _is_list_of_pairs(bounds):
        is_of_pairs = False
        if not (isinstance(bounds, tuple) and not any(isinstance(end, tuple) for end in bounds)):
            raise InvalidValue(
                "these bounds of two features can be read as (lower, upper) and as two pairs: write pairs as a list of tuples, "
                "[(0, 5), (1, 6)], or a dict, and lower and upper as a tuple of lists, ([0, 1], [5, 6])"
            )
    if is_of_pairs:
        return array[:, 0].copy(), array[:, 1].copy()
    if is_of_ends:
        return array[0].copy(), array[1].copy()
    raise InvalidValue(f"{_FORMS}; there are {width} features, and these bounds have the shape {array.shape}")


def _pairs_of(bounds, width, names):
    """Returns the bounds of a dict as an array of shape (width, 2).

    Raises InvalidValue if its keys are not the columns.
    """
    keys = list(range(width) if names is None else names)
    missing = [key for key in keys if key not in bounds]
    unknown = [key for key in bounds if key not in keys]
    if missing or unknown:
        words = [f"no bounds for {', '.join(map(repr, missing))}"] if missing else []
        words += [f"no column {', '.join(map(repr, unknown))}"] if unknown else []
        nameless = "; the columns of X have no names: use their numbers, from 0, as keys" if names is None else ""
        raise InvalidValue(f"the keys of bounds= must be the columns, {{column: (low, high)}}: there is {' and '.join(words)}{nameless}")
    pairs = []
    for key in keys:
        try:
            pair = numpy.asarray(bounds[key], dtype=float)
        except (TypeError, ValueError):
            pair = numpy.empty(0)
        if pair.shape != (2,):
            raise InvalidValue(f"the bounds of {key!r} must be a pair of numbers, (low, high)")
        pairs.append(pair)
    return numpy.array(pairs)


class BoundedScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scales features by public bounds. It learns nothing from rows, so it costs no budget.

    Parameters
    ----------
    bounds : the bounds of the features, from public knowledge. Either (lower, upper), each a number
        or a list with one number for each feature; or a list of pairs (low, high); or a dict
        {column: (low, high)}. A value outside of its bounds is moved to the nearer bound.
    feature_range : the range of each scaled feature, (-1, 1) by default. Pass it as bounds= to the
        estimator that follows.
    """

    def __init__(self, bounds=None, *, feature_range=(-1, 1)):
        self.bounds = bounds
        self.feature_range = feature_range

    def fit(self, X, y=None):
        """Checks that the bounds fit the columns. Raises InvalidValue if not."""
        X = validate_data(self, X, dtype=numpy.float64)
        self._ends(X)
        return self

    def transform(self, X):
        """Returns the scaled rows."""
        X = validate_data(self, X, dtype=numpy.float64, reset=not hasattr(self, "n_features_in_"))
        lower, upper = self._ends(X)
        low, high = self._range()
        return low + (numpy.clip(X, lower, upper) - lower) * ((high - low) / (upper - lower))

    def _range(self):
        low, high = self.feature_range
        if not (numpy.isfinite(low) and numpy.isfinite(high) and low < high):
            raise InvalidValue("feature_range= must be two numbers, the lower one first")
        return low, high

    def _ends(self, X):
        self._range()
        if self.bounds is None:
            raise InvalidValue("pass bounds=(lower, upper), from public knowledge: bounds computed from the rows would reveal them")
        return feature_bounds(self.bounds, X.shape[1], getattr(self, "feature_names_in_", None))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


def steps_that_learn():
    """Returns the types of the steps of the running pipelines that learn from rows.

    scikit-learn does not tell an estimator that it is part of a pipeline, so the stack of this
    thread is searched for a running Pipeline.fit.
    """
    names = []
    frame = sys._getframe(1)
    while frame is not None:
        pipeline = frame.f_locals.get("self") if frame.f_code.co_name == "fit" else None
        if isinstance(pipeline, Pipeline):
            names += [name for step in pipeline.steps[:-1] for name in _learning_parts(step[1]) if name not in names]
        frame = frame.f_back
    return names


def _learning_parts(step):
    """Returns the types of the parts of a step that learn from rows."""
    if step is None or isinstance(step, str):  # "passthrough", "drop"
        return []
    if isinstance(step, Pipeline):
        return [name for _, part in step.steps for name in _learning_parts(part)]
    if isinstance(step, FeatureUnion):
        return [name for _, part in step.transformer_list for name in _learning_parts(part)]
    if isinstance(step, ColumnTransformer):
        parts = [part for _, part, _ in step.transformers]
        return [name for part in [*parts, step.remainder] for name in _learning_parts(part)]
    if isinstance(step, PolynomialFeatures) or not get_tags(step).requires_fit:
        return []
    # An encoder learns categories, unless categories= lists all of them and it merges no rare ones.
    categories = getattr(step, "categories", "auto")
    if not isinstance(categories, str) and getattr(step, "min_frequency", None) is None and getattr(step, "max_categories", None) is None:
        return []
    return [type(step).__name__]


__all__ = ["BoundedScaler"]
