"""Every example in a docstring does what it shows."""

import doctest
import importlib
import os
import re
from pathlib import Path

import pytest
from conftest import _command


@pytest.mark.parametrize("module", ["sotto", "sotto.accountant", "sotto.accounting", "sotto.federated", "sotto.ledger", "sotto.mechanisms", "sotto.simulate", "sotto._sotto"])
def test_docstrings(module):
    found = importlib.import_module(module)
    if module == "sotto._sotto":  # an extension's docstrings, object by object
        tests = [doctest.DocTestParser().get_doctest(o.__doc__, {}, n, None, 0) for n, o in vars(found).items() if isinstance(o, type) and o.__doc__]
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        for test in tests:
            runner.run(test)
        assert runner.failures == 0 and runner.tries > 0
        return
    failed, tried = doctest.testmod(found, optionflags=doctest.ELLIPSIS)
    assert failed == 0 and tried > 0


PAGES = Path(__file__).resolve().parents[2] / "docs/howto"
BLOCK = re.compile(r"^```python( \w+)?\n(.*?)^```$", re.M | re.S)


def blocks(page, kinds):
    return "\n".join(found[2] for found in BLOCK.finditer((PAGES / page).read_text()) if (found[1] or "").strip() in kinds)


def run_page(page, kinds, folder, monkeypatch):
    monkeypatch.chdir(folder)
    test = doctest.DocTestParser().get_doctest(blocks(page, kinds), {}, page, None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    runner.run(test)
    assert runner.failures == 0 and runner.tries > 0


@pytest.mark.parametrize("page", ["python.md", "switching.md", "../../README.md"])
def test_pages(page, tmp_path, monkeypatch):
    run_page(page, {""}, tmp_path, monkeypatch)


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
    import dp_accounting.pld  # noqa: F401

    run_page("switching.md", {"peers"}, tmp_path, monkeypatch)
