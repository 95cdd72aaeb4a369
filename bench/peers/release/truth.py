"""The exact answers, in expectation over the choice of groups and rows: truth.py TABLE prints JSON, {bounding: {key: [count, sum, mean]}}."""
import json
import sys

import duckdb
from question import GROUPS, ROWS

PAIRS = "SELECT unit, region, count(*) AS n, sum(v) AS s FROM '{table}' GROUP BY ALL"
BOUNDINGS = {
    "A": f"SELECT region, n, s FROM ({PAIRS})",
    # each of a unit's m groups stays with probability min(1, GROUPS / m), then min(n, ROWS) of its n rows
    "B": f"SELECT region, p * least(n, {ROWS}) AS n, p * s * least(n, {ROWS}) / n AS s"
    f" FROM (SELECT *, least(1.0, {GROUPS}.0 / count(*) OVER (PARTITION BY unit)) AS p FROM ({PAIRS}))",
    "rows of a unit": "SELECT region, p * n AS n, p * s AS s"
    f" FROM (SELECT *, least(1.0, {GROUPS * ROWS}.0 / sum(n) OVER (PARTITION BY unit)) AS p FROM ({PAIRS}))",
}


def main():
    connection = duckdb.connect(config={"threads": 2, "preserve_insertion_order": False})
    found = {}
    for name, rows in BOUNDINGS.items():
        sql = f"SELECT region, sum(n)::DOUBLE, sum(s), sum(s) / sum(n) FROM ({rows.format(table=sys.argv[1])}) GROUP BY region"
        found[name] = {region: numbers for region, *numbers in connection.execute(sql).fetchall()}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
