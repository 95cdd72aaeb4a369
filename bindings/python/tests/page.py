"""Runs a page's examples of one kind, in whatever environment this interpreter is of: page.py PAGE KIND [LIBDUCKDB], where sotto can be imported."""

import doctest
import importlib.util
import re
import sys
import types
from pathlib import Path

BLOCK = re.compile(r"^```python( \w+)?\n(.*?)^```$", re.M | re.S)


def blocks(page, kinds):
    return "\n".join(block[2] for block in BLOCK.finditer(Path(page).read_text()) if (block[1] or "").strip() in kinds)


def run(page, kinds):
    """How many examples failed; AssertionError if there is none."""
    test = doctest.DocTestParser().get_doctest(blocks(page, kinds), {}, Path(page).name, None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    runner.run(test)
    assert runner.tries > 0, f"{page} has no examples of {kinds}"
    return runner.failures


def without_torch():
    """Opacus imports PyTorch, and its accountants do not use it: they are loaded without the package around them."""
    opacus = importlib.util.find_spec("opacus")
    if opacus is None or importlib.util.find_spec("torch") is not None:
        return
    package, optimizers = types.ModuleType("opacus"), types.ModuleType("opacus.optimizers")
    package.__path__ = opacus.submodule_search_locations
    optimizers.DPOptimizer = object  # named in a type annotation alone
    sys.modules.update({"opacus": package, "opacus.optimizers": optimizers})


if __name__ == "__main__":
    without_torch()
    if len(sys.argv) > 3:
        import sotto.session

        sotto.session.duckdb_library = lambda: Path(sys.argv[3])
    sys.exit(run(sys.argv[1], {sys.argv[2]}) != 0)
