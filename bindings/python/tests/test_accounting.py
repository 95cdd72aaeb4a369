"""What plans cost, to the last bit what the command line says."""

import math
import os
import signal
import threading
import time

import pytest
import sotto
from sotto import gaussian, hole, laplace, poisson, pure

PLANS = [
    "10000 * poisson(0.01, gaussian(1))",
    "500 * gaussian(200)",
    "laplace(10) + 3 * gaussian(200)",
    "30 * pure(0.1)",
    "20 * approx(0.1, 1e-9)",
    "10 * without_replacement(10, 1000, gaussian(2))",
    "group(2, 10 * laplace(20))",
    "100 * randomized_response(0.6)",
    "5 * zcdp(0.01)",
]


def number(value):
    return {None: None, "inf": math.inf}.get(value, value) if not isinstance(value, float) else value


def same(bound, theirs):
    assert bound.upper == number(theirs["upper"])
    assert bound.lower == number(theirs["lower"])


@pytest.mark.parametrize("plan", PLANS)
def test_epsilon_is_the_command_lines_to_the_last_bit(command, plan):
    theirs = command("epsilon", plan, "--delta", "1e-5")
    bound = sotto.epsilon(plan, delta=1e-5)
    same(bound, theirs["epsilon"])
    assert (bound.by, bound.relation, str(bound.plan)) == (theirs["by"], theirs["relation"], theirs["plan"])
    assert bound.to_dict() == theirs


@pytest.mark.parametrize("plan", PLANS)
def test_delta_and_divergence_are_the_command_lines_to_the_last_bit(command, plan):
    same(sotto.delta(plan, epsilon=1.5), command("delta", plan, "--epsilon", "1.5")["delta"])
    assert sotto.divergence(plan, 3).to_dict() == command("divergence", plan, "--order", "3")


def test_compare_explain_calibrate_and_tradeoff_are_the_command_lines(command):
    plan = "500 * gaussian(200)"
    import json

    assert json.loads(sotto.compare(plan, 1e-5).text("json")) == command("compare", plan, "--delta", "1e-5")
    assert sotto.explain(plan, 1e-5).to_dict() == command("explain", plan, "--delta", "1e-5")
    holed = "100 * gaussian(?)"
    assert sotto.calibrate(holed, epsilon=1, delta=1e-5).to_dict() == command("calibrate", holed, "--epsilon", "1", "--delta", "1e-5")
    assert sotto.calibrate(holed, order=8, renyi=1).to_dict() == command("calibrate", holed, "--order", "8", "--renyi", "1")
    assert sotto.calibrate(holed, rho=1).to_dict() == command("calibrate", holed, "--rho", "1")
    assert sotto.calibrate("arsinh(?, ?)", rho=1, omega=20).to_dict() == command("calibrate", "arsinh(?, ?)", "--rho", "1", "--omega", "20")
    assert sotto.tradeoff("gaussian(1)").to_dict() == command("tradeoff", "gaussian(1)")
    assert sotto.privacy_loss("laplace(1)").to_dict() == command("divergence", "laplace(1)", "--loss")
    steps = sotto.epsilon_over_steps("100 * gaussian(10)", 1e-5, points=5)
    assert steps.to_dict() == command("epsilon", "100 * gaussian(10)", "--delta", "1e-5", "--over-steps", "5")


def test_the_questions_arguments_reach_the_library(command):
    plan = "500 * gaussian(200)"
    theirs = command("epsilon", plan, "--delta", "1e-5", "--by", "rdp-classic", "--order", "60")
    assert sotto.epsilon(plan, 1e-5, by="rdp-classic", order=60).to_dict() == theirs
    assert sotto.epsilon(plan, 1e-5, order=60).by == "rdp"
    assert sotto.epsilon(plan, 1e-5, relation="replace-one").relation == "replace-one"


def test_a_bound_prints_what_the_command_prints():
    bound = sotto.epsilon(10_000 * poisson(0.01, gaussian(1)), delta=1e-5)
    assert str(bound).splitlines() == ["epsilon     <= 6.187713   at delta = 1e-05", "            >= 6.187712", "by          pld", "relation    add-remove"]
    assert repr(bound) == "<epsilon <= 6.187713 (>= 6.187712) at delta = 1e-05, by pld, add-remove>"
    assert float(bound) == bound.upper
    assert (bound.quantity, bound.at, bound.cut) == ("epsilon", 1e-5, False)


def test_notebooks_get_html_and_svg():
    bound = sotto.epsilon("laplace(1) + gaussian(?)".replace("?", "3"), 1e-5)
    assert "<table>" in bound._repr_html_() and "laplace(1)" in bound._repr_html_()
    assert "<table>" in sotto.compare("500 * gaussian(200)", 1e-5)._repr_html_()
    assert sotto.explain("10 * gaussian(3)", 1e-5)._repr_html_().count("<details") == 2
    assert "sigma of gaussian" in sotto.calibrate(gaussian(hole), epsilon=1, delta=1e-5)._repr_html_()
    for drawn in (sotto.tradeoff("gaussian(1)"), sotto.epsilon_over_steps("100 * gaussian(10)", 1e-5, 5), sotto.privacy_loss("gaussian(1)")):
        assert drawn._repr_svg_().startswith("<svg")
    assert "&lt;" not in bound._repr_html_()


