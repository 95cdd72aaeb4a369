// The power bound by Rényi divergences: a search in doubles, and a certified check of its result.
#include "accounting/attacker/renyi_power.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/api/elementary.hpp"
#include "numerics/api/log_space.hpp"
#include "privacy/api/best_order.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// An estimate of (γ-1) times the larger of the two Rényi divergences between coins with head
// probabilities p and q, where miss = 1 - p.
double excess(double p, double miss, double q, double order) {
  const auto sum = [order](double a, double b, double c, double d) {
    const double x = order * std::log(a) + (1 - order) * std::log(b);
    const double y = order * std::log(c) + (1 - order) * std::log(d);
    return std::max(x, y) + std::log1p(std::exp(-std::abs(x - y)));
  };
  return std::max(sum(p, q, miss, 1 - q), sum(q, p, 1 - q, miss));
}

// Whether certainly no test has P(E) >= 1 - miss at Q(E) = q.
bool certainly_excluded(const Real& miss, const Real& q, double order, const Real& allowed) {
  const Real p = 1 - miss;
  if (!(p.lower() >= q.upper()) || !(miss.lower() > 0)) return false;
  const Real left = 1 - Real(order);
  const Real forward =
      log_sum_exp({order * log(p) + left * log(q), order * log(miss) + left * log(1 - q)});
  const Real backward =
      log_sum_exp({order * log(q) + left * log(p), order * log(1 - q) + left * log(miss)});
  return std::max(forward.lower(), backward.lower()) > allowed.upper();
}

// An estimate of the largest 1 - P(E) that one order excludes, by bisection in log(1 - P(E)).
double excluded_miss(double q, double order, double allowed) {
  double low = -745;  // the logarithm of the least positive double
  double high = std::log1p(-q);
  if (!(excess(1, std::exp(low), q, order) > allowed)) return 0;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (excess(-std::expm1(middle), std::exp(middle), q, order) > allowed ? low : high) = middle;
  }
  return std::exp(low);
}

}  // namespace

double power_by_renyi(const RenyiAccountant& accountant, const Real& alpha) {
  const Real aside = accountant.delta_set_aside();
  const Real rest = 1 - aside;
  if (!(rest.lower() > 0)) return 1;
  const Real q((Real(std::max(0.0, alpha.upper())) / rest).upper());
  if (q.upper() >= 1) return 1;
  const double smallest = std::numeric_limits<double>::min();
  const Real rate = max(q, smallest);  // the bound grows with α, so rounding α up is valid
  const auto miss_at = [&](double order) {
    const double divergence = accountant.at(order).upper();
    return std::isfinite(divergence)
               ? excluded_miss(rate.estimate(), order, (order - 1) * divergence)
               : 0;
  };
  const double order =
      best_order(infinity, [&](double one) { return Real(1 - miss_at(one)); }).order;
  const double divergence = accountant.at(order).upper();
  if (!std::isfinite(divergence)) return 1;
  const double miss_estimate = miss_at(order);
  for (const double slack : {1e-15, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4}) {
    // Slightly more power than the estimate, until the bound is certified.
    const Real miss = std::max(
        0.0, miss_estimate * (1 - slack) - slack * std::min(miss_estimate, 1 - miss_estimate));
    if (certainly_excluded(miss, rate, order, (Real(order) - 1) * divergence))
      return std::clamp((aside + rest * (1 - miss)).upper(), 0.0, 1.0);
  }
  return 1;
}

}  // namespace sotto::accounting_detail
