"""The table: make_table.py ROWS FILE writes it as Parquet, always the same for the same number of rows.

A tenth as many units as rows; a unit has 1, 2 or 3 groups, and one unit in ten thousand has ten; 1 to 9 rows in each. The values of a unit in a
group are alike, so that it does not matter which of its rows stay; where the units of ten groups stay is the only chance in a bounded answer, and
it moves a count by about 6, at 10 million rows. The rows are in no order.
"""
import sys

import duckdb

SQL = """
COPY (
  WITH units AS (
    SELECT unit, CASE WHEN hash(unit, 1) % 10000 = 0 THEN 10 ELSE 1 + hash(unit, 2) % 3 END AS groups FROM range({units}) AS r(unit)
  ), pairs AS (
    SELECT unit, (hash(unit, 3) % 50 + i * strides[CAST(1 + hash(unit, 4) % 20 AS BIGINT)]) % 50 AS region, 1 + hash(unit, i, 5) % 9 AS rows,
           (hash(unit, i, 6) % 1000000007) / 1000000007.0 * 100 AS value
    FROM units, range(10) AS g(i), (SELECT [1, 3, 7, 9, 11, 13, 17, 19, 21, 23, 27, 29, 31, 33, 37, 39, 41, 43, 47, 49] AS strides) AS coprime
    WHERE i < groups
  )
  SELECT CAST(unit AS BIGINT) AS unit, printf('region %02d', CAST(region AS INTEGER)) AS region, CAST(value AS DOUBLE) AS v
  FROM pairs, range(9) AS n(j) WHERE j < rows ORDER BY hash(unit, region, j, 7)
) TO '{file}' (FORMAT parquet)
"""


def main():
    rows, file = int(sys.argv[1]), sys.argv[2]
    connection = duckdb.connect(config={"threads": 2})
    connection.execute("SET preserve_insertion_order = true")
    connection.execute(SQL.format(units=rows // 10, file=file))


if __name__ == "__main__":
    main()
