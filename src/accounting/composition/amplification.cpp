// Amplification theorems. Results are balls: their upper ends are valid bounds.
#include "accounting/api/amplification.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/gamma.hpp"
#include "numerics/api/log_space.hpp"
#include "sotto/accounting/derivation.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

// The smaller of two valid upper bounds.
Real tighter(const Real& a, const Real& b) { return a.upper() <= b.upper() ? a : b; }

// The largest integer order for which a sum is computed. A sum has as many terms as its order.
constexpr int largest_whole_order = 1024;

// The divergence log(1 + e^t) / (α - 1) of a moment 1 + e^t.
Real divergence(const Real& log_excess, int order) { return log1pexp(log_excess) / (order - 1); }

// log(s^j C(α,j)).
Real log_chosen(const Real& log_rate, int order, int j) {
  return log_binomial(order, j) + j * log_rate;
}

}  // namespace

ApproximateDP amplified(const Real& rate, const ApproximateDP& dp) {
  if (rate.lower() >= 1) return dp;
  if (dp.epsilon.lower() > 30)
    return {dp.epsilon + log(rate + (1 - rate) * exp(-dp.epsilon)),
            rate * dp.delta};  // an equal form that does not overflow
  return {log1p(rate * expm1(dp.epsilon)), rate * dp.delta};
}

Profile amplified(double rate, const Profile& base, Side side) {
  const Side opposite = side == Side::upper ? Side::lower : Side::upper;
  const double worst = std::isinf(base.worst_loss)
                           ? base.worst_loss
                           : amplified(Real(rate), ApproximateDP{base.worst_loss}).epsilon.at(side);
  return {[=](double epsilon) {
            if (epsilon > 600)
              return side == Side::upper ? Real(rate) * base.delta(epsilon) : Real(0);
            const Real inner = log1p(expm1(Real(epsilon)) / Real(rate));
            return Real(rate) * base.delta(std::max(0.0, inner.at(opposite)));
          },
          worst, Real(rate) * base.failure};
}

TruncatedConcentratedDP amplified(const Real& rate, const TruncatedConcentratedDP& tcdp) {
  const auto require = [](bool holds, const std::string& condition) {
    if (!holds)
      throw OutsideConditions("tCDP sampling is not covered here: the theorem needs " + condition);
  };
  const Real log_rate = -log(rate);  // log(1/s)
  // The decimal 0.1 satisfies the condition although its double is slightly larger.
  const auto at_most_a_tenth = [](const Real& x) {
    return x.lower() <= 0.1 && x.upper() <= next_up(0.1);
  };
  require(at_most_a_tenth(rate), "a rate of at most 0.1, here " + rounded_up(rate));
  require(certainly_less(0, tcdp.rho) && at_most_a_tenth(tcdp.rho),
          "rho in (0, 0.1], here " + rounded_up(tcdp.rho));
  const Real need = 3 * tcdp.rho * (2 - log(tcdp.rho) / log_two());
  require(certainly_at_most(need, log_rate), "log(1/s) >= 3 rho (2 + log2(1/rho)), here " +
                                                 rounded_down(log_rate) + " < " + rounded_up(need));
  const Real least_omega = log_rate / (2 * tcdp.rho);
  require(certainly_at_most(3, least_omega),
          "log(1/s)/(2 rho) >= 3, here " + rounded_down(least_omega));
  require(certainly_at_most(least_omega, tcdp.omega),
          "omega >= log(1/s)/(2 rho) = " + rounded_up(least_omega) +
              ", here omega = " + rounded_down(tcdp.omega));
  return {13 * square(rate) * tcdp.rho, log_rate / (4 * tcdp.rho)};
}

Real poisson_log_excess(int j, const Real& epsilon, bool gaussian_or_laplace) {
  const Real y = (j - 1) * epsilon;
  const bool plain = j == 2 || gaussian_or_laplace;
  if (plain && y.upper() <= 0) return -1e300;
  return y + log(plain ? -expm1(-y) : 3 - exp(-y));
}

Real poisson_renyi(const Real& rate, int order, const WholeOrderCurve& log_excess) {
  // The binomial weights sum to 1, so the moment exceeds 1 by sum_j weight_j (c_j e^((j-1)ε(j)) -
  // 1) with c_2 = 1. This form has no cancellation.
  const Real log_rate = log(rate);
  const Real log_rest = log1p(-rate);
  std::vector<Real> terms;
  for (int j = 2; j <= order; ++j)
    terms.push_back(log_chosen(log_rate, order, j) + (order - j) * log_rest + log_excess(j));
  return divergence(log_sum_exp(terms), order);
}

