"""Plans are values with operators, one text, and errors that say what to write."""

import copy
import pickle
import re
from pathlib import Path

import pytest
import sotto
from sotto import Plan, approx, gaussian, group, hole, laplace, parallel, poisson, pure, without_replacement


def test_operators_write_the_plan_language():
    assert str(10_000 * poisson(0.01, gaussian(1.0))) == "10000 * poisson(0.01, gaussian(1))"
    assert str(laplace(10) + 3 * gaussian(200)) == "laplace(10) + 3 * gaussian(200)"
    assert str(gaussian(2) * 3) == "3 * gaussian(2)"
    assert str(sum([pure(1), pure(2)])) == "pure(1) + pure(2)"
    assert str(parallel(pure(1), group(2, laplace(3, sensitivity=2)))) == "parallel(pure(1), group(2, laplace(3, sensitivity=2)))"
    assert str(without_replacement(10, 100, approx(1, 1e-6))) == "without_replacement(10, 100, approx(1, 1e-06))"


@pytest.mark.parametrize("text", ["gaussian(?)", "? * poisson(0.01, gaussian(1))", "laplace(?) + 10 * gaussian(3*?)"])
def test_holes_are_written_as_question_marks(text):
    assert str(Plan.parse(text)) == text
    assert Plan(text).has_holes


def test_a_hole_is_an_object_or_a_question_mark():
    assert gaussian(hole) == gaussian("?") == Plan("gaussian(?)")
    assert str(gaussian(3 * hole)) == "gaussian(3*?)"
    assert gaussian(hole).fill(2.0) == gaussian(2)
    assert str(hole * gaussian(1)) == "? * gaussian(1)"


def test_plans_are_equal_hashable_and_survive_pickling():
    plan = 3 * gaussian(2) + laplace(1)
    assert plan == Plan(str(plan)) and hash(plan) == hash(Plan(str(plan)))
    assert plan != 3 * gaussian(2)
    assert plan != "3 * gaussian(2)"
    assert len({plan, Plan(str(plan))}) == 1
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert copy.deepcopy(plan) == plan
    assert eval(repr(plan)) == plan
    assert Plan.from_json(plan.to_json()) == plan


def test_a_count_that_no_double_holds_is_refused():
    with pytest.raises(sotto.InvalidValue, match="steps"):
        (2**53 + 1) * gaussian(1)
    with pytest.raises(ValueError):
        0 * gaussian(1)
    with pytest.raises(ValueError):
        1.5 * gaussian(1)


def test_every_leaf_of_the_plan_language_has_a_function():
    fields = Path(__file__).resolve().parents[3] / "src/plan/fields.hpp"
    names = re.findall(r'name_of<\w+> = "(\w+)"', fields.read_text())
    assert len(names) > 20
    assert [name for name in names if name not in ("repeat", "sum") and not hasattr(sotto, name)] == []
    assert str(sotto.walk_sum(10, users=100, colluders=2)) == "walk_sum(10, 100, colluders=2)"


def test_errors_are_value_errors_that_teach():
    with pytest.raises(sotto.InvalidValue, match=r"sigma = 0 is not allowed: it must be a number in \(0, inf\)"):
        gaussian(0)
    with pytest.raises(sotto.ParseError, match="did you mean gaussian") as caught:
        Plan("3 * gausian(1)")
    assert caught.value.column == 5
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, sotto.SottoError)
    with pytest.raises(TypeError):
        gaussian(None)
    with pytest.raises(TypeError):
        gaussian(1) + 1
