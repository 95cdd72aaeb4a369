"""opendp, by its Polars interface. A mean is the noisy sum over the noisy count: its own needs public sizes of the groups."""
import opendp.prelude as dp
import polars as pl
from question import EPSILON, GROUPS, LOWER, REGIONS, ROWS, UPPER, peer

dp.enable_features("contrib")
MOST_ROWS, MOST_IN_A_GROUP = 50_000_000, 1_000_000  # public: the noise of a sum of floats grows with them


def ask(table, setting):
    context = dp.Context.compositor(
        data=pl.scan_parquet(table),
        privacy_unit=dp.unit_of(contributions=1) if setting == "A" else dp.unit_of(contributions=1, identifier="unit"),
        privacy_loss=dp.loss_of(epsilon=EPSILON),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=MOST_ROWS), dp.polars.Margin(by=["region"], max_length=MOST_IN_A_GROUP)],
    )
    query = context.query()
    if setting == "B":
        query = query.truncate_per_group(ROWS, by=["region"]).truncate_num_groups(GROUPS, by=["region"], keep="first")
    value = pl.col("v").fill_null(LOWER).fill_nan(LOWER)
    query = query.group_by("region").agg(dp.len(signed=True).alias("count"), value.dp.sum((LOWER, UPPER)).alias("sum"))
    query = query.with_keys(pl.LazyFrame({"region": REGIONS}))
    found = query.release().collect()
    return {row["region"]: (row["count"], row["sum"], row["sum"] / max(1, row["count"])) for row in found.iter_rows(named=True)}


if __name__ == "__main__":
    peer(
        {
            "A": {"told": "epsilon 1, pure; Laplace; mean = sum / count"},
            "B": {"told": f"epsilon 1, pure; Laplace; {GROUPS} groups of {ROWS} rows; mean = sum / count"},
        },
        ask,
    )
