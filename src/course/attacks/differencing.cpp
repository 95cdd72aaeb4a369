// Subtracts two counts that differ in one person.
#include <algorithm>

#include "course/api/attack_differencing.hpp"
#include "course/attacks/limits.hpp"
#include "sotto/accounting/tradeoff.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/mechanisms/choice.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

void check(const DifferencingSettings& settings) {
  (void)require_count(settings.people, 1, "people");
  (void)require_count(settings.trials, 1, "trials");
  course_detail::require_at_most(settings.people, 1'000'000, "people");
  course_detail::require_at_most(settings.trials, 1'000'000, "trials");
  for (const double epsilon : settings.epsilons) {
    if (!(epsilon > 0 && epsilon <= 100)) {
      throw InvalidValue("epsilon = " + shortest(epsilon) +
                         " is not allowed: it must be a number in (0, 100]");
    }
  }
}

// Draws the bits of all other people and returns their count.
double others(std::int64_t people) {
  std::int64_t count = 0;
  for (std::int64_t i = 1; i < people; ++i) count += bernoulli(1, 2) ? 1 : 0;
  return static_cast<double>(count);
}

DifferencingPoint attack_at(double epsilon, double rest, const DifferencingSettings& settings) {
  const Additive mechanism = laplace_for(Epsilon(epsilon / 2), 1);
  const Respondent respondent = Respondent::with_epsilon(Epsilon(epsilon));
  std::int64_t by_difference = 0, by_knowledge = 0, by_response = 0;
  for (std::int64_t i = 0; i < settings.trials; ++i) {
    const int bit = bernoulli(1, 2) ? 1 : 0;
    const double with = mechanism.release(rest + bit);
    const double without = mechanism.release(rest);
    by_difference += (with - without > 0.5 ? 1 : 0) == bit ? 1 : 0;
    by_knowledge += (with - rest > 0.5 ? 1 : 0) == bit ? 1 : 0;
    by_response += respondent.respond(bit) == bit ? 1 : 0;
  }
  const auto share = [&](std::int64_t count) {
    return static_cast<double>(count) / static_cast<double>(settings.trials);
  };
  return {.epsilon = epsilon,
          .difference = share(by_difference),
          .informed = share(by_knowledge),
          .response = share(by_response),
          .mechanism = Tradeoff(2 * mechanism.event()).success(0.5).upper,
          .ceiling = (1 + advantage(epsilon, Delta(0))) / 2};
}

}  // namespace

DifferencingAttack differencing_attack(const DifferencingSettings& settings) {
  check(settings);
  DifferencingAttack attack{.settings = settings};
  if (attack.settings.epsilons.empty()) attack.settings.epsilons = {0.1, 0.2, 0.5, 1, 2, 5, 10};
  std::sort(attack.settings.epsilons.begin(), attack.settings.epsilons.end());
  const double rest = others(settings.people);
  std::int64_t exact = 0;
  for (std::int64_t i = 0; i < settings.trials; ++i) {
    const int bit = bernoulli(1, 2) ? 1 : 0;
    const double with = rest + bit;
    exact += static_cast<int>(with - rest) == bit ? 1 : 0;
  }
  attack.exact = static_cast<double>(exact) / static_cast<double>(settings.trials);
  for (const double epsilon : attack.settings.epsilons)
    attack.points.push_back(attack_at(epsilon, rest, settings));
  return attack;
}

}  // namespace sotto
