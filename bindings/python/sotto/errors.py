"""The exceptions of sotto, and the arguments and calls that their messages suggest.

The library attaches remedies to an error, which say what would help without naming an interface.
The functions of this package translate them: into an argument, if the function that was called has
it, or into a call.
"""

from __future__ import annotations

import functools
import importlib.metadata
import inspect
import sys
import warnings
from collections.abc import Callable
from typing import TypeVar

from . import _sotto

# By remedy: the name of an argument, and how the message shows it. It is shown only for a function
# with that argument.
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
# By remedy: a call, which any message may show.
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
# By remedy: a command for the shell.
_COMMANDS = {"known_duckdb": 'pip install duckdb==1.4.4, the version that sotto is made for and that the extra "sotto[data]" names'}


def _other_duckdb() -> str:
    """Returns the version of PyPI's `duckdb` if sotto does not support it, else an empty text."""
    try:
        version = importlib.metadata.version("duckdb")
    except importlib.metadata.PackageNotFoundError:
        return ""
    return "" if version.startswith("1.4.") else version


class SottoError(Exception):
    """The base class of all exceptions of sotto."""

    def __init__(self, message: str, *, remedy: int = 0):
        super().__init__(message)
        self._remedy = remedy

    def _name_arguments(self, arguments) -> None:
        """Appends to the message which arguments of the function, calls or commands would help.

        The outermost function of the package must not append them again, so the remedy is cleared.
        """
        remedy, self._remedy = self._remedy, 0
        if not remedy:
            return
        from ._sotto import REMEDIES

        names = [name for bit, name in REMEDIES.items() if remedy & bit]
        other = _other_duckdb() if "known_duckdb" in names else ""
        if other:  # any_duckdb=True skips the check of the hash, and does not help against a wrong version
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
        commands = [_COMMANDS[n] for n in names if n in _COMMANDS]
        lines = [self.args[0], *(f"type: {line}" for line in commands)]
        if words:
            lines.append(f"{'or pass' if commands else 'pass'}: {', or '.join(words)}")
        if len(lines) > 1:
            self.args = ("\n".join(lines), *self.args[1:])


class InvalidValue(SottoError, ValueError):
    """An argument or a value is outside its allowed range."""


class ParseError(SottoError, ValueError):
    """The text of a plan is not valid. `column` is the position of the error, in characters from 1."""

    def __init__(self, message: str, *, column: int, remedy: int = 0):
        super().__init__(f"column {column}: {message}", remedy=remedy)
        self.column = column


class OutsideConditions(SottoError, ValueError):
    """No theorem gives the requested number."""


class StudyError(SottoError, ValueError):
    """A data file or a study is not valid.

    `line` is the line of the error, from 1; 0 if it has none.
    """

    def __init__(self, message: str, *, line: int = 0, remedy: int = 0):
        super().__init__(message, remedy=remedy)
        self.line = line


class OutOfWork(SottoError, RuntimeError):
    """The limit of work or time was reached before any bound was proved."""


class BudgetRefused(SottoError, RuntimeError):
    """The budget does not cover the event, and nothing was charged.

    `missing` is (amount, delta), by which the budget is too small, in the currency of the ledger.
    """

    def __init__(self, message: str, *, missing: tuple[float, float] = (0.0, 0.0), remedy: int = 0):
        super().__init__(message, remedy=remedy)
        self.missing = missing


class LedgerError(SottoError, RuntimeError):
    """The ledger cannot be read or written, is not a ledger, or was changed by another program."""


class RequestClosed(LedgerError):
    """The request drew noise and stored no answer. It stays charged and is never run again."""


class RequestFailed(LedgerError):
    """The request failed after it was charged. `request` is its id."""

    def __init__(self, message: str, *, request: str, remedy: int = 0):
        super().__init__(message, remedy=remedy)
        self.request = request


class EngineError(SottoError, RuntimeError):
    """The engine that holds the data failed.

    `detail` is the engine's own error. It may contain data: show it only to the curator.
    """

    def __init__(self, message: str, *, detail: str = "", remedy: int = 0):
        super().__init__(message, remedy=remedy)
        self.detail = detail


class ProtocolError(SottoError, RuntimeError):
    """A message, a certificate or a session is invalid or has the wrong sender.

    Nothing was revealed.
    """


class NotApproved(ProtocolError):
    """This member has not agreed to the session. Call `sotto.federated.approve` first."""


class LinkLost(SottoError, RuntimeError):
    """The connection to the coordinator failed. Repeat the call: it continues where it stopped."""


class NoEntropy(SottoError, RuntimeError):
    """The operating system returned no entropy, so nothing was released."""


class PrivacyWarning(UserWarning):
    """The guarantee is weaker than it may seem."""


def outside() -> int:
    """Returns the stack level of the first caller outside of sotto and scikit-learn."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("sotto", "sklearn"):
        level, frame = level + 1, frame.f_back
    return level


def warn_of_delta(delta: float | None, units: float | None = None) -> None:
    """Issues a PrivacyWarning if delta is too large.

    `units` is the public number of units, if it is known.
    """
    warning = "" if delta is None else _sotto.doubt_about_delta(float(delta), units)
    if warning:
        warnings.warn(warning, PrivacyWarning, stacklevel=outside())


_F = TypeVar("_F", bound=Callable)


def names_arguments(function: _F) -> _F:
    """Decorates a public function: its errors name those of its arguments that would help."""
    arguments = set(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except SottoError as error:
            error._name_arguments(arguments)
            raise

    return call  # type: ignore[return-value]
