// Mechanisms whose output is one of finitely many: randomized response, and selection by the
// exponential mechanism.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/values.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto {

/// The truth with probability p, each of the k - 1 other values with (1 - p)/(k - 1), exactly,
/// where p is the double as it is.
class Respondent {
 public:
  explicit Respondent(double p, std::int64_t k = 2);
  /// The p at which k-ary randomized response is ε-DP: e^ε/(e^ε + k - 1), rounded to the safe side.
  static Respondent with_epsilon(Epsilon epsilon, std::int64_t k = 2);

  /// A value 0 … k-1, perhaps another. InvalidValue outside that range.
  [[nodiscard]] std::int64_t respond(std::int64_t value) const;
  /// The event that one response costs its respondent.
  [[nodiscard]] const Plan& event() const { return event_; }
  [[nodiscard]] double p() const { return p_; }
  [[nodiscard]] std::int64_t values() const { return k_; }

  /// From counts of responses, for each value an unbiased estimate of how many respondents have it;
  /// it may be negative.
  [[nodiscard]] std::vector<double> estimate(std::span<const std::int64_t> responses) const;
  /// The standard deviation of each estimate at most, for n respondents.
  [[nodiscard]] double deviation(double n) const;

 private:
  double p_;
  std::int64_t k_;
  Plan event_;
};

/// Selection: an index with probability in proportion to e^(ε score/(2Δ)), exactly; Δ is what one
/// unit changes any score by.
class Selection {
 public:
  Selection(Epsilon epsilon, double sensitivity);
  /// InvalidValue if there is no score, or one is not finite.
  [[nodiscard]] std::size_t choose(std::span<const double> scores) const;
  [[nodiscard]] const Plan& event() const { return event_; }

 private:
  double epsilon_;
  double sensitivity_;
  Plan event_;
};

}  // namespace sotto
