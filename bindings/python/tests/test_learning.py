"""Estimators that scikit-learn can use, whose every fit is charged or stated."""

import pickle
import warnings

import numpy
import pytest

import sotto

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from sotto import Ledger
from sotto.learning import LinearRegression, LinearSVC, LogisticRegression, MLPClassifier, SoftmaxRegression
from sotto.search import search_cost

# The tests' rows are made up and the same in most tests.
@pytest.fixture(autouse=True)
def rows_that_nobody_learned_from(monkeypatch):
    monkeypatch.setattr(sotto.repeated_fits, "_learned_from", set())

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
    stepped = LinearRegression(target_bounds=(-5, 5), n_steps=50, repeated_fits="allow", **PUBLIC).fit(X, score)
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
    calls = []
    model = LogisticRegression(classes=[0, 1], n_steps=5, repeated_fits="allow", **PUBLIC)
    model.fit(X, (score > 0).astype(int), progress=lambda done, steps: calls.append((done, steps)))
    assert calls == [(i, 5) for i in range(1, 6)]

    def stop(done, steps):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(X, (score > 0).astype(int), progress=stop)


def rounded_up(value):
    """Six digits, towards more."""
    import decimal

    exact = decimal.Decimal(value)
    return f"{exact.quantize(decimal.Decimal(10) ** (exact.adjusted() - 5), decimal.ROUND_CEILING).normalize():f}"


def labelled(rows):
    X, score = rows
    return X, (score > 0).astype(int)


# --- partial_fit: each call is a further training, at its own cost ---


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC, SoftmaxRegression, MLPClassifier])
def test_partial_fit_goes_on_and_adds_up(rows, kind):
    X, y = labelled(rows)
    model = kind(repeated_fits="allow", n_steps=30, **PUBLIC)
    model.partial_fit(X, y, classes=[0, 1])
    one = model.plan_
    assert model.epsilon_ <= 1 and "calls" not in model.privacy_statement_
    model.set_params(epsilon=0.5)
    model.partial_fit(X, y).partial_fit(X, y)
    half = sotto.Plan(model._events[-1])
    assert model.plan_ == one + 2 * half
    total = sotto.epsilon(str(model.plan_), 1e-5)  # what the plan language says of the same
    assert model.epsilon_ == total.upper > 1
    assert model.privacy_statement_ == f"({rounded_up(total.upper)}, 1e-05)-DP under add-remove by pld: {model.plan_}, each row a unit, 3 calls that are fixed in advance"
    assert model.score(X, y) > 0.85
    again = pickle.loads(pickle.dumps(model))
    assert again.plan_ == model.plan_ and (again.predict(X) == model.predict(X)).all()
    again.partial_fit(X, y)
    assert again.plan_ == one + 3 * half
    model.fit(X, y) if model.classes is not None else model.set_params(classes=[0, 1]).fit(X, y)
    assert model.plan_ == half and "calls" not in model.privacy_statement_  # a fit starts anew


def test_partial_fit_starts_where_the_last_call_ended(rows):
    X, y = labelled(rows)
    still = {"n_steps": 1, "step_size": 1e-9, "repeated_fits": "allow"}
    model = LogisticRegression(classes=[0, 1], **PUBLIC).fit(X, y)
    learned = model.parameters_.copy()
    model.set_params(**still).partial_fit(X, y)
    assert numpy.abs(model.parameters_ - learned).max() < 1e-6 < numpy.abs(learned).max()
    model.fit(X, y)
    assert numpy.abs(model.parameters_).max() < 1e-6


def test_partial_fit_of_a_line_takes_steps(rows):
    X, score = rows
    model = LinearRegression(target_bounds=(-5, 5), repeated_fits="allow", **PUBLIC).fit(X, score + 0.7)
    moments = model.plan_
    model.partial_fit(X, score + 0.7)
    assert str(moments).startswith("gaussian(") and model.plan_ == moments + sotto.Plan(model._events[-1]) and "* gaussian(" in model._events[-1]
    assert model.score(X, score + 0.7) > 0.9 and isinstance(model.intercept_, float)


