// Auditing in one run: many records are in or out by fair coins, and guesses of the coins bound ε from below [Steinke2023].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sotto {

/// How likely so many right guesses, or more, are at most if the mechanism is (ε, δ)-DP under add/remove: each of `records` was included by its own
/// fair coin, and of `guesses` guesses `right` were right. β + 2 records δ α, with W binomial (guesses, e^ε/(1 + e^ε)), β = P(W >= right), α the
/// largest of P(right > W >= right - i)/i over i from 1 to `records` [Steinke2023, Thm 5.2]. Rounded up.
double one_run_p_value(std::int64_t records, std::int64_t guesses, std::int64_t right, double epsilon, double delta);

/// A lower bound on ε at δ, wrong with probability at most `doubt`: an ε that is rejected, so every smaller one is. 0 where nothing is proved.
double one_run_epsilon(std::int64_t records, std::int64_t guesses, std::int64_t right, double delta, double doubt);

struct OneRun {
  std::int64_t records = 0;
  std::int64_t guesses = 0;
  std::int64_t right = 0;
  double delta = 0;
  double confidence = 0;
  double epsilon = 0;  ///< at least this, with this confidence
};

/// Guesses "in" for the records with the highest scores, "out" for as many with the lowest; a twentieth of the records, a quarter and all of them are
/// tried, each at a third of the doubt. The scores may depend on anything but the coins of records, other than through the mechanism's output.
OneRun one_run_audit(std::span<const double> scores, const std::vector<bool>& included, double delta, double confidence);

}  // namespace sotto
