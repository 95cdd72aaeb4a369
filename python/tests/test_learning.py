"""Estimators that scikit-learn can use, whose every fit is charged or stated."""

import pickle
import warnings

import numpy
import pytest

import sotto

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from sotto import Ledger
from sotto.learning import LinearRegression, LinearSVC, LogisticRegression, MLPClassifier, SoftmaxRegression

UNITS = 5000
PUBLIC = {"epsilon": 1, "delta": 1e-5, "bounds": (-1, 1), "n_units": UNITS}


@pytest.fixture(scope="module")
def rows():
    random = numpy.random.default_rng(1)
    X = random.uniform(-1, 1, (UNITS, 4))
    score = X @ [1, 2, -1, 0.5]
    return X, score


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC, SoftmaxRegression, MLPClassifier])
def test_a_classifier_learns_under_the_epsilon_that_it_states(rows, kind):
    X, score = rows
    y = numpy.where(score > 0, "yes", "no")
    model = kind(classes=["no", "yes"], **PUBLIC).fit(X, y)
    assert model.score(X, y) > 0.9  # without noise 0.99; every run draws other noise
    assert model.epsilon_ <= 1 and sotto.epsilon(model.plan_, 1e-5).upper == model.epsilon_
    assert "1e-05)-DP under add-remove" in model.privacy_statement_ and "each row a unit" in model.privacy_statement_
    assert set(model.predict(X[:50])) <= {"no", "yes"}
    if hasattr(model, "predict_proba"):
        assert numpy.allclose(model.predict_proba(X).sum(axis=1), 1)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all() and again.plan_ == model.plan_


def test_linear_regression_finds_the_line(rows):
    X, score = rows
    model = LinearRegression(target_bounds=(-5, 5), **PUBLIC).fit(X, score + 0.7)
    assert model.score(X, score + 0.7) > 0.95
    assert numpy.allclose(X @ model.coef_ + model.intercept_, model.predict(X), atol=1e-2)  # the grid of features
    stepped = LinearRegression(target_bounds=(-5, 5), n_steps=50, **PUBLIC).fit(X, score)
    assert str(stepped.plan_).startswith("50 * gaussian(")


