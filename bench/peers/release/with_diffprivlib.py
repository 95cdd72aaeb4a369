"""diffprivlib. The groups are disjoint, so that each has the whole budget, a third for each number. It has no unit but the row."""
import diffprivlib.tools as tools
import pandas
from question import EPSILON, LOWER, REGIONS, UPPER, peer


def ask(table, _setting):
    third = EPSILON / 3
    found = {}
    for region, values in pandas.read_parquet(table, columns=["region", "v"]).groupby("region")["v"]:
        if region not in REGIONS:
            continue
        numbers = values.to_numpy()
        count = tools.count_nonzero(numbers == numbers, epsilon=third)
        total = tools.sum(numbers, epsilon=third, bounds=(LOWER, UPPER))
        found[region] = count, total, tools.mean(numbers, epsilon=third, bounds=(LOWER, UPPER))
    return found


if __name__ == "__main__":
    peer(
        {
            "A": {"told": "epsilon 1/3 each, pure; its mean takes the number of rows as public"},
            "B": {"can": False, "told": "it has no unit but the row"},
        },
        ask,
    )
