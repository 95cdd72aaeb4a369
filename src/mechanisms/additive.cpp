// The additive mechanism, and its calibration to each definition.
#include "sotto/mechanisms/additive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "mechanisms/api/gaussian.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/normal.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

double number(const Parameter& parameter) {
  if (parameter.is_hole())
    throw InvalidValue("a mechanism needs numbers: fill the hole, or let calibrate find it");
  return parameter.value();
}

// The σ of arsinh noise, Δ/√(2ρ) rounded up to a double, and the ρ of this double.
struct ArsinhNoise {
  double sigma;
  double rho;
};
ArsinhNoise arsinh_noise(double rho, double sensitivity) {
  const Real exact = Real(sensitivity) / sqrt(Real(2) * Real(rho));
  double sigma = exact.upper();
  for (int turn = 0; turn < 1000; ++turn) {
    const Real ratio = Real(sensitivity) / Real(sigma);
    const Real real = ratio * ratio / Real(2);
    const double rounded = real.estimate();
    // the number in the event stands for every real that rounds to it, and the exact ρ of sigma
    // must be one of them
    if (Real::reading(rounded).lower() <= real.lower() &&
        real.upper() <= Real::reading(rounded).upper())
      return {sigma, rounded};
    sigma = next_up(sigma);
  }
  throw InvalidValue("arsinh noise of rho = " + shortest(rho) + " and sensitivity = " +
                     shortest(sensitivity) + " is at the end of what doubles hold");
}

double require_sensitivity(double sensitivity) {
  if (!(sensitivity > 0) || !std::isfinite(sensitivity))
    throw InvalidValue("sensitivity must be above 0 and finite");
  return sensitivity;
}

// Returns the first double from `least` on for which `enough` holds. Throws InvalidValue if none of
// the next 64 does, at the end of the doubles' range.
template <class Enough>
double first_from(double least, Enough enough) {
  double scale = std::max(least, std::numeric_limits<double>::min());
  for (int step = 0; std::isfinite(scale) && step < 64; ++step) {
    if (enough(scale)) return scale;
    scale = next_up(scale);
  }
  throw InvalidValue("the noise that this needs is at the end of what doubles hold");
}

Additive gaussian_of(const Real& sigma_by_sensitivity, double l2) {
  // sigma must be enough for every reading of the number in the event
  const double least = (sigma_by_sensitivity * Real::reading(l2)).upper();
  const double sigma =
      first_from(least, [&](double s) { return Real::reading(s).lower() >= least; });
  return Additive(gaussian(sigma, l2));
}

// Returns the leaf of a plan all of whose leaves are equal. Throws InvalidValue otherwise.
Plan only_leaf(const Plan& plan) {
  const auto among = [](const std::vector<Plan>& parts) {
    const Plan first = only_leaf(parts.front());
    for (const Plan& part : parts) {
      if (!(only_leaf(part) == first))
        throw InvalidValue(
            "the plan holds different mechanisms: make one of each leaf of the calibrated plan");
    }
    return first;
  };
  if (const auto* sum = plan.as<Sum>()) return among(sum->parts);
  if (const auto* parallel = plan.as<Parallel>()) return among(parallel->parts);
  if (const auto* repeat = plan.as<Repeat>()) return only_leaf(repeat->plan);
  if (const auto* poisson = plan.as<Poisson>()) return only_leaf(poisson->plan);
  if (const auto* sample = plan.as<WithoutReplacement>()) return only_leaf(sample->plan);
  if (const auto* group = plan.as<Group>()) return only_leaf(group->plan);
  return plan;
}

}  // namespace

int grid_for_scale(double scale) { return RoundedNoise::grid_for(scale); }

Additive::Additive(const Plan& leaf, std::optional<int> grid) : Additive(make(leaf, grid)) {}

Additive::Additive(const GaussianNoise& noise)
    : Additive(Parts{
          noise.event(),
          RoundedNoise(NoiseKind::gaussian, noise.scale(), grid_for_scale(noise.scale())), 0}) {}

