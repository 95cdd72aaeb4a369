#!/usr/bin/env python3
"""Tests the error messages of the command for common mistakes: mistakes.py [--build BUILD] [--show]
[NAME…].

A row has a command, its exit code, and patterns that the message must contain. A good message says
what is wrong, where it is, and what to type instead, so the last pattern of each row is the remedy.
Every row runs in a new folder with the data set `people`. No message may contain the words of a
parser or of the C++ library.
"""
import argparse
import gzip
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

CSV = """sex,education,age,hours_per_week,income
Male,Bachelors,39,40,1000
Female,Masters,50,13,2000
Male,Preschool,38,40,500
"""
DATA = """name = "people"
version = "2026"
source = "../people.csv"
unit = "row"
ledger = "people.sotto"
key = "people.key"

[columns.sex]
type = "text"
null = "drop"
values = ["Male", "Female"]

[columns.education]
type = "text"
null = "drop"

[columns.age]
type = "integer"
null = "drop"
bounds = [17, 90]

[columns.hours_per_week]
type = "integer"
null = "drop"
bounds = [1, 99]

[columns.income]
type = "integer"
null = "drop"
"""

# Words of toml++, CLI11, the C++ library and the system that say nothing to a user, and names of
# the C++ interface.
INNER = re.compile(
    r"Error while parsing|_M_range|std::|basic_string|bad_alloc|bad_cast|terminate called|what\(\)|stod|stoi\b"
    r"|arguments? (was|were) not expected|expected but received|\bNaN\b.*assert|regex_error|filesystem error|required TEXT missing"
    r"|(Zcdp|Gdp|Renyi|Approximate)(Budget|Gauge)"
)


class Mistake:
    def __init__(self, name, command, status, *patterns, files=None):
        self.name, self.command, self.status, self.patterns, self.files = name, command, status, patterns, files or {}


def study(body, data="people"):
    return {"study.toml": f'data = "{data}"\n' + body}


def of_study(name, body, status, *patterns, data="people"):
    """A mistake in a study's text."""
    return Mistake(name, "sotto run study.toml --dry-run", status, *patterns, files=study(body, data))


CATALOGUE = [
    Mistake("show: a file that is absent", "sotto ledger show peple.sotto", 2, "no ledger file peple.sotto", 'did you mean "people"', "sotto data list"),
    Mistake("show: a misspelt data set", "sotto ledger show peple", 2, "no ledger file peple", 'did you mean "people"'),
    Mistake("verify: a misspelt data set", "sotto ledger verify Peopel", 2, 'did you mean "people"'),
    Mistake("export: a misspelt data set", "sotto ledger export people-", 2, 'did you mean "people"'),
    Mistake("charge: a misspelt data set", "sotto ledger charge peopl 'gaussian(9)' --request a", 2, 'did you mean "people"'),
    Mistake("show: a name in an empty catalogue", "sotto ledger show people --catalogue empty", 2, "empty, which is empty", "sotto data list"),
    Mistake(
        "run: the ledger's file is absent",
        "rm catalogue/people.sotto; sotto run study.toml",
        1,
        'ledger of "people" is not at .*/catalogue/people.sotto',
        "correct `ledger` in the data file",
        "sotto data ledger people --epsilon",
        files=study('[budget]\nepsilon = 1\n[[query]]\nname = "q"\nask = "count"\n'),
    ),
    Mistake("study init: the ledger's file is absent", "rm catalogue/people.sotto; sotto study init people", 1, "sotto data ledger people --epsilon"),
    Mistake("show: the ledger's file is absent", "rm catalogue/people.sotto; sotto ledger show people", 1, "sotto data ledger people --epsilon"),
    Mistake("check: a catalogue that is absent", "sotto data check people --catalogue nowhere", 2, "/nowhere, which does not exist", "sotto data init FILE"),
    Mistake("check: a misspelt data set", "sotto data check Peple", 2, 'no data "Peple"', 'did you mean "people"'),
    Mistake("check: a catalogue that is a file", "sotto data check people --catalogue people.csv", 2, "people.csv is a file", "--catalogue FOLDER"),
    Mistake("list: a catalogue that is absent", "sotto data list --catalogue nowhere", 0, "does not exist", "sotto data init FILE --catalogue nowhere"),
    Mistake("run: a misspelt data set", "sotto run study.toml", 2, 'no data "peeple"', 'did you mean "people"', files=study("", "peeple")),
]

TRY = '[budget]\nepsilon = 0.1\n'
PEOPLE = TRY + '[[query]]\nname = "q"\n'
COUNT = PEOPLE + 'ask = "count"\n'


def of_number(text, *patterns):
    return of_study(f"study: epsilon = {text}", f'[budget]\nepsilon = {text}\n[[query]]\nname = "q"\nask = "count"\n', 2, *patterns)