Real poisson_renyi(const Real& rate, int order, const WholeOrderCurve& base,
                   bool gaussian_or_laplace) {
  if (rate.lower() >= 1) return base(order);
  return poisson_renyi(rate, order,
                       [&](int j) { return poisson_log_excess(j, base(j), gaussian_or_laplace); });
}

namespace {

// The logarithm of the factor of term j = 2 [Wang2019, Thm 9]: min{4(e^ε(2) - 1), e^ε(2) min{2,
// (e^ε(inf) - 1)²}}.
Real log_second_term(const Real& second, const Real& worst) {
  const Real first = log(4 * expm1(second));
  const Real plain = second + log(Real(2));
  const Real bounded = worst.upper() < 700 ? second + 2 * log(expm1(worst)) : Real::unknown();
  return tighter(first, tighter(plain, bounded));
}

// The sum of [Wang2019, Thm 9] with a given bound on the terms j >= 3.
Real without_replacement(const Real& rate, int order, const WholeOrderCurve& base,
                         const Real& worst,
                         const std::function<Real(int j, const Real& log_moment)>& log_later_term) {
  if (rate.lower() >= 1) return base(order);
  if (base(2).upper() <= 0) return 0;
  const Real log_rate = log(rate);
  std::vector<Real> terms{log_chosen(log_rate, order, 2) + log_second_term(base(2), worst)};
  for (int j = 3; j <= order; ++j)
    terms.push_back(log_chosen(log_rate, order, j) + log_later_term(j, (j - 1) * base(j)));
  // A sample never costs more than the whole data set.
  return tighter(divergence(log_sum_exp(terms), order), base(order));
}

}  // namespace

Real without_replacement_renyi(const Real& rate, int order, const WholeOrderCurve& base,
                               const Real& worst) {
  const Real log_worst = worst.upper() < 700 ? log(expm1(worst)) : Real::unknown();
  return without_replacement(rate, order, base, worst, [&](int j, const Real& log_moment) {
    return log_moment + tighter(log_two(), j * log_worst);
  });
}

Real without_replacement_renyi_exact_pair(const Real& rate, int order, const WholeOrderCurve& base,
                                          const Real& worst) {
  // B(l) is the absolute l-th forward difference at 0 of G(x) = e^((x-1)ε(x)), with G(0) = G(1) =
  // 1. The differences cancel, which the balls account for. If no digit remains, the term falls
  // back to 2 G(j).
  std::vector<Real> difference;
  for (int x = 0; x <= order + 1; ++x)
    difference.push_back(x < 2 ? Real(1) : exp((x - 1) * base(x)));
  std::vector<Real> forward;  // forward[l] = B(l)
  for (int l = 0; l <= order + 1; ++l) {
    spend(10 * static_cast<double>(difference.size()));
    forward.push_back(max(difference[0], -difference[0]));
    for (std::size_t x = 0; x + 1 < difference.size(); ++x)
      difference[x] = difference[x + 1] - difference[x];
    difference.pop_back();
  }
  return without_replacement(rate, order, base, worst, [&](int j, const Real& log_moment) {
    const Real product = forward[static_cast<std::size_t>(2 * (j / 2))] *
                         forward[static_cast<std::size_t>(2 * ((j + 1) / 2))];
    const Real loose = log_two() + log_moment;
    const double bound = product.upper();
    if (!(bound > 0) || std::isinf(bound)) return loose;
    return tighter(2 * log_two() + log(Real(bound)) / 2, loose);
  });
}

Real without_replacement_renyi_loose(const Real& rate, int order, const WholeOrderCurve& base) {
  std::vector<Real> terms;
  for (int j = 2; j <= order; ++j)
    terms.push_back(log_two() + log_chosen(log(rate), order, j) + (j - 1) * base(j));
  return divergence(log_sum_exp(terms), order);
}

Real without_replacement_renyi_one_order(const Real& rate, int order, const Real& epsilon) {
  return without_replacement_renyi_loose(rate, order, [&](int) { return epsilon; });
}

Real between_whole_orders(double order, const std::function<Real(int)>& renyi) {
  if (order > largest_whole_order) return Real::unknown();
  const int low = static_cast<int>(std::floor(order));
  if (low == order && low >= 2) return renyi(low);
  if (low < 2) return renyi(2);  // the chord from 0 at α = 1 has the slope D_2
  const Real share = Real(order) - low;
  const Real moment = (1 - share) * (low - 1) * renyi(low) + share * low * renyi(low + 1);
  return moment / (Real(order) - 1);
}

}  // namespace sotto
