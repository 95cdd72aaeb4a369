"""Public bounds of features, scaling by them, and what a pipeline's other steps do to a guarantee."""

import copy
import pickle
import warnings

import numpy
import pytest

import sotto

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.compose import ColumnTransformer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from sotto import BoundedScaler, LinearRegression, LogisticRegression, PrivacyWarning
from sotto.features import feature_bounds, width_of_bounds

PUBLIC = {"epsilon": 1, "delta": 1e-5, "classes": [0, 1], "n_units": 2000}


@pytest.fixture(autouse=True)
def rows_that_nobody_learned_from(monkeypatch):
    monkeypatch.setattr(sotto.repeated_fits, "_learned_from", set())


@pytest.fixture(scope="module")
def rows():
    random = numpy.random.default_rng(1)
    X = random.uniform([0, 1], [5, 6], (2000, 2))
    return X, (X[:, 0] + X[:, 1] > 6).astype(int)


# --- bounds ---

WRITTEN = {
    "a list of pairs": [(0, 5), (1, 6)],
    "lower and upper": ([0, 1], [5, 6]),
    "arrays": (numpy.array([0, 1]), numpy.array([5, 6])),
    "by number": {0: (0, 5), 1: (1, 6)},
    "by number in another order": {1: (1, 6), 0: (0, 5)},
}


@pytest.mark.parametrize("written", WRITTEN)
def test_bounds_are_read_as_they_are_meant(written):
    lower, upper = feature_bounds(WRITTEN[written], 2)
    assert lower.tolist() == [0, 1] and upper.tolist() == [5, 6]
    assert width_of_bounds(WRITTEN[written]) == 2


def test_bounds_of_three_features_have_one_meaning():
    for pairs in ([(0, 5), (1, 6), (2, 7)], [[0, 5], [1, 6], [2, 7]], ((0, 5), (1, 6), (2, 7)), numpy.array([[0, 5], [1, 6], [2, 7]])):
        lower, upper = feature_bounds(pairs, 3)
        assert (lower.tolist(), upper.tolist()) == ([0, 1, 2], [5, 6, 7])
        assert width_of_bounds(pairs) == 3
    for ends in (([0, 1, 2], [5, 6, 7]), [[0, 1, 2], [5, 6, 7]], ((0, 1, 2), (5, 6, 7)), numpy.array([[0, 1, 2], [5, 6, 7]])):
        lower, upper = feature_bounds(ends, 3)
        assert (lower.tolist(), upper.tolist()) == ([0, 1, 2], [5, 6, 7])
        assert width_of_bounds(ends) == 3
    assert feature_bounds((0, [1, 2, 3]), 3)[0].tolist() == [0, 0, 0]
    assert feature_bounds((-1, 1), 3)[1].tolist() == [1, 1, 1] and width_of_bounds((-1, 1)) is None


@pytest.mark.parametrize("both", [((0, 5), (1, 6)), [[0, 5], [1, 6]], numpy.array([[0, 5], [1, 6]])], ids=["tuples", "lists", "array"])
def test_bounds_that_can_be_read_in_two_ways_are_refused(both):
    with pytest.raises(sotto.InvalidValue, match="as a list of tuples"):
        feature_bounds(both, 2)


@pytest.mark.parametrize(
    "wrong",
    ["01", 5, (0,), (0, 1, 2), (1, 0), (0, numpy.nan), (0, numpy.inf), (-numpy.inf, 0), [(0, 5)], [(5, 0), (1, 6)], [(0, 5), (1, "a")], {}, {0: (0, 5)},
     {0: (0, 5), 1: (1, 6), 2: (0, 1)}, {0: (0, 5), 1: 6}, {"a": (0, 5)}],
)  # fmt: skip
def test_bounds_that_are_none_are_refused(wrong):
    with pytest.raises(sotto.InvalidValue, match="bounds"):
        feature_bounds(wrong, 2)


def test_bounds_by_column_follow_the_columns():
    by_column = {"b": (1, 6), "a": (0, 5)}
    lower, upper = feature_bounds(by_column, 2, ["a", "b"])
    assert (lower.tolist(), upper.tolist()) == ([0, 1], [5, 6])
    with pytest.raises(sotto.InvalidValue, match="no bounds for 'c' and no column 'b'"):
        feature_bounds(by_column, 2, ["a", "c"])