def of_ask(word, *patterns):
    return of_study(f"study: ask = {word}", PEOPLE + f'ask = "{word}"\nof = "age"\n', 2, f'there is no ask = "{word}"', *patterns)


def of_where(text, *patterns):
    return of_study(f"where: {text}", COUNT + f"where = {json.dumps(text, ensure_ascii=False)}\n", 2, 'query "q": in `where`', *patterns)


def of_line(text, *patterns):
    return of_study(f"study: {text}", PEOPLE + f"{text}\n", 2, "line 6: ", *patterns)


STUDIES = [
    Mistake("run: a misspelt file", "sotto run stdy.toml", 2, "no file stdy.toml", "did you mean study.toml", "type: sotto run study.toml", files=study(COUNT)),
    Mistake("run: a file without its ending", "sotto run study", 2, "did you mean study.toml", "type: sotto run study.toml", files=study(COUNT)),
    Mistake("run: no file is near", "sotto run mine.toml", 2, "here are: study.toml", "type: sotto study init people mine.toml", files=study(COUNT)),
    Mistake("run: no file at all", "sotto run mine.toml", 2, "no file mine.toml", "type: sotto study init people mine.toml"),
    Mistake("run: the name of data", "sotto run people", 2, '"people" is the name of data', "type: sotto study init people study.toml"),
    Mistake("run: a folder", "sotto run catalogue", 2, "catalogue is a folder", "type: sotto run catalogue/study.toml"),
    Mistake("run: a CSV file", "sotto run people.csv", 2, "people.csv is a file of data", "type: sotto data init people.csv"),
    Mistake("run: a table of another name", "cp people.csv table.txt; sotto run table.txt", 2, "looks like a table of data", 'data = "visits"'),
    Mistake("run: rows of JSON", "sotto run rows.txt", 2, "looks like a table of data", files={"rows.txt": '{"a": 1}\n{"a": 2}\n'}),
    Mistake("run: a ledger", "cp catalogue/people.sotto study.toml; sotto run study.toml", 2, "this file is binary", "text, in TOML"),
    of_number("0", "`epsilon` must be above 0", "epsilon = 1"),
    of_number("-1", "`epsilon` must be above 0", "epsilon = 1"),
    of_number('"1"', "`epsilon` is a number, without quotes", "epsilon = 1$"),
    of_number('"0,5"', "without quotes: epsilon = 0.5"),
    of_number("true", "`epsilon` is a number: epsilon = 1"),
    of_number("0,5", "decimal point and not a comma: write epsilon = 0.5"),
    of_number("1%", "write epsilon = 0.01"),
    of_number("2,5 %", "write epsilon = 0.025"),
    of_number(".5", "write epsilon = 0.5"),
    of_number("5.", "write epsilon = 5.0"),
    of_number("one", 'a text stands in quotes: write epsilon = "one"'),
    of_number("", "there is no value: write epsilon = …"),
    of_study("study: confidence = 95%", "confidence = 95%\n" + COUNT, 2, "write confidence = 0.95"),
    of_study("study: [[queries]]", TRY + '[[queries]]\nname = "q"\nask = "count"\n', 2, "no `queries`", 'did you mean "query"'),
    of_study("study: [query]", TRY + '[query]\nname = "q"\nask = "count"\n', 2, r"write \[\[query\]\]"),
    of_study("study: [query] twice", TRY + '[query]\nask = "count"\n[query]\nask = "sum"\n', 2, r"line 6: \[query\] stands here", r"write every one as \[\[query\]\]"),
    of_study("study: [budget] twice", COUNT + TRY, 2, "`budget` stands here for the second time"),
    of_study("study: a key twice", COUNT + 'ask = "sum"\n', 2, "line 7: `ask` stands here for the second time"),
    of_study("study: [buget]", "[buget]\nepsilon = 1\n", 2, "no `buget`", 'did you mean "budget"'),
    of_study("study: one name twice", COUNT + '[[query]]\nname = "q"\nask = "count"\n', 2, "two queries", "give one of them another name"),
    of_ask("avg", 'did you mean "mean"'),
    of_ask("stddev", 'did you mean "deviation"'),
    of_ask("nunique", 'did you mean "distinct"'),
    of_ask("percentile", 'did you mean "quantiles"'),
    of_ask("cuont", 'did you mean "count"'),
    of_ask("max", r"quantiles = \[0.01, 0.99\]"),
    of_ask("ratio", "write two queries"),
    of_ask("frobnicate", "there are: count, distinct"),
    of_line('top = 10', "there is no `top`", "sort the answers"),
    of_line('filter = "age > 3"', 'did you mean "where"'),
    of_line('group_by = "sex"', 'did you mean "by"'),
    of_line("epsilon = 1", r"below \[budget\]", "share = 2"),
    of_line("seed = 1", "noise has no seed"),
    of_line('ask: "count"', 'write `=` .*: ask = "count"'),
    of_line("ask = count", 'write ask = "count"'),
    of_line("ask = “count”", "straight quotes"),
    of_line('ask = "count', "ends with the quote that it began with"),
    of_line('ask == "count"', 'write one `=`: ask = "count"'),
    of_line("error = 1,5", "write error = 1.5"),
    of_line("ask", "needs `=`"),
    of_line("ask = ", "there is no value"),
    of_line("keys = None", "leave the line out"),
    of_line("a = @", "cannot be read", "a line is `name = value`"),
    of_study("study: an open list", PEOPLE + 'by = ["sex"\nask = "count"\n', 2, "line [67]: ", "closing bracket|a line is"),
    of_study("study: distinct of a column", PEOPLE + 'ask = "distinct"\nof = "education"\n', 2, "and not the values of a column", 'keys = "private"'),
    of_study("study: count of a column", PEOPLE + 'ask = "count"\nof = "education"\n', 2, "remove `of`", "education IS NOT NULL"),
    of_study("study: a misspelt column", PEOPLE + 'ask = "mean"\nof = "Hours-per-week"\n', 2, 'did you mean "hours_per_week"'),
    of_study("study: a misspelt key column", PEOPLE + 'ask = "count"\nby = ["Sex"]\n', 2, 'did you mean "sex"'),
    of_study("study: no bounds", PEOPLE + 'ask = "mean"\nof = "income"\n', 2, r"write bounds = \[0, 100\]"),
    of_study("study: quantiles above 1", PEOPLE + 'ask = "quantiles"\nof = "age"\nquantiles = [10, 50]\n', 2, r"quantiles = \[0.25"),
    of_study("study: private keys with delta = 0", COUNT.replace("0.1", "0.1\ndelta = 0") + 'by = ["education"]\nkeys = "private"\n', 2, "write delta = 1e-6"),
    of_where("Hours-per-week > 40", 'no column "Hours-per-week"', "did you mean hours_per_week"),
    of_where("hours per week > 40", "did you mean hours_per_week"),
    of_where("hoursperweek > 40", "did you mean hours_per_week"),
    of_where('sex = "Male"', "write a text in single quotes, 'Male'"),
    of_where("sex == 'Male'", "sex = 'Male'$"),
    of_where("sex == '=='", "sex = '=='$"),
    of_where("age => 30", "age >= 30"),
    of_where("age ≥ 30", "write >= for ≥"),
    of_where("age > 30 & sex = 'Male'", "age > 30 AND sex = 'Male'"),
    of_where("age > 30 && sex = 'Male'", "age > 30 AND sex = 'Male'"),
    of_where("age > 30 | sex = 'Male'", "age > 30 OR sex = 'Male'"),
    of_where("age > 30 || sex = 'Male'", "age > 30 OR sex = 'Male'"),
    of_where("sex LIKE 'M%'", r"sex IN \('Male', 'Female'\)"),
    of_where("`age` > 30", "without quotes"),
    Mistake("run: the key is gone", "rm catalogue/people.key; sotto run study.toml", 1, "no key", "Put a copy of the key there", "`key` in a data file", files=study('[budget]\nepsilon = 0.1\ndelta = 1e-8\n[[query]]\nname = "q"\nask = "count"\n')),
    Mistake("run: the file is gone", "rm people.csv; sotto run study.toml", 1, "cannot read .*people.csv", files=study('[budget]\nepsilon = 0.1\ndelta = 1e-8\n[[query]]\nname = "q"\nask = "count"\n')),
]

