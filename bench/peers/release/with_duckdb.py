"""Plain DuckDB: the same question without noise. In setting B which groups and rows stay is chosen by the usual SQL, at random."""
import os

import duckdb
from question import GROUPS, ROWS, peer

THREADS = int(os.environ.get("THREADS", "2"))
ASK = "SELECT region, count(*), sum(v), avg(v) FROM {rows} GROUP BY region"
BOUNDED = f"""
(SELECT region, v FROM (
  SELECT unit, region, v, row_number() OVER (PARTITION BY unit, region ORDER BY random()) AS place FROM '{{table}}'
) AS ranked JOIN (
  SELECT unit, region FROM (
    SELECT unit, region, row_number() OVER (PARTITION BY unit ORDER BY random()) AS place FROM (SELECT DISTINCT unit, region FROM '{{table}}') AS pairs
  ) AS placed WHERE place <= {GROUPS}
) AS kept USING (unit, region) WHERE place <= {ROWS}) AS bounded
"""


def ask(table, setting):
    connection = duckdb.connect(config={"threads": THREADS, "preserve_insertion_order": False})
    rows = f"'{table}'" if setting == "A" else BOUNDED.format(table=table)
    return {region: numbers for region, *numbers in connection.execute(ASK.format(rows=rows)).fetchall()}


if __name__ == "__main__":
    peer({"A": {"told": "no noise"}, "B": {"told": f"no noise; {GROUPS} groups of {ROWS} rows"}}, ask)
