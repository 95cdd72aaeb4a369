// Assignments of noise to measurements, and the search for the unknown that spends a budget in ρ.
#include "study/design/noise_assignment.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/accounting/filter.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/holes.hpp"

namespace sotto::study_detail {
namespace {

// The part of a measurement's budget share that the search for private keys gets.
constexpr double search_share = 0.5;

// Returns a scale of noise as a multiple of the study's single unknown. The multiple makes a
// measurement with twice the share cost about twice as much, in ε (Laplace) or in ρ (Gaussian).
Parameter open_noise(NoiseKind kind, double share, double l1, double l2) {
  return Hole{kind == NoiseKind::laplace ? l1 / share : l2 / std::sqrt(share)};
}

double number(const Parameter& parameter) { return parameter.value(); }

Plan with_six_digits(const Plan& leaf) {
  const double scale = read_number(rounded(scale_of(leaf), 6, Side::upper));
  if (const auto* l = leaf.as<Laplace>()) return laplace(scale, l->sensitivity);
  return gaussian(scale, leaf.as<Gaussian>()->sensitivity);
}

}  // namespace

Plan noise_leaf(NoiseKind kind, const Parameter& scale, double l1, double l2) {
  return kind == NoiseKind::laplace ? laplace(scale, l1) : gaussian(scale, l2);
}

double scale_of(const Plan& leaf) {
  if (const auto* l = leaf.as<Laplace>()) return number(l->b);
  return number(leaf.as<Gaussian>()->sigma);
}

NoiseAssignment::NoiseAssignment(const std::vector<OpenMeasurement>& measurements,
                                 const std::vector<NoiseKind>& kinds, double search_delta,
                                 const std::vector<OpenTraining>& trainings)
    : trainings_(trainings) {
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const OpenMeasurement& d = measurements[i];
    const double share = d.search ? d.share * (1 - search_share) : d.share;
    const Parameter scale = d.has_target ? Parameter(d.target_scale[static_cast<int>(kinds[i])])
                                         : open_noise(kinds[i], share, d.l1, d.l2);
    leaves_.push_back(noise_leaf(kinds[i], scale, d.l1, d.l2));
    if (!d.search) continue;
    const Parameter of_search =
        d.has_target
            ? Parameter(number(scale) *
                        (kinds[i] == NoiseKind::laplace ? d.search_l1 / d.l1 : d.search_l2 / d.l2))
            : open_noise(kinds[i], d.share * search_share, d.search_l1, d.search_l2);
    leaves_.push_back(noise_leaf(kinds[i], of_search, d.search_l1, d.search_l2));
    leaves_.push_back(approx(0, search_delta));
  }
  for (const OpenTraining& training : trainings) {
    for (const Plan& event : open_events(training)) events_.push_back(event);
  }
}

bool NoiseAssignment::is_open() const {
  const auto has_hole = [](const Plan& leaf) { return !holes_of(leaf).empty(); };
  return std::any_of(events_.begin(), events_.end(), has_hole) ||
         std::any_of(leaves_.begin(), leaves_.end(), has_hole);
}

Plan NoiseAssignment::plan() const {
  std::vector<Plan> all = leaves_;
  all.insert(all.end(), events_.begin(), events_.end());
  return joined(all);
}

std::vector<Plan> NoiseAssignment::filled(double value) const {
  std::vector<Plan> all;
  for (const Plan& leaf : leaves_)
    all.push_back(holes_of(leaf).empty() ? leaf : with_six_digits(fill(leaf, value)));
  for (OpenTraining training : trainings_) {
    set_noise(training, value);
    all.push_back(training.design.event);
    if (training.design.test_event) all.push_back(*training.design.test_event);
  }
  return all;
}

Plan NoiseAssignment::joined(const std::vector<Plan>& leaves) {
  Plan all = leaves.front();
  for (std::size_t i = 1; i < leaves.size(); ++i) all = all + leaves[i];
  return all;
}

double fill_for_rho(const NoiseAssignment& assignment, double rho, double delta) {
  const auto enough = [&](double value) {
    try {
      return Filter(ZcdpBudget{rho, delta}, Relation::as_stated)
          .admit(NoiseAssignment::joined(assignment.filled(value)))
          .admitted;
    } catch (const InvalidValue&) {
      return false;
    }
  };
  double high = 1;
  while (!enough(high)) {
    high *= 2;
    if (high > 1e30)
      throw OutsideConditions("no noise is large enough for rho = " + shortest(rho) +
                              ": the `error` settings of the study alone cost more; allow larger "
                              "errors or a larger rho");
  }
  double low = high / 2;
  while (enough(low)) {
    high = low;
    low /= 2;
    if (low < 1e-30) break;
  }
  for (int i = 0; i < 60; ++i) {
    const double middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace sotto::study_detail
