// The number that fills a plan's holes so that the plan meets a target.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sotto/accounting/account.hpp"

namespace sotto {

struct Calibration {
  double value;      ///< what `?` stands for: sufficient for certain
  Plan plan;         ///< the plan, filled in
  std::string hole;  ///< "sigma of gaussian", "steps", …
  bool whole;        ///< a count
  Answer cost;       ///< the filled plan's ε at δ, or its divergence or ρ where that was the target
  /// A value next to `value` that certainly does not suffice, by any method: a part in 10^9 away (10^6 for losses with
  /// atoms), or one step more. Empty where that is not proved.
  std::optional<double> insufficient;
  std::optional<double> omega = std::nullopt;  ///< the filled plan's ω, rounded down, where the target was tCDP
};

/// The least noise, or the most steps, rate or budget, with which the plan is (ε, δ)-DP by the asked method: to a part in 10^10 where ε comes from a
/// contour integral, to the last double where it is a formula, and to a part in 10^4 of what a bisection by `epsilon` finds where `epsilon` itself
/// needs nearly all the work that it may take. At most four times the work that `epsilon` may take.
/// Several holes stand for one number, each times its factor. InvalidValue for a plan without a hole, with holes that
/// calibration cannot order, or with holes of which some make the plan cheaper and some dearer; OutsideConditions if no
/// value suffices.
Calibration calibrate(const Plan& plan, Epsilon epsilon, Delta delta, const Question& question = {});

/// (α, ε̄)-RDP: the Rényi divergence of this one order.
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

/// The same for a target that bounds Rényi divergences. `question.by` may be tight; rdp, rdp-simple or rdp-one-order for an RDP target; zcdp or
/// zcdp-classic for zCDP; tcdp for tCDP. For a tCDP target `arsinh(?, ?)` is filled by its theorem's own line, A = 8Δω and variance 8Δ²/ρ
/// (arsinh_for_target). InvalidValue for a target that is not positive and finite (ω: above 1); else as above.
Calibration calibrate(const Plan& plan, const DivergenceTarget& target, const Question& question = {});

/// By which factor all the plan's noise must be scaled for it to be (ε, δ)-DP by the asked method: sufficient for
/// certain, and rounded up to five digits. Empty where a leaf has no noise scale, where no factor between
/// 10^-6 and 10^6 suffices, and where 12 evaluations of ε do not find it.
std::optional<double> noise_factor(const Plan& plan, Epsilon epsilon, Delta delta, const Question& question = {});

/// The rows of compare() with the waste in noise. Some 10 ms for most plans; a second or more for those that sample
/// without replacement or convert a group's total, of which noise_waste_is_slow warns.
std::vector<Comparison> with_noise_waste(std::vector<Comparison> rows, const Plan& plan, Delta delta, const Question& question = {});
bool noise_waste_is_slow(const Plan& plan);

}  // namespace sotto
