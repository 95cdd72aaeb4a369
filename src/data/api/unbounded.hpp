// Exact statistics: no clamping, no limit on a unit's rows or groups, no grid. They protect nobody
// and are for public data only, where they show how much bounding changes a result.
#pragma once

#include <vector>

#include "sotto/data/bounded.hpp"

namespace sotto {

/// The statistic that is computed in each group.
enum class Statistic {
  rows,
  units,  ///< the number of different units, or of rows if each row is a unit
  sum,
  mean,           ///< the sum divided by the number of rows
  mean_of_units,  ///< the sum divided by the number of units
  variance,       ///< the population variance: the divisor is the number of rows
  bins,           ///< the number of rows in each bin; values outside count in the first or last
  quantiles,      ///< interpolated between the two neighbouring values (SQL's percentile_cont)
};

/// Returns one number for each group, or one for each bin or quantile of each group, in the order
/// of the groups. A number that does not exist, such as the mean of no rows, is NaN. Of the
/// aggregate it reads where, keys, groups, unit, of and bins. Rows whose unit is NULL count, too.
/// Throws EngineError.
std::vector<double> unbounded(Engine& engine, const std::vector<Column>& columns,
                              const Aggregate& aggregate, Statistic statistic,
                              const std::vector<double>& quantiles = {});

}  // namespace sotto
