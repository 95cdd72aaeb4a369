"""The notebooks in examples/notebooks run, cell by cell."""

import pytest

from notebooks import FOLDER, run_notebook

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs(path, request, monkeypatch):
    if "Session(" in path.read_text():
        library = request.getfixturevalue("duckdb_library")
        monkeypatch.setattr("sotto.session.duckdb_library", lambda: library)
    notebook = run_notebook(path)
    assert any(cell.get("outputs") for cell in notebook["cells"])
