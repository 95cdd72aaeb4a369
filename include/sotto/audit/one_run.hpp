// Auditing in one run: fair coins include or exclude many records, and right guesses of the coins
// bound ε from below [Steinke2023].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sotto {

/// Returns an upper bound on the probability of at least `right` right guesses if the mechanism is
/// (ε, δ)-DP under add-remove, each of `records` records was included by an independent fair coin,
/// and `guesses` coins were guessed: β + 2 records δ α, with W binomial (guesses, e^ε/(1 + e^ε)), β
/// = P(W >= right), and α the largest of P(right > W >= right - i)/i over i from 1 to `records`
/// [Steinke2023, Thm 5.2]. Rounded up.
double one_run_p_value(std::int64_t records, std::int64_t guesses, std::int64_t right, double epsilon, double delta);

/// Returns a lower bound on ε at δ that is wrong with probability at most `doubt`: an ε that the
/// guesses reject, and with it every smaller one. 0 if nothing is proved.
double one_run_epsilon(std::int64_t records, std::int64_t guesses, std::int64_t right, double delta, double doubt);

/// The result of an audit in one run.
struct OneRun {
  std::int64_t records = 0;
  std::int64_t guesses = 0;
  std::int64_t right = 0;  ///< the number of correct guesses
  double delta = 0;
  double confidence = 0;
  double epsilon = 0;  ///< lower bound on ε at `delta`, with `confidence`
};

/// Guesses "included" for the records with the highest scores and "excluded" for equally many with
/// the lowest. Tries guesses for a twentieth, a quarter and all of the records, each at a third of
/// the failure probability, and returns the best bound. The scores may depend on anything except
/// the coins, which they may use only through the mechanism's output. Throws InvalidValue unless
/// there is one score for each record.
OneRun one_run_audit(std::span<const double> scores, const std::vector<bool>& included, double delta, double confidence);

}  // namespace sotto
