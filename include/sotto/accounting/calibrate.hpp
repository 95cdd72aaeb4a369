// The number that fills a plan's hole so that the plan meets a target.
#pragma once

#include "sotto/accounting/account.hpp"

namespace sotto {

struct Calibration {
  double value;      ///< what fills the hole: sufficient for certain
  Plan plan;         ///< the plan, filled in
  std::string hole;  ///< "sigma of gaussian", "steps", …
  bool whole;        ///< a count
  Answer cost;       ///< the filled plan's ε at δ
};

/// The least noise, or the most steps, rate or budget, with which the plan is (ε, δ)-DP by the asked method.
/// InvalidValue for a plan without exactly one hole, or with a hole that calibration cannot order;
/// OutsideConditions if no value suffices.
Calibration calibrate(const Plan& plan, Epsilon epsilon, Delta delta, const Question& question = {});

}  // namespace sotto
