// Events on a number, and the choice of one from a pilot's outputs. Any choice is allowed: what is claimed is measured afterwards.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sotto::audit_detail {

/// The place of x's last bit: e for an odd multiple of 2^e. Zero has a place of its own.
double last_bit(double x);

struct Event {
  enum class Kind { above, below, values, bits };

  Kind kind = Kind::above;
  bool of_second = false;  ///< likelier on the second input
  double threshold = 0;
  std::vector<double> set;  ///< ascending
  double score = -1e300;    ///< what the pilot promises

  [[nodiscard]] bool happens(double x) const;
  [[nodiscard]] std::string text(const std::string& number) const;
};

/// What is to be large, of a lower bound on P(E) and an upper bound on Q(E).
using Aim = std::function<double(double p, double q)>;

/// How bounds on a probability will lie around it: z standard deviations for so many trials.
struct Foresight {
  double z;
  double trials;
};

/// For each aim the best event on a number, by the pilot's outputs on both inputs, of which there are as many of each.
std::vector<Event> best_events(std::span<const double> first, std::span<const double> second, const Foresight& foresight, std::span<const Aim> aims);

}  // namespace sotto::audit_detail
