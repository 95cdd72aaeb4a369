// Events on a number, and the choice of one from the outputs of a pilot. Any choice is sound,
// because the event is measured on other outputs afterwards.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sotto::audit_detail {

/// Returns the position of the last bit of x: e if x is an odd multiple of 2^e. Zero, infinity and
/// NaN have the position 5000.
double last_bit(double x);

/// An event on a number: a threshold, a set of values, or a set of positions of the last bit.
struct Event {
  enum class Kind { above, below, values, bits };

  Kind kind = Kind::above;
  bool of_second = false;  ///< the event is likelier on the second input
  double threshold = 0;
  std::vector<double> set;  ///< ascending
  double score = -1e300;    ///< the value of the aim that the pilot predicts

  [[nodiscard]] bool happens(double x) const;
  /// Returns the event in words; `number` is the name of the number.
  [[nodiscard]] std::string text(const std::string& number) const;
};

/// The quantity to maximise, from a lower bound on P(E) and an upper bound on Q(E).
using Aim = std::function<double(double p, double q)>;

/// Predicts the bounds of the later measurement: z standard deviations around the probability, with
/// this number of trials.
struct Foresight {
  double z;
  double trials;
};

/// Returns the best event on a number for each aim, by the outputs of a pilot with equally many
/// outputs on both inputs.
std::vector<Event> best_events(std::span<const double> first, std::span<const double> second, const Foresight& foresight, std::span<const Aim> aims);

}  // namespace sotto::audit_detail
