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
    """Returns the number of failed examples. Raises AssertionError if the page has no example."""
    test = doctest.DocTestParser().get_doctest(blocks(page, kinds), {}, Path(page).name, None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    runner.run(test)
    assert runner.tries > 0, f"{page} has no examples of {kinds}"
    return runner.failures


def without_torch():
    """Loads the accountants of Opacus without its package, which imports PyTorch although they do not use it."""
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
