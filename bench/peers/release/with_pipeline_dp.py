"""pipeline-dp, on its local backend: one process, one thread. In setting A each row has an id of its own."""
import pipeline_dp
import pyarrow.parquet
from question import DELTA, EPSILON, GROUPS, LOWER, REGIONS, ROWS, UPPER, peer


def ask(table, setting):
    columns = pyarrow.parquet.read_table(table, columns=["unit", "region", "v"])
    units = range(len(columns)) if setting == "A" else columns["unit"].to_pylist()
    rows = zip(units, columns["region"].to_pylist(), columns["v"].to_pylist())
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=DELTA)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    metrics = pipeline_dp.Metrics
    params = pipeline_dp.AggregateParams(
        metrics=[metrics.COUNT, metrics.SUM, metrics.MEAN],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=1 if setting == "A" else GROUPS,
        max_contributions_per_partition=1 if setting == "A" else ROWS,
        min_value=LOWER,
        max_value=UPPER,
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0], partition_extractor=lambda row: row[1], value_extractor=lambda row: row[2]
    )
    found = engine.aggregate(rows, params, extractors, public_partitions=REGIONS)
    accountant.compute_budgets()
    return {key: (numbers.count, numbers.sum, numbers.mean) for key, numbers in found}


if __name__ == "__main__":
    peer(
        {
            "A": {"told": f"epsilon 1, delta {DELTA:g}; Laplace"},
            "B": {"told": f"epsilon 1, delta {DELTA:g}; Laplace; {GROUPS} groups of {ROWS} rows"},
        },
        ask,
    )
