"""What can go wrong. Each message says what, why and what to do; what would help is named as an argument of the function that was called."""

from __future__ import annotations

import functools
import importlib.metadata
import inspect
import sys
import warnings
from collections.abc import Callable
from typing import TypeVar

from . import _sotto

# What helps against an error: the library's remedies, as arguments (where the function has them) or calls.
_ARGUMENTS = {
    "method": ("by", 'by="…"'),
    "relation": ("relation", 'relation="…"'),
    "work": ("precision", "precision=…"),
    "event_delta": ("at", "at=…"),
    "each": ("each", "each=True"),
    "memory": ("memory", "memory=…"),
    "any_duckdb": ("any_duckdb", "any_duckdb=True"),
    "key_file": ("key", "key=…"),
    "new_request": ("again", "again=True"),
    "repeat_request": ("request", "request=…"),
}
_CALLS = {
    "public_key": "Ledger.public_key",
    "create_ledger": "Ledger.create(…)",
    "ledger_delta": "Ledger.create(…, delta=…)",
    "data_ledger": "Session.create_ledger(…)",
    "import_ledger": "Ledger.exported() of the old one, then Ledger.imported(…, unit_type=…, source=…)",
    "verify_ledger": "Ledger.verify()",
    "show_ledger": "Ledger.entries",
    "describe_data": "a file NAME.data.toml in the catalogue",
    "sum_ledger": "Ledger.create(…, sum=True)",
    "start_witness": "Ledger.start_witness()",
    "repair_ledger": "sotto ledger repair, a command",
}
# What is typed in a shell.
_COMMANDS = {"known_duckdb": 'pip install duckdb==1.4.4, the version that sotto is made for and that the extra "sotto[data]" names'}


def _other_duckdb() -> str:
    """The version of PyPI's package `duckdb`, if it is none that sotto is made for."""
    try:
        version = importlib.metadata.version("duckdb")
    except importlib.metadata.PackageNotFoundError:
        return ""
    return "" if version.startswith("1.4.") else version


class SottoError(Exception):
    """All of sotto's errors."""

    def __init__(self, message: str, *, remedy: int = 0):
        super().__init__(message)
        self._remedy = remedy

    def _name_arguments(self, arguments) -> None:
        """Says which arguments of the function would help, once."""
        remedy, self._remedy = self._remedy, 0
        if not remedy:
            return
        from ._sotto import REMEDIES

        names = [name for bit, name in REMEDIES.items() if remedy & bit]
        other = _other_duckdb() if "known_duckdb" in names else ""
        if other:  # which any_duckdb=True does not help
            names = [name for name in names if name != "any_duckdb"]
            self.args = (f"{self.args[0]}\nThe package duckdb that is installed has version {other}", *self.args[1:])
        words = [_ARGUMENTS[n][1] for n in names if n in _ARGUMENTS and _ARGUMENTS[n][0] in arguments]
        if "new_request" in names and "checkpoint" in arguments:
            words.append("checkpoint=…, another folder")
        if "work" in names and "seconds" in arguments:
            words.append("seconds=…")
        words += [_CALLS[n] for n in names if n in _CALLS]
        if "known_duckdb" in names:
            words.append("Session(…, duckdb=…), the path of a libduckdb.so of that version")
        if "any_duckdb" in names and "any_duckdb" not in arguments:
            words.append("Session(…, any_duckdb=True)")
        typed = [_COMMANDS[n] for n in names if n in _COMMANDS]
        lines = [self.args[0], *(f"type: {line}" for line in typed)]
        if words:
            lines.append(f"{'or pass' if typed else 'pass'}: {', or '.join(words)}")
        if len(lines) > 1:
            self.args = ("\n".join(lines), *self.args[1:])


class InvalidValue(SottoError, ValueError):
    """A value outside the range in which it makes sense."""


class ParseError(SottoError, ValueError):
    """A plan's text that cannot be read; `column` counts characters from 1."""

    def __init__(self, message: str, *, column: int, remedy: int = 0):
        super().__init__(f"column {column}: {message}", remedy=remedy)
        self.column = column


class OutsideConditions(SottoError, ValueError):
    """No theorem gives the number that was asked for."""


class StudyError(SottoError, ValueError):
    """A data file or a study that cannot be used as it is written."""

    def __init__(self, message: str, *, line: int = 0, remedy: int = 0):
        super().__init__(message, remedy=remedy)
        self.line = line


class OutOfWork(SottoError, RuntimeError):
    """The work that an answer may take is done before anything was proved."""


class BudgetRefused(SottoError, RuntimeError):
    """The budget does not cover the event; nothing was charged. `missing` is (amount, delta)."""

    def __init__(self, message: str, *, missing: tuple[float, float] = (0.0, 0.0), remedy: int = 0):
        super().__init__(message, remedy=remedy)
        self.missing = missing


class LedgerError(SottoError, RuntimeError):
    """The ledger cannot be read or written, is no ledger, or was changed by something else."""


class RequestClosed(LedgerError):
    """Noise was drawn for the request and no answer was kept: it stays charged and is never run again."""


class RequestFailed(LedgerError):
    """The work of a request failed after it was charged."""

    def __init__(self, message: str, *, request: str, remedy: int = 0):
        super().__init__(message, remedy=remedy)
        self.request = request


class EngineError(SottoError, RuntimeError):
    """The engine that holds the data failed. `detail` may speak of the data, and is for the curator's eyes."""

    def __init__(self, message: str, *, detail: str = "", remedy: int = 0):
        super().__init__(message, remedy=remedy)
        self.detail = detail


class ProtocolError(SottoError, RuntimeError):
    """A message, a certificate or a session that is not what it should be, or not from whom it should be. Nothing was revealed."""


class NotApproved(ProtocolError):
    """This member has not agreed to the session: `sotto.federated.approve` comes first."""


class LinkLost(SottoError, RuntimeError):
    """No connection to the coordinator, or none any more. Nothing is lost: the same call goes on from where it was."""


class NoEntropy(SottoError, RuntimeError):
    """The operating system gave no entropy. Nothing may be released."""


class PrivacyWarning(UserWarning):
    """What was guaranteed is less than it may seem."""


def outside() -> int:
    """The stack level of the first caller outside of this package and scikit-learn, for warnings."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("sotto", "sklearn"):
        level, frame = level + 1, frame.f_back
    return level


def warn_of_delta(delta: float | None, units: float | None = None) -> None:
    """PrivacyWarning for a delta that is too large, for a public number of units if one is known."""
    doubt = "" if delta is None else _sotto.doubt_about_delta(float(delta), units)
    if doubt:
        warnings.warn(doubt, PrivacyWarning, stacklevel=outside())


_F = TypeVar("_F", bound=Callable)


def names_arguments(function: _F) -> _F:
    """Errors from this function name those of its arguments that would help."""
    arguments = set(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except SottoError as error:
            error._name_arguments(arguments)
            raise

    return call  # type: ignore[return-value]