NODELTA = "sotto data init plain.csv --unit row --epsilon 1 --quiet >/dev/null && "
LEDGERS = [
    Mistake("a ledger without delta: delta", NODELTA + "sotto run study.toml", 2, "has no δ to spend: remove `delta`", files={"plain.csv": CSV, **study("[budget]\nepsilon = 0.1\ndelta = 1e-8\n" + '[[query]]\nname = "q"\nask = "count"\n', "plain")}),
    Mistake("a ledger without delta: private keys", NODELTA + "sotto run study.toml", 2, "this ledger has none", "values = ", "--delta D", files={"plain.csv": CSV, **study(COUNT + 'by = ["sex"]\nkeys = "private"\n', "plain")}),
    Mistake("a ledger without delta: Gaussian noise", NODELTA + "sotto ledger charge plain 'gaussian(10)' --request a", 4, "type: --at DELTA", files={"plain.csv": CSV}),
    Mistake("ledger refill", "sotto ledger refill people", 2, "no command `sotto ledger refill`", "budget is fixed for good", "sotto ledger show NAME"),
    Mistake("ledger reset", "sotto ledger reset", 2, "budget is fixed for good"),
    Mistake("ledger creat", "sotto ledger creat", 2, 'did you mean "create"'),
    Mistake("ledger: a misspelt relation", "sotto ledger create x.sotto --epsilon 1 --relation addremove", 2, 'did you mean "add-remove"'),
]

