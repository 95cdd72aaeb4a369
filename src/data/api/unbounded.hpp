// Statistics of the data as they are: no clamps, no limits on a unit's rows or groups, no grid. They protect nobody: for public data alone,
// to be shown beside what bounding leaves.
#pragma once

#include <vector>

#include "sotto/data/bounded.hpp"

namespace sotto {

/// What is computed in each group.
enum class Statistic {
  rows,
  units,  ///< different units; rows where there is no unit
  sum,
  mean,           ///< of the rows
  mean_of_units,  ///< the sum by the number of units
  variance,       ///< by the number of rows, not one less
  bins,           ///< the rows in each of the aggregate's bins; what lies outside counts in the first or the last
  quantiles,      ///< each between its two neighbours, as most programs have it
};

/// One number a group, or one for each bin or quantile of a group, in the order of the groups; NaN where there is none, such as the mean of no rows.
/// Of the aggregate it reads where, keys, groups, unit, of and bins. Rows without a unit count too. EngineError.
std::vector<double> unbounded(Engine& engine, const std::vector<Column>& columns, const Aggregate& aggregate, Statistic statistic,
                              const std::vector<double>& quantiles = {});

}  // namespace sotto
