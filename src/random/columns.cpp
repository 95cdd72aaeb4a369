#include "columns.hpp"

#include <algorithm>

namespace sotto::detail {
namespace {

// Weights that sum to the whole, as slots of equal capacity that hold at most two items each (Walker, Vose), in whole numbers.
std::array<std::uint32_t, columns + 1> alias_of(std::array<std::uint32_t, columns + 1> weight) {
  constexpr std::uint32_t capacity = 1U << threshold_bits;
  std::array<std::uint32_t, columns + 1> entry{};
  std::vector<std::uint32_t> light;
  std::vector<std::uint32_t> heavy;
  for (std::uint32_t i = 0; i <= columns; ++i) (weight[i] < capacity ? light : heavy).push_back(i);
  while (!light.empty()) {
    const std::uint32_t small = light.back();
    light.pop_back();
    const std::uint32_t large = heavy.back();
    entry[small] = weight[small] << slot_bits | large;
    weight[large] -= capacity - weight[small];
    if (weight[large] < capacity) {
      heavy.pop_back();
      light.push_back(large);
    }
  }
  for (const std::uint32_t i : heavy) entry[i] = capacity << slot_bits | i;
  return entry;
}

}  // namespace

Table::Table(Curve curve_, double tau_, bool real_, int fraction_) : curve(curve_), tau(tau_), real(real_), fraction(fraction_) {
  constexpr double room = 0x1p-40;  // of `height`, and where it underflows
  constexpr double tiny = 1e-290;
  const auto at = [&](double y) { return height(curve, tau, y); };
  // the first and the last y of a column; a whole y stops short of the next column
  const double last = real ? 1 : 1 - std::ldexp(1.0, -fraction);
  // a strip over which f falls to half, for the last strip's first half as for all later ones
  const double half_life = curve == Curve::gaussian ? 0.6931472 * tau * tau / columns : 0.6931472 * tau;
  strip = static_cast<int>(std::ceil(std::log2(std::max(half_life, 1.0))));
  double sum = 0;
  for (std::uint32_t i = 0; i < columns; ++i) sum += at(i);
  const double tail_sum = 2 * std::ldexp(at(columns), strip);
  scale = static_cast<std::uint32_t>((all_weight - 4.0 * columns) / (sum + tail_sum));
  std::array<std::uint32_t, columns + 1> weight{};
  std::uint32_t total = 0;
  std::uint32_t caps = 0;
  for (std::uint32_t i = 0; i < columns; ++i) {
    floor[i] = static_cast<std::uint32_t>(scale * at(i + last) * (1 - room));
    const auto ceiling = static_cast<std::uint32_t>(std::ceil(scale * at(i) * (1 + room) + tiny));
    caps += ceiling - floor[i];
    slow[i] = caps;
    weight[i] = floor[i];
    total += floor[i];
  }
  tail = static_cast<std::uint32_t>(std::ceil(scale * tail_sum * (1 + room) + tiny));
  left = all_weight - total;
  weight[slow_item] = left;
  entry = alias_of(weight);
}

}  // namespace sotto::detail