INIT = "sotto data init {} --unit row --epsilon 1 --delta 1e-6"


def of_file(name, file, content, *patterns, more=""):
    return Mistake(f"init: {name}", INIT.format(file) + more, 2, *patterns, files={file: content} if content is not None else {})


FILES = [
    of_file("Latin-1", "l1.csv", "Straße,Größe\nA,2\n".encode("latin-1"), "l1.csv is not in UTF-8", "type: iconv -f WINDOWS-1252 -t UTF-8 l1.csv > l1-utf8.csv"),
    of_file("Latin-1 in a record", "l2.csv", b"a,b\n1,2\nStra\xdfe,3\n", r"not in UTF-8 \(line 3\)", "type: iconv"),
    of_file("UTF-16", "u.csv", "a,b\n1,2\n".encode("utf-16"), "is in UTF-16", "type: iconv -f UTF-16"),
    of_file("semicolons", "s.csv", "Name;Size\nA;1,5\n", "would be one column", "type: --delimiter ';'"),
    of_file("tabs", "t.csv", "a\tb\n1\t2\n", "would be one column", "type: --format tsv"),
    of_file("bars", "b.csv", "a|b\n1|2\n", r"type: --delimiter '\|'"),
    of_file("gzip", "g.csv.gz", gzip.compress(CSV.encode()), "g.csv.gz is compressed", "type: gunzip -k g.csv.gz, then sotto data init g.csv"),
    of_file("gzip by another name", "g.csv", gzip.compress(CSV.encode()), "g.csv is compressed", "type: gunzip -k g.csv"),
    of_file("zip", "z.zip", b"PK\x03\x04rest", "z.zip is compressed", "type: unzip z.zip"),
    of_file(".data", "adult.data", CSV, "does not say its format", "type: sotto data init adult.data --format csv"),
    of_file(".txt of tabs", "adult.txt", "a\tb\n1\t2\n", "looks like tsv", "type: sotto data init adult.txt --format tsv"),
    of_file(".log of JSON", "rows.log", '{"a": 1}\n', "type: sotto data init rows.log --format json"),
    of_file("a spreadsheet", "a.xlsx", b"PK\x03\x04rest", "is a spreadsheet", "type: sotto data init a.csv"),
    of_file("SPSS", "a.sav", b"$FL2", "does not read, .sav", "type: sotto data init a.parquet"),
    of_file("no file", "none.csv", None, "there is no file none.csv"),
]


def of_plan(plan, *patterns, more=" --delta 1e-5"):
    return Mistake(f"plan: {plan}", f"sotto epsilon {shlex.quote(plan)}{more}", 2, *patterns)


