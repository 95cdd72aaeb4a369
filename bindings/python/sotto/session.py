"""Studies of the data in a catalogue, charged to their ledgers, and a builder that writes studies."""

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
    """Returns the catalogue that the user's configuration names, else the default folder.

    The command uses it too.
    """
    home = Path.home()
    configuration = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "sotto" / "config.toml"
    if configuration.exists():
        folder = _sotto.catalogue_in(_sotto.read_text_file(configuration), configuration.parent)
        if str(folder) not in ("", "."):
            return Path(folder)
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share") / "sotto" / "catalogue"


def duckdb_library() -> Path | None:
    """Returns the path of the library in PyPI's package `duckdb`; None if it is not installed.

    The module of that package exports DuckDB's C interface. It is loaded only if sotto knows its
    hash.
    """
    spec = importlib.util.find_spec("_duckdb")
    return Path(spec.origin) if spec and spec.origin else None


class Session:
    """A session gives access to the data of a catalogue: their budgets, and questions about them.

    `catalogue` is the folder of data files, by default that of the user's configuration. `data` is
    the name of the data for questions that name none; a catalogue with one data file needs none.
    `duckdb` is the path of libduckdb.so, by default the library of PyPI's package `duckdb`, else
    the one installed with sotto; `any_duckdb=True` loads it even if sotto does not know its hash.
    `spark` is the path of the program sotto-spark, for data files that name a Spark server.
    `threads` is the number of threads and `memory` the memory in bytes that the engine may use;
    with 0 the engine decides. Raises InvalidValue if the catalogue is not a folder.
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
            raise InvalidValue(f"the catalogue {self.catalogue} is not a folder: pass catalogue=…, the folder of the data files, or create it")
        self._data = data
        self._limits = {"duckdb": os.fspath(duckdb or duckdb_library() or ""), "any_duckdb": any_duckdb, "spark": os.fspath(spark or shutil.which("sotto-spark") or "")}
        self._work = {"threads": threads, "memory": memory}
        self._query_limits: dict[str, int] = {}

    @property
    def names(self) -> list[str]:
        """The names of the data in the catalogue."""
        return _sotto.data_names(self.catalogue)

    @names_arguments
    def data(self, name: str | None = None) -> DataFile:
        """Returns the data file of the data.

        Raises InvalidValue if `name` is needed, StudyError if the file is invalid.
        """
        name = name or self._data
        if name is None:
            names = self.names
            if len(names) != 1:
                if not names:
                    raise InvalidValue(f"the catalogue {self.catalogue} has no data: add a data file, NAME.data.toml")
                raise InvalidValue(f"the catalogue {self.catalogue} has the data {', '.join(names)}: pass data=…, one of these names")
            name = names[0]
        return DataFile.find(self.catalogue, name)

    def ledger(self, name: str | None = None) -> Ledger:
        """Opens the ledger that a data file names."""
        file = self.data(name)
        return Ledger(file.ledger, key=file.key, witness=file.witness)

    @names_arguments
    def create_ledger(self, name: str | None = None, *, relation: str = "add-remove", **budget) -> Ledger:
        """Creates the ledger that a data file names, and returns it.

        `budget` has the arguments of Ledger.create.
        """
        file = self.data(name)
        terms = {"name": file.name, "unit": file.unit, "unit_type": file.unit_type, "source": file.source}
        return Ledger.create(file.ledger, relation=relation, key=file.key, witness=file.witness, **terms, **budget)

    @property
    def unit(self) -> str:
        """The unit that the budget protects, such as "person"."""
        return self.data().unit

    @property
    def budget(self) -> str:
        """The budget of the ledger as text."""
        return self.ledger().budget

    @property
    def remaining(self) -> Remaining:
        """The remaining budget.

        It is a number in the currency of the budget. Its text shows percent of the promised
        epsilon.
        """
        return self.ledger().remaining

    def limit(self, *, rows: int | None = None, groups: int | None = None) -> Session:
        """Returns a copy of the session that applies these limits to new queries. See Query.limit."""
        limited = copy.copy(self)
        limited._query_limits = {**self._query_limits, **_limit_keys(rows, groups)}
        return limited

    def query(self, data: str | None = None) -> Query:
        """Returns a query of these data.

        Build it with where and group_by, and end it with count, mean, …
        """
        return Query(self, self.data(data).name, dict(self._query_limits))

    @names_arguments
    def check(self, data: str | None = None, *, format: str = "table") -> str:
        """Returns how the data fit their data file.

        The text is not private: show it only to the curator.
        """
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
        """Returns a study of several questions under one charge.

        The study has this budget, and `confidence` is that of its intervals.
        """
        return Study(self, _study_text(questions, title, epsilon, delta, rho, confidence))

    def study_from(self, text: str) -> Study:
        """Returns the study of a text, as a study file has it."""
        return Study(self, text)

    def run(self, *questions: Question, again: bool = False, progress=None, table=None, **options) -> Answers:
        """Runs a study of these questions and returns its answers.

        The study is charged, measured with noise and stored in the ledger, in this order. A
        repeated study returns the stored answers and charges nothing. `again`, `progress` and
        `table` are those of Study.run, and `options` those of `study`.
        """
        return self.study(*questions, **options).run(again=again, progress=progress, table=table)

    def __repr__(self) -> str:
        return f"<Session on {self.catalogue}: {', '.join(self.names) or 'no data'}>"


class Study:
    """A study is a text of questions about the data that it names.

    Raises StudyError if the text is not valid.
    """

    @names_arguments
    def __init__(self, session: Session, text: str):
        self._session = session
        self.text = text
        self._study = _sotto.Study(session.catalogue, text)
        warn_of_delta(self._study.delta, self._study.public_rows)

    @property
    def plan(self):
        """The plan that the study costs."""
        return self._study.plan

    @property
    def warnings(self) -> list[str]:
        """The warnings about the study, as sentences."""
        return self._study.warnings

    @names_arguments
    def cost(self, format: str = "table", *, again: bool = False) -> str:
        """Returns the cost of the study, its predicted errors, and the ledger's decision.

        It reads no data and charges nothing. `format` is "table", "json" or "csv". `again` is that
        of `run`.
        """
        return self._study.cost(format, again)

    @names_arguments
    def run(self, *, again: bool = False, request: str = "", progress: Callable[[str, float], None] | None = None, table=None) -> Answers:
        """Runs the study and returns its answers.

        A study that was run before returns the stored answers.

        `again=True` runs it under a new charge. `request` is the id of an earlier charge of this
        study, under which it runs. `progress(step, share)` is called as the work advances.

        `table` has the rows in memory, instead of the source in the data file: any object with
        `__arrow_c_stream__`, such as a table of pyarrow, polars or pandas or a relation of DuckDB,
        whose columns are not copied; or a Spark DataFrame, which is queried in Spark (see
        `sotto.spark`). The caller guarantees that these are the data, and the version of the data,
        that the data file describes.

        Raises BudgetRefused if the ledger does not cover the study; nothing is charged then.
        """
        work, limits = self._session._work, self._session._limits
        with spark.frame(table) as rows:
            run = self._study.run(again, request, *work.values(), *limits.values(), progress, rows)
        return Answers(run)

    def __str__(self) -> str:
        return self.text


def release(table, study: str | os.PathLike, catalogue: str | os.PathLike | None = None, **options) -> Answers:
    """Runs a study on a table in memory, and charges the ledger of the data that the study names.

    `study` is the path of a study file, or its text, which has several lines. `table` is that of
    Study.run, and `options` are those of Session.
    """
    text = study if isinstance(study, str) and "\n" in study else _sotto.read_text_file(Path(study))
    return Session(catalogue, **options).study_from(text).run(table=table)


@dataclasses.dataclass(frozen=True)
class Question:
    """A question is a complete query.

    Run it alone with `run()`, or several under one charge with Session.run.
    """

    session: Session = dataclasses.field(repr=False)
    data: str
    keys: dict[str, object]
    columns: dict[str, list] = dataclasses.field(default_factory=dict)

    def study(self, **options) -> Study:
        """Returns the study of this question alone, with the options of Session.study."""
        return self.session.study(self, **options)

    def cost(self, **options) -> str:
        """Returns the cost of this question alone, as Study.cost does."""
        return self.study(**options).cost()

    def run(self, **options) -> Answers:
        """Runs this question alone, with the options of Session.run."""
        return self.session.run(self, **options)

    def named(self, name: str) -> Question:
        """Returns the question under another name."""
        return dataclasses.replace(self, keys={**self.keys, "name": name})


@dataclasses.dataclass(frozen=True)
class Query:
    """A query is a question under construction. Each method returns a new object."""

    session: Session = dataclasses.field(repr=False)
    data: str
    keys: dict[str, object] = dataclasses.field(default_factory=dict)
    columns: dict[str, list] = dataclasses.field(default_factory=dict)

    def _with(self, **keys) -> Query:
        return dataclasses.replace(self, keys={**self.keys, **keys})

    def where(self, expression: str) -> Query:
        """Restricts the query to rows for which this and all earlier expressions are true."""
        before = self.keys.get("where")
        return self._with(where=f"({before}) and ({expression})" if before else expression)

    def group_by(self, *columns: str, keys: Sequence | dict[str, Sequence] | str | None = None) -> Query:
        """Groups the query by columns: one answer for each combination of their values.

        The values are those that the data file lists, or `keys=[…]`, or `keys={column: […]}` for
        several columns. With `keys="private"` the query selects the values that enough units have,
        with noise. Raises InvalidValue if `keys` is a list and there are several columns.
        """
        query = self._with(by=[*self.keys.get("by", []), *columns])
        if keys == "private":
            return query._with(keys="private")
        if keys is None:
            return query
        if not isinstance(keys, dict):
            if len(columns) != 1:
                raise InvalidValue("keys= for several columns must be a dict, {column: [values]}")
            keys = {columns[0]: keys}
        return dataclasses.replace(query, columns={**query.columns, **{name: list(values) for name, values in keys.items()}})

    def limit(self, *, rows: int | None = None, groups: int | None = None) -> Query:
        """Limits each unit to at most `rows` rows in each group and to at most `groups` groups.

        Further rows and groups of a unit are left out; a higher limit needs more noise. If the unit
        is not a row, a query of rows needs `rows`, and a query with groups needs `groups`.
        """
        return self._with(**_limit_keys(rows, groups))

    bound = limit  # the name of limit in earlier versions

    def _ask(self, ask: str, of: str | None, options: dict) -> Question:
        """Returns the question of this aggregate, named after its terms by default."""
        settings = {name: value for name, value in options.items() if value is not None}
        words = [ask] + ([of] if of else []) + (["by", *self.keys["by"]] if self.keys.get("by") else [])
        keys = {"name": settings.pop("name", " ".join(words)), "ask": ask, **({"of": of} if of else {}), **self.keys, **settings}
        return Question(self.session, self.data, keys, self.columns)

    def count(self, *, error: float | None = None, share: float | None = None, noise: str | None = None, name: str | None = None) -> Question:
        """Returns the question of the number of rows.

        `error` is the largest error at the confidence of the study. Or `share` is the share of the
        budget, relative to the other questions. `noise` is the distribution, "gaussian" or
        "laplace", by default the better one, and `name` the name of the answer. The other
        aggregates have these arguments too.
        """
        return self._ask("count", None, {"error": error, "share": share, "noise": noise, "name": name})

    def distinct(self, *, error: float | None = None, share: float | None = None, noise: str | None = None, name: str | None = None) -> Question:
        """Returns the question of the number of units."""
        return self._ask("distinct", None, {"error": error, "share": share, "noise": noise, "name": name})

    def sum(self, column: str, *, error=None, share=None, noise=None, clamp=None, name=None) -> Question:
        """Returns the question of the sum of a column.

        `clamp` says what the bounds of the column hold for: "rows", each value, which is the
        default, or "total", the total of a unit in a group.
        """
        return self._ask("sum", column, {"error": error, "share": share, "noise": noise, "clamp": clamp, "name": name})

    def mean(self, column: str, *, share=None, noise=None, clamp=None, name=None) -> Question:
        """Returns the question of the mean of a column. `clamp` is that of `sum`."""
        return self._ask("mean", column, {"share": share, "noise": noise, "clamp": clamp, "name": name})

    def variance(self, column: str, *, share=None, noise=None, name=None) -> Question:
        """Returns the question of the variance of a column."""
        return self._ask("variance", column, {"share": share, "noise": noise, "name": name})

    def deviation(self, column: str, *, share=None, noise=None, name=None) -> Question:
        """Returns the question of the standard deviation of a column."""
        return self._ask("deviation", column, {"share": share, "noise": noise, "name": name})

    def histogram(self, column: str, *, step=None, error=None, share=None, noise=None, name=None) -> Question:
        """Returns the question of the numbers of rows in bins of a column.

        `step` is the width of a bin.
        """
        return self._ask("histogram", column, {"step": step, "error": error, "share": share, "noise": noise, "name": name})

    def quantiles(self, column: str, quantiles: Sequence[float] = (0.5,), *, step=None, share=None, noise=None, name=None) -> Question:
        """Returns the question of quantiles of a column, in [0, 1].

        `step` is the resolution of the values.
        """
        return self._ask("quantiles", column, {"quantiles": list(quantiles), "step": step, "share": share, "noise": noise, "name": name})

    def median(self, column: str, *, step=None, share=None, noise=None, name=None) -> Question:
        """Returns the question of the median of a column. `step` is the resolution of the values."""
        return self._ask("median", column, {"step": step, "share": share, "noise": noise, "name": name})


class Answers:
    """The answers of a study, with intervals.

    `to_pandas()` returns all of them, and `answers[name]` those of a question.

    `print` shows them as a table.
    """

    def __init__(self, run: _sotto.Run):
        self._run = run
        self._release = json.loads(run.text("json"))

    @property
    def repeated(self) -> bool:
        """Whether the answers were stored by an earlier run, so that nothing was charged."""
        return self._run.repeated

    @property
    def request(self) -> str:
        """The id under which the study was charged."""
        return self._release["request"]

    def to_dict(self) -> dict:
        """Returns the release in its JSON format."""
        return self._release

    def rows(self) -> list[dict]:
        """Returns a row for each released number: query, keys of its group, value, low and high.

        A row also has the limit on the rows of a unit, if a unit may have several.
        """
        rows = []
        for answer in self._release["answers"]:
            for estimate in answer["estimates"]:
                row = {"query": answer["name"], **dict(zip(answer.get("by", []), estimate.get("keys", [])))}
                row.update({name: estimate[name] for name in ("from", "to", "quantile") if estimate.get(name) is not None})
                row.update({name: estimate[name] for name in ("value", "low", "high")})
                rows.append({**row, **({"limit": answer["limit"]["words"]} if "limit" in answer else {})})
        return rows

    def to_pandas(self):
        """Returns the rows as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.rows())

    def __getitem__(self, name: str) -> list[dict]:
        """Returns the rows of the query with this name. Raises KeyError if there is no such query."""
        rows = [{k: v for k, v in row.items() if k != "query"} for row in self.rows() if row["query"] == name]
        if not rows:
            raise KeyError(name)
        return rows

    @property
    def report(self) -> str:
        """The report of the study: one HTML page, for readers without a technical background."""
        return self._run.page

    @property
    def models(self) -> list[dict]:
        """The models that the study trained, each in the JSON format of a signed model file."""
        return [json.loads(model) for model in self._run.models]

    def text(self, format: str = "table") -> str:
        """Returns the answers as "table", "json" or "csv"."""
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


def _limit_keys(rows: int | None, groups: int | None) -> dict[str, int]:
    """Returns the keys of a study for the limits that are set."""
    return {name: value for name, value in (("rows", rows), ("groups", groups)) if value is not None}


def _study_text(questions: Sequence[Question], title=None, epsilon=None, delta=None, rho=None, confidence=None) -> str:
    """Returns the text of a study, from which the library computes the id of its request."""
    if not questions:
        raise InvalidValue("a study asks something: pass at least one question, such as session.query(…).count()")
    if len({question.data for question in questions}) != 1:
        raise InvalidValue("one study is about one table, since its queries are charged to one ledger: run a study for each table")
    settings = {name: value for name, value in (("title", title), ("confidence", confidence)) if value not in (None, "")}
    settings |= {name: value for name, value in (("epsilon", epsilon), ("delta", delta), ("rho", rho)) if value is not None}
    return _sotto.study_text(questions[0].data, [(question.keys, question.columns) for question in questions], settings)
