// The number that fills a plan's holes so that the plan meets a target.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/accounting/account.hpp"

namespace sotto {

struct Calibration {
  double value;      ///< what `?` stands for: sufficient for certain
  Plan plan;         ///< the plan, filled in
  std::string hole;  ///< "sigma of gaussian", "steps", …
  bool whole;        ///< a count
  Answer cost;       ///< the filled plan's ε at δ
  /// A value next to `value` that certainly does not suffice, by any method: a part in 10^9 away (10^6 for losses with
  /// atoms), or one step more. Empty where that is not proved.
  std::optional<double> insufficient;
};

/// The least noise, or the most steps, rate or budget, with which the plan is (ε, δ)-DP by the asked method: to a part in
/// 10^10 where ε comes from a contour integral, else to the last double. About 10 evaluations of ε.
/// Several holes stand for one number, each times its factor. InvalidValue for a plan without a hole, with holes that
/// calibration cannot order, or with holes of which some make the plan cheaper and some dearer; OutsideConditions if no
/// value suffices.
Calibration calibrate(const Plan& plan, Epsilon epsilon, Delta delta, const Question& question = {});

/// By which factor all the plan's noise must be scaled for it to be (ε, δ)-DP by the asked method: sufficient for
/// certain, and rounded up to five digits. Empty where a leaf has no noise scale, where no factor between
/// 10^-6 and 10^6 suffices, and where 12 evaluations of ε do not find it.
std::optional<double> noise_factor(const Plan& plan, Epsilon epsilon, Delta delta, const Question& question = {});

/// The rows of compare() with the waste in noise. Some 10 ms for most plans; a second or more for those that sample
/// without replacement or convert a group's total, of which noise_waste_is_slow warns.
std::vector<Comparison> with_noise_waste(std::vector<Comparison> rows, const Plan& plan, Delta delta, const Question& question = {});
bool noise_waste_is_slow(const Plan& plan);

}  // namespace sotto
