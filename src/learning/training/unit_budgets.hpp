// The budgets of individual accounting, one for each unit. What a unit has spent is secret: it is a
// function of the unit's data.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "sotto/numerics/real.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto::learning_detail {

/// For each unit the sum of the squared μ that it has spent, rounded up, of which no unit spends
/// more than mu². Different threads may call `pay` for different units at the same time.
class UnitBudgets {
 public:
  UnitBudgets(std::size_t units, double mu)
      : mu_(mu), most_((Real(mu) * Real(mu)).lower()), spent_(units, 0.0) {}
  /// The guarantee of every unit, however many steps it takes part in: gdp(mu).
  [[nodiscard]] Plan event() const { return gdp(mu_); }
  /// Makes the unit pay for a gradient of this norm under noise of this standard deviation. Returns
  /// false, and leaves the budget as it is, if the unit cannot.
  bool pay(std::size_t unit, double norm, double deviation) {
    const double mu = next_up(norm / deviation);
    const double after = next_up(spent_[unit] + next_up(mu * mu));
    if (!(after <= most_)) return false;
    spent_[unit] = after;
    return true;
  }

 private:
  double mu_;
  double most_;
  std::vector<double> spent_;
};

}  // namespace sotto::learning_detail