Additive::Parts Additive::make(const Plan& leaf, std::optional<int> grid) {
  const auto fine = [&](double scale) { return grid.value_or(grid_for_scale(scale)); };
  if (const auto* l = leaf.as<Laplace>()) {
    number(l->sensitivity);
    const double b = number(l->b);
    return {leaf, RoundedNoise(NoiseKind::laplace, b, fine(b)), 0};
  }
  if (const auto* g = leaf.as<Gaussian>()) {
    number(g->sensitivity);
    const double sigma = number(g->sigma);
    return {leaf, RoundedNoise(NoiseKind::gaussian, sigma, fine(sigma)), 0};
  }
  if (const auto* a = leaf.as<Arsinh>()) {
    const auto [sigma, rho] = arsinh_noise(number(a->rho), number(a->sensitivity));
    const double bend = number(a->a);
    return {arsinh(rho, bend, a->sensitivity), RoundedNoise::arsinh(sigma, bend, fine(sigma)),
            bend};
  }
  if (leaf.as<Catastrophe>() != nullptr)
    throw InvalidValue("catastrophe can be accounted, never run: it would publish the data");
  throw InvalidValue("`" + print(leaf) +
                     "` adds no noise to a number: it must be laplace, gaussian or arsinh");
}

std::vector<double> Additive::release(std::span<const double> values) const {
  std::vector<double> released(values.begin(), values.end());
  release_in_place(released);
  return released;
}

void Additive::release_in_place(std::span<double> values) const {
  if (bend_ != 0 && values.size() > 1) {
    const std::string count = std::to_string(values.size());
    throw OutsideConditions("no theorem prices arsinh noise on " + count +
                                " numbers together: each is a query of its own, at " + count +
                                " * " + print(event_) +
                                " in all; or use gaussian noise, which has one",
                            Remedy::each);
  }
  noise_.add(values);
}

std::vector<double> Additive::release_each(std::span<const double> values) const {
  std::vector<double> released(values.begin(), values.end());
  noise_.add(released);
  return released;
}

double Additive::grid() const { return std::ldexp(1.0, noise_.grid()); }

double Additive::margin(double probability) const {
  if (!(probability > 0 && probability < 1))
    throw InvalidValue("probability must be above 0 and below 1");
  const Real scale = noise_.scale();
  const Real half_step = Real(grid()) / Real(2);
  if (event_.as<Laplace>() != nullptr)
    return (scale * -log1p(-Real(probability)) + half_step).upper();
  const double tail = (Real(1) / Real(2) + Real(probability) / Real(2)).upper();
  const Real size = scale * Real(normal_quantile(tail, Side::upper));
  if (bend_ == 0) return (size + half_step).upper();
  const Real ratio = size / Real(bend_);
  return (Real(bend_) * log(ratio + sqrt(Real(1) + ratio * ratio)) + half_step).upper();
}

Additive laplace_for(Epsilon epsilon, double l1) {
  require_sensitivity(l1);
  if (!(epsilon.value() > 0))
    throw InvalidValue("epsilon must be above 0: no noise is enough for 0");
  // the first double whose event costs at most epsilon for every reading of its numbers
  const double least = (Real(l1) / Real(epsilon.value())).lower();
  const double b = first_from(least, [&](double scale) {
    return (Real::reading(l1) / Real::reading(scale)).upper() <= epsilon.value();
  });
  return Additive(laplace(b, l1));
}

Additive gaussian_for(Epsilon epsilon, Delta delta, double l2, GaussianRule rule) {
  require_sensitivity(l2);
  if (rule == GaussianRule::classical) {
    return gaussian_of(
        gaussian_classical_sigma(Real::reading(epsilon.value()), Real::reading(delta.value())), l2);
  }
  const Calibration calibration = calibrate(gaussian(hole, l2), epsilon, delta);
  return Additive(calibration.plan);
}

Additive gaussian_for_zcdp(double rho, double l2) {
  require_sensitivity(l2);
  if (!(rho > 0) || !std::isfinite(rho)) throw InvalidValue("rho must be above 0 and finite");
  return gaussian_of(gaussian_sigma_for_rho(Real::reading(rho)), l2);
}

Additive gaussian_for_renyi(Order order, double epsilon, double l2) {
  require_sensitivity(l2);
  if (!(epsilon > 0) || !std::isfinite(epsilon))
    throw InvalidValue("epsilon must be above 0 and finite");
  if (!(order.value() > 1)) throw InvalidValue("order must be above 1");
  return gaussian_of(gaussian_sigma_for_renyi(order.value(), Real::reading(epsilon)), l2);
}

Additive additive_for(const Plan& plan, Epsilon epsilon, Delta delta) {
  return Additive(only_leaf(calibrate(plan, epsilon, delta).plan));
}

}  // namespace sotto
