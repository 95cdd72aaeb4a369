// Chooses round ticks: steps of 1, 2, 2.5 or 5 on linear axes, decades and 1-2-5 on logarithmic
// ones.
#include "report/charts/axis.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "report/api/text.hpp"

namespace sotto::report_detail {
namespace {

// A round step: mantissa times a power of ten.
struct Step {
  double mantissa = 1;
  int exponent = 0;

  [[nodiscard]] double times(double count) const {
    return exponent < 0 ? count * mantissa / std::pow(10.0, -exponent)
                        : count * mantissa * std::pow(10.0, exponent);
  }
  [[nodiscard]] int last_digit() const { return mantissa == 2.5 ? exponent - 1 : exponent; }
};

struct Steps {
  Step step;
  double first = 0;
  double last = 1;
};

// Minimises the unused part of the axis plus penalties for a number of intervals other than six and
// for the step 2.5.
Steps best_steps(double low, double high) {
  const double span = high - low;
  const int exponent = static_cast<int>(std::floor(std::log10(span / 6)));
  Steps best;
  double best_cost = std::numeric_limits<double>::infinity();
  for (int shift = -1; shift <= 1; ++shift) {
    for (const double mantissa : {1.0, 2.0, 2.5, 5.0}) {
      const Step step{.mantissa = mantissa, .exponent = exponent + shift};
      const double unit = step.times(1);
      const double first = std::floor(low / unit + 1e-6);
      const double last = std::ceil(high / unit - 1e-6);
      const double count = last - first;
      if (count < 3 || count > 10) continue;
      const double cost =
          1 - span / (count * unit) + 0.03 * std::fabs(count - 6) + (mantissa == 2.5 ? 0.06 : 0);
      if (cost < best_cost) {
        best = {step, first, last};
        best_cost = cost;
      }
    }
  }
  return best;
}

// All labels of an axis have the same decimals. Very large and very small numbers are written times
// a power of ten.
std::string linear_label(double count, const Steps& steps) {
  const double value = steps.step.times(count);
  const double largest = steps.step.times(std::max(std::fabs(steps.first), std::fabs(steps.last)));
  const int digit = steps.step.last_digit();
  if (largest < 1e6 && largest >= 1e-3) return fixed(value, std::max(0, -digit));
  if (count == 0) return "0";
  const int exponent = static_cast<int>(std::floor(std::log10(largest) + 1e-9));
  return fixed(value / std::pow(10.0, exponent), std::max(0, exponent - digit)) + "×" +
         power_of_ten(exponent);
}

Axis linear_axis(double low, double high, std::optional<double> end) {
  if (!(low <= high)) {
    low = 0;
    high = 1;
  }
  if (end) {
    high = *end;
    if (low >= high) low = high > 0 ? 0 : 2 * high;
  }
  // Data that agree to six digits are drawn as a constant, and data below 1e-290 as zero.
  const double size = std::max(std::fabs(low), std::fabs(high));
  if (size < 1e-290) {
    low = 0;
    high = 1;
  } else if (high - low <= 1e-6 * size) {
    low -= 0.5 * size;
    if (!end) high += 0.5 * size;
  }
  const Steps steps = best_steps(low, high);
  Axis axis{.scale = Scale::linear,
            .low = steps.step.times(steps.first),
            .high = end ? high : steps.step.times(steps.last)};
  for (double count = steps.first; count <= steps.last; ++count) {
    const double place = axis.place(steps.step.times(count));
    if (place <= 1 + 1e-9) axis.ticks.push_back({place, linear_label(count, steps)});
  }
  return axis;
}

constexpr std::array<double, 3> one_two_five{1, 2, 5};
constexpr std::array<double, 9> one_to_nine{1, 2, 3, 4, 5, 6, 7, 8, 9};

// Returns the logarithm of the round number with this index. The round numbers are the mantissas
// times all powers of ten in ascending order; index 0 is the number 1.
double round_number(int number, std::span<const double> mantissas) {
  const int size = static_cast<int>(mantissas.size());
  const int decade = number >= 0 ? number / size : -((size - 1 - number) / size);
  return decade + std::log10(mantissas[static_cast<std::size_t>(number - size * decade)]);
}

// Returns the index of the largest round number at or below a logarithm; number_above() of the
// smallest at or above.
int number_below(double logarithm, std::span<const double> mantissas) {
  int number = static_cast<int>(mantissas.size()) * (static_cast<int>(std::floor(logarithm)) + 1);
  while (round_number(number, mantissas) > logarithm + 1e-9) --number;
  return number;
}

int number_above(double logarithm, std::span<const double> mantissas) {
  int number = static_cast<int>(mantissas.size()) * static_cast<int>(std::floor(logarithm));
  while (round_number(number, mantissas) < logarithm - 1e-9) ++number;
  return number;
}

struct LogarithmicTick {
  int exponent;
  double mantissa;
};

std::vector<LogarithmicTick> ticks_within(double low, double high,
                                          std::span<const double> mantissas) {
  std::vector<LogarithmicTick> ticks;
  for (int exponent = static_cast<int>(std::floor(low));
       exponent <= static_cast<int>(std::floor(high + 1e-9)); ++exponent) {
    for (const double mantissa : mantissas) {
      const double logarithm = exponent + std::log10(mantissa);
      if (logarithm >= low - 1e-9 && logarithm <= high + 1e-9)
        ticks.push_back({exponent, mantissa});
    }
  }
  return ticks;
}

std::string logarithmic_label(const LogarithmicTick& tick, bool plain) {
  if (plain)
    return fixed(tick.mantissa * std::pow(10.0, tick.exponent), std::max(0, -tick.exponent));
  return (tick.mantissa == 1 ? "" : fixed(tick.mantissa, 0) + "×") + power_of_ten(tick.exponent);
}

// Returns the distance of labels, in decades, with which at most nine of them are drawn.
int stride_for(double decades) {
  constexpr int strides[] = {1, 2, 5, 10, 20, 50, 100};
  return *std::find_if(std::begin(strides), std::end(strides) - 1,
                       [decades](int stride) { return decades / stride <= 8; });
}

// The axis ends at 1, 2 or 5 times a power of ten, or at any digit if the data span less than a
// decade. An axis of more than four decades is extended to the next labelled decade if that is
// near.
Axis logarithmic_ends(double low, double high, std::optional<double> end) {
  const std::span<const double> mantissas =
      high < 10 * low ? std::span<const double>(one_to_nine) : one_two_five;
  int first = number_below(std::log10(low), mantissas);
  int last = number_above(std::log10(high), mantissas);
  if (first == last) {
    --first;
    ++last;
  }
  Axis axis{.scale = Scale::logarithmic,
            .low = round_number(first, mantissas),
            .high = end ? std::log10(*end) : round_number(last, mantissas)};
  if (axis.low >= axis.high - 1e-9) axis.low = std::floor(axis.high - 1);
  const double span = axis.high - axis.low;
  if (span > 4) {
    const double stride = stride_for(span);
    const double decade_below = stride * std::floor(axis.low / stride + 1e-9);
    const double decade_above = stride * std::ceil(axis.high / stride - 1e-9);
    if (axis.low - decade_below < 0.15 * span) axis.low = decade_below;
    if (!end && decade_above - axis.high < 0.15 * span) axis.high = decade_above;
  }
  return axis;
}

Axis logarithmic_axis(double low, double high, std::optional<double> end) {
  if (!(low <= high)) {
    low = end ? *end : 1;
    high = end ? *end : 10;
  }
  Axis axis = logarithmic_ends(low, high, end);

  // Labels are at decades. Fewer than three decades: at 1, 2 and 5, or at all digits. Many decades:
  // at every n-th.
  const auto decade = std::span<const double>(one_to_nine).first(1);
  const int stride = stride_for(axis.high - axis.low);
  std::vector<LogarithmicTick> ticks = ticks_within(axis.low, axis.high, decade);
  if (ticks.size() < 3) ticks = ticks_within(axis.low, axis.high, one_two_five);
  if (ticks.size() < 3) ticks = ticks_within(axis.low, axis.high, one_to_nine);
  std::erase_if(ticks,
                [stride](const LogarithmicTick& tick) { return tick.exponent % stride != 0; });

  const auto place = [&axis](const LogarithmicTick& tick) {
    return (tick.exponent + std::log10(tick.mantissa) - axis.low) / (axis.high - axis.low);
  };
  const bool plain = std::all_of(ticks.begin(), ticks.end(), [](const auto& tick) {
    return tick.exponent >= -3 && tick.exponent <= 4;
  });
  for (const auto& tick : ticks)
    axis.ticks.push_back({place(tick), logarithmic_label(tick, plain)});
  constexpr std::size_t most_minor = 50;  // more lines would merge into a grey area
  const auto minor =
      ticks_within(axis.low, axis.high, stride > 1 ? decade : std::span<const double>(one_to_nine));
  if (minor.size() > most_minor) return axis;
  for (const auto& tick : minor) axis.minor_places.push_back(place(tick));
  return axis;
}

}  // namespace

void Extent::include(double value) {
  if (!drawable(value, scale)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

double Axis::place(double value) const {
  return ((scale == Scale::logarithmic ? std::log10(value) : value) - low) / (high - low);
}

Axis axis_for(const Extent& extent, std::optional<double> end) {
  return extent.scale == Scale::logarithmic ? logarithmic_axis(extent.low, extent.high, end)
                                            : linear_axis(extent.low, extent.high, end);
}

}  // namespace sotto::report_detail
