// Private partition selection.
#include "mechanisms/api/partition_selection.hpp"

#include "numerics/api/elementary.hpp"
#include "numerics/api/normal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

// A unit's δ is divided among its groups (union bound). A group that one unit brings has the count
// 1, so its noise must exceed threshold - 1 with at most that probability. One step of the grid is
// added because a count is rounded to the grid. Every bound is rounded up.
double threshold_of(const Additive& counts, double delta, std::int64_t groups_a_unit) {
  const Real each = Real(delta) / Real(static_cast<double>(groups_a_unit));
  const Real scale = counts.scale();
  const bool is_laplace = counts.event().as<Laplace>() != nullptr;
  const Real reach = is_laplace ? scale * -log(Real(2) * each)
                                : scale * -Real(normal_quantile(each.lower(), Side::lower));
  const Real grid = counts.grid();
  return (Real(1) + max(reach, Real(0)) + grid).upper();
}

Additive noise_of(const Plan& noise) {
  if (noise.as<Laplace>() == nullptr && noise.as<Gaussian>() == nullptr) {
    throw InvalidValue("the noise on counts of units must be laplace or gaussian, and is `" +
                       print(noise) + "`");
  }
  return Additive(noise);
}

}  // namespace

PartitionSelection::PartitionSelection(const Plan& noise, double delta, std::int64_t groups_a_unit)
    : counts_(noise_of(noise)),
      delta_(delta),
      threshold_(threshold_of(counts_, delta, groups_a_unit)),
      event_(counts_.event() + approx(0, delta)) {}

}  // namespace sotto
