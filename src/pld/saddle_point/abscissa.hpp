// Choice of the abscissa of an inversion integral: heuristic searches, which prove nothing.
#pragma once

#include <optional>
#include <vector>

#include "pld/api/privacy_loss.hpp"

namespace sotto::pld_detail {

/// The largest loss of all steps together, rounded up.
double max_loss_of(const std::vector<LossStep>& steps);
/// The same c, or one below it at which the transforms can be bounded and not only estimated.
double bounded_abscissa(const std::vector<LossStep>& steps, double c);
/// The saddle point: the abscissa c at which the integrand is smallest at ε, at a distance from the pole.
double saddle_point(const std::vector<LossStep>& steps, double epsilon);
/// The c at which Rényi DP's ε is least at δ.
double renyi_abscissa(const std::vector<LossStep>& steps, double log_delta);
/// log δ(ε) by the saddle-point estimate at c; nothing where the integrand is not finite there.
std::optional<double> saddle_point_estimate(const std::vector<LossStep>& steps, double c, double epsilon);

}  // namespace sotto::pld_detail
