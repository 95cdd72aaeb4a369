// The choice of an abscissa c, at which a composition is integrated or bounded. These are heuristic
// searches: every bound is valid at any c, and is tightest near the saddle point of the integrand.
#pragma once

#include <optional>
#include <vector>

#include "pld/api/privacy_loss.hpp"

namespace sotto::pld_detail {

/// Returns the largest loss of all steps together, rounded up.
double max_loss_of(const std::vector<LossStep>& steps);
/// Returns c, halved until log M(c) of the composition has a finite upper bound, not only an
/// estimate.
double bounded_abscissa(const std::vector<LossStep>& steps, double c);
/// Returns roughly the saddle point: the c < pole at which M(c) e^(-cε)/(c(c+1)) is smallest.
double saddle_point(const std::vector<LossStep>& steps, double epsilon);
/// Returns roughly the c at which Chernoff's bound gives the smallest ε at δ: the best order of
/// Rényi DP, less 1.
double renyi_abscissa(const std::vector<LossStep>& steps, double log_delta);
/// Returns an estimate of log δ(ε), by the Gaussian integral through the saddle point c; nullopt if
/// the integrand is not finite there.
std::optional<double> saddle_point_estimate(const std::vector<LossStep>& steps, double c,
                                            double epsilon);

}  // namespace sotto::pld_detail
