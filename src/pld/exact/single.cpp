// One step whose distribution is known: δ(ε) = P(L > ε) - e^ε Q(L > ε), as it is written.
#include <algorithm>
#include <cmath>
#include <limits>

#include "exact/exact.hpp"
#include "grid/distribution.hpp"
#include "sotto/core/contradiction.hpp"
#include "sotto/core/work.hpp"

namespace sotto::pld_detail {
namespace {

DistributionPtr distribution_of(const std::vector<LossStep>& steps) {
  if (steps.size() != 1 || steps.front().count != 1 || steps.front().loss->lattice()) return nullptr;
  const auto* known = dynamic_cast<const HasDistribution*>(steps.front().loss.get());
  return known == nullptr ? nullptr : known->distribution();
}

// P(S) - e^price Q(S) for S the losses above `from`, or for what its edge is taken to be, from one side.
double worth(const LossDistribution& distribution, double from, double price, Side side) {
  const double sign = side == Side::upper ? 1 : -1;
  double sum = side == Side::upper ? distribution.beyond() : 0;
  spend(500);
  const auto take = [&](double p, double p_error, double q, double q_error) {
    sum += p * (1 + sign * (p_error + 16 * unit)) - q * (1 - sign * (q_error + 16 * unit));
  };
  const auto between = [&](const LossDistribution::Edge& a, const LossDistribution::Edge& b) {
    const LossDistribution::Mass p = distribution.mass_p(a, b);
    const LossDistribution::Mass q = distribution.mass_q(a, b);
    take(p.at(0), p.error_bound + 4 * unit * std::abs(p.log), q.at(price), q.error_bound + 4 * unit * (std::abs(q.log) + std::abs(price)));
  };
  if (from < distribution.most()) between(distribution.edge(from), distribution.edge(distribution.most()));
  for (const LossDistribution::PointMass& atom : distribution.atoms()) {
    // one about the end is in S where that makes it larger: of all S, {L > price} has the largest value
    if (!(atom.loss + (side == Side::upper ? atom.loss_error : -atom.loss_error) > from)) continue;
    const double p = atom.mass * std::exp(atom.log + atom.loss);
    const double q = atom.mass * std::exp(atom.log + price);
    const double before = sum;
    spend(60);
    take(p, atom.error_bound + atom.loss_error + 4 * unit * (std::abs(atom.log) + std::abs(atom.loss)), q,
         atom.error_bound + 4 * unit * (std::abs(atom.log) + std::abs(price)));
    if (side == Side::upper) sum = std::max(sum, before);
  }
  return sum;
}

Bound delta_of(const LossDistribution& distribution, double epsilon) {
  if (epsilon >= distribution.most())
    return {0, epsilon > distribution.most() + distribution.off(distribution.most()) ? distribution.beyond()
                                                                                     : worth(distribution, epsilon, epsilon, Side::upper)};
  constexpr double least = std::numeric_limits<double>::denorm_min();  // δ may be below every double, but is not 0
  // S = {L > ε'} has at most δ(ε), for every ε'. A little below ε it has δ(ε') or less at the price e^ε', which is at least δ(ε).
  const double off = distribution.off(epsilon) + 4 * unit * epsilon;
  return {std::max(0.0, worth(distribution, epsilon, epsilon, Side::lower)),
          std::clamp(worth(distribution, std::max(0.0, epsilon - 2 * off), epsilon - 4 * off, Side::upper), least, 1.0)};
}

}  // namespace

std::optional<Profile> single_profile(const std::vector<LossStep>& steps) {
  const DistributionPtr distribution = distribution_of(steps);
  if (distribution == nullptr) return std::nullopt;
  return [distribution](double epsilon) { return delta_of(*distribution, epsilon); };
}

std::optional<PrivacyLoss::MaxLossAtom> next_to_largest(const LossDistribution& distribution, double share) {
  const double from = distribution.most() * (1 - share);
  const LossDistribution::Mass mass = distribution.mass_p(distribution.edge(from), distribution.edge(distribution.most()));
  double p = mass.at(0) * std::max(0.0, 1 - mass.error_bound - 4 * unit * (4 + std::abs(mass.log)));
  for (const LossDistribution::PointMass& atom : distribution.atoms()) {
    if (!(atom.loss - atom.loss_error > from)) continue;
    p += atom.mass * std::exp(atom.log + atom.loss) * std::max(0.0, 1 - atom.error_bound - atom.loss_error - 16 * unit * (1 + std::abs(atom.log)));
  }
  if (!(p > 1e-290)) return std::nullopt;
  const double log = std::log(p);
  return PrivacyLoss::MaxLossAtom{from - distribution.off(from) - 4 * unit * from, log - 8 * unit * (1 + std::abs(log))};
}

Bound inverse_of(const Profile& profile, Bound delta, double worst) {
  if (profile(0).upper <= delta.lower) return {0, 0};
  double high = std::min(worst, 1e-12);
  while (high < worst && high < 1e6 && !(profile(high).upper <= delta.lower)) high *= 2;
  if (high >= 1e6) return {0, worst};
  high = std::min(high, worst);
  const auto crossing = [&](auto&& below) {  // the last ε that is below, and the first that is not
    double low = 0;
    double top = high;
    for (int turn = 0; turn < 200 && low < top - 2 * unit * top; ++turn) {
      const double middle = low + (top - low) / 2;
      (below(middle) ? low : top) = middle;
    }
    return Bound{low, top};
  };
  const double upper = crossing([&](double epsilon) { return !(profile(epsilon).upper <= delta.lower); }).upper;
  const double lower = crossing([&](double epsilon) { return profile(epsilon).lower > delta.upper; }).lower;
  return bracket(lower, upper, "epsilon of a step");
}

}  // namespace sotto::pld_detail
