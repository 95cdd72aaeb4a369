// How near a calibration comes to what a bisection by `epsilon` finds.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "holed_plans.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "core/api/work.hpp"

namespace bench {

struct CalibrationGap {
  double ratio = 1;    ///< what was found over what a bisection finds, or the other way round, so that it is at least 1; infinite for a wrong refusal
  double epsilon = 0;  ///< what `epsilon` says of the filled plan
  double work = 0;     ///< what the calibration took
  bool refused = false;
  double value = 0;
};

/// Calibrates a plan and looks, by `epsilon` alone, whether less suffices too: next to what was found, further off, and then by halves.
inline CalibrationGap calibration_gap(const HoledPlan& question) {
  using namespace sotto;
  const Plan plan = parse(question.plan);
  const bool cheaper = holes_of(plan).front().effect == Effect::cheaper;
  const auto cost = [&](double value) {
    try {
      return epsilon(fill(plan, value), Delta(question.delta)).value.upper;
    } catch (const InvalidValue&) {  // beyond the range
    } catch (const OutsideConditions&) {
    }
    return std::numeric_limits<double>::infinity();
  };
  CalibrationGap gap;
  std::optional<Calibration> found;
  {
    const WorkLimit all{Allowance{}};
    try {
      found = calibrate(plan, Epsilon(question.epsilon), Delta(question.delta));
    } catch (const OutsideConditions&) {
      gap.refused = true;
    }
    gap.work = all.spent();
  }
  if (!found) {
    for (const double value : {0.1, 1.0, 10.0, 1e3}) {
      if (cost(cheaper ? value : 1 / value) <= question.epsilon) gap.ratio = std::numeric_limits<double>::infinity();
    }
    return gap;
  }
  gap.value = found->value;
  gap.epsilon = cost(found->value);
  if (found->insufficient) return gap;
  const auto at = [&](double ratio) {
    const double value = cheaper ? found->value / ratio : found->value * ratio;
    return found->whole ? (cheaper ? std::ceil(value) : std::floor(value)) : value;
  };
  const auto suffices = [&](double ratio) { return at(ratio) != found->value && cost(at(ratio)) <= question.epsilon; };
  double good = 1;
  double bad = std::numeric_limits<double>::infinity();
  for (const double ratio : {1 + 1e-4, 1.001, 1.01, 1.1, 2.0, 8.0}) {
    if (at(ratio) == found->value) continue;  // the next whole number is further off
    (suffices(ratio) ? good : bad) = ratio;
    if (bad <= ratio) break;
  }
  if (std::isinf(bad)) bad = 64;
  while (good > 1 && bad > good * (1 + 2e-5) && at(bad) != at(good)) {
    const double middle = std::sqrt(good) * std::sqrt(bad);
    (suffices(middle) ? good : bad) = middle;
  }
  gap.ratio = good;
  return gap;
}

}  // namespace bench