def test_partial_fit_without_a_ledger_is_refused_a_second_time(rows, tmp_path):
    X, y = labelled(rows)
    model = LogisticRegression(classes=[0, 1], **PUBLIC).partial_fit(X, y)
    before = model.parameters_.copy()
    with pytest.raises(sotto.BudgetRefused, match="this estimator was fitted before.*nobody adds them up"):
        model.partial_fit(X, y)
    with pytest.raises(sotto.BudgetRefused):
        pickle.loads(pickle.dumps(model)).partial_fit(X, y)
    assert (model.parameters_ == before).all()
    ledger = Ledger.create(tmp_path / "l.sotto", epsilon=2, delta=1e-4, sum=True)
    model.set_params(ledger=ledger).partial_fit(X, y).partial_fit(X, y)
    assert [entry.title for entry in ledger.entries] == ["LogisticRegression.partial_fit"] * 2
    assert sum((sotto.Plan(entry.plan) for entry in ledger.entries), sotto.Plan(model._events[0])) == sum(map(sotto.Plan, model._events[1:]), sotto.Plan(model._events[0]))
    with pytest.raises(sotto.BudgetRefused):
        model.partial_fit(X, y)
    assert len(ledger.entries) == 2 and len(model._events) == 3


def test_partial_fit_goes_on_with_the_same_meaning_alone(rows):
    X, y = labelled(rows)
    public = {**PUBLIC, "repeated_fits": "allow", "n_steps": 5}
    for changed in ({"bounds": (-2, 2)}, {"relation": "replace-one"}):
        model = LogisticRegression(classes=[0, 1], **public).partial_fit(X, y)
        with pytest.raises(sotto.InvalidValue, match="the same bounds, classes, relation"):
            model.set_params(**changed).partial_fit(X, y)
    model = LogisticRegression(classes=[0, 1], **public).partial_fit(X, y)
    with pytest.raises(sotto.InvalidValue, match="each call protects the same units"):
        model.partial_fit(X, y, units=numpy.arange(UNITS))
    with pytest.raises(sotto.InvalidValue, match="same classes"):
        model.set_params(classes=[0, 2]).partial_fit(X, y)
    with pytest.raises(sotto.InvalidValue, match="the constructor's"):
        LogisticRegression(classes=[0, 1], **public).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(sotto.InvalidValue, match="pass classes="):
        LogisticRegression(**public).partial_fit(X, y)
    with pytest.raises(ValueError, match="features"):
        LogisticRegression(classes=[0, 1], **public).partial_fit(X, y).partial_fit(X[:, :3], y)


def test_what_is_guaranteed_names_owners_where_there_are_some(rows):
    X, y = labelled(rows)
    with pytest.raises(sotto.InvalidValue, match="max_rows_per_unit=…"):
        LogisticRegression(classes=[0, 1], **PUBLIC).fit(X, y, units=numpy.arange(UNITS))
    model = LogisticRegression(classes=[0, 1], n_steps=5, max_rows_per_unit=1, **PUBLIC).fit(X, y, units=numpy.arange(UNITS) // 2)
    assert model.privacy_statement_.endswith("each unit with all its rows")


# --- checkpoints: a fit that was stopped goes on under its one charge ---


def test_a_fit_that_was_stopped_goes_on_under_its_charge(rows, tmp_path):
    X, y = labelled(rows)
    ledger = Ledger.create(tmp_path / "l.sotto", rho=1)
    calls = []

    def stop(done, steps):
        calls.append(done)
        if done == 7:
            raise KeyboardInterrupt

    model = LogisticRegression(classes=[0, 1], n_steps=20, ledger=ledger, **PUBLIC)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y, checkpoint=tmp_path / "ill", progress=stop)
    again = LogisticRegression(classes=[0, 1], n_steps=20, ledger=Ledger(tmp_path / "l.sotto"), **PUBLIC)  # as another process would
    again.fit(X, y, checkpoint=tmp_path / "ill", progress=lambda done, steps: calls.append(done))
    assert calls == list(range(1, 21)) and not again.repeated_ and len(ledger.entries) == 1
    model.fit(X, y, checkpoint=tmp_path / "ill", progress=stop)
    assert model.repeated_ and (model.parameters_ == again.parameters_).all() and len(ledger.entries) == 1
    assert model.plan_ == again.plan_ == sotto.Plan(ledger.entries[0].plan)
    with pytest.raises(sotto.LedgerError, match="different content"):
        model.set_params(step_size=0.01).fit(X, y, checkpoint=tmp_path / "ill")
    model.fit(X, y, checkpoint=tmp_path / "another")
    assert len(ledger.entries) == 2