def test_units_with_several_rows_are_protected_together(rows):
    X, score = rows
    owners = numpy.repeat(numpy.arange(UNITS // 5), 5)
    model = LogisticRegression(classes=[0, 1], max_rows_per_unit=2, **{**PUBLIC, "n_units": UNITS // 5}).fit(X, (score > 0).astype(int), units=owners)
    assert "each unit with all its rows" in model.privacy_statement_
    with pytest.raises(sotto.InvalidValue, match="units="):
        LogisticRegression(classes=[0, 1], max_rows_per_unit=2, **PUBLIC).fit(X, (score > 0).astype(int))


def test_what_is_not_public_is_asked_for(rows):
    X, score = rows
    y = (score > 0).astype(int)
    for missing in ("epsilon", "delta", "bounds", "n_units", "classes"):
        with pytest.raises(sotto.InvalidValue, match=f"pass {missing}="):
            LogisticRegression(**{**PUBLIC, "classes": [0, 1], missing: None}).fit(X, y)
    with pytest.raises(sotto.InvalidValue, match="use SoftmaxRegression"):
        LogisticRegression(classes=[0, 1, 2], **PUBLIC).fit(X, y)
    with pytest.raises(sotto.InvalidValue, match="not in classes="):
        LogisticRegression(classes=[0, 5], **PUBLIC).fit(X, y)


def test_a_fit_is_charged_before_a_row_is_read(rows, tmp_path):
    X, score = rows
    ledger = Ledger.create(tmp_path / "fits.sotto", epsilon=2, delta=1e-4, sum=True)
    model = LogisticRegression(classes=[0, 1], ledger=ledger, **PUBLIC)
    model.fit(X, (score > 0).astype(int))
    assert [entry.title for entry in ledger.entries] == ["LogisticRegression.fit"]
    assert ledger.entries[0].plan == str(model.plan_) and ledger.spent == pytest.approx(1, rel=1e-4)
    model.fit(X, (score > 0).astype(int))  # costs anew
    with pytest.raises(sotto.BudgetRefused):
        model.fit(X, (score > 0).astype(int))
    assert len(ledger.entries) == 2


def test_a_search_without_a_ledger_is_refused(rows):
    X, score = rows
    y = (score > 0).astype(int)
    model = LogisticRegression(classes=[0, 1], **PUBLIC)
    search = GridSearchCV(model, {"n_steps": [20, 40]}, cv=2)
    with pytest.raises(sotto.BudgetRefused, match="nobody adds them up"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, y)
    with pytest.raises(sotto.BudgetRefused):
        cross_val_score(model, X, y, cv=3, error_score="raise")
    public = LogisticRegression(classes=[0, 1], repeated_fits="allow", **PUBLIC)
    assert cross_val_score(public, X, y, cv=3).min() > 0.8


def test_a_search_with_a_ledger_is_charged_for_each_fit(rows, tmp_path):
    X, score = rows
    y = (score > 0).astype(int)
    ledger = Ledger.create(tmp_path / "search.sotto", rho=1)
    model = LogisticRegression(classes=[0, 1], ledger=ledger, **PUBLIC)
    search = GridSearchCV(make_pipeline(FunctionTransformer(), model), {"logisticregression__n_steps": [20, 40]}, cv=2).fit(X, y)
    assert len(ledger.entries) == 2 * 2 + 1 and search.best_score_ > 0.8
    assert clone(model).ledger is ledger


def test_control_c_and_progress_reach_a_training(rows):
    X, score = rows
    told = []
    model = LogisticRegression(classes=[0, 1], n_steps=5, **PUBLIC)
    model.fit(X, (score > 0).astype(int), progress=lambda done, steps: told.append((done, steps)))
    assert told == [(i, 5) for i in range(1, 6)]

    def stop(done, steps):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(X, (score > 0).astype(int), progress=stop)


LISTED = "classes are public and listed in the constructor; the check has others"
NOISE = "two fits draw different noise, and there is no seed"
EXPECTED = {
    "check_estimators_dtypes": LISTED,
    "check_dtype_object": LISTED,
    "check_classifiers_classes": LISTED,
    "check_fit2d_1feature": LISTED,
    "check_classifier_data_not_an_array": LISTED + "; " + NOISE,
    "check_classifiers_train": "all listed classes have an output, whichever occur; and a few rows under noise are not learned",
    "check_decision_proba_consistency": "all listed classes have an output, whichever occur",
    "check_regressors_train": "a few rows under noise are not learned",
    "check_fit_idempotent": NOISE,
    "check_supervised_y_2d": NOISE,
    "check_regressor_data_not_an_array": NOISE,
    "check_regressors_int": NOISE,
    "check_sample_order_invariance": NOISE,
    "check_methods_subset_invariance": NOISE,
    "check_classifiers_one_label": LISTED,
}
CHECKED = {"epsilon": 50, "delta": 1e-3, "bounds": (-10, 10), "n_units": 100, "repeated_fits": "allow"}


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(classes=[0, 1], **CHECKED),
        LinearSVC(classes=[0, 1], **CHECKED),
        SoftmaxRegression(classes=[0, 1, 2], **CHECKED),
        MLPClassifier(classes=[0, 1, 2], **CHECKED),
        LinearRegression(target_bounds=(-10, 10), **CHECKED),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_scikit_learns_checks_fail_only_for_reasons_that_are_listed(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {one["check_name"]: one["exception"] for one in found if one["status"] == "failed"}
    assert {name: error for name, error in failed.items() if name not in EXPECTED} == {}
    assert sum(one["status"] == "passed" for one in found) >= 40
