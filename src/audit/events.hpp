// Events on a number, and the choice of the best event from pilot outputs. Any choice is valid,
// since other outputs measure the event afterwards.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sotto::audit_detail {

/// Returns the position e of the last bit of x, which is an odd multiple of 2^e; 5000 for zero,
/// infinities and NaN. It reveals noise that was drawn in floating point [Mironov2012].
double last_bit(double x);

/// A set of outputs: those above or below a threshold, those with a value in a set, or those with a
/// last-bit position in a set.
struct Event {
  enum class Kind { above, below, values, bits };

  Kind kind = Kind::above;
  bool of_second = false;  ///< P is the distribution on the second input
  double threshold = 0;
  std::vector<double> set;  ///< ascending
  double score = -1e300;    ///< the pilot's estimate of the aim

  [[nodiscard]] bool happens(double x) const;
  [[nodiscard]] std::string text(const std::string& number) const;
};

/// The quantity to maximise, as a function of a lower bound on P(E) and an upper bound on Q(E).
using Aim = std::function<double(double p, double q)>;

/// Predicts the width of the final confidence bounds.
struct BoundPrediction {
  double z;       ///< the number of standard deviations
  double trials;  ///< the number of outputs of the measurement
};

/// Returns the best event on a number for each aim, from equally many pilot outputs on both inputs.
std::vector<Event> best_events(std::span<const double> first, std::span<const double> second,
                               const BoundPrediction& prediction, std::span<const Aim> aims);

}  // namespace sotto::audit_detail
