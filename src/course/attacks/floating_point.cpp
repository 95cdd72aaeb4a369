#include "course/api/attack_floating_point.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sotto/accounting/tradeoff.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

// ---------------------------------------------------------------------------------------------------------------------
// INSECURE, to be attacked: Laplace noise as textbooks write it. It exists in this file alone, for values that the attack
// makes up; it is no mechanism, and nothing outside this file can call it.

double textbook(double value, double scale, double u) { return value - scale * (u < 0 ? -1.0 : 1.0) * std::log(1 - 2 * std::abs(u)); }

double textbook_release(double value, double scale) {
  double u = -0.5;
  while (u == -0.5) u = static_cast<double>(Random::here().word() >> 11) * 0x1p-53 - 0.5;
  return textbook(value, scale, u);
}

// End of what is insecure.
// ---------------------------------------------------------------------------------------------------------------------

// Whether some u gives this output. 1 - 2|u| is j·2^-52 for a whole j, without rounding; only the j whose noise lies within half
// a gap of output - value need be tried, and a few more for the roundings of log, product and difference.
bool reachable(double output, double value, double scale) {
  const double depth = std::abs(output - value) / scale;
  const double centre = 0x1p52 * std::exp(-depth);
  const double gap = std::nextafter(std::abs(output), INFINITY) - std::abs(output);
  const double reach = centre * std::expm1(gap / scale) + centre * (1 + depth) * 0x1p-49 + 4;
  constexpr double patience = 20'000;
  if (!(reach < patience)) return true;  // not searched: no claim
  const double last = std::min(std::floor(centre + reach), 0x1p52);
  for (double j = std::max(std::ceil(centre - reach), 1.0); j <= last; ++j) {
    const double u = 0.5 - j * 0x1p-53;
    if (textbook(value, scale, u) == output || textbook(value, scale, -u) == output) return true;
  }
  return false;
}

// What the attacker says of an output: 0 for the first value, 1 for the second.
struct Verdict {
  bool certain;
  int guess;
};

Verdict verdict(bool first, bool second, double output, double value) {
  if (first != second) return {true, first ? 0 : 1};
  return {false, output > value + 0.5 ? 1 : 0};
}

// Every multiple of the grid within the limit has positive probability, whatever the value.
bool on_grid(const Additive& mechanism, double output) { return std::fmod(output, mechanism.grid()) == 0 && std::abs(output) <= mechanism.limit(); }

FloatingPointPoint attacked(double epsilon, const FloatingPointSettings& settings) {
  const Additive mechanism = laplace_for(Epsilon(epsilon), 1);
  const std::array<double, 2> values{settings.value, settings.value + 1};
  std::int64_t identified = 0, mistaken = 0, right = 0, sotto_identified = 0, sotto_right = 0;
  for (std::int64_t i = 0; i < settings.releases; ++i) {
    const int truth = bernoulli(1, 2) ? 1 : 0;
    const double value = values[static_cast<std::size_t>(truth)];

    const double output = textbook_release(value, mechanism.scale());
    const Verdict of_textbook =
        verdict(reachable(output, values[0], mechanism.scale()), reachable(output, values[1], mechanism.scale()), output, settings.value);
    identified += of_textbook.certain ? 1 : 0;
    mistaken += of_textbook.certain && of_textbook.guess != truth ? 1 : 0;
    right += of_textbook.guess == truth ? 1 : 0;

    const double released = mechanism.release(value);
    // Off the grid would be a value that only its own noise can give.
    const Verdict of_sotto = on_grid(mechanism, released) ? verdict(true, true, released, settings.value) : Verdict{true, truth};
    sotto_identified += of_sotto.certain ? 1 : 0;
    sotto_right += of_sotto.guess == truth ? 1 : 0;
  }
  const auto share = [&](std::int64_t count) { return static_cast<double>(count) / static_cast<double>(settings.releases); };
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
  if (!(std::abs(settings.value) <= 0x1p40)) throw InvalidValue("value must be a number between -2^40 and 2^40");
  (void)require_count(settings.releases, 1, "releases");
  if (settings.releases > 1'000'000) throw InvalidValue("releases must be at most 1000000");
  FloatingPointAttack attack{.settings = settings};
  std::vector<double>& epsilons = attack.settings.epsilons;
  if (epsilons.empty()) epsilons = {0.1, 0.2, 0.5, 1, 2, 5};
  std::sort(epsilons.begin(), epsilons.end());
  for (const double epsilon : epsilons) {
    if (!(epsilon >= 1e-6 && epsilon <= 100)) throw InvalidValue("epsilon must be a number from 1e-6 to 100");
  }
  for (const double epsilon : epsilons) attack.points.push_back(attacked(epsilon, settings));
  return attack;
}

}  // namespace sotto
