// What each unit has left. Secret: a function of its data.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "sotto/numerics/real.hpp"

namespace sotto::learning_detail {

/// For each unit the sum of squared μ, rounded up, and whether one more fits. Different units may be asked for by different threads.
class UnitBudgets {
 public:
  UnitBudgets(std::size_t units, double mu) : most_((Real(mu) * Real(mu)).lower()), spent_(units, 0.0) {}
  /// Whether the unit can pay for a gradient of this norm under noise of this standard deviation. If so it has paid.
  bool pay(std::size_t unit, double norm, double deviation) {
    const double mu = next_up(norm / deviation);
    const double after = next_up(spent_[unit] + next_up(mu * mu));
    if (!(after <= most_)) return false;
    spent_[unit] = after;
    return true;
  }

 private:
  double most_;
  std::vector<double> spent_;
};

}  // namespace sotto::learning_detail
