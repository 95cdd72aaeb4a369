// The only place that multiplies a noise multiplier by a length, and the only one that divides a
// sum's noise among parties.
#include "mechanisms/api/gaussian.hpp"

#include <cmath>

#include "numerics/api/elementary.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

const Gaussian& gaussian_in(const Plan& leaf) {
  const auto* node = leaf.as<Gaussian>();
  if (node == nullptr)
    throw InvalidValue("`" + print(leaf) +
                       "` is not Gaussian noise: write gaussian(sigma, sensitivity)");
  if (node->sigma.is_hole() || node->sensitivity.is_hole()) {
    throw InvalidValue("`" + print(leaf) +
                       "` has a hole: fill it with a number, or let calibrate find one");
  }
  return *node;
}

}  // namespace

// Rounding up adds more noise than the event states, never less.
GaussianNoise::GaussianNoise(double multiplier, const Real& length, double moved)
    : event_(gaussian(multiplier, moved)),
      scale_((Real(multiplier) * length).upper()),
      sensitivity_((Real(moved) * length).upper()) {}

GaussianNoise::GaussianNoise(const Plan& leaf)
    : event_(leaf),
      scale_(gaussian_in(leaf).sigma.value()),
      sensitivity_(gaussian_in(leaf).sensitivity.value()) {}

PartyNoise::PartyNoise(const GaussianNoise& sum, std::int64_t honest)
    : sum_(sum), scale_((Real(sum.scale()) / sqrt(Real(static_cast<double>(honest)))).upper()) {}

int PartyNoise::grid() const { return grid_for_scale(scale_); }

double PartyNoise::scale_of(std::size_t shares) const {
  return scale_ * std::sqrt(static_cast<double>(shares));
}

}  // namespace sotto
