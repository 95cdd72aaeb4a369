// The figures on learning without a trusted curator.
#pragma once

#include "report/api/chart.hpp"

namespace sotto::course_detail {

/// The measured error of a mean against the number of users: with a trusted curator, aggregated
/// noise, local DP.
Chart trust_figure();
/// The ε of a token's walk and of local DP: as the paper draws it, and exactly.
Chart network_figure();

}  // namespace sotto::course_detail
