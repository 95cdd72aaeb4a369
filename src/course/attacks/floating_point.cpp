// Searches for the random bits behind an output of Laplace noise in doubles.
#include <algorithm>
#include <array>
#include <cmath>

#include "course/api/attack_floating_point.hpp"
#include "course/attacks/limits.hpp"
#include "sotto/accounting/tradeoff.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

// ---------------------------------------------------------------------------------------------------------------------
// INSECURE, as the target of the attack: Laplace noise as textbooks write it. It is not a
// mechanism. It is used for made-up values only, and nothing outside this file can call it.

double textbook(double value, double scale, double u) {
  return value - scale * (u < 0 ? -1.0 : 1.0) * std::log(1 - 2 * std::abs(u));
}

double textbook_release(double value, double scale) {
  double u = -0.5;
  while (u == -0.5) u = static_cast<double>(Random::here().word() >> 11) * 0x1p-53 - 0.5;
  return textbook(value, scale, u);
}

// End of the insecure part.
// ---------------------------------------------------------------------------------------------------------------------

// Whether some u produces this output. 1 - 2|u| equals j·2^-52 for a whole number j, without
// rounding. It suffices to try the j whose noise lies within half a gap of output - value, and a
// few more for the rounding of log, product and difference.
bool reachable(double output, double value, double scale) {
  const double depth = std::abs(output - value) / scale;
  const double centre = 0x1p52 * std::exp(-depth);
  const double gap = std::nextafter(std::abs(output), INFINITY) - std::abs(output);
  const double reach = centre * std::expm1(gap / scale) + centre * (1 + depth) * 0x1p-49 + 4;
  constexpr double patience = 20'000;
  if (!(reach < patience)) return true;  // too many candidates: assume that the output is reachable
  const double last = std::min(std::floor(centre + reach), 0x1p52);
  for (double j = std::max(std::ceil(centre - reach), 1.0); j <= last; ++j) {
    const double u = 0.5 - j * 0x1p-53;
    if (textbook(value, scale, u) == output || textbook(value, scale, -u) == output) return true;
  }
  return false;
}

// The attacker's conclusion from an output. `guess` is 0 for the first value and 1 for the second.
struct Verdict {
  bool certain;
  int guess;
};

Verdict verdict(bool first, bool second, double output, double value) {
  if (first != second) return {true, first ? 0 : 1};
  return {false, output > value + 0.5 ? 1 : 0};
}

// Every multiple of the grid within the limit has positive probability for every value, so it
// identifies no value.
bool on_grid(const Additive& mechanism, double output) {
  return std::fmod(output, mechanism.grid()) == 0 && std::abs(output) <= mechanism.limit();
}

FloatingPointPoint attack_at(double epsilon, const FloatingPointSettings& settings) {
  const Additive mechanism = laplace_for(Epsilon(epsilon), 1);
  const std::array<double, 2> values{settings.value, settings.value + 1};
  std::int64_t identified = 0, mistaken = 0, right = 0, sotto_identified = 0, sotto_right = 0;
  for (std::int64_t i = 0; i < settings.releases; ++i) {
    const int truth = bernoulli(1, 2) ? 1 : 0;
    const double value = values[static_cast<std::size_t>(truth)];

    const double output = textbook_release(value, mechanism.scale());
    const Verdict of_textbook =
        verdict(reachable(output, values[0], mechanism.scale()),
                reachable(output, values[1], mechanism.scale()), output, settings.value);
    identified += of_textbook.certain ? 1 : 0;
    mistaken += of_textbook.certain && of_textbook.guess != truth ? 1 : 0;
    right += of_textbook.guess == truth ? 1 : 0;

    const double released = mechanism.release(value);
    // An output off the grid would identify its value with certainty.
    const Verdict of_sotto = on_grid(mechanism, released)
                                 ? verdict(true, true, released, settings.value)
                                 : Verdict{true, truth};
    sotto_identified += of_sotto.certain ? 1 : 0;
    sotto_right += of_sotto.guess == truth ? 1 : 0;
  }
  const auto share = [&](std::int64_t count) {
    return static_cast<double>(count) / static_cast<double>(settings.releases);
  };
  return {.epsilon = epsilon,
          .identified = share(identified),
          .mistaken = mistaken,
          .textbook = share(right),
          .sotto_identified = share(sotto_identified),
          .sotto = share(sotto_right),
          .ceiling = Tradeoff(mechanism.event()).success(0.5).upper};
}

}  // namespace

FloatingPointAttack floating_point_attack(const FloatingPointSettings& settings) {
  if (!(std::abs(settings.value) <= 0x1p40)) {
    throw InvalidValue("value = " + shortest(settings.value) +
                       " is not allowed: it must be a number from -2^40 to 2^40");
  }
  (void)require_count(settings.releases, 1, "releases");
  course_detail::require_at_most(settings.releases, 1'000'000, "releases");
  FloatingPointAttack attack{.settings = settings};
  std::vector<double>& epsilons = attack.settings.epsilons;
  if (epsilons.empty()) epsilons = {0.1, 0.2, 0.5, 1, 2, 5};
  std::sort(epsilons.begin(), epsilons.end());
  for (const double epsilon : epsilons) {
    if (!(epsilon >= 1e-6 && epsilon <= 100)) {
      throw InvalidValue("epsilon = " + shortest(epsilon) +
                         " is not allowed: it must be a number from 1e-6 to 100");
    }
  }
  for (const double epsilon : epsilons) attack.points.push_back(attack_at(epsilon, settings));
  return attack;
}

}  // namespace sotto
