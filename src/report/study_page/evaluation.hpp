// The accuracy of a model on public rows, at the end of its training and during it.
#pragma once

#include <string>
#include <vector>

#include "report/api/chart.hpp"
#include "study/api/training.hpp"

namespace sotto::report_detail {

/// Returns a phrase like: right in 93.1 % of the 10000 public rows of "digits-test" (92.5 to 93.6 %
/// with 95 % confidence); mean loss 0.24. The Clopper-Pearson interval covers the chance of drawing
/// these rows from the population that is to be predicted; the numbers contain no noise.
std::string on_public_rows(const PublicEvaluation& evaluation, double confidence);

/// Charts of the loss over the steps and, for a classifier, of the share of right predictions.
/// Empty if fewer than two points were measured.
std::vector<Chart> evaluation_charts(const PublicEvaluation& evaluation, double confidence);

}  // namespace sotto::report_detail
