"""Simulations: the command's numbers where they are fixed, and its words."""

import _thread
import threading
import time

import numpy
import pytest
import sotto
from sotto import simulate

MEASURED = {"error", "variance_ratio"}


@pytest.mark.parametrize(
    "model, options, words",
    [
        ("gopa", {"users": [100, 300], "honest": 0.5}, ["--users", 100, "--users", 300, "--honest", 0.5]),
        ("gopa", {"users": 1000, "degree": 89, "sigma": 3.0}, ["--users", 1000, "--degree", 89, "--sigma", 3]),
        ("local", {"users": [50], "epsilon": 0.5, "delta": 1e-5}, ["--users", 50, "--epsilon", 0.5, "--delta", 1e-5]),
        ("central", {}, []),
        ("ring", {"users": 60, "rounds": 3}, ["--users", 60, "--rounds", 3]),
        ("shuffle", {"users": 500}, ["--users", 500]),
    ],
)
def test_what_is_predicted_is_the_commands(command, model, options, words):
    simulation = simulate.averaging(model, runs=5, **options).to_dict()
    expected = command("simulate", model, "--runs", 5, *words)
    assert {**simulation, "rows": None} == {**expected, "rows": None}
    drawn = MEASURED | ({"predicted"} if model == "shuffle" else set())  # shuffled bits: for the values that were drawn
    for row, other in zip(simulation["rows"], expected["rows"], strict=True):
        assert {k: v for k, v in row.items() if k not in drawn} == {k: v for k, v in other.items() if k not in drawn}
        assert 0 < row["error"] < 4 * row["predicted"]


def test_a_walk_measures_what_it_predicts():
    simulation = simulate.averaging("walk", 50, rounds=5, honest=0.9, runs=30)
    assert simulation.error[0] == pytest.approx(simulation.predicted[0], rel=0.6)  # 30 runs: 13 % of standard deviation
    assert "a coalition of 5 users" in str(simulation)


@pytest.mark.parametrize("name", ["connectivity", "network-gain"])
def test_a_papers_table_is_the_commands(command, name):
    simulation = simulate.table(name)
    assert simulation.to_dict() == command("simulate", "table", name)
    assert name in simulate.tables() and simulation.name == f"table {name}"


def test_the_text_is_the_commands():
    import subprocess

    from conftest import _command

    if not _command().exists():
        pytest.skip(f"there is no {_command()}: ./dev build")
    output = subprocess.run([_command(), "simulate", "table", "connectivity"], capture_output=True, text=True, check=True).stdout
    assert simulate.table("connectivity").text() == output


def test_learning_is_the_commands(command, tmp_path):
    shares = []
    simulation = simulate.learning(200, rounds=3, runs=1, steps=[1, 3], progress=shares.append)
    expected = command("simulate", "learning", "--users", 200, "--rounds", 3, "--runs", 1, "--step", 1, "--step", 3)
    fixed = [{k: row[k] for k in ("way", "noise", "epsilon")} for row in expected["rows"]]
    assert [{k: row[k] for k in ("way", "noise", "epsilon")} for row in simulation.to_dict()["rows"]] == fixed
    assert shares == sorted(shares) and shares[-1] == pytest.approx(1)
    random = numpy.random.default_rng(3)
    x = random.normal(size=(400, 2))
    lines = [f"{a},{b},{a + b}" for a, b in x]
    (tmp_path / "public.csv").write_text("a,b,c\n" + "\n".join(lines) + "\n")
    own = simulate.learning(100, rounds=5, runs=1, steps=3, data=tmp_path / "public.csv", label="c")
    assert own.accuracy[0] > 0.9
    with pytest.raises(sotto.InvalidValue, match="nowhere"):
        simulate.learning(100, data=tmp_path / "public.csv", label="nowhere")


def test_the_result_has_columns_texts_and_a_picture():
    simulation = simulate.averaging("local", [10, 20], runs=2)
    assert simulation.users.tolist() == [10, 20] and simulation["users"] is simulation.users and list(simulation.to_pandas()["users"]) == [10, 20]
    assert simulation.settings["runs"] == 2 and simulation.notes[0][0] == "error" and "error" in dir(simulation)
    assert simulation.svg().startswith("<svg") and "<svg" in simulation._repr_html_() and simulation.text("csv").startswith("users,")
    with pytest.raises(AttributeError, match="it has the columns users, noise"):
        simulation.mistake  # noqa: B018
    import copy

    assert copy.copy(simulation).name == "local"


def test_the_picture_is_drawn():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed: ./dev python slow")
    matplotlib.use("Agg")
    assert simulate.averaging("local", [10, 20], runs=2).plot().get_xlabel() == "users n"


@pytest.mark.parametrize(
    "options, words",
    [
        ({"model": "nobody"}, "it must be one of central, local, shuffle, gopa, ring, walk"),
        ({"model": "local", "honest": 0.5}, "honest= has no meaning for local"),
        ({"model": "shuffle", "sigma": 1}, "sigma= has no meaning for shuffle"),
        ({"model": "ring", "degree": 3}, "degree= has no meaning for ring"),
        ({"sigma": 1, "epsilon": 1}, "leave one out"),
        ({"runs": 1}, "runs = 1 is not allowed"),
        ({"users": 1}, "users"),
    ],
)
def test_what_makes_no_sense_is_refused(options, words):
    with pytest.raises(sotto.InvalidValue, match=words):
        simulate.averaging(**options)
    with pytest.raises(sotto.OutsideConditions, match="at least 89 others"):
        simulate.averaging(users=1000, degree=20)
    with pytest.raises(sotto.InvalidValue, match="is not a table"):
        simulate.table("elsewhere")
    with pytest.raises(sotto.InvalidValue, match="learns from no records"):
        simulate.table("connectivity", data="x.csv")


def test_progress_is_told_and_may_end_it():
    shares = []

    def progress(share):
        shares.append(share)
        if share > 0.3:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        simulate.averaging("central", [10, 20], runs=10, progress=progress)
    assert shares[-1] < 0.5


@pytest.mark.parametrize("work", [lambda: simulate.learning(20_000, rounds=1000, runs=3), lambda: simulate.averaging("central", 100_000, runs=90_000)])
def test_ctrl_c_ends_it(work):
    begun = time.monotonic()
    stop = threading.Timer(0.5, _thread.interrupt_main)
    stop.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    stop.join()
    assert time.monotonic() - begun < 30  # of hours
