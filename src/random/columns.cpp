#include "random/columns.hpp"

#include <algorithm>

namespace sotto::random_detail {
namespace {

// Weights that sum to the whole, as slots of equal capacity that hold at most two items each (Walker, Vose), in whole numbers.
std::array<std::uint32_t, last_item + 1> alias_of(std::array<std::uint32_t, last_item + 1> weight) {
  constexpr std::uint32_t capacity = 1U << position_bits;
  std::array<std::uint32_t, last_item + 1> entry{};
  std::vector<std::uint32_t> light;
  std::vector<std::uint32_t> heavy;
  for (std::uint32_t i = 0; i <= last_item; ++i) (weight[i] < capacity ? light : heavy).push_back(i);
  while (!light.empty()) {
    const std::uint32_t small = light.back();
    light.pop_back();
    const std::uint32_t large = heavy.back();
    entry[small] = weight[small] << slot_bits | (small ^ large);
    weight[large] -= capacity - weight[small];
    if (weight[large] < capacity) {
      heavy.pop_back();
      light.push_back(large);
    }
  }
  for (const std::uint32_t i : heavy) entry[i] = capacity << slot_bits;
  return entry;
}

}  // namespace

Table::Table(Curve curve_, double tau_, bool real_, int fraction_)
    : curve(curve_), tau(tau_), real(real_), fraction(fraction_), unit(std::ldexp(1.0, -fraction_)) {
  constexpr double room = 0x1p-40;  // of `height`, and where it underflows
  constexpr double tiny = 1e-290;
  const auto at = [&](double y) { return height(curve, tau, y); };
  // the last y of a column: a whole one stops short of the next column
  const double last = real ? 1 : 1 - std::ldexp(1.0, -fraction);
  const auto ceiling = [&](double x) { return static_cast<std::uint32_t>(std::ceil(x * (1 + room) + tiny)); };

  // S such that all weights fit; the tail is at most twice a strip of where it starts, and starts where f is small
  double sum = 0;
  for (std::uint32_t i = 0; i < last_item; ++i) sum += at(i);
  scale = static_cast<std::uint32_t>(all_weight * (1 - 0x1p-9) / (sum + 2 * std::ldexp(at(last_item), strip_from(last_item))));
  // as many columns as are narrow enough for the sure ordinates
  weight.fill(0);
  std::uint32_t total = 0;
  for (columns = 0; columns < last_item; ++columns) {
    const std::uint32_t c = ceiling(scale * at(columns));
    const double sure = std::ldexp(static_cast<double>(c) * sure_ordinates, -ordinate_bits);
    if (!(sure <= scale * at(columns + last) * (1 - room))) break;
    weight[columns] = c;
    total += c;
  }
  for (std::uint32_t i = 0; i <= last_item; ++i) corner[i] = scale * at(i);
  bulge = scale * (1.01 / (8 * tau * tau) + 0x1p-24);  // |f''| is at most 1/τ²; y's further bits, and roundings
  strip = strip_from(columns);
  tail = ceiling(2 * scale * std::ldexp(at(columns), strip));
  left = all_weight - total;
  std::array<std::uint32_t, last_item + 1> all{};
  std::copy(weight.begin(), weight.end(), all.begin());
  all[last_item] = left;
  entry = alias_of(all);
}

// A width over which f falls to half from this column on, and so all the more later.
int Table::strip_from(std::uint32_t column) const {
  const double half_life = curve == Curve::gaussian ? 0.6931472 * tau * tau / column : 0.6931472 * tau;
  return static_cast<int>(std::ceil(std::log2(std::max(half_life, 1.0))));
}

}  // namespace sotto::random_detail
