// The figures on learning without a trusted curator.
#pragma once

#include "report/api/chart.hpp"

namespace sotto::course_detail {

/// The error of a mean against the number of users: a trusted curator, aggregated noise, local DP; measured and predicted.
Chart trust_figure();
/// ε of a token that walks, against local DP: as the paper draws it, and exactly.
Chart network_figure();

}  // namespace sotto::course_detail
