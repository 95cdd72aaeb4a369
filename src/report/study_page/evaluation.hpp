// A model on public rows: how well it does there, and as it learned.
#pragma once

#include <string>
#include <vector>

#include "report/api/chart.hpp"
#include "study/api/training.hpp"

namespace sotto::report_detail {

/// "right in 93.1 % of the 10000 public rows of "digits-test" (92.5 to 93.6 % with 95 % confidence); mean loss 0.24". The interval is Clopper and
/// Pearson's: the chance of which rows are there, if they are drawn as those that will be predicted; there is no noise in it.
std::string on_public_rows(const PublicEvaluation& evaluation, double confidence);

/// The loss over the steps and, of classes, the share of right predictions; empty unless there are two points.
std::vector<Chart> evaluation_charts(const PublicEvaluation& evaluation, double confidence);

}  // namespace sotto::report_detail
