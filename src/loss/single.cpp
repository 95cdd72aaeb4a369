// One step whose law is known: δ(ε) = P(L > ε) - e^ε Q(L > ε), as it is written.
#include <algorithm>
#include <cmath>
#include <limits>

#include "exact.hpp"
#include "law.hpp"
#include "sotto/core/contradiction.hpp"
#include "sotto/core/work.hpp"

namespace sotto::loss_detail {
namespace {

LawPtr law_of(const std::vector<LossStep>& steps) {
  if (steps.size() != 1 || steps.front().count != 1 || steps.front().loss->lattice()) return nullptr;
  const auto* known = dynamic_cast<const KnownLoss*>(steps.front().loss.get());
  return known == nullptr ? nullptr : known->law();
}

// P(S) - e^price Q(S) for S the losses above `from`, or for what its edge is taken to be, from one side.
double worth(const LossLaw& law, double from, double price, Side side) {
  const double sign = side == Side::upper ? 1 : -1;
  double sum = side == Side::upper ? law.beyond() : 0;
  spend(500);
  const auto take = [&](double p, double p_room, double q, double q_room) {
    sum += p * (1 + sign * (p_room + 16 * unit)) - q * (1 - sign * (q_room + 16 * unit));
  };
  const auto between = [&](const LossLaw::Edge& a, const LossLaw::Edge& b) {
    const LossLaw::Mass with = law.with(a, b);
    const LossLaw::Mass without = law.without(a, b);
    take(with.at(0), with.room + 4 * unit * std::abs(with.log), without.at(price),
         without.room + 4 * unit * (std::abs(without.log) + std::abs(price)));
  };
  if (from < law.most()) between(law.edge(from), law.edge(law.most()));
  for (const LossLaw::Place& atom : law.atoms()) {
    // one about the end is in S where that makes it larger: of all S, {L > price} has the largest value
    if (!(atom.loss + (side == Side::upper ? atom.loss_room : -atom.loss_room) > from)) continue;
    const double p = atom.mass * std::exp(atom.log + atom.loss);
    const double q = atom.mass * std::exp(atom.log + price);
    const double before = sum;
    spend(60);
    take(p, atom.room + atom.loss_room + 4 * unit * (std::abs(atom.log) + std::abs(atom.loss)), q,
         atom.room + 4 * unit * (std::abs(atom.log) + std::abs(price)));
    if (side == Side::upper) sum = std::max(sum, before);
  }
  return sum;
}

Bound delta_of(const LossLaw& law, double epsilon) {
  if (epsilon >= law.most()) return {0, epsilon > law.most() + law.off(law.most()) ? law.beyond() : worth(law, epsilon, epsilon, Side::upper)};
  constexpr double least = std::numeric_limits<double>::denorm_min();  // δ may be below every double, but is not 0
  // S = {L > ε'} has at most δ(ε), for every ε'. A little below ε it has δ(ε') or less at the price e^ε', which is at least δ(ε).
  const double off = law.off(epsilon) + 4 * unit * epsilon;
  return {std::max(0.0, worth(law, epsilon, epsilon, Side::lower)),
          std::clamp(worth(law, std::max(0.0, epsilon - 2 * off), epsilon - 4 * off, Side::upper), least, 1.0)};
}

}  // namespace

std::optional<Profile> single_profile(const std::vector<LossStep>& steps) {
  const LawPtr law = law_of(steps);
  if (law == nullptr) return std::nullopt;
  return [law](double epsilon) { return delta_of(*law, epsilon); };
}

std::optional<Loss::Top> next_to_largest(const LossLaw& law, double share) {
  const double from = law.most() * (1 - share);
  const LossLaw::Mass mass = law.with(law.edge(from), law.edge(law.most()));
  double p = mass.at(0) * std::max(0.0, 1 - mass.room - 4 * unit * (4 + std::abs(mass.log)));
  for (const LossLaw::Place& atom : law.atoms()) {
    if (!(atom.loss - atom.loss_room > from)) continue;
    p += atom.mass * std::exp(atom.log + atom.loss) * std::max(0.0, 1 - atom.room - atom.loss_room - 16 * unit * (1 + std::abs(atom.log)));
  }
  if (!(p > 1e-290)) return std::nullopt;
  const double log = std::log(p);
  return Loss::Top{from - law.off(from) - 4 * unit * from, log - 8 * unit * (1 + std::abs(log))};
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

}  // namespace sotto::loss_detail