KILLED = """
import os, signal, sys, time
import numpy, sotto
X = numpy.random.default_rng(1).uniform(-1, 1, (2000, 3))
y = (X @ [1, 2, -1] > 0).astype(int)
folder, slowly = sys.argv[1], sys.argv[2] == "slowly"
def record(step, steps):
    with open(folder + "/steps", "a") as file:
        file.write(f"{step}\\n")
    if step == 3 and not slowly:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.1 if slowly else 0)
sotto.LogisticRegression(
    epsilon=1, delta=1e-5, bounds=(-1, 1), classes=[0, 1], n_units=2000, n_steps=300, ledger=sotto.Ledger(folder + "/l.sotto")
).fit(X, y, checkpoint=folder + "/fit", progress=record)
"""


def killed_and_resumed(folder, slowly):
    import pathlib
    import subprocess
    import sys
    import time

    ledger = Ledger.create(folder / "l.sotto", rho=1)
    child = subprocess.Popen([sys.executable, "-c", KILLED, str(folder), "slowly" if slowly else "soon"])
    if slowly:  # until a checkpoint was marked with steps in it
        while child.poll() is None and not list((folder / "fit").glob("*.1.checkpoint")):
            time.sleep(0.05)
        time.sleep(0.5)
        child.kill()
    assert child.wait() == -9
    steps_before = [int(line) for line in (folder / "steps").read_text().split()]
    X = numpy.random.default_rng(1).uniform(-1, 1, (2000, 3))
    y = (X @ [1, 2, -1] > 0).astype(int)
    model = LogisticRegression(classes=[0, 1], n_steps=300, ledger=ledger, **{**PUBLIC, "n_units": 2000})
    steps_after = []
    model.fit(X, y, checkpoint=folder / "fit", progress=lambda step, steps: steps_after.append(step))
    first = model.parameters_.copy()
    model.fit(X, y, checkpoint=folder / "fit")
    assert model.repeated_ and (model.parameters_ == first).all() and len(ledger.entries) == 1
    assert not list(pathlib.Path(folder / "fit").glob("*.checkpoint"))
    return steps_before, steps_after


def test_a_fit_that_was_killed_goes_on_under_its_charge(tmp_path):
    steps_before, steps_after = killed_and_resumed(tmp_path, slowly=False)
    assert steps_before == [1, 2, 3] and steps_after == list(range(1, 301))  # from the checkpoint before the first step: what came after it was in memory alone


@pytest.mark.slow
def test_a_fit_that_was_killed_in_the_middle_goes_on_from_its_last_mark(tmp_path):
    steps_before, steps_after = killed_and_resumed(tmp_path, slowly=True)
    assert 1 < steps_after[0] <= steps_before[-1] + 1 and steps_after == list(range(steps_after[0], 301))


def test_what_a_checkpoint_needs_is_said(rows, tmp_path):
    X, y = labelled(rows)
    model = LogisticRegression(classes=[0, 1], **PUBLIC)
    with pytest.raises(sotto.InvalidValue, match="goes with ledger="):
        model.fit(X, y, checkpoint=tmp_path / "ill")
    ledger = Ledger.create(tmp_path / "l.sotto", rho=1)
    with pytest.raises(sotto.InvalidValue, match="a search or a cross-validation fits clones"):
        clone(model.set_params(ledger=ledger)).fit(X, y, checkpoint=tmp_path / "ill")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/request").write_text("something of mine")
    with pytest.raises(sotto.InvalidValue, match="names no fit"):
        model.fit(X, y, checkpoint=tmp_path / "other")
    assert not ledger.entries

    def stop(done, steps):
        raise KeyboardInterrupt

    line = LinearRegression(target_bounds=(-5, 5), ledger=ledger, n_steps=5, **PUBLIC)
    with pytest.raises(KeyboardInterrupt):
        line.fit(X, y, checkpoint=tmp_path / "line", progress=stop)
    for file in (tmp_path / "line").glob("*.checkpoint"):
        file.unlink()
    with pytest.raises(sotto.RequestClosed, match="checkpoint=…, another folder"):
        line.fit(X, y, checkpoint=tmp_path / "line")
    assert len(ledger.entries) == 1


# --- searches: what they will cost, and that every fit is charged ---