TRAINED = "type: sotto epsilon '3516 \\* poisson\\(256/60000, gaussian\\(1.1\\)\\)' --delta 1e-5"
PLANS = [
    of_plan("3 * rr(0.9)", "did you mean randomized_response", "probability of the truth"),
    of_plan("wor(10, 100, gaussian(1))", "did you mean without_replacement", "for 10 of 1000"),
    of_plan("gausian(1)", "did you mean gaussian"),
    of_plan("dgauss(1)", "did you mean discrete_gaussian"),
    of_plan("subsampled(0.1, gaussian(1))", "did you mean poisson"),
    of_plan("frobnicate(1)", "there are: gaussian, laplace"),
    of_plan("poisson(1%, gaussian(1))", "write a share, 0.01"),
    of_plan("poisson(0,01, gaussian(1))", "decimal comma: write a decimal point, 0.01"),
    of_plan("gaussian(0,5)", "write a decimal point, 0.5"),
    of_plan("gaussian(1) * 100", r"as in 100 \* gaussian\(1\)"),
    of_plan("gaussian(1) + laplace(1) * 100", r"as in 100 \* \(gaussian\(1\) \+ laplace\(1\)\)"),
    of_plan("group(gaussian(1), 5)", r"as in group\(5, gaussian\(1\)\)"),
    of_plan("poisson(gaussian(1), 0.1)", r"as in poisson\(0.01, gaussian\(1\)\)"),
    of_plan("gaussian(1)", "--delta is required", "well below 1 over the number of people", "--delta 1e-6", more=""),
    of_plan("gaussian(2)", "--delta needs a value", "--delta 1e-6", more=" --delta"),
    of_plan("gaussian(3)", "write a decimal point, 0.00001", more=" --delta 0,00001"),
    of_plan("gaussian(4)", "write a share, 1e-07", more=" --delta 1e-5%"),
    of_plan("gaussian(5)", 'did you mean "pld"', more=" --delta 1e-5 --by pdl"),
    of_plan("gaussian(6)", 'did you mean "add-remove"', more=" --delta 1e-5 --relation addremove"),
    of_plan("gaussian(7)", 'did you mean "json"', more=" --delta 1e-5 --format jsn"),
    of_plan("gaussian(8)", "no option --realtion", 'did you mean "--relation"', more=" --delta 1e-5 --realtion add-remove"),
    of_plan("gaussian(9)", "two short ones, --delta", more=" —delta 1e-5"),
    of_plan("gaussian(10)", 'did you mean "--delta"', more=" -delta 1e-5"),
    Mistake("epsilon: a training's flags", "sotto epsilon --batch 256 --n 60000 --epochs 15 --noise 1.1 --delta 1e-5", 2, TRAINED),
    Mistake("epsilon: another library's flags", "sotto epsilon --noise-multiplier 1.1 --dataset-size 60000 --batch-size=256 --epochs 15 --delta 1e-5", 2, TRAINED),
    Mistake("epsilon: a rate and steps", "sotto epsilon --sigma 2 --sample-rate 0.01 --steps 1000", 2, r"'1000 \* poisson\(0.01, gaussian\(2\)\)' --delta 1e-6"),
    Mistake("epsilon: flags without numbers", "sotto epsilon --batch-size --epochs", 2, r"'STEPS \* poisson\(BATCH/ROWS, gaussian\(NOISE\)\)' --delta 1e-6"),
    Mistake("epsilon: a plan without quotes", "sotto epsilon 10 x gaussian --delta 1e-5", 2, "does not know what to do with `x`", "in quotes"),
    Mistake("audit: too many trials", "sotto audit 'gaussian(1)' --trials 1e12", 2, "--trials 1e12", "from 100 to 2\\^31"),
    Mistake("a misspelt command", "sotto rnu study.toml", 2, "no command `sotto rnu`", 'did you mean "run"'),
    Mistake("a misspelt command below another", "sotto data chek people", 2, "no command `sotto data chek`", 'did you mean "check"'),
    Mistake("a command below another", "sotto check people", 2, "did you mean sotto data check"),
    Mistake("a study without run", "sotto study.toml", 2, "did you mean sotto run study.toml", files=study(COUNT)),
    Mistake("no command", "sotto", 2, "type a command", "sotto data init people.csv .* sotto study init people .* sotto run study.toml", "sotto epsilon '100 \\* gaussian", "see `sotto --help`"),
    Mistake("which command below", "sotto ledger", 2, "which ledger", "one of: create, show"),
    Mistake("init: another name of an option", "sotto data init people.csv --sep ';'", 2, 'did you mean "--delimiter"'),
]

