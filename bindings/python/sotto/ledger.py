"""The ledger of a privacy budget: an append-only record of charges.

Each charge is on the disk before data are read.
"""

from __future__ import annotations

import html
import os

from . import _sotto
from ._sotto import Entry, Plan
from .errors import names_arguments, warn_of_delta


class Remaining(float):
    """The remaining budget: a number in the ledger's currency.

    Its text shows the percentage of the promised ε first. `percent` is that percentage and `words`
    the text.
    """

    percent: float
    words: str

    def __new__(cls, amount: float, percent: float, words: str):
        remaining = super().__new__(cls, amount)
        remaining.percent, remaining.words = percent, words
        return remaining

    def __repr__(self) -> str:
        return self.words

    __str__ = __repr__

    def __reduce__(self):
        return (Remaining, (float(self), self.percent, self.words))


class Ledger:
    """A ledger in a file or in PostgreSQL.

    `Ledger(place)` opens one, and `Ledger.create(place, …)` creates one.

    `place` is a path or an address `postgresql://…`. `key` is the file of the signing key, NAME.key next to the
    ledger's file by default. `witness` keeps the heads of the ledger elsewhere: a file to append to, or
    "|COMMAND". Raises LedgerError if the ledger cannot be opened.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> ledger = Ledger.create(folder + "/people.sotto", unit="person", rho=1)
    >>> ledger.charge("gaussian(5)")
    <charge 1: gaussian(5), request python-...>
    >>> ledger.remaining
    98 % of ε = 7.767 at δ = 1e-06 (rho 0.98)
    """

    @names_arguments
    def __init__(self, place: str | os.PathLike, *, key: str | os.PathLike = "", witness: str = ""):
        self._place, self._key, self._witness = os.fspath(place), os.fspath(key), witness
        self._ledger = _sotto.LedgerFile.open(self._place, self._key, self._witness)

    @classmethod
    @names_arguments
    def create(
        cls,
        place: str | os.PathLike,
        *,
        unit: str = "row",
        relation: str = "add-remove",
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        mu: float | None = None,
        order: float | None = None,
        slack: float | None = None,
        sum: bool = False,
        plan: Plan | str | None = None,
        name: str | None = None,
        unit_type: str = "",
        source: str = "",
        key: str | os.PathLike = "",
        witness: str = "",
    ) -> Ledger:
        """Creates a ledger with one budget and returns it.

        The budget is epsilon and delta, rho (zCDP), mu (Gaussian DP), epsilon at an order (Rényi
        DP), or a plan. `unit` names what one charge protects, and `relation` is the neighbouring
        relation. `unit_type` and `source` tie the ledger to the data of a data file. Raises
        InvalidValue unless the arguments name exactly one budget, and LedgerError if the ledger
        exists.
        """
        warn_of_delta(delta)
        budget = _sotto.budget(epsilon, delta, rho, mu, order, slack, sum, Plan(plan) if isinstance(plan, str) else plan)
        place = os.fspath(place)
        _sotto.LedgerFile.create(place, name or os.path.basename(place), unit, relation, budget, unit_type, source, os.fspath(key), witness)
        return cls(place, key=key, witness=witness)

    @classmethod
    @names_arguments
    def imported(cls, place: str | os.PathLike, exported: str, *, key: str | os.PathLike = "", unit_type: str = "", source: str = "") -> Ledger:
        """Creates a ledger from the text that `exported()` returned, and returns it."""
        _sotto.LedgerFile.imported(os.fspath(place), exported, os.fspath(key), unit_type, source)
        return cls(place, key=key)

    @names_arguments
    def charge(self, event: Plan | str, *, request: str | None = None, at: float | None = None, title: str = "") -> Entry:
        """Charges an event durably and returns the entry. Call it before you run the event.

        A repeated `request` is charged once; without `request` each call is a new charge. `at` is
        the delta at which a ledger of epsilon and delta charges the event. Raises BudgetRefused if
        the budget does not cover it; nothing is charged then.
        """
        warn_of_delta(at)
        event = Plan(event) if isinstance(event, str) else event
        return self._ledger.charge(request or f"python-{os.urandom(12).hex()}", event, at, title)[0]

    @names_arguments
    def refusal(self, event: Plan | str, *, at: float | None = None) -> str:
        """Returns the reason why the event would be refused now; empty if it would be admitted."""
        return self._ledger.would_admit(Plan(event) if isinstance(event, str) else event, at)

    @property
    def entries(self) -> list[Entry]:
        """The charges, from the first to the last."""
        return self._ledger.entries()

    @property
    def remaining(self) -> Remaining:
        """The budget that certainly remains.

        It is a number in the currency of the budget. Its text shows percent of the promised
        epsilon.
        """
        return Remaining(*self._ledger.what_is_left())

    @property
    def spent(self) -> float:
        """The sum of the charges, in the currency of the budget."""
        return self._ledger.spent()[0]

    @property
    def rest(self) -> Plan | None:
        """The part of the budget's plan that is not yet charged; None if the budget is not a plan."""
        return self._ledger.rest()

    def claim(self, delta: float | None = None) -> tuple[float, float]:
        """Returns the (epsilon, delta) that holds for all charges, including future ones.

        `delta` chooses the delta.
        """
        return self._ledger.claim(delta)

    @names_arguments
    def verify(self, head: str | None = None) -> str:
        """Recomputes every hash, total and cost, and returns a summary.

        Raises LedgerError if one is wrong.

        `head` is a value of `head` that was stored elsewhere: the ledger must contain it.
        """
        return self._ledger.verify(head)

    @property
    def head(self) -> str:
        """The number and hash of the last record.

        Store it elsewhere: `verify(head)` then detects an older copy of the ledger.
        """
        return self._ledger.head()

    @property
    def public_key(self) -> str:
        """The public key that verifies the signatures of the ledger."""
        key = self._key or os.path.splitext(self._place)[0] + ".key"
        return _sotto.public_key(key)

    def exported(self) -> str:
        """Returns the ledger as a text, for `imported`."""
        return self._ledger.exported()

    def to_pandas(self):
        """Returns the charges as a pandas DataFrame."""
        import pandas

        names = ["number", "time", "request", "title", "plan", "amount", "delta", "who"]
        return pandas.DataFrame([[getattr(entry, name) for name in names] for entry in self.entries], columns=names)

    def text(self, format: str = "table") -> str:
        """Returns the ledger as "table", "csv" or "json"."""
        return self._ledger.text(format)

    def chart(self):
        """Returns the chart of the budget spent over time, with the limit."""
        return self._ledger.chart()

    @property
    def id(self) -> str:
        return self._ledger.id

    @property
    def created(self) -> str:
        return self._ledger.created

    @property
    def name(self) -> str:
        return self._ledger.name

    @property
    def unit(self) -> str:
        return self._ledger.unit

    @property
    def relation(self) -> str:
        return self._ledger.relation

    @property
    def budget(self) -> str:
        return self._ledger.budget

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self  # a copy of an estimator is charged to the ledger of the original

    def __reduce__(self):
        return (_opened, (self._place, self._key, self._witness))

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def __repr__(self) -> str:
        return f"<Ledger {self.name}: {self.budget}, {self.remaining} left, protecting each {self.unit}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>{self.chart().svg()}"


def _opened(place, key, witness):
    return Ledger(place, key=key, witness=witness)
