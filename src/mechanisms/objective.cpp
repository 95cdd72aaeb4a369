// The noise inside a convex objective.
#include "mechanisms/api/objective.hpp"

#include <algorithm>

#include "numerics/api/elementary.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/random/noise.hpp"

namespace sotto {

Plan ObjectiveNoise::event() const {
  const Plan minimum = approx(conditions_.epsilon, conditions_.delta);
  return conditions_.replaces ? group(2, minimum) : minimum;
}

double ObjectiveNoise::epsilon_left() const {
  return (Real(conditions_.epsilon) - log1p(conditions_.curvature / Real(conditions_.strength)))
      .lower();
}

double ObjectiveNoise::scale() const {
  const double left = epsilon_left();
  const double by_profile = gaussian_exact_sigma(left, conditions_.delta / 2, Side::upper);
  const double by_condition = (Real(1) / sqrt(Real(2) * Real(left))).upper();  // from μ²/2 <= left
  return (Real(std::max(by_profile, by_condition)) * Real(conditions_.gradient)).upper();
}

std::vector<double> ObjectiveNoise::draw(std::size_t size, int grid) const {
  std::vector<double> b(size, 0.0);
  const RoundedNoise noise(NoiseKind::gaussian, scale(), grid);
  if (noise.limit() < 0x1p8 * noise.scale())
    throw OutsideConditions(
        "the noise in the objective is too large for the tolerance's grid: declare a larger "
        "tolerance");
  noise.add(b);
  return b;
}

}  // namespace sotto