ROW = " --unit row --epsilon 1"
COMMANDS = [
    Mistake("init: no data", "sotto data init" + ROW, 2, "which data", "Type a FILE", "--postgresql CONNECTION --table TABLE"),
    Mistake("init: a folder", "sotto data init catalogue" + ROW, 2, "catalogue is a folder", "type the path of a file in it"),
    Mistake("init: a study", "sotto data init study.toml" + ROW, 2, "study.toml is not a table", "sotto run study.toml", files=study(COUNT)),
    Mistake("init: a name with a blank", "sotto data init people.csv --name 'my data'" + ROW, 2, "--name my data is not allowed", "type --name my_data"),
    Mistake("init: a misspelt unit", "sotto data init people.csv --name n --second-ledger --unit Sex --epsilon 1", 2, 'no column "Sex"', "did you mean --unit sex"),
    Mistake("init: rows for row", "sotto data init people.csv --name n --second-ledger --unit rows --epsilon 1", 2, "did you mean --unit row"),
    Mistake("init: no budget", "sotto data init people.csv --name n --second-ledger --unit row", 2, "--epsilon E --delta D, or --rho R"),
    Mistake("init: two budgets", "sotto data init people.csv --name n --second-ledger --rho 1" + ROW, 2, "one budget: --epsilon E or --rho R"),
    Mistake("init: two files", "sotto data init people.csv people.csv" + ROW, 2, "takes no further file; leave it out"),
    Mistake("init: a ledger in no folder", "sotto data init people.csv --name n --second-ledger --ledger none/x.sotto" + ROW, 2, "there is no folder .*none", "type: mkdir -p"),
    Mistake("init: the same data again", "sotto data init people.csv --name n" + ROW, 2, 'as "people"', "type --second-ledger"),
    Mistake("init: too few names", "sotto data init people.csv --name n --second-ledger --names a" + ROW, 2, "most have 5 fields, and --names has 1"),
    Mistake("init: a JSON array", "sotto data init a.json" + ROW, 2, "is one JSON array", "type: sotto data init a.json --format json-array", files={"a.json": '[{"a": 1}]'}),
    Mistake("init: a format that there is not", "sotto data init people.csv --name n --second-ledger --format xml" + ROW, 2, "write csv, tsv, json"),
    Mistake("init: no server", "sotto data init --postgresql 'host=127.0.0.1 port=1' --table t" + ROW, 1, "check that its server runs, and the host, port"),
    Mistake("check: a data file's path", "sotto data check catalogue/people.data.toml", 2, 'did you mean "people"'),
    Mistake("data ledger: there is one", "sotto data ledger people --epsilon 1", 2, "whose budget is fixed", "type: sotto ledger show people"),
    Mistake("data remove", "sotto data remove people", 2, "removed as a file", "Keep its ledger"),
    Mistake("study run", "sotto study run study.toml", 2, "did you mean sotto run STUDY"),
    Mistake("study check", "sotto study check study.toml", 2, "sotto run STUDY --dry-run"),
    Mistake("study init: the study exists", "sotto study init people study.toml", 2, "study.toml exists already: type another name", files=study(COUNT)),
    Mistake("ledger create: there is one", "sotto ledger create catalogue/people.sotto --relation add-remove --epsilon 1", 2, "exists already", "type another name, or sotto ledger show"),
    Mistake("ledger create: no folder", "sotto ledger create none/x.sotto --relation add-remove --epsilon 1", 2, "there is no folder none", "type: mkdir -p none"),
    Mistake("ledger create: no relation", "sotto ledger create x.sotto --epsilon 1", 2, "--relation is required: add-remove, replace-one or zero-out"),
    Mistake("ledger create: no budget", "sotto ledger create x.sotto --relation add-remove", 2, "--epsilon E --delta D, --rho R"),
    Mistake("ledger charge: no plan", "sotto ledger charge people", 2, "PLAN is required", r"such as 'gaussian\(10\)'"),
    Mistake("ledger charge: no request", "sotto ledger charge people 'gaussian(9)'", 2, "such as --request survey-2026"),
    Mistake("ledger import: no file", "sotto ledger import y.sotto none.json", 1, "type: sotto ledger export OLD > none.json"),
    Mistake("ledger import: another file", "sotto ledger import y.sotto people.csv", 2, "people.csv is not an exported ledger", "type: sotto ledger export OLD > FILE"),
    Mistake("ledger show: a table", "sotto ledger show people.csv", 2, "people.csv is not a ledger", "sotto data list"),
    Mistake("ledger delete", "sotto ledger delete people", 2, "no command removes a ledger", "sotto ledger show NAME"),
    Mistake("ledger verify: a part of a head", "sotto ledger verify people --head 3", 2, "what show and verify print: a number, a colon and 64 digits"),
    Mistake("predict: no model", "sotto predict", 2, "MODEL is required", "sotto run STUDY --models FOLDER"),
    Mistake("predict: no rows", "sotto predict model.json", 2, "DATA is required", ".csv, .tsv, .json, .parquet"),
    Mistake("predict: a table for a model", "sotto predict people.csv people.csv", 2, "people.csv: the model cannot be read", "sotto run STUDY --models FOLDER"),
    Mistake("predict: a model that is absent", "sotto predict none.json people.csv", 1, "cannot read none.json: is it there"),
    Mistake("serve: a port out of range", "sotto serve --port 99999", 2, "--port 99999 is not allowed: type a whole number from 1 to 65535"),
    Mistake("serve: a folder", "sotto serve catalogue", 2, "did you mean --catalogue catalogue"),
    Mistake("serve: a name", "sotto serve people", 2, "leave it out"),
    Mistake("serve: a catalogue that is absent", "sotto serve --catalogue none", 2, "there is no catalogue", "type --catalogue FOLDER"),
    Mistake("run: an epsilon on the command line", "sotto run study.toml --epsilon 2", 2, "the study's file sets it, as in epsilon = 1", files=study(COUNT)),
    Mistake("run: a file of data behind the study", "sotto run study.toml people.csv", 2, "takes no further file; leave it out", files=study(COUNT)),
    Mistake("run: no study", "sotto run", 2, "STUDY is required", "sotto study init"),
    Mistake("run: new and a request", "sotto run study.toml --new --request a", 2, "--new and --request do not go together: leave one of them out", files=study(COUNT)),
    Mistake("run: a request that is absent", "sotto run study.toml --request a", 1, "no request a", "type: sotto ledger show NAME", files=study(COUNT)),
    Mistake("run: no threads", "sotto run study.toml --threads 0", 2, "--threads 0 is not allowed: type a whole number from 1 to 1024", files=study(COUNT)),
    Mistake("run: memory without a unit", "sotto run study.toml --memory 4", 2, "such as 500MB or 4GB", files=study(COUNT)),
    Mistake("run: a report in no folder", "sotto run study.toml --report none/r.html", 1, "there is no folder none", files=study(COUNT)),
    Mistake("run: a budget that is too small", "sotto run study.toml", 3, "with delta = 3.33e-07 and Gaussian noise it takes 12.2 %", files=study("[budget]\nepsilon = 1\ndelta = 0\n" + '[[query]]\nname = "q"\nask = "count"\n')),
    Mistake("help", "sotto help", 2, "type: sotto --help"),
    Mistake("version", "sotto version", 2, "type: sotto --version"),
]

