"""From a catalogue to answers with intervals, charged to a ledger."""

import copy
import pickle

import pytest
import sotto
from sotto import Ledger, Session

DATA = """
name = "shop"
version = "1"
source = "../shop.csv"
records = "lines"
unit = "person"
ledger = "shop.sotto"
[columns.person]
type = "integer"
null = "drop"
[columns.age]
type = "integer"
null = "drop"
[columns.region]
type = "text"
null = "drop"
values = ["north", "south"]
[columns.spent]
type = "real"
null = { value = 0 }
bounds = [0, 100]
"""


@pytest.fixture
def catalogue(tmp_path):
    rows = [f"{i % 3000},{18 + i * 7 % 60},{'north' if i % 3 else 'south'},{i * 37 % 200 / 2:.2f}" for i in range(6000)]
    (tmp_path / "shop.csv").write_text("person,age,region,spent\n" + "\n".join(rows) + "\n")
    (tmp_path / "catalogue").mkdir()
    (tmp_path / "catalogue/shop.data.toml").write_text(DATA)
    return tmp_path / "catalogue"


@pytest.fixture
def session(catalogue, duckdb_library):
    session = Session(catalogue, duckdb=duckdb_library)
    session.create_ledger(rho=1)
    return session


def test_the_builder_writes_the_same_study(session):
    question = session.query("shop").where("age >= 65").where("spent > 1").group_by("region", keys=["north"]).count(error=30)
    assert question.study(title='a "b"').text == (
        'title = "a \\"b\\""\ndata = "shop"\n\n[columns."region"]\nvalues = ["north"]\n\n[[query]]\nname = "count by region"\nask = "count"\n'
        'where = "(age >= 65) and (spent > 1)"\nby = ["region"]\nerror = 30\n'
    )


def test_answers_have_intervals_and_cost_what_was_said(session):
    question = session.query("shop").where("age >= 65").group_by("region").limit(rows=1, groups=1).count(error=30)
    before = session.remaining
    assert "± 30" in question.cost()
    assert session.remaining == before == pytest.approx(1)
    answers = question.run()
    assert [row["region"] for row in answers.rows()] == ["north", "south"]
    assert all(row["low"] <= row["value"] <= row["high"] for row in answers.rows())
    assert session.remaining < before
    left = session.remaining
    again = question.run()
    assert again.repeated and again.rows() == answers.rows() and session.remaining == left  # free
    anew = question.run(again=True)
    assert not anew.repeated and session.remaining < left
    frame = answers.to_pandas()
    assert list(frame.columns) == ["query", "region", "value", "low", "high", "limit"]
    assert answers["count by region"][0]["region"] == "north"
    assert answers.report.startswith("<!doctype html>") and "<table>" in answers._repr_html_()


def test_several_questions_are_one_charge(session):
    bounded = session.query().limit(rows=5, groups=1)
    answers = session.run(
        bounded.group_by("region").mean("spent"), bounded.histogram("spent", step=25), bounded.median("spent"), bounded.median("spent"), epsilon=1, delta=1e-6
    )
    assert len(session.ledger().entries) == 1
    assert {row["query"] for row in answers.rows()} == {"mean spent by region", "histogram spent", "median spent", "median spent 2"}
    assert answers["mean spent by region"][0]["value"] == pytest.approx(50, abs=10)


def test_limits_on_what_a_unit_contributes_are_chosen(session):
    query = session.query("shop").group_by("region")
    for question in (query.count(), query.limit(rows=2).mean("spent"), query.limit(groups=1).histogram("spent"), query.distinct()):
        with pytest.raises(sotto.StudyError, match=r"the study does not say how many(.|\n)*limit\((rows=…)?(, )?(groups=…)?\)"):
            question.run(epsilon=0.1)
        with pytest.raises(sotto.StudyError, match="the study does not say how many"):
            question.cost(epsilon=0.1)
    assert not session.ledger().entries
    answers = query.limit(rows=1, groups=1).count().run(epsilon=0.1)
    assert answers.to_pandas()["limit"].tolist() == ["at most 1 per person, in 1 group"] * 2
    for text in (repr(answers), str(answers), answers._repr_html_(), answers.report, answers.text("csv"), str(answers.to_dict())):
        assert "at most 1 per person, in 1 group" in text
    assert "at most 1 per person, in 1 group" in query.limit(rows=1, groups=1).count().cost(epsilon=0.1)
    limited = session.limit(rows=2, groups=2)
    both = limited.run(limited.query().group_by("region").count(), limited.query().limit(rows=1).mean("spent"), limited.query().distinct(), epsilon=0.2)
    assert [row.get("limit") for row in both.rows()] == ["at most 2 per person in each group"] * 2 + ["at most 1 row per person", None]
    assert session.query().keys == {}  # the session itself has none
    assert session.query().bound(rows=2).keys == session.query().limit(rows=2).keys == {"rows": 2}


def test_what_is_wrong_costs_nothing_and_is_said(session):
    with pytest.raises(sotto.StudyError, match="did you mean age"):
        session.query().where("agge > 3").count().run(epsilon=1)
    with pytest.raises(sotto.BudgetRefused, match="does not cover") as caught:
        session.query().distinct().run(epsilon=100)
    assert caught.value.missing[0] > 0
    with pytest.raises(sotto.InvalidValue, match="a study asks something"):
        session.run(epsilon=1)
    assert session.remaining == pytest.approx(1)


