"""Every example in a docstring does what it shows."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("module", ["sotto", "sotto.accountant", "sotto.accounting", "sotto.ledger", "sotto.mechanisms", "sotto._sotto"])
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