# These need sotto-federate, and are skipped where it was not built.
CARDS = "for m in a b c relay; do sotto federate enroll $m >/dev/null 2>&1; done; sotto federate init --member a.member.json --member b.member.json --member c.member.json --coordinator-card relay.member.json "
FEDERATED = [
    Mistake("federate: no command", "sotto federate", 2, "which command", "one of: enroll, init, approve"),
    Mistake("federate init: no member", "sotto federate init", 2, "such as --member a.member.json"),
    Mistake("federate init: a card that is absent", "sotto federate init --member none.json --coordinator-card r --address h:1", 2, "there is no card none.json", "type: sotto federate enroll NAME"),
    Mistake("federate init: a table for a card", "sotto federate init --member people.csv --coordinator-card r --address h:1", 2, "people.csv: this is not a member's card", "type: sotto federate enroll NAME"),
    Mistake("federate init: an address without a port", CARDS + "--address localhost --epsilon 1 --delta 1e-6 --most 10", 2, "has no port", "--address localhost:4711"),
    Mistake("federate init: no noise", CARDS + "--address localhost:4711 --most 10", 2, "Type --sigma S, or --epsilon E --delta D"),
    Mistake("federate init: a large delta", CARDS + "--address localhost:4711 --epsilon 1 --delta 0.1 --most 10", 0, "warning: delta = 0.1 is large"),
    Mistake("federate approve: no session", "sotto federate approve none.json --key k", 2, "there is no session none.json", "type: sotto federate init"),
    Mistake("federate enroll: the member exists", "sotto federate enroll a >/dev/null 2>&1; sotto federate enroll a", 1, "a key is never overwritten: type another name"),
    Mistake("party: no session", "sotto party none.json --key k --catalogue catalogue", 2, "there is no session none.json", "sotto federate init"),
    Mistake("coordinator: no session", "sotto coordinator none.json --key k", 2, "there is no session none.json", "sotto federate init"),
]

# A delta that promises little is a warning on stderr; what is on stdout stays as it is.
LARGE = ("warning: delta = 0.1 is large", "whole record", "well below 1 over the number of", "such as 1e-6")
ANY = '[[query]]\nname = "q"\nask = "count"\n'


def of_large_delta(command, *patterns, files=None):
    return Mistake(f"a large delta: {command}", command, 0, *(patterns or LARGE), files=files)


DELTAS = [
    of_large_delta("sotto epsilon 'gaussian(1)' --delta 0.1"),
    of_large_delta("sotto epsilon '9 * gaussian(1)' --delta 0.1 --over-steps 2 --format json"),
    of_large_delta("sotto compare 'gaussian(1)' --delta 0.1 --format csv"),
    of_large_delta("sotto explain 'gaussian(1)' --delta 0.1"),
    of_large_delta("sotto calibrate 'gaussian(?)' --epsilon 1 --delta 0.1"),
    of_large_delta("sotto delta 'gaussian(1)' --epsilon 1", "delta = 0.127 is large"),
    of_large_delta("echo 1 | sotto noise gaussian --epsilon 1 --delta 0.1"),
    of_large_delta("sotto ledger create x.sotto --relation add-remove --epsilon 1 --delta 0.1 --unit person", "each person's whole record"),
    of_large_delta("sotto ledger show people --delta 0.1"),
    of_large_delta("sotto data init people.csv --unit row --epsilon 1 --delta 0.1 --name more --second-ledger"),
    of_large_delta("sotto data ledger small --epsilon 1 --delta 0.01", "not below 1/n for n = 2517", "25 rows", "1/n\\^2 = 1.5e-07", files={"catalogue/small.data.toml": DATA.replace('"people"', '"small"').replace("people.csv", "small.csv").replace("people.sotto", "small.sotto").replace("people.key", "small.key").replace("[columns.sex]", "public_rows = 2517\n\n[columns.sex]")}),
    of_large_delta("sotto run study.toml --request x --quiet 2>/dev/null; sotto run study.toml --dry-run >&2", "delta = 0.01 is large", files=study('[budget]\nepsilon = 0.1\ndelta = 0.01\n' + ANY)),
]

