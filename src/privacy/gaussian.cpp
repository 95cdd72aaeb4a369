// The exact profile by Mills ratios, and the classical closed forms with their conditions.
#include "privacy/api/gaussian.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "numerics/api/elementary.hpp"
#include "numerics/api/normal.hpp"
#include "numerics/api/search.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"

namespace sotto {

Real gaussian_delta(double epsilon, double mu) {
  if (!(mu > 0)) return mu == 0 ? Real(0) : Real::unknown();
  // with x = ε/μ - μ/2 and y = x + μ: e^ε density(y) = density(x), so δ = density(x) (R(x) - R(y))
  // with the Mills ratio R
  const Real centre = Real(epsilon) / Real(mu);
  const Real x = centre - Real(mu) / 2;
  const Real y = centre + Real(mu) / 2;
  if (x.high() > 38.5) {  // δ is below the smallest positive double
    return Real::hull(Real(0.0), Real(std::numeric_limits<double>::denorm_min()));
  }
  // density(x) R(y) is below twice the smallest double
  if (x.upper() < -40) return normal_tail(x).widened(2 * std::numeric_limits<double>::denorm_min());
  if (x.high() < 0) return normal_tail(x) - normal_density(x) * mills_ratio(y);
  return normal_density(x) * (mills_ratio(x) - mills_ratio(y));
}

Profile gaussian_profile(double mu) {
  return {[mu](double epsilon) { return gaussian_delta(epsilon, mu); },
          std::numeric_limits<double>::infinity()};
}

Real gaussian_renyi(const Real& mu, double order) {
  if (mu.upper() == 0) return 0;
  if (std::isinf(order)) return Real::unknown();
  return Real(order) * gaussian_rho(mu);
}

Real gaussian_rho(const Real& mu) { return square(mu) / 2; }

namespace {

void require_classical(const Real& epsilon) {
  if (!certainly_at_most(epsilon, 1)) {
    throw OutsideConditions("the classical Gaussian theorem needs epsilon <= 1, here " +
                                rounded(epsilon.upper(), 6, Side::upper) +
                                " (at epsilon = 10 its true delta is more than twice the stated "
                                "one): use tight, pld or rdp",
                            Remedy::method);
  }
}

Real classical_factor(const Real& delta) { return sqrt(2 * log(Real(1.25) / delta)); }

}  // namespace

Real gaussian_classical_sigma(const Real& epsilon, const Real& delta) {
  require_classical(epsilon);
  return classical_factor(delta) / epsilon;
}

Real gaussian_classical_epsilon(const Real& mu, const Real& delta) {
  const Real epsilon = classical_factor(delta) * mu;
  require_classical(epsilon);
  return epsilon;
}

namespace {

void require_moments(MomentsForm form, const Real& mu, const Real& log_inverse) {
  const Real root = sqrt(log_inverse);
  const Real most =
      form == MomentsForm::by_sigma
          ? (8 - 2 * sqrt(Real(2))) * root
          : 16 * root * sqrt(log_inverse + log(Real(1.25))) - 2 * sqrt(2 * log_inverse);
  if (certainly_at_most(mu, most)) return;
  throw OutsideConditions(
      "this closed form of the moments accountant holds only while the total mu, sqrt(k)/sigma for "
      "k equal steps, is at most " +
          rounded(most.lower(), 6, Side::lower) + " at this delta, here " +
          rounded(mu.upper(), 6, Side::upper) + ": use moments, rdp or pld",
      Remedy::method);
}

}  // namespace

Real gaussian_moments_epsilon(MomentsForm form, const Real& mu, const Real& delta) {
  const Real l = -log(delta);
  require_moments(form, mu, l);
  if (form == MomentsForm::by_sigma) return 4 * mu * sqrt(l);
  return 8 * mu * sqrt(l * (l + log(Real(1.25))));
}

Real gaussian_moments_delta(MomentsForm form, const Real& mu, const Real& epsilon) {
  if (!(epsilon.lower() > 0)) return 1;
  // l = log(1/δ); with y = (ε/(8μ))² the first form is l = 4y, the second l² + l log 1.25 = y
  const Real c = log(Real(1.25));
  const Real y = square(epsilon / (8 * mu));
  const Real l = form == MomentsForm::by_sigma ? 4 * y : 2 * y / (c + sqrt(square(c) + 4 * y));
  require_moments(form, mu, l);
  return exp(-l);
}

Real gaussian_sigma_for_renyi(double order, const Real& epsilon) {
  return sqrt(Real(order) / (2 * epsilon));
}

Real gaussian_sigma_for_rho(const Real& rho) { return sqrt(1 / (2 * rho)); }

double gaussian_exact_sigma(double epsilon, double delta, Side side) {
  require_non_negative(epsilon, "epsilon");
  require_open_unit(delta, "delta");
  // δ falls as σ grows; μ = 1/σ is rounded to the side on which the result stays certain
  const auto sufficient = [&](double sigma) {
    const Real mu = 1 / Real(sigma);
    return gaussian_delta(epsilon, mu.at(side)).at(side) <= delta;
  };
  if (!sufficient(1e300))
    return side == Side::upper ? std::numeric_limits<double>::infinity() : 1e300;
  const double first = first_true(1e-300, 1e300, sufficient);
  return side == Side::upper ? first : next_down(first);
}

}  // namespace sotto
