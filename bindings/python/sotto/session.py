"""Questions about people, charged to a ledger: a session on the curator's catalogue, and a builder that writes the same studies as by hand."""

from __future__ import annotations

import copy
import dataclasses
import html
import importlib.util
import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from . import _sotto, spark
from ._sotto import DataFile
from .errors import InvalidValue, names_arguments, warn_of_delta
from .ledger import Ledger, Remaining


def default_catalogue() -> Path:
    """The folder that the user's configuration names, as for the command line."""
    home = Path.home()
    configuration = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "sotto" / "config.toml"
    if configuration.exists():
        named = _sotto.catalogue_in(_sotto.read_text_file(configuration), configuration.parent)
        if str(named) not in ("", "."):
            return Path(named)
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share") / "sotto" / "catalogue"


def duckdb_library() -> Path | None:
    """The library inside PyPI's package `duckdb`, if it is installed: its module exports DuckDB's C interface. It is loaded only if its hash is known."""
    found = importlib.util.find_spec("_duckdb")
    return Path(found.origin) if found and found.origin else None


class Session:
    """The data of a catalogue, their budgets, and questions about them.

    `data` is the name that questions are about unless they say another; a catalogue with one needs none. `duckdb` is the path of libduckdb.so; without
    it PyPI's package `duckdb`, if it is installed, else the one that was installed with sotto. `spark` is the path of the program sotto-spark, for data
    files that name a Spark.
    """

    def __init__(
        self,
        catalogue: str | os.PathLike | None = None,
        data: str | None = None,
        *,
        duckdb: str | os.PathLike | None = None,
        any_duckdb: bool = False,
        spark: str | os.PathLike | None = None,
        threads: int = 0,
        memory: int = 0,
    ):
        self.catalogue = Path(catalogue) if catalogue is not None else default_catalogue()
        if not self.catalogue.is_dir():
            raise InvalidValue(f"catalogue {self.catalogue} is no folder")
        self._data = data
        self._limits = {"duckdb": os.fspath(duckdb or duckdb_library() or ""), "any_duckdb": any_duckdb, "spark": os.fspath(spark or shutil.which("sotto-spark") or "")}
        self._work = {"threads": threads, "memory": memory}
        self._counted: dict[str, int] = {}

    @property
    def names(self) -> list[str]:
        """Of the data in the catalogue."""
        return _sotto.data_names(self.catalogue)

    @names_arguments
    def data(self, name: str | None = None) -> DataFile:
        """What the curator says of the data."""
        name = name or self._data
        if name is None:
            names = self.names
            if len(names) != 1:
                raise InvalidValue(f"which data? The catalogue has {', '.join(names) or 'none'}: pass data=…")
            name = names[0]
        return DataFile.find(self.catalogue, name)

    def ledger(self, name: str | None = None) -> Ledger:
        found = self.data(name)
        return Ledger(found.ledger, key=found.key, witness=found.witness)

    @names_arguments
    def create_ledger(self, name: str | None = None, *, relation: str = "add-remove", **budget) -> Ledger:
        """Makes the ledger that a data file names; the budget as for Ledger.create."""
        found = self.data(name)
        terms = {"name": found.name, "unit": found.unit, "unit_type": found.unit_type, "source": found.source}
        return Ledger.create(found.ledger, relation=relation, key=found.key, witness=found.witness, **terms, **budget)

    @property
    def unit(self) -> str:
        """Whom the budget protects."""
        return self.data().unit

    @property
    def budget(self) -> str:
        return self.ledger().budget

    @property
    def remaining(self) -> Remaining:
        """What is left of the budget: shown in percent of the promised epsilon, and a number in its currency."""
        return self.ledger().remaining

    def limit(self, *, rows: int | None = None, groups: int | None = None) -> Session:
        """The same session, with these limits for each query that sets no others: Query.limit."""
        made = copy.copy(self)
        made._counted = {**self._counted, **_chosen(rows, groups)}
        return made

    def query(self, data: str | None = None) -> Query:
        """A question about these data, to be built: where, group_by, then count, mean, …"""
        return Query(self, self.data(data).name, dict(self._counted))

    @names_arguments
    def check(self, data: str | None = None, *, format: str = "table") -> str:
        """How the data fit what is said of them. Not private: for the curator's eyes."""
        return self.data(data).check(format, **self._limits)

    def study(
        self,
        *questions: Question,
        title: str = "",
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        confidence: float | None = None,
    ) -> Study:
        """Several questions under one charge."""
        return Study(self, _study_text(questions, title, epsilon, delta, rho, confidence))

    def study_from(self, text: str) -> Study:
        """A study as it is written in a file."""
        return Study(self, text)

    def run(self, *questions: Question, again: bool = False, progress=None, table=None, **options) -> Answers:
        """Asks: charged, measured under noise, kept in the ledger, then shown. The same study again is free. `table` as for Study.run, `options` as
        for study()."""
        return self.study(*questions, **options).run(again=again, progress=progress, table=table)

    def __repr__(self) -> str:
        return f"<Session on {self.catalogue}: {', '.join(self.names) or 'no data'}>"


