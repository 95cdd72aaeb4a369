// Completes sessions: nonce, threshold, noise, grid and plan.
#include "federated/api/proposal.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/accounting/account.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/random/random.hpp"

namespace sotto {
namespace {

std::string fresh_nonce() {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string nonce;
  for (int i = 0; i < 32; ++i) nonce += digits[Random::here().word() >> 60U];
  return nonce;
}

Session with_noise(Session session, double sigma) {
  SumItem& item = session.items.front();
  item.sigma = sigma;
  item.grid = grid_for_scale(
      sigma / std::sqrt(static_cast<double>(std::max<std::int64_t>(session.honest, 1))));
  session.plan = print(plan_of_sums(session));
  return session;
}

Session of_sums(Session base, SumItem item) {
  if (base.title.empty()) base.title = "a sum";
  base.items = {std::move(item)};
  return base;
}

}  // namespace

Session begin_session(Session base) {
  base.nonce = fresh_nonce();
  if (base.threshold == 0) base.threshold = least_threshold(base.size(), base.colluding);
  base.honest = base.threshold - base.colluding;
  if (base.honest < 1) {
    throw InvalidValue("with the threshold " + std::to_string(base.threshold) + " of " +
                       std::to_string(base.size()) + " members, " + std::to_string(base.colluding) +
                       " colluding members could know the noise of every member in a sum: let "
                       "fewer collude, or have more members");
  }
  return base;
}

Session session_of_sums(Session base, SumItem item, double sigma) {
  Session session = with_noise(of_sums(std::move(base), std::move(item)), sigma);
  require_sound(session);
  return session;
}

Session session_of_sums(Session base, SumItem item, Epsilon epsilon, Delta delta) {
  const Session session = of_sums(std::move(base), std::move(item));
  const SumItem& sum = session.items.front();
  const Plan with_hole = parse(std::to_string(sum.rounds + session.spare) + " * gaussian(?, " +
                               shortest(sum.sensitivity) + ")");
  const double least = additive_for(with_hole, epsilon, delta).scale();
  // The slack of rounded noise costs a little more than the ideal noise, so try slightly larger
  // noise.
  for (double more = 0; more < 1e-3; more = more * 2 + 0x1p-52) {
    Session candidate = with_noise(session, least * (1 + more));
    if (sotto::epsilon(parse(candidate.plan), delta).value.upper > epsilon.value()) continue;
    require_sound(candidate);
    return candidate;
  }
  throw OutsideConditions("no noise was found with which all rounds cost at most epsilon = " +
                          shortest(epsilon.value()) + " at delta = " + shortest(delta.value()) +
                          ": give sigma instead");
}

SumItem item_of_mean(const Session& base, ValueBounds bounds, double most) {
  return {.name = "mean",
          .size = 2,
          .sensitivity = mean_sensitivity(base.relation),
          .most = most,
          .bounds = bounds};
}

}  // namespace sotto
