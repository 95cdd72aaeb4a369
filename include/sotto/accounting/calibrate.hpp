// Calibration: finds the number that fills a plan's holes so that the plan meets a privacy target.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sotto/accounting/account.hpp"

namespace sotto {

/// The result of a calibration.
struct Calibration {
  double value;      ///< the number for `?`, which certainly meets the target
  Plan plan;         ///< the plan, filled in
  std::string hole;  ///< "sigma of gaussian", "steps", …
  bool whole;        ///< the number is a count
  Answer cost;       ///< the filled plan's ε at δ, or its divergence or ρ, as the target says
  /// A number close to `value` with which the plan certainly misses the target, by any method: a
  /// relative 1e-9 away (1e-6 for losses with atoms), or a count that differs by 1. Empty if no
  /// such number is proved.
  std::optional<double> insufficient;
  std::optional<double> omega =
      std::nullopt;  ///< the filled plan's ω, rounded down, for a tCDP target
};

/// Returns the least noise, or the largest number of steps, rate or budget, with which the plan is
/// (ε, δ)-DP by `question.by`. The value is accurate to a relative 1e-10 if ε comes from a contour
/// integral, to the last double if ε is a formula, and to a relative 1e-4 of what a bisection with
/// epsilon() would find if a single epsilon() needs nearly all of its work limit. Uses at most four
/// times the work that epsilon() may use. All holes of a plan stand for one number, each multiplied
/// by its own factor. Throws InvalidValue if the plan has no hole, if the cost is not monotone in a
/// hole, or if the cost grows with some holes and falls with others. Throws OutsideConditions if no
/// number suffices.
Calibration calibrate(const Plan& plan, Epsilon epsilon, Delta delta,
                      const Question& question = {});

/// (α, ε̄)-RDP: a bound on the Rényi divergence of one order α.
struct RenyiTarget {
  Order order;
  double epsilon;
};
/// ρ-zCDP.
struct ZcdpTarget {
  double rho;
};
/// (ρ, ω)-tCDP.
struct TcdpTarget {
  double rho;
  double omega;
};
using DivergenceTarget = std::variant<RenyiTarget, ZcdpTarget, TcdpTarget>;

/// Calibrates to a bound on Rényi divergences. `question.by` may be tight for each target; rdp,
/// rdp-simple or rdp-one-order for RDP; zcdp or zcdp-classic for zCDP; and tcdp for tCDP.
/// For a tCDP target `arsinh(?, ?)` is filled by the formula of its theorem, A = 8Δω and variance
/// 8Δ²/ρ (arsinh_for_target). Throws InvalidValue unless the target is positive and finite and ω is
/// above 1; else throws as the overload for (ε, δ).
Calibration calibrate(const Plan& plan, const DivergenceTarget& target,
                      const Question& question = {});

/// Returns the factor by which all noise of the plan must be scaled for the plan to be (ε, δ)-DP by
/// `question.by`, rounded up to five digits; it certainly suffices. Empty if a leaf has no noise
/// scale, if no factor between 10^-6 and 10^6 suffices, or if 12 evaluations of ε do not find the
/// factor.
std::optional<double> noise_factor(const Plan& plan, Epsilon epsilon, Delta delta,
                                   const Question& question = {});

/// Returns the rows of compare() with Waste::noise filled in. Takes some 10 ms for most plans, and
/// a second or more for a plan for which noise_waste_is_slow() is true.
std::vector<Comparison> with_noise_waste(std::vector<Comparison> rows, const Plan& plan,
                                         Delta delta, const Question& question = {});
/// Returns whether the plan samples without replacement or contains a group.
bool noise_waste_is_slow(const Plan& plan);

}  // namespace sotto
