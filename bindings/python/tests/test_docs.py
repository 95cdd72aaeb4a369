"""Every example in a docstring does what it shows."""

import doctest
import importlib
import os
import shutil
import subprocess
from pathlib import Path

import page
import pytest
from conftest import _command


@pytest.mark.parametrize("module", ["sotto", "sotto.accountant", "sotto.accounting", "sotto.federated", "sotto.ledger", "sotto.mechanisms", "sotto.simulate", "sotto._sotto"])
def test_docstrings(module):
    target = importlib.import_module(module)
    if module == "sotto._sotto":  # an extension's docstrings, object by object
        tests = [doctest.DocTestParser().get_doctest(o.__doc__, {}, n, None, 0) for n, o in vars(target).items() if isinstance(o, type) and o.__doc__]
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        for test in tests:
            runner.run(test)
        assert runner.failures == 0 and runner.tries > 0
        return
    failed, tried = doctest.testmod(target, optionflags=doctest.ELLIPSIS)
    assert failed == 0 and tried > 0


ROOT = Path(__file__).resolve().parents[3]
PAGES = ROOT / "docs/howto"


def run_page(name, kinds, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sotto.repeated_fits._learned_from", set())  # a page is a process of its own
    assert page.run(PAGES / name, kinds) == 0


@pytest.mark.parametrize("name", ["python.md", "switching.md", "../../README.md"])
def test_pages(name, tmp_path, monkeypatch):
    run_page(name, {""}, tmp_path, monkeypatch)


def test_the_pages_session(tmp_path, monkeypatch, duckdb_library):
    monkeypatch.setattr("sotto.session.duckdb_library", lambda: duckdb_library)
    run_page("python.md", {"", "duckdb"}, tmp_path, monkeypatch)


def test_the_pages_party(tmp_path, monkeypatch):
    pytest.importorskip("grpc", reason="PyPI's grpcio is not installed")
    programs = _command().resolve().parent
    if not (programs / "sotto-federate").exists():
        pytest.skip(f"there is no {programs}/sotto-federate: ./dev federated")
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    run_page("python.md", {"", "grpc"}, tmp_path, monkeypatch)


@pytest.mark.slow
def test_the_switching_guide_holds_for_the_real_libraries(tmp_path, monkeypatch):
    pytest.importorskip("dp_accounting", reason="dp_accounting is not installed: ./dev python slow")
    pytest.importorskip("opendp", reason="opendp is not installed: ./dev python slow")
    import dp_accounting.pld  # noqa: F401

    run_page("switching.md", {"peers"}, tmp_path, monkeypatch)


# Libraries whose pins do not go with the others': each has an environment of its own.
ENVIRONMENTS = {
    "opacus": ("python-peer-opacus", "./dev python slow"),
    "engine": ("bench-venv-training", "./dev bench learning, which has PyTorch, 5 GB"),
    "autodp": ("python-peer-autodp", "./dev python slow"),
    "diffprivlib": ("python-peer-diffprivlib", "./dev python slow"),
    "tumult": ("python-peer-tumult", "./dev python slow"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ENVIRONMENTS)
def test_the_switching_guide_holds_for_the_real(kind, tmp_path, duckdb_library):
    import sotto

    folder, how = ENVIRONMENTS[kind]
    python = Path(os.environ.get("SOTTO_PEERS", ROOT / "build")).absolute() / folder / "bin/python"
    if not python.exists():
        pytest.skip(f"there is no environment with the library: {how}")
    if kind == "tumult" and shutil.which("java") is None:
        pytest.skip("Tumult Analytics runs on Spark, which needs Java: apt-get install default-jre-headless")
    words = [python, page.__file__, PAGES / "switching.md", kind, duckdb_library]
    known = {**os.environ, "PYTHONPATH": str(Path(sotto.__file__).parents[1]), "PYSPARK_PYTHON": str(python), "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(words, cwd=tmp_path, env=known, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