def test_a_frame_learns_by_bounds_of_its_columns(rows):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    X, y = rows
    frame = pandas.DataFrame(X, columns=["a", "b"])
    model = LogisticRegression(bounds={"b": (1, 6), "a": (0, 5)}, **PUBLIC).fit(frame, y)
    assert model.score(frame, y) > 0.8
    assert (pickle.loads(pickle.dumps(model)).predict(frame) == model.predict(frame)).all()
    with pytest.raises(sotto.InvalidValue, match="no bounds for 'b'"):
        LogisticRegression(bounds={"a": (0, 5), "c": (1, 6)}, **PUBLIC).fit(frame, y)


def test_pairs_learn_what_lower_and_upper_learn(rows):
    X, y = rows
    for bounds in ([(0, 5), (1, 6)], ([0, 1], [5, 6])):
        assert LogisticRegression(bounds=bounds, repeated_fits="allow", **PUBLIC).fit(X, y).score(X, y) > 0.8


def test_all_missing_arguments_are_named_at_once(rows):
    X, y = rows
    with pytest.raises(sotto.InvalidValue) as raised:
        LogisticRegression(epsilon=1).fit(X, y)
    words = str(raised.value)
    assert "pass delta=…, bounds=…, classes=…, n_units=…" in words
    assert "LogisticRegression(delta=1e-6, bounds=(0, 1), classes=[0, 1], n_units=10_000)" in words
    with pytest.raises(sotto.InvalidValue, match="pass epsilon=…, delta=…, bounds=…, target_bounds=…, n_units=…"):
        LinearRegression().fit(X, y)


# --- a scaler by public bounds ---


def test_a_bounded_scaler_looks_at_no_row(rows):
    X, _ = rows
    scaler = BoundedScaler([(0, 5), (1, 6)])
    assert numpy.allclose(scaler.fit_transform(X), (X - [2.5, 3.5]) / 2.5)
    other = BoundedScaler([(0, 5), (1, 6)]).fit(X[:1])
    assert (other.transform(X) == scaler.transform(X)).all()
    assert BoundedScaler((0, 5), feature_range=(0, 1)).fit_transform([[-3.0, 9.0], [0.0, 2.5]]).tolist() == [[0, 1], [0, 0.5]]
    for wrong in ({"bounds": None}, {"bounds": (5, 0)}, {"bounds": (0, 1), "feature_range": (1, 1)}):
        with pytest.raises(sotto.InvalidValue):
            BoundedScaler(**wrong).fit(X)


def test_a_bounded_scaler_passes_scikit_learns_checks():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(BoundedScaler((-10, 10)))


# --- pipelines ---


def fit_of(*steps, **more):
    return make_pipeline(*steps, LogisticRegression(bounds=(-1, 1), **PUBLIC, **more))


@pytest.mark.parametrize(
    "step, named",
    [
        (StandardScaler(), "StandardScaler"),
        (make_pipeline(Normalizer(), MinMaxScaler()), "MinMaxScaler"),
        (FeatureUnion([("a", StandardScaler()), ("b", MinMaxScaler())]), "StandardScaler, MinMaxScaler"),
        (ColumnTransformer([("a", StandardScaler(), [0])], remainder="passthrough"), "StandardScaler"),
        (ColumnTransformer([("a", "passthrough", [0])], remainder=MinMaxScaler()), "MinMaxScaler"),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False, max_categories=5), "OneHotEncoder"),
    ],
    ids=lambda step: step if isinstance(step, str) else type(step).__name__,
)
def test_a_step_that_learns_from_rows_is_named(rows, step, named):
    X, y = rows
    with pytest.warns(PrivacyWarning, match=f"{named}, in front of LogisticRegression.*BoundedScaler"):
        model = fit_of(step).fit(X, y)
    assert model[-1].privacy_statement_.endswith(f"; of LogisticRegression alone, and not of {named}")