class Study:
    """A study's text with the data and the ledger that it names."""

    @names_arguments
    def __init__(self, session: Session, text: str):
        self._session = session
        self.text = text
        self._study = _sotto.Study(session.catalogue, text)
        warn_of_delta(self._study.delta, self._study.public_rows)

    @property
    def plan(self):
        return self._study.plan

    @property
    def warnings(self) -> list[str]:
        return self._study.warnings

    @names_arguments
    def cost(self, format: str = "table", *, again: bool = False) -> str:
        """What it will cost, how far answers will be off, and whether the ledger will admit it. Touches no data and charges nothing."""
        return self._study.cost(format, again)

    @names_arguments
    def run(self, *, again: bool = False, request: str = "", progress: Callable[[str, float], None] | None = None, table=None) -> Answers:
        """Runs it. `again=True` asks anew under a charge of its own; `request=` is the id of one that was charged before.

        `table`: the rows in memory, in place of those where the data file says: anything with `__arrow_c_stream__`, such as a table of pyarrow, polars or
        pandas, or a relation of DuckDB. No column is copied. A DataFrame of Spark's is asked where it is (`sotto.spark`). Whoever passes it vouches that it is the data that the data file describes, in its version.
        """
        work, limits = self._session._work, self._session._limits
        with spark.frame(table) as rows:
            done = self._study.run(again, request, *work.values(), *limits.values(), progress, rows)
        return Answers(done)

    def __str__(self) -> str:
        return self.text


def release(table, study: str | os.PathLike, catalogue: str | os.PathLike | None = None, **options) -> Answers:
    """Runs a study, its text or its file, on a table in memory: charged to the ledger of the data that it names. `options` as for Session."""
    text = study if isinstance(study, str) and "\n" in study else _sotto.read_text_file(Path(study))
    return Session(catalogue, **options).study_from(text).run(table=table)


@dataclasses.dataclass(frozen=True)
class Question:
    """A query of a study: `run()` it alone, or several by Session.run."""

    session: Session = dataclasses.field(repr=False)
    data: str
    keys: dict[str, object]
    columns: dict[str, list] = dataclasses.field(default_factory=dict)

    def study(self, **options) -> Study:
        return self.session.study(self, **options)

    def cost(self, **options) -> str:
        return self.study(**options).cost()

    def run(self, **options) -> Answers:
        return self.session.run(self, **options)

    def named(self, name: str) -> Question:
        return dataclasses.replace(self, keys={**self.keys, "name": name})


@dataclasses.dataclass(frozen=True)
class Query:
    """A question that is being built. Every step gives a new one."""

    session: Session = dataclasses.field(repr=False)
    data: str
    keys: dict[str, object] = dataclasses.field(default_factory=dict)
    columns: dict[str, list] = dataclasses.field(default_factory=dict)

    def _with(self, **keys) -> Query:
        return dataclasses.replace(self, keys={**self.keys, **keys})

    def where(self, expression: str) -> Query:
        """Rows for which the row expression is true; a second one narrows the first."""
        before = self.keys.get("where")
        return self._with(where=f"({before}) and ({expression})" if before else expression)

    def group_by(self, *columns: str, keys: Sequence | dict[str, Sequence] | str | None = None) -> Query:
        """One answer for each combination of the columns' values: those that the data file lists, or `keys=[…]` of them (`{column: […]}` for several
        columns); `keys="private"` finds those with enough units, under noise."""
        made = self._with(by=[*self.keys.get("by", []), *columns])
        if keys == "private":
            return made._with(keys="private")
        if keys is None:
            return made
        if not isinstance(keys, dict):
            if len(columns) != 1:
                raise InvalidValue("keys= of several columns is a dict: {column: [values]}")
            keys = {columns[0]: keys}
        return dataclasses.replace(made, columns={**made.columns, **{name: list(values) for name, values in keys.items()}})

    def limit(self, *, rows: int | None = None, groups: int | None = None) -> Query:
        """A unit counts with at most so many rows in each of at most so many groups. Where the unit is not a row, `rows` is needed to count rows, and
        `groups` to group them: what is above is left out, and a higher limit needs more noise."""
        return self._with(**_chosen(rows, groups))

    bound = limit  # its name in earlier versions

    def _ask(self, ask: str, of: str | None, options: dict) -> Question:
        given = {name: value for name, value in options.items() if value is not None}
        words = [ask] + ([of] if of else []) + (["by", *self.keys["by"]] if self.keys.get("by") else [])
        keys = {"name": given.pop("name", " ".join(words)), "ask": ask, **({"of": of} if of else {}), **self.keys, **given}
        return Question(self.session, self.data, keys, self.columns)

    def count(self, *, error: float | None = None, share: float | None = None, noise: str | None = None, name: str | None = None) -> Question:
        """Rows. `error`: at most this far from the truth, with the study's confidence; else a share of the budget."""
        return self._ask("count", None, {"error": error, "share": share, "noise": noise, "name": name})

    def distinct(self, *, error: float | None = None, share: float | None = None, noise: str | None = None, name: str | None = None) -> Question:
        """Units."""
        return self._ask("distinct", None, {"error": error, "share": share, "noise": noise, "name": name})

    def sum(self, column: str, *, error=None, share=None, noise=None, clamp=None, name=None) -> Question:
        return self._ask("sum", column, {"error": error, "share": share, "noise": noise, "clamp": clamp, "name": name})

    def mean(self, column: str, *, share=None, noise=None, clamp=None, name=None) -> Question:
        return self._ask("mean", column, {"share": share, "noise": noise, "clamp": clamp, "name": name})

    def variance(self, column: str, *, share=None, noise=None, name=None) -> Question:
        return self._ask("variance", column, {"share": share, "noise": noise, "name": name})

    def deviation(self, column: str, *, share=None, noise=None, name=None) -> Question:
        return self._ask("deviation", column, {"share": share, "noise": noise, "name": name})

    def histogram(self, column: str, *, step=None, error=None, share=None, noise=None, name=None) -> Question:
        return self._ask("histogram", column, {"step": step, "error": error, "share": share, "noise": noise, "name": name})

    def quantiles(self, column: str, quantiles: Sequence[float] = (0.5,), *, step=None, share=None, noise=None, name=None) -> Question:
        return self._ask("quantiles", column, {"quantiles": list(quantiles), "step": step, "share": share, "noise": noise, "name": name})

    def median(self, column: str, *, step=None, share=None, noise=None, name=None) -> Question:
        return self._ask("median", column, {"step": step, "share": share, "noise": noise, "name": name})