def test_compare_is_a_sequence_and_a_frame():
    rows = sotto.compare("500 * gaussian(200)", 1e-5)
    assert len(rows) == 13 and rows["pld"].waste == 1 and rows[0].by == "pld"
    with pytest.raises(KeyError):
        rows["none"]
    frame = pytest.importorskip("pandas") and rows.to_pandas()
    assert list(frame["upper"]) == sorted(frame["upper"])
    refused = sotto.compare("500 * pure(1)", 1e-5)["advanced-simple"]
    assert refused.upper is None and "use advanced" in refused.refusal


def test_errors_name_arguments_not_flags():
    with pytest.raises(sotto.OutsideConditions, match='pass: by="…"') as caught:
        sotto.epsilon("500 * pure(1)", 1e-5, by="advanced-simple")
    assert "--" not in str(caught.value)
    with pytest.raises(sotto.InvalidValue, match='by="none" is not known'):
        sotto.epsilon("pure(1)", 1e-5, by="none")
    with pytest.raises(sotto.InvalidValue, match='relation="none" is not known'):
        sotto.tradeoff("pure(1)", relation="none")
    with pytest.raises(sotto.InvalidValue, match="delta = 2 is not allowed"):
        sotto.epsilon("pure(1)", 2)
    with pytest.raises(sotto.InvalidValue, match="one target"):
        sotto.calibrate("gaussian(?)", epsilon=1, delta=1e-5, rho=1)
    with pytest.raises(sotto.InvalidValue, match="nothing to calibrate"):
        sotto.calibrate("gaussian(1)", epsilon=1, delta=1e-5)
    with pytest.raises(sotto.OutsideConditions, match='pass: relation="…"'):
        sotto.divergence("poisson(0.1, gaussian(1))", 2, relation="replace-one")


def test_an_error_names_no_argument_that_the_function_lacks():
    from sotto._sotto import REMEDIES

    method = next(bit for bit, name in REMEDIES.items() if name == "method")
    for arguments, message in (({"plan"}, "no"), ({"plan", "by"}, 'no\npass: by="…"')):
        error = sotto.OutsideConditions("no", remedy=method)
        error._name_arguments(arguments)
        error._name_arguments(arguments)  # the inner function's words stay
        assert str(error) == message


def test_a_duckdb_that_sotto_does_not_know_is_replaced_by_pip(monkeypatch):
    import importlib.metadata

    from sotto._sotto import REMEDIES

    bits = {name: bit for bit, name in REMEDIES.items()}

    def words_with(version, *remedies):
        def version_of(_):
            if version is None:
                raise importlib.metadata.PackageNotFoundError
            return version

        monkeypatch.setattr(importlib.metadata, "version", version_of)
        error = sotto.EngineError("no", remedy=sum(bits[name] for name in remedies))
        error._name_arguments({"table"})
        return str(error)

    absent = words_with(None, "known_duckdb")
    assert "type: pip install duckdb==1.4.4" in absent and "sotto[data]" in absent and "duckdb=…" in absent and "./dev" not in absent
    other = words_with("2.0.0", "known_duckdb", "any_duckdb")
    assert "has version 2.0.0" in other and "pip install duckdb==1.4.4" in other and "any_duckdb" not in other
    changed = words_with("1.4.5", "known_duckdb", "any_duckdb")
    assert "has version" not in changed and "Session(…, any_duckdb=True)" in changed


def test_every_remedy_of_the_library_has_words():
    from sotto import errors
    from sotto._sotto import REMEDIES

    assert set(REMEDIES.values()) == set(errors._ARGUMENTS) | set(errors._CALLS) | set(errors._COMMANDS)


def test_long_work_leaves_the_interpreter_free():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.wait(0.002):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.perf_counter()
    sotto.epsilon("50 * poisson(0.2, laplace(3)) + 30 * poisson(0.001, gaussian(0.5) + laplace(2))", 1e-6, seconds=0.5)
    took = time.perf_counter() - began
    done.set()
    thread.join()
    assert took < 0.05 or len(ticks) > 3


def test_control_c_ends_long_work():
    plan = "50 * poisson(0.2, laplace(3)) + 30 * poisson(0.001, gaussian(0.5) + laplace(2))"
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    began = time.perf_counter()
    try:
        while time.perf_counter() - began < 60:
            sotto.epsilon(plan, 1e-6, seconds=60, precision=1e-15)
        pytest.fail("nothing was interrupted")
    except KeyboardInterrupt:
        assert time.perf_counter() - began < 30


def test_a_callback_is_told_and_may_end_it():
    calls = []
    sotto.epsilon_over_steps("100 * gaussian(10)", 1e-5, 4, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1][0] == calls[-1][1] == len(calls)

    def stop(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sotto.epsilon_over_steps("100 * gaussian(10)", 1e-5, 4, progress=stop)


def test_laplace_and_pure_have_closed_forms():
    assert sotto.epsilon(laplace(1), 0).upper == pytest.approx(1, rel=1e-12)
    assert sotto.epsilon(10 * pure(0.1), 0).upper >= 1
