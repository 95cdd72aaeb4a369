"""The texts of studies that Python builds. A request's id is computed from its text: another byte would be another request, and a second charge."""

import json

import pytest
import sotto
from sotto import _sotto
from sotto.session import Query, _study_text

VISITS = Query(None, "visits")

# Questions and the options of their study. The names are keys of TEXTS.
CASES = {
    "count": ([VISITS.count()], {}),
    "distinct": ([VISITS.distinct(error=30)], {"rho": 0.01}),
    "sum by group": ([VISITS.group_by("region").limit(rows=2, groups=1).sum("spent")], {"epsilon": 0.1}),
    "whole and real numbers": ([VISITS.mean("spent", share=2), VISITS.count(share=2.0)], {"epsilon": 1, "delta": 1e-6}),
    "every option": (
        [
            VISITS.sum("spent", error=5, share=None, noise="laplace", clamp="total", name="total"),
            VISITS.mean("spent", share=0.5, noise="gaussian", clamp="rows"),
            VISITS.histogram("age", step=10, error=2.5, noise="laplace"),
            VISITS.quantiles("age", (0.25, 0.5, 0.75), step=1, share=3),
            VISITS.quantiles("age", [0.1, 1]),
            VISITS.median("age", step=0.5),
            VISITS.variance("age", share=1e-6),
            VISITS.deviation("age"),
        ],
        {"title": "All of them", "confidence": 0.99, "epsilon": 1.5, "delta": 1e-07},
    ),
    "conditions": ([VISITS.where("age >= 65").where("region = 'north'").where('"a b" < 3').count(), VISITS.where("").where("age > 1").count()], {"epsilon": 1}),
    "listed values": (
        [
            VISITS.group_by("region", keys=["north", "south"]).count(),
            VISITS.group_by("region").group_by("age", keys=(18, 19)).count(),
            VISITS.group_by("a", "b", keys={"b": [True, False], "a": ["2026-01-31"]}).distinct(),
        ],
        {"rho": 1},
    ),
    "the last list of a column counts": ([VISITS.group_by("a", keys=[1]).group_by("b", keys=[2]).group_by("a", keys=[3]).count()], {}),
    "equal values of other types": ([VISITS.group_by("a", keys=[1, 0]).count(), VISITS.group_by("a", keys=[1.0, False]).distinct()], {}),
    "private keys": ([VISITS.group_by("region", "age", keys="private").limit(groups=3).count()], {"epsilon": 2, "delta": 1e-9}),
    "keys before columns": ([VISITS.group_by(keys="private").group_by("region").count()], {"epsilon": 2, "delta": 1e-9}),
    "equal names": ([VISITS.count(), VISITS.count(), VISITS.count(), VISITS.count(name="count 2"), VISITS.sum("x").named("count")], {}),
    "hostile texts": (
        [
            VISITS.where("name = 'a\"b\\c' and x = '\n[budget]\nepsilon = 100'").count(name='a "quoted" ]] name\\'),
            VISITS.group_by('evil"]\n[budget]\nepsilon = 9\n#', keys=['"', "\\", "]", "'''", '"""', "\x00\x01\b\t\n\x0b\f\r\x1b\x1f\x7f\x80\x9f", "\u2028\u202e\ufeff"]).count(),
            VISITS.group_by("", keys=[""]).sum("größe €𝕊"),
        ],
        {"title": 'x"\ny = 1', "epsilon": 1},
    ),
    "numbers": (
        [
            VISITS.group_by("whole", keys=[0, -1, 2**63 - 1, -(2**63), True]).count(),
            VISITS.group_by(
                "real",
                keys=[0.0, -0.0, 1.0, 0.1, 1 / 3, 1e-4, 9.999e-5, 1e-5, 5e-324, 2.2250738585072014e-308, 1e15, 123456789012345.6, 1e16, 9999999999999998.0, 9007199254740993.0,
                      1.7976931348623157e308, 1e22, 1e23, 123456.789e3, -2.5e-7, 100.0, 4503599627370497.5],
            ).count(),
        ],
        {"epsilon": 1e-09, "delta": 0, "confidence": 1},
    ),
    "no title and no confidence": ([VISITS.count()], {"title": "", "confidence": None, "epsilon": 0}),
    "values that a study refuses": ([VISITS.where(5).limit(rows=True).count(error="3", share=False, name=7)], {"title": 5, "confidence": "0.9", "epsilon": "1", "delta": True}),
    "limits of a session": ([Query(None, "visits", {"rows": 5, "groups": 2}).where("a > 1").limit(groups=7).group_by("b").mean("c")], {}),
}