def test_a_search_says_before_what_it_costs(rows, tmp_path):
    X, y = labelled(rows)
    ledger = Ledger.create(tmp_path / "l.sotto", rho=0.3)
    model = LogisticRegression(classes=[0, 1], ledger=ledger, **PUBLIC)
    search = GridSearchCV(make_pipeline(FunctionTransformer(), model), {"logisticregression__n_steps": [20, 40]}, cv=3, error_score="raise")
    cost = search_cost(search, n_features=4).require()
    assert cost.fits == 2 * 3 + 1 == cost.admitted and not ledger.entries
    search.fit(X, y)
    assert len(ledger.entries) == 7
    charged = sotto.Accountant()
    for entry in ledger.entries:
        charged.compose(entry.plan)
    assert charged.get_epsilon(1e-5) == pytest.approx(cost.epsilon, rel=1e-4)  # 20 and 40 steps cost alike
    one = search_cost(model, 7, n_features=4)
    assert one.plan == 7 * search_cost(model, 1, n_features=4).plan and one.epsilon == sotto.epsilon(one.plan, 1e-5).upper
    assert one.epsilon < 7 * search_cost(model, 1, n_features=4).epsilon  # composed, not added
    assert search_cost(model, 7, n_features=4, delta=1e-7).epsilon > one.epsilon


def test_a_search_stops_where_the_budget_is_spent(rows, tmp_path):
    X, y = labelled(rows)
    ledger = Ledger.create(tmp_path / "l.sotto", epsilon=3, delta=1e-4, sum=True)
    model = LogisticRegression(classes=[0, 1], ledger=ledger, **PUBLIC)
    cost = search_cost(model, 5, n_features=4)
    assert cost.admitted == 3 and "the ledger admits 3 of them" in str(cost)
    with pytest.raises(sotto.BudgetRefused, match="admits 3 of 5 fits, and then"):
        cost.require()
    assert not ledger.entries
    with pytest.raises(sotto.BudgetRefused):
        cross_validate(model, X, y, cv=5, error_score="raise")
    assert len(ledger.entries) == 3 and search_cost(model, 1, n_features=4).admitted == 0
    with pytest.raises(ValueError, match="the budget does not cover"), warnings.catch_warnings():  # by default scikit-learn goes on with other fits
        warnings.simplefilter("ignore")
        GridSearchCV(model, {"n_steps": [20]}, cv=2).fit(X, y)
    assert len(ledger.entries) == 3


def test_a_search_in_several_processes_is_charged_or_refused(rows, tmp_path):
    X, y = labelled(rows)
    model = LogisticRegression(classes=[0, 1], n_steps=10, **PUBLIC)
    with pytest.raises(sotto.BudgetRefused, match="in a process of its own"):
        cross_validate(model, X, y, cv=2, n_jobs=2, error_score="raise")
    ledger = Ledger.create(tmp_path / "l.sotto", rho=1)
    scores = cross_validate(model.set_params(ledger=ledger), X, y, cv=2, n_jobs=2, error_score="raise")
    assert len(scores["test_score"]) == len(ledger.entries) == 2


def test_what_a_search_costs_is_asked_in_its_own_words(tmp_path):
    model = LogisticRegression(classes=[0, 1], **PUBLIC)
    with pytest.raises(sotto.InvalidValue, match="n_features="):
        search_cost(model, 3)
    with pytest.raises(sotto.InvalidValue, match="n_fits="):
        search_cost(model, n_features=4)
    with pytest.raises(sotto.InvalidValue, match="n_fits="):
        search_cost(model, 0, n_features=4)
    with pytest.raises(sotto.InvalidValue, match="no estimator of sotto's"):
        search_cost(FunctionTransformer(), 3)
    with pytest.raises(sotto.InvalidValue, match="random_state="):
        search_cost(RandomizedSearchCV(model, {"n_steps": [20, 40]}), n_features=4)
    drawn = RandomizedSearchCV(model, {"n_steps": [20, 40, 80]}, n_iter=2, random_state=1, cv=2, refit=False)
    assert search_cost(drawn, n_features=4).fits == 4
    with pytest.raises(sotto.InvalidValue, match="delta="):
        search_cost(GridSearchCV(model, {"delta": [1e-5, 1e-6]}), n_features=4)
    with pytest.raises(sotto.InvalidValue, match="one ledger and one relation"):
        search_cost(GridSearchCV(model, {"relation": ["add-remove", "replace-one"]}), n_features=4)
    wide = LogisticRegression(classes=[0, 1], **{**PUBLIC, "bounds": ([-1] * 4, [1] * 4)})
    assert search_cost(wide, 2).fits == 2 and search_cost(wide, 2).admitted is None
    with pytest.raises(sotto.BudgetRefused, match="pass the estimator ledger="):
        search_cost(wide, 2).require()


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
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"}
    assert {name: error for name, error in failed.items() if name not in EXPECTED} == {}
    assert sum(one["status"] == "passed" for one in results) >= 40