# Not mistakes: what used to be one.
GOOD = [
    Mistake("show a data set's ledger", "sotto ledger show people", 0),
    Mistake("verify a data set's ledger", "sotto ledger verify people", 0),
    Mistake("export a data set's ledger", "sotto ledger export people", 0),
    Mistake("charge a data set's ledger", "sotto ledger charge people 'gaussian(99)' --request a", 0, "charged"),
    Mistake("show by the name in a catalogue that is named", "sotto ledger show people --catalogue catalogue", 0),
    Mistake("a catalogue is made", "sotto data init people.csv --unit row --rho 1 --name new --catalogue a/b && test -f a/b/new.sotto", 0),
    Mistake("init: columns of objects and lists", "sotto data init n.jsonl" + ROW, 0, 'no study can read "user", "tags"', "as columns of their own", files={"n.jsonl": '{"user": {"id": 3}, "tags": [1], "age": 4}\n'}),
    Mistake("init: names and no record", "sotto data init n.csv" + ROW, 0, "n.csv has names of columns and no record", files={"n.csv": "age\n"}),
    Mistake("init: the names are shown", "sotto data init n.csv" + ROW, 0, r"2 columns \(Anna, Paris\)", files={"n.csv": "Anna,Paris\nBob,Rome\n"}),
    Mistake("a file hides the name", "cp catalogue/people.sotto people && rm catalogue/people.sotto && sotto ledger show people", 0),
]

ALL = CATALOGUE + STUDIES + LEDGERS + FILES + PLANS + COMMANDS + DELTAS + GOOD


def environment(build, folder):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    path = f"{build / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**inherited, "HOME": str(folder), "PATH": path, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100"}


def make_example(build, folder):
    """Creates the data set `people` with its data file and its ledger."""
    catalogue = folder / "catalogue"
    catalogue.mkdir()
    (folder / "empty").mkdir()
    (folder / "people.csv").write_text(CSV)
    (catalogue / "people.data.toml").write_text(DATA)
    (folder / ".config/sotto").mkdir(parents=True)
    (folder / ".config/sotto/config.toml").write_text('catalogue = "../../catalogue"\n')
    command = ["sotto", "data", "ledger", "people", "--epsilon", "3", "--delta", "1e-6", "--quiet"]
    subprocess.run(command, env=environment(build, folder), cwd=folder, check=True, stdout=subprocess.DEVNULL)


def faults(mistake, status, words):
    """Returns the problems of a message, as sentences."""
    problems = [] if status == mistake.status else [f"exit {status}, expected {mistake.status}"]
    flat = " ".join(words.split())
    problems += [f"the message does not match: {pattern}" for pattern in mistake.patterns if not re.search(pattern, flat)]
    problems += [f"the message contains internal words: {inner[0]}" for inner in [INNER.search(words)] if inner]
    if status != 0 and not words.startswith("sotto: "):
        problems.append("the message does not begin with `sotto: `")
    return problems


def run(mistake, build):
    with tempfile.TemporaryDirectory(prefix="sotto-mistake-") as name:
        folder = Path(name)
        make_example(build, folder)
        for file, content in mistake.files.items():
            (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
        process = subprocess.run(["sh", "-c", mistake.command], cwd=folder, env=environment(build, folder), capture_output=True, timeout=60)
    words = process.stderr.decode(errors="backslashreplace").replace(str(folder), "FOLDER")
    return mistake, words, faults(mistake, process.returncode, words)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the build tree (build/)")
    parser.add_argument("--show", action="store_true", help="print every message")
    parser.add_argument("names", nargs="*", help="run the rows whose names contain one of these")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    known = ALL + (FEDERATED if (build / "bin/sotto-federate").exists() else [])
    if known == ALL:
        print("skipped the mistakes of sotto-federate, which is not built; type: ./dev federated")
    chosen = [m for m in known if not arguments.names or any(name in m.name for name in arguments.names)]
    if len({m.name for m in known}) != len(known):
        sys.exit("two rows have the same name")
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for mistake, words, problems in pool.map(lambda m: run(m, build), chosen):
            failed += bool(problems)
            if problems or arguments.show:
                text = "".join(f"    {line}\n" for line in [*words.splitlines(), *problems])
                print(f"{'FAILED' if problems else 'ok'}: {mistake.name}: $ {mistake.command}\n{text}")
    print(f"{len(chosen)} mistakes, {failed} of them with a wrong message")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
