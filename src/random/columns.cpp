// The tables: weights, the border between columns and tail, and the alias method.
#include "random/columns.hpp"

#include <algorithm>

namespace sotto::random_detail {
namespace {

// Returns the alias table of weights that sum to 2^30: slots of equal capacity, with at most two
// items each, in whole numbers, so that every probability is exact.
std::array<std::uint32_t, last_item + 1> alias_of(std::array<std::uint32_t, last_item + 1> weight) {
  constexpr std::uint32_t capacity = 1U << position_bits;
  std::array<std::uint32_t, last_item + 1> entry{};
  std::vector<std::uint32_t> light;
  std::vector<std::uint32_t> heavy;
  for (std::uint32_t i = 0; i <= last_item; ++i)
    (weight[i] < capacity ? light : heavy).push_back(i);
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
    : curve(curve_),
      tau(tau_),
      real(real_),
      fraction(fraction_),
      unit(std::ldexp(1.0, -fraction_)) {
  constexpr double error = 0x1p-40;  // the relative error of height()
  constexpr double tiny = 1e-290;    // its absolute error near underflow
  const auto at = [&](double y) { return height(curve, tau, y); };
  // the last y of a column, relative to its start: 1 as a limit for real y
  const double last = real ? 1 : 1 - std::ldexp(1.0, -fraction);
  const auto ceiling = [&](double x) {
    return static_cast<std::uint32_t>(std::ceil(x * (1 + error) + tiny));
  };

  // choose S so that all weights fit into 2^30; the weight of the tail is at most twice the area of
  // its first strip at the height of its start
  double sum = 0;
  for (std::uint32_t i = 0; i < last_item; ++i) sum += at(i);
  scale = static_cast<std::uint32_t>(all_weight * (1 - 0x1p-9) /
                                     (sum + 2 * std::ldexp(at(last_item), strip_from(last_item))));

  // add columns while ordinates below 251/256 lie below the curve all over the column
  weight.fill(0);
  std::uint32_t total = 0;
  for (column_count = 0; column_count < last_item; ++column_count) {
    const std::uint32_t c = ceiling(scale * at(column_count));
    const double sure = std::ldexp(static_cast<double>(c) * sure_ordinates, -ordinate_bits);
    if (!(sure <= scale * at(column_count + last) * (1 - error))) break;
    weight[column_count] = c;
    total += c;
  }
  for (std::uint32_t i = 0; i <= last_item; ++i) corner[i] = scale * at(i);
  // |f''| <= 1/τ²; the last bits of y, and rounding
  chord_error = scale * (1.01 / (8 * tau * tau) + 0x1p-24);

  // the tail and the last item take the rest
  strip_bits = strip_from(column_count);
  tail_weight = ceiling(2 * scale * std::ldexp(at(column_count), strip_bits));
  last_weight = all_weight - total;
  std::array<std::uint32_t, last_item + 1> all{};
  std::copy(weight.begin(), weight.end(), all.begin());
  all[last_item] = last_weight;
  entry = alias_of(all);
}

// f falls to half over this width from the column on, and further over the same width later.
int Table::strip_from(std::uint32_t column) const {
  const double half_life =
      curve == Curve::gaussian ? 0.6931472 * tau * tau / column : 0.6931472 * tau;
  return static_cast<int>(std::ceil(std::log2(std::max(half_life, 1.0))));
}

}  // namespace sotto::random_detail
