"""smartnoise-sql over a Pandas frame. It bounds the rows of a unit, not its groups: in setting B it is told as many rows as the others keep."""
import warnings

import pandas
import snsql
from question import DELTA, EPSILON, GROUPS, LOWER, ROWS, UPPER, peer

warnings.filterwarnings("ignore")
SQL = "SELECT region, COUNT(*) AS n, SUM(v) AS s, AVG(v) AS m FROM bench.visits GROUP BY region"


def ask(table, setting):
    columns = {
        "unit": {"type": "int", "private_id": setting == "B"},
        "region": {"type": "string"},
        "v": {"type": "float", "lower": LOWER, "upper": UPPER},
    }
    options = {"censor_dims": False, "clamp_counts": False, "row_privacy": setting == "A", "max_ids": 1 if setting == "A" else GROUPS * ROWS}
    metadata = {"": {"bench": {"visits": {**options, **columns}}}}
    rows = pandas.read_parquet(table)

    def reader(epsilon):
        return snsql.from_connection(rows, privacy=snsql.Privacy(epsilon=epsilon, delta=DELTA), metadata=metadata)

    # the budget it is given is that of one column: this many times it makes up the whole
    times = reader(1.0).get_privacy_cost(SQL)[0]
    found = reader(EPSILON / times).execute(SQL)
    return {region: numbers for region, *numbers in found[1:]}


if __name__ == "__main__":
    peer(
        {
            "A": {"told": f"epsilon 1 by its own count, delta {DELTA:g}"},
            "B": {"told": f"epsilon 1 by its own count, delta {DELTA:g}; {GROUPS * ROWS} rows a unit, in any groups", "bound": "rows of a unit"},
        },
        ask,
    )
