// Compares a calibration with a bisection by `epsilon`.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/api/work.hpp"
#include "holed_plans.hpp"
#include "sotto/accounting/calibrate.hpp"

namespace bench {

struct CalibrationGap {
  double ratio =
      1;  ///< of the calibrated and the bisected value, at least 1; infinite for a wrong refusal
  double epsilon = 0;  ///< of the filled plan, by `epsilon`
  double work = 0;     ///< of the calibration
  bool refused = false;
  double value = 0;
};

/// Calibrates a plan, and tests by `epsilon` alone whether less suffices, too: next to the
/// calibrated value, then further away, then by bisection.
inline CalibrationGap calibration_gap(const HoledPlan& question) {
  using namespace sotto;
  const Plan plan = parse(question.plan);
  const bool cheaper = holes_of(plan).front().effect == Effect::cheaper;
  const auto cost = [&](double value) {
    try {
      return epsilon(fill(plan, value), Delta(question.delta)).value.upper;
    } catch (const InvalidValue&) {  // the value is out of range
    } catch (const OutsideConditions&) {
    }
    return std::numeric_limits<double>::infinity();
  };
  CalibrationGap gap;
  std::optional<Calibration> calibration;
  {
    const WorkLimit all{Allowance{}};
    try {
      calibration = calibrate(plan, Epsilon(question.epsilon), Delta(question.delta));
    } catch (const OutsideConditions&) {
      gap.refused = true;
    }
    gap.work = all.spent();
  }
  if (!calibration) {
    for (const double value : {0.1, 1.0, 10.0, 1e3}) {
      if (cost(cheaper ? value : 1 / value) <= question.epsilon)
        gap.ratio = std::numeric_limits<double>::infinity();
    }
    return gap;
  }
  gap.value = calibration->value;
  gap.epsilon = cost(calibration->value);
  if (calibration->insufficient) return gap;
  const auto at = [&](double ratio) {
    const double value = cheaper ? calibration->value / ratio : calibration->value * ratio;
    return calibration->whole ? (cheaper ? std::ceil(value) : std::floor(value)) : value;
  };
  const auto suffices = [&](double ratio) {
    return at(ratio) != calibration->value && cost(at(ratio)) <= question.epsilon;
  };
  double good = 1;
  double bad = std::numeric_limits<double>::infinity();
  for (const double ratio : {1 + 1e-4, 1.001, 1.01, 1.1, 2.0, 8.0}) {
    if (at(ratio) == calibration->value) continue;  // the next whole number is further away
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