# What the builder wrote when it was Python's own.
TEXTS = {
    "count": (
        'data = "visits"\n'
        '\n'
        '[[query]]\n'
        'name = "count"\n'
        'ask = "count"\n'
    ),
    "distinct": (
        'data = "visits"\n'
        '\n'
        '[budget]\n'
        'rho = 0.01\n'
        '\n'
        '[[query]]\n'
        'name = "distinct"\n'
        'ask = "distinct"\n'
        'error = 30\n'
    ),
    "sum by group": (
        'data = "visits"\n'
        '\n'
        '[budget]\n'
        'epsilon = 0.1\n'
        '\n'
        '[[query]]\n'
        'name = "sum spent by region"\n'
        'ask = "sum"\n'
        'of = "spent"\n'
        'by = ["region"]\n'
        'rows = 2\n'
        'groups = 1\n'
    ),
    "whole and real numbers": (
        'data = "visits"\n'
        '\n'
        '[budget]\n'
        'epsilon = 1\n'
        'delta = 1e-06\n'
        '\n'
        '[[query]]\n'
        'name = "mean spent"\n'
        'ask = "mean"\n'
        'of = "spent"\n'
        'share = 2\n'
        '\n'
        '[[query]]\n'
        'name = "count"\n'
        'ask = "count"\n'
        'share = 2.0\n'
    ),
    "every option": (
        'title = "All of them"\n'
        'data = "visits"\n'
        'confidence = 0.99\n'
        '\n'
        '[budget]\n'
        'epsilon = 1.5\n'
        'delta = 1e-07\n'
        '\n'
        '[[query]]\n'
        'name = "total"\n'
        'ask = "sum"\n'
        'of = "spent"\n'
        'error = 5\n'
        'noise = "laplace"\n'
        'clamp = "total"\n'
        '\n'
        '[[query]]\n'
        'name = "mean spent"\n'
        'ask = "mean"\n'
        'of = "spent"\n'
        'share = 0.5\n'
        'noise = "gaussian"\n'
        'clamp = "rows"\n'
        '\n'
        '[[query]]\n'
        'name = "histogram age"\n'
        'ask = "histogram"\n'
        'of = "age"\n'
        'step = 10\n'
        'error = 2.5\n'
        'noise = "laplace"\n'
        '\n'
        '[[query]]\n'
        'name = "quantiles age"\n'
        'ask = "quantiles"\n'
        'of = "age"\n'
        'quantiles = [0.25, 0.5, 0.75]\n'
        'step = 1\n'
        'share = 3\n'
        '\n'
        '[[query]]\n'
        'name = "quantiles age 2"\n'
        'ask = "quantiles"\n'
        'of = "age"\n'
        'quantiles = [0.1, 1]\n'
        '\n'
        '[[query]]\n'
        'name = "median age"\n'
        'ask = "median"\n'
        'of = "age"\n'
        'step = 0.5\n'
        '\n'
        '[[query]]\n'
        'name = "variance age"\n'
        'ask = "variance"\n'
        'of = "age"\n'
        'share = 1e-06\n'
        '\n'
        '[[query]]\n'
        'name = "deviation age"\n'
        'ask = "deviation"\n'
        'of = "age"\n'
    ),
    "conditions": (
        'data = "visits"\n'
        '\n'
        '[budget]\n'
        'epsilon = 1\n'
        '\n'
        '[[query]]\n'
        'name = "count"\n'
        'ask = "count"\n'
        'where = "((age >= 65) and (region = \'north\')) and (\\"a b\\" < 3)"\n'
        '\n'
        '[[query]]\n'
        'name = "count 2"\n'
        'ask = "count"\n'
        'where = "age > 1"\n'
    ),
    "listed values": (
        'data = "visits"\n'
        '\n'
        '[budget]\n'
        'rho = 1\n'
        '\n'
        '[columns."region"]\n'
        'values = ["north", "south"]\n'
        '\n'
        '[columns."age"]\n'
        'values = [18, 19]\n'
        '\n'
        '[columns."b"]\n'
        'values = [true, false]\n'
        '\n'
        '[columns."a"]\n'
        'values = ["2026-01-31"]\n'
        '\n'
        '[[query]]\n'
        'name = "count by region"\n'
        'ask = "count"\n'
        'by = ["region"]\n'
        '\n'
        '[[query]]\n'
        'name = "count by region age"\n'
        'ask = "count"\n'
        'by = ["region", "age"]\n'
        '\n'
        '[[query]]\n'
        'name = "distinct by a b"\n'
        'ask = "distinct"\n'
        'by = ["a", "b"]\n'
    ),
    "the last list of a column counts": (
        'data = "visits"\n'
        '\n'
        '[columns."a"]\n'
        'values = [3]\n'
        '\n'
        '[columns."b"]\n'
        'values = [2]\n'
        '\n'
        '[[query]]\n'
        'name = "count by a b a"\n'
        'ask = "count"\n'
        'by = ["a", "b", "a"]\n'
    ),
    "equal values of other types": (
        'data = "visits"\n'
        '\n'
        '[columns."a"]\n'
        'values = [1, 0]\n'
        '\n'
        '[[query]]\n'
        'name = "count by a"\n'
        'ask = "count"\n'
        'by = ["a"]\n'
        '\n'
        '[[query]]\n'
        'name = "distinct by a"\n'
        'ask = "distinct"\n'
        'by = ["a"]\n'
    ),
    "private keys": (
        'data = "visits"\n'
        '\n'
        '[budget]\n'
        'epsilon = 2\n'
        'delta = 1e-09\n'
        '\n'
        '[[query]]\n'
        'name = "count by region age"\n'
        'ask = "count"\n'
        'by = ["region", "age"]\n'
        'keys = "private"\n'
        'groups = 3\n'
    ),
    "keys before columns": (
        'data = "visits"\n'
        '\n'
        '[budget]\n'
        'epsilon = 2\n'
        'delta = 1e-09\n'
        '\n'
        '[[query]]\n'
        'name = "count by region"\n'
        'ask = "count"\n'
        'by = ["region"]\n'
        'keys = "private"\n'
    ),
    "equal names": (
        'data = "visits"\n'
        '\n'
        '[[query]]\n'
        'name = "count"\n'
        'ask = "count"\n'
        '\n'
        '[[query]]\n'
        'name = "count 2"\n'
        'ask = "count"\n'
        '\n'
        '[[query]]\n'
        'name = "count 3"\n'
        'ask = "count"\n'
        '\n'
        '[[query]]\n'
        'name = "count 2 2"\n'
        'ask = "count"\n'
        '\n'
        '[[query]]\n'
        'name = "count 4"\n'
        'ask = "sum"\n'
        'of = "x"\n'
    ),
    "hostile texts": (
        'title = "x\\"\\ny = 1"\n'
        'data = "visits"\n'
        '\n'
        '[budget]\n'
        'epsilon = 1\n'
        '\n'
        '[columns."evil\\"]\\n[budget]\\nepsilon = 9\\n#"]\n'
        'values = ["\\"", "\\\\", "]", "\'\'\'", "\\"\\"\\"", "\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001b\\u001f\\u007F\x80\x9f", "\u2028\u202e\ufeff"]\n'
        '\n'
        '[columns.""]\n'
        'values = [""]\n'
        '\n'
        '[[query]]\n'
        'name = "a \\"quoted\\" ]] name\\\\"\n'
        'ask = "count"\n'
        'where = "name = \'a\\"b\\\\c\' and x = \'\\n[budget]\\nepsilon = 100\'"\n'
        '\n'
        '[[query]]\n'
        'name = "count by evil\\"]\\n[budget]\\nepsilon = 9\\n#"\n'
        'ask = "count"\n'
        'by = ["evil\\"]\\n[budget]\\nepsilon = 9\\n#"]\n'
        '\n'
        '[[query]]\n'
        'name = "sum gr\xf6\xdfe \u20ac\U0001d54a by "\n'
        'ask = "sum"\n'
        'of = "gr\xf6\xdfe \u20ac\U0001d54a"\n'
        'by = [""]\n'
    ),
    "numbers": (
        'data = "visits"\n'
        'confidence = 1\n'
        '\n'
        '[budget]\n'
        'epsilon = 1e-09\n'
        'delta = 0\n'
        '\n'
        '[columns."whole"]\n'
        'values = [0, -1, 9223372036854775807, -9223372036854775808, true]\n'
        '\n'
        '[columns."real"]\n'
        'values = [0.0, -0.0, 1.0, 0.1, 0.3333333333333333, 0.0001, 9.999e-05, 1e-05, 5e-324, 2.2250738585072014e-308, 1000000000000000.0, 123456789012345.6, 1e+16, 9999999999999998.0, 9007199254740992.0, 1.7976931348623157e+308, 1e+22, 1e+23, 123456789.0, -2.5e-07, 100.0, 4503599627370498.0]\n'
        '\n'
        '[[query]]\n'
        'name = "count by whole"\n'
        'ask = "count"\n'
        'by = ["whole"]\n'
        '\n'
        '[[query]]\n'
        'name = "count by real"\n'
        'ask = "count"\n'
        'by = ["real"]\n'
    ),
    "no title and no confidence": (
        'data = "visits"\n'
        '\n'
        '[budget]\n'
        'epsilon = 0\n'
        '\n'
        '[[query]]\n'
        'name = "count"\n'
        'ask = "count"\n'
    ),
    "values that a study refuses": (
        'title = 5\n'
        'data = "visits"\n'
        'confidence = "0.9"\n'
        '\n'
        '[budget]\n'
        'epsilon = "1"\n'
        'delta = true\n'
        '\n'
        '[[query]]\n'
        'name = 7\n'
        'ask = "count"\n'
        'where = 5\n'
        'rows = true\n'
        'error = "3"\n'
        'share = false\n'
    ),
    "limits of a session": (
        'data = "visits"\n'
        '\n'
        '[[query]]\n'
        'name = "mean c by b"\n'
        'ask = "mean"\n'
        'of = "c"\n'
        'rows = 5\n'
        'groups = 7\n'
        'where = "a > 1"\n'
        'by = ["b"]\n'
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_bytes_are_those_of_earlier_versions(name):
    questions, options = CASES[name]
    assert _study_text(questions, **options) == TEXTS[name]


def test_every_character_is_written_as_before():
    for first in [*range(0, 0xD800, 256), *range(0xE000, 0x11000, 256), 0x1F600, 0x10FF00]:
        text = "".join(map(chr, range(first, min(first + 256, 0xD800 if first < 0xD800 else 0x110000))))
        before = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
        assert f"\nname = {before}\n" in _study_text([VISITS.count(name=text)])


def test_every_power_of_two_and_ten_is_written_as_before():
    numbers = [sign * base**exponent * factor for sign in (1.0, -1.0) for base in (2.0, 10.0) for exponent in range(-300, 300) for factor in (1, 1 / 3, 7.5)]
    assert f"\nvalues = [{', '.join(map(repr, numbers))}]\n" in _study_text([VISITS.group_by("a", keys=numbers).count()])


@pytest.mark.parametrize("value", [None, object(), {"a": 1}, b"bytes", 1j, [[1]]])
def test_a_value_that_no_study_holds_is_named(value):
    with pytest.raises(sotto.InvalidValue, match="a study holds numbers, texts and lists of them, and no "):
        _study_text([VISITS.group_by("a", keys=[value]).count()])


def test_values_that_toml_cannot_hold_are_refused():
    for value, words in [(float("nan"), "infinite or NaN"), (float("inf"), "infinite or NaN"), (2**63, "2\\*\\*63"), ("\ud800", "surrogate")]:
        with pytest.raises(sotto.InvalidValue, match=words):
            _study_text([VISITS.group_by("a", keys=[value]).count()])
    with pytest.raises(sotto.InvalidValue, match="`epsilon`: a number is infinite or NaN"):
        _study_text([VISITS.count()], epsilon=float("nan"))


def test_what_makes_no_study_is_refused():
    with pytest.raises(sotto.InvalidValue, match="a study asks something"):
        _study_text([])
    with pytest.raises(sotto.InvalidValue, match="one study is about one table"):
        _study_text([VISITS.count(), Query(None, "others").count()])
    with pytest.raises(sotto.InvalidValue, match="list different values"):
        _study_text([VISITS.group_by("a", keys=["x"]).count(), VISITS.group_by("a", keys=["y"]).count()])
    with pytest.raises(sotto.InvalidValue, match="a setting has lower-case letters"):
        _sotto.study_text("visits", [({"name": "n", "ask = 1\n[budget]\nepsilon": 9}, {})], {})