def test_steps_without_a_memory_are_not(rows):
    X, y = rows
    categories = [numpy.arange(10.0), numpy.arange(10.0)]
    for step in (
        BoundedScaler([(0, 5), (1, 6)]),
        Normalizer(),
        PolynomialFeatures(),
        OneHotEncoder(categories=categories, sparse_output=False),
        ColumnTransformer([("a", BoundedScaler((0, 5)), [0])], remainder="drop"),
        "passthrough",
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error", PrivacyWarning)
            warnings.filterwarnings("ignore", "another estimator learned")
            model = fit_of(step).fit(numpy.floor(X), y)
        assert "alone" not in model[-1].privacy_statement_


def test_a_search_names_such_a_step_too(rows):
    X, y = rows
    with pytest.warns(PrivacyWarning, match="StandardScaler, in front of"):
        cross_val_score(fit_of(StandardScaler(), repeated_fits="allow"), X, y, cv=2)


# --- one fit without a ledger ---


def test_a_second_fit_without_a_ledger_is_refused(rows, tmp_path):
    X, y = rows
    model = LogisticRegression(bounds=(0, 6), **PUBLIC)
    copied = copy.deepcopy(model)
    model.fit(X, y)
    for again in (model, copied, copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.set_params(epsilon=0.5)):
        with pytest.raises(sotto.BudgetRefused, match="nobody adds them up"):
            again.fit(X[:1000], y[:1000])
    model.set_params(repeated_fits="allow").fit(X, y)
    ledger = sotto.Ledger.create(tmp_path / "l.sotto", rho=1)
    paid = LogisticRegression(bounds=(0, 6), ledger=ledger, **PUBLIC)
    paid.fit(X, y).fit(X, y)
    assert len(ledger.entries) == 2


def test_rows_that_an_estimator_learned_from_are_refused_to_another():
    random = numpy.random.default_rng(99)
    X = random.uniform(0, 6, (2000, 2))
    y = (X[:, 0] > 3).astype(int)
    LogisticRegression(bounds=(0, 6), **PUBLIC).fit(X, y)
    LogisticRegression(bounds=(0, 6), **PUBLIC).fit(X[:1999], y[:1999])  # other rows, for all that is known
    line = {"bounds": (0, 6), "target_bounds": (0, 1), "epsilon": 1, "delta": 1e-5, "n_units": 2000}
    for rows in (X, X.copy(), numpy.asfortranarray(X), X.tolist()):
        with pytest.raises(sotto.BudgetRefused, match="another estimator learned from these rows.*nobody adds them up.*repeated_fits"):
            LinearRegression(**line).fit(rows, y)
    with pytest.raises(sotto.BudgetRefused, match="another estimator"):
        for epsilon in (0.1, 1):
            LogisticRegression(bounds=(0, 6), **{**PUBLIC, "epsilon": epsilon}).fit(X[:1000], y[:1000])
    LinearRegression(repeated_fits="allow", **line).fit(X, y)


def test_pickles_of_an_estimator_are_its_copies():
    random = numpy.random.default_rng(98)

    def rows():
        X = random.uniform(0, 6, (2000, 2))
        return X, (X[:, 0] > 3).astype(int)

    model = LogisticRegression(bounds=(0, 6), **PUBLIC)
    before = pickle.dumps(model)
    model.fit(*rows())
    for one in (pickle.loads(before), pickle.loads(pickle.dumps(model)), copy.copy(pickle.loads(before)), sklearn.base.clone(pickle.loads(before))):
        with pytest.raises(sotto.BudgetRefused, match="nobody adds them up"):
            one.fit(*rows())
    other = LogisticRegression(bounds=(0, 6), **PUBLIC)
    pickle.loads(pickle.dumps(other)).fit(*rows())
    with pytest.raises(sotto.BudgetRefused, match="copies of this estimator"):
        other.fit(*rows())


def test_units_ask_for_their_limit_with_everything_else_that_is_missing():
    X, y, owners = numpy.zeros((4, 2)), numpy.array([0, 1, 0, 1]), numpy.array([0, 0, 1, 1])
    with pytest.raises(sotto.InvalidValue, match=r"pass delta=…, bounds=…, classes=…, n_units=…, max_rows_per_unit=…(.|\n)*such as LogisticRegression\("):
        LogisticRegression(epsilon=1).fit(X, y, units=owners)


@pytest.mark.parametrize("pair", [("x", 1), None, (0, 1, 2), {}, 5, "ab"])
def test_bounds_of_a_column_that_are_no_pair_are_named(pair):
    with pytest.raises(sotto.InvalidValue, match=r"the bounds of 1 must be a pair of numbers"):
        feature_bounds({0: (0, 6), 1: pair}, 2)
