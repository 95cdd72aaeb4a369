// Scores of candidate events on pilot outputs: thresholds, value sets and last-bit sets.
#include "audit/events.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "sotto/core/decimal.hpp"

namespace sotto::audit_detail {
namespace {

constexpr std::size_t most_values = 4096;

// Holds the best event for each aim.
struct Chooser {
  const BoundPrediction& prediction;
  std::span<const Aim> aims;
  std::vector<Event> best = std::vector<Event>(aims.size());

  // Considers an event that c of n pilot outputs under P and d of n under Q hit. `finish` sets the
  // threshold or the set of an event that is better.
  template <class Finish>
  void consider(double c, double d, double n, Event::Kind kind, bool of_second,
                const Finish& finish) {
    const double m = prediction.trials;
    const double p = c / n;
    const double q = std::min((d + 1) / n, 1.0);
    // Many events are tried, so the best one looks a few standard deviations better than it is.
    constexpr double luck = 4;
    const double spread = prediction.z / std::sqrt(m) + luck / std::sqrt(n);
    const double extra = (prediction.z * prediction.z / 2 + 1) / m + luck / n;
    const double low = p - spread * std::sqrt(p * (1 - p)) - 0.5 / m;
    const double high = std::min(1.0, q + spread * std::sqrt(q * (1 - q)) + extra);
    if (!(low > 0)) return;
    for (std::size_t i = 0; i < aims.size(); ++i) {
      const double score = aims[i](low, high);
      if (!(score > best[i].score)) continue;
      best[i].kind = kind;
      best[i].of_second = of_second;
      best[i].score = score;
      finish(best[i]);
    }
  }
};

std::vector<double> sorted(std::span<const double> numbers) {
  std::vector<double> copy(numbers.begin(), numbers.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

// Tries thresholds at the outputs, from above and from below.
void try_thresholds(Chooser& chooser, const std::vector<double>& first,
                    const std::vector<double>& second) {
  const auto n = static_cast<double>(first.size());
  // A few thousand thresholds suffice: all outputs at both ends, and evenly spaced ones between.
  constexpr std::size_t at_the_ends = 500;
  const std::size_t stride = 1 + first.size() / 2000;
  std::size_t i = 0;
  std::size_t j = 0;
  const auto at_an_end = [&](std::size_t done, std::size_t all) {
    return done < at_the_ends || done + at_the_ends > all;
  };
  std::size_t next = 0;
  while (i < first.size() || j < second.size()) {
    const double t =
        j == second.size() || (i < first.size() && first[i] <= second[j]) ? first[i] : second[j];
    const bool tried = i + j >= next || at_an_end(i, first.size()) || at_an_end(j, second.size());
    if (!tried) {
      while (i < first.size() && first[i] == t) ++i;
      while (j < second.size() && second[j] == t) ++j;
      continue;
    }
    next = i + j + stride;
    const auto put = [t](Event& event) { event.threshold = t; };
    const double above_first = n - static_cast<double>(i);
    const double above_second = n - static_cast<double>(j);
    chooser.consider(above_second, above_first, n, Event::Kind::above, true, put);
    chooser.consider(above_first, above_second, n, Event::Kind::above, false, put);
    while (i < first.size() && first[i] == t) ++i;
    while (j < second.size() && second[j] == t) ++j;
    const auto below_first = static_cast<double>(i);
    const auto below_second = static_cast<double>(j);
    chooser.consider(below_first, below_second, n, Event::Kind::below, false, put);
    chooser.consider(below_second, below_first, n, Event::Kind::below, true, put);
  }
}

struct Counts {
  double first = 0;
  double second = 0;
};

// Tries sets of values. The first half of the pilot orders the values by likelihood ratio; the
// second half chooses how many values the set has.
void try_sets(Chooser& chooser, std::span<const double> first, std::span<const double> second,
              Event::Kind kind) {
  const auto value_of = [kind](double x) { return kind == Event::Kind::bits ? last_bit(x) : x; };
  const std::size_t half = first.size() / 2;
  std::map<double, Counts> first_half;
  for (std::size_t i = 0; i < half; ++i) {
    ++first_half[value_of(first[i])].first;
    ++first_half[value_of(second[i])].second;
    if (first_half.size() > most_values) return;
  }
  std::map<double, Counts> second_half;
  for (std::size_t i = half; i < first.size(); ++i) {
    ++second_half[value_of(first[i])].first;
    ++second_half[value_of(second[i])].second;
  }
  const auto n = static_cast<double>(first.size() - half);
  for (const bool of_second : {false, true}) {
    const auto own = [of_second](const Counts& c) { return of_second ? c.second : c.first; };
    const auto other = [of_second](const Counts& c) { return of_second ? c.first : c.second; };
    std::vector<std::pair<double, double>> order;  // the negative ratio, and the value
    for (const auto& [value, counts] : first_half)
      order.emplace_back(-(own(counts) + 0.5) / (other(counts) + 0.5), value);
    std::sort(order.begin(), order.end());
    double c = 0;
    double d = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (const auto entry = second_half.find(order[k].second); entry != second_half.end()) {
        c += own(entry->second);
        d += other(entry->second);
      }
      chooser.consider(c, d, n, kind, of_second, [&](Event& event) {
        event.set.clear();
        for (std::size_t l = 0; l <= k; ++l) event.set.push_back(order[l].second);
      });
    }
  }
}

}  // namespace

double last_bit(double x) {
  if (x == 0 || !std::isfinite(x)) return 5000;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(x), &exponent);
  auto digits = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  exponent -= 53;
  while (digits % 2 == 0) {
    digits /= 2;
    ++exponent;
  }
  return exponent;
}

bool Event::happens(double x) const {
  switch (kind) {
    case Kind::above: return x >= threshold;
    case Kind::below: return x <= threshold;
    case Kind::values: return std::binary_search(set.begin(), set.end(), x);
    case Kind::bits: return std::binary_search(set.begin(), set.end(), last_bit(x));
  }
  return false;
}

std::string Event::text(const std::string& number) const {
  if (kind == Kind::above) return number + " >= " + shortest(threshold);
  if (kind == Kind::below) return number + " <= " + shortest(threshold);
  const bool bits = kind == Kind::bits;
  std::string text =
      bits ? "the last bit of the " + number + " is at 2^e, e among" : number + " among";
  constexpr std::size_t max_listed = 6;
  for (std::size_t i = 0; i < std::min(max_listed, set.size()); ++i) {
    text +=
        (i == 0 ? " " : ", ") + (bits && set[i] == last_bit(0) ? "that of 0" : shortest(set[i]));
  }
  if (set.size() > max_listed) text += " and " + std::to_string(set.size() - max_listed) + " more";
  return text;
}

std::vector<Event> best_events(std::span<const double> first, std::span<const double> second,
                               const BoundPrediction& prediction, std::span<const Aim> aims) {
  Chooser chooser{prediction, aims};
  try_thresholds(chooser, sorted(first), sorted(second));
  try_sets(chooser, first, second, Event::Kind::values);
  try_sets(chooser, first, second, Event::Kind::bits);
  for (Event& event : chooser.best) std::sort(event.set.begin(), event.set.end());
  return chooser.best;
}

}  // namespace sotto::audit_detail
