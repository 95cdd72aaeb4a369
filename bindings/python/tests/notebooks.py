"""Runs the notebooks of examples/notebooks cell by cell: notebooks.py [--fix] [FILE…]. --fix writes what the cells show into the files.

A cell is plain Python; what its last expression shows is its output, as a notebook would show it: SVG, else HTML, else text.
"""

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "examples/notebooks"


def display_data(value):
    """Returns the forms in which a notebook can show the value, by MIME type."""
    forms = {"text/plain": repr(value)}
    for name, method in (("image/svg+xml", "_repr_svg_"), ("text/html", "_repr_html_")):
        if (render := getattr(value, method, None)) is not None:
            forms[name] = render()
    return {name: text.splitlines(keepends=True) for name, text in forms.items()}


def run_cell(source, names, number):
    """Runs a cell, and returns its outputs."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";") else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    outputs = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(keepends=True)})
    if value is not None:
        outputs.append({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": display_data(value)})
    return outputs


def run_notebook(path, names=None):
    """Runs a notebook in a new folder, and returns it with the actual outputs."""
    notebook = json.loads(path.read_text())
    names = {"__name__": "__main__", **(names or {})}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            number = 0
            for cell in notebook["cells"]:
                if cell["cell_type"] != "code":
                    continue
                number += 1
                try:
                    cell["outputs"] = run_cell("".join(cell["source"]), names, number)
                except Exception as error:
                    raise AssertionError(f"{path.name}, cell {number}: {''.join(cell['source'])}") from error
                cell["execution_count"] = number
        finally:
            os.chdir(before)
    return notebook


def main():
    words = [word for word in sys.argv[1:] if word != "--fix"]
    for path in map(Path, words) if words else sorted(FOLDER.glob("*.ipynb")):
        notebook = run_notebook(path)
        if "--fix" in sys.argv:
            path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
        print(f"{path.name}: {sum(cell['cell_type'] == 'code' for cell in notebook['cells'])} cells")


if __name__ == "__main__":
    main()