def test_the_session_knows_its_data(session):
    assert session.names == ["shop"] and session.unit == "person" and session.budget == "zcdp(1, 0)"
    assert session.data().columns[3]["bounds"] == (0, 100)
    assert "north" not in session.check() and "spent" in session.check()


def test_another_duckdb_is_refused_with_the_argument_that_helps(catalogue, tmp_path):
    other = tmp_path / "libduckdb.so"
    other.write_bytes(b"no library")
    session = Session(catalogue, duckdb=other)
    session.create_ledger(rho=1)
    try:
        session.query().distinct(error=30).run()
    except sotto.SottoError as error:
        assert "is not a DuckDB that sotto knows" in str(error) and "pip install duckdb==1.4.4" in str(error)
    # else a known library was loaded before in this process, and it is that one which answered


def test_what_is_left_is_a_part_of_the_promise_and_a_number(catalogue, duckdb_library):
    session = Session(catalogue, duckdb=duckdb_library)
    session.create_ledger(epsilon=1, delta=1e-9)
    assert repr(session.remaining) == str(session.remaining)
    assert str(session.remaining).startswith("100 % of ε = 1 at δ = 1e-09 (mu^2 ")
    query = session.query("shop").distinct()
    assert "at δ = 1e-10, its share of the ledger's δ" in query.cost(epsilon=0.1)
    assert "laplace" in query.cost(epsilon=0.1, delta=0)
    query.run(epsilon=0.1)
    assert 98.5 < session.remaining.percent < 99.5  # of a tenth of the promise in Laplace noise it was 55
    assert 0 < session.remaining < 1 and float(session.remaining) == session.remaining
    assert session.ledger().text().count(str(session.remaining)) == 1
    with pytest.raises(sotto.BudgetRefused, match=r"it takes .* of the budget, and 98.* % of ε = 1 at δ = 1e-09 is left.*with delta = 9.5e-10 and Gaussian noise it takes 91 %"):
        query.run(epsilon=0.95, delta=0)


def test_a_delta_that_is_too_large_is_warned_of(catalogue, duckdb_library, tmp_path):
    with pytest.warns(sotto.PrivacyWarning, match="delta = 0.1 is large"):
        Ledger.create(tmp_path / "people.sotto", epsilon=1, delta=0.1)
    session = Session(catalogue, duckdb=duckdb_library)
    session.create_ledger(epsilon=1, delta=1e-9)
    with pytest.warns(sotto.PrivacyWarning, match="delta = 0.01 is large"):
        session.query("shop").distinct().study(epsilon=0.1, delta=0.01)
    for call in (sotto.epsilon, sotto.compare, sotto.explain, sotto.epsilon_over_steps):
        with pytest.warns(sotto.PrivacyWarning, match="delta = 0.1 is large") as record:
            call("2 * gaussian(1)", 0.1)
        assert record[0].filename == __file__
    with pytest.warns(sotto.PrivacyWarning, match="delta = 0.1 is large"):
        sotto.Gaussian.calibrated(epsilon=1, delta=0.1)
    with pytest.warns(sotto.PrivacyWarning, match="not below 1/n for n = 100"):
        sotto.LinearRegression(epsilon=1, delta=0.01, bounds=(0, 1), target_bounds=(0, 1), n_units=100).fit([[0.0], [1.0]], [0, 1])


def test_a_ledger_keeps_its_budget(tmp_path):
    ledger = Ledger.create(tmp_path / "people.sotto", unit="person", epsilon=1, sum=True)
    ledger.charge("laplace(2)", title="a half")
    assert ledger.remaining == pytest.approx(0.5) and ledger.spent == pytest.approx(0.5)
    assert ledger.refusal("laplace(1)") and not ledger.refusal("laplace(2)")
    with pytest.raises(sotto.BudgetRefused):
        ledger.charge("laplace(1)")
    first = ledger.charge("laplace(4)", request="mine")
    assert ledger.charge("laplace(4)", request="mine").number == first.number  # once
    assert ledger.claim(0)[0] == pytest.approx(1)
    assert len(ledger.entries) == 2 and ledger.entries[0].title == "a half"
    assert "signed" in ledger.verify(ledger.head)
    assert copy.deepcopy(ledger) is ledger
    assert pickle.loads(pickle.dumps(ledger)).head == ledger.head
    assert list(ledger.to_pandas()["plan"]) == ["laplace(2)", "laplace(4)"]
    assert "<svg" in ledger._repr_html_()
    other = Ledger.imported(tmp_path / "copy.sotto", ledger.exported())
    assert len(other.entries) == 2
    with pytest.raises(sotto.InvalidValue, match="one budget"):
        Ledger.create(tmp_path / "none.sotto")
    with pytest.raises(sotto.LedgerError):
        Ledger(tmp_path / "nowhere.sotto")
    with pytest.raises(sotto.OutsideConditions, match="pass: at="):
        ledger.charge("gaussian(100)")


@pytest.mark.slow
def test_pypis_duckdb_is_a_duckdb_that_sotto_knows(catalogue):
    pytest.importorskip("duckdb", reason="PyPI's duckdb is not installed: ./dev python slow")
    session = Session(catalogue)
    assert "_duckdb" in session._limits["duckdb"]
    session.create_ledger(rho=1)
    assert session.query().distinct(error=30).run().rows()[0]["value"] == pytest.approx(3000, abs=300)
    import duckdb

    assert duckdb.sql("select 42").fetchall() == [(42,)]