class Answers:
    """What a study released, with intervals: one frame for all queries, or `answers[name]`."""

    def __init__(self, run: _sotto.Run):
        self._run = run
        self._release = json.loads(run.text("json"))

    @property
    def repeated(self) -> bool:
        """The answer had been kept: nothing was charged."""
        return self._run.repeated

    @property
    def request(self) -> str:
        return self._release["request"]

    def to_dict(self) -> dict:
        return self._release

    def rows(self) -> list[dict]:
        """One for each number: query, its keys, value, low and high; and where a unit may have several rows, the limit on how many of them count."""
        found = []
        for answer in self._release["answers"]:
            for estimate in answer["estimates"]:
                row = {"query": answer["name"], **dict(zip(answer.get("by", []), estimate.get("keys", [])))}
                row.update({name: estimate[name] for name in ("from", "to", "quantile") if estimate.get(name) is not None})
                row.update({name: estimate[name] for name in ("value", "low", "high")})
                found.append({**row, **({"limit": answer["limit"]["words"]} if "limit" in answer else {})})
        return found

    def to_pandas(self):
        import pandas

        return pandas.DataFrame(self.rows())

    def __getitem__(self, name: str) -> list[dict]:
        found = [{k: v for k, v in row.items() if k != "query"} for row in self.rows() if row["query"] == name]
        if not found:
            raise KeyError(name)
        return found

    @property
    def report(self) -> str:
        """One HTML page that a manager can read."""
        return self._run.page

    @property
    def models(self) -> list[dict]:
        """The models that were trained, as their signed files have them."""
        return [json.loads(model) for model in self._run.models]

    def text(self, format: str = "table") -> str:
        return self._run.text(format)

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def __repr__(self) -> str:
        limits = dict.fromkeys(answer["limit"]["words"] for answer in self._release["answers"] if "limit" in answer)
        return f"<{len(self.rows())} numbers{''.join(f', {words}' for words in limits)}, request {self.request}{', answered before' if self.repeated else ''}>"

    def _repr_html_(self) -> str:
        rows = self.rows()
        names = list(dict.fromkeys(name for row in rows for name in row))
        cells = "".join("<tr>" + "".join(f"<td>{html.escape(str(row.get(name, '')))}</td>" for name in names) + "</tr>" for row in rows)
        return f"<table><tr>{''.join(f'<th>{html.escape(name)}</th>' for name in names)}</tr>{cells}</table>"


def _chosen(rows: int | None, groups: int | None) -> dict[str, int]:
    return {name: value for name, value in (("rows", rows), ("groups", groups)) if value is not None}


def _study_text(questions: Sequence[Question], title=None, epsilon=None, delta=None, rho=None, confidence=None) -> str:
    """The study as text, from which the id of its request is computed: the library prints it, as for C++."""
    if not questions:
        raise InvalidValue("a study asks something: session.query(…).count()")
    if len({question.data for question in questions}) != 1:
        raise InvalidValue("one study is about one table: its queries are charged to one ledger")
    settings = {name: value for name, value in (("title", title), ("confidence", confidence)) if value not in (None, "")}
    settings |= {name: value for name, value in (("epsilon", epsilon), ("delta", delta), ("rho", rho)) if value is not None}
    return _sotto.study_text(questions[0].data, [(question.keys, question.columns) for question in questions], settings)
