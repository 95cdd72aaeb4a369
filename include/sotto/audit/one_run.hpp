// Auditing in one run [Steinke2023]: records are included by independent fair coins, and correct
// guesses of the coins bound ε from below.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sotto {

/// Returns an upper bound on the probability of at least `right` correct guesses among `guesses`
/// guesses, if the mechanism is (ε, δ)-DP under add-remove and each of `records` records was
/// included by an independent fair coin [Steinke2023, Thm 5.2]. It is β + 2 records δ α, rounded
/// up, where W is binomial (guesses, e^ε/(1 + e^ε)), β = P(W >= right), and α is the largest
/// P(right > W >= right - i)/i for i from 1 to `records`. Throws InvalidValue unless 0 <= right <=
/// guesses <= records <= 10^7.
double one_run_p_value(std::int64_t records, std::int64_t guesses, std::int64_t right,
                       double epsilon, double delta);

/// Returns a lower bound on ε at δ that is wrong with probability at most `doubt`: the largest ε of
/// a search that the p-value rejects. 0 if nothing is proved.
double one_run_epsilon(std::int64_t records, std::int64_t guesses, std::int64_t right, double delta,
                       double doubt);

/// The result of an audit in one run.
struct OneRun {
  std::int64_t records = 0;
  std::int64_t guesses = 0;
  std::int64_t right = 0;  ///< the number of correct guesses
  double delta = 0;
  double confidence = 0;
  double epsilon = 0;  ///< the lower bound on ε, with this confidence
};

/// Guesses "included" for the records with the highest scores and "excluded" for equally many with
/// the lowest, and returns the best bound. It guesses a twentieth of the records, a quarter and all
/// of them, each with a third of the error probability. The scores may depend on the coins only
/// through the mechanism's output. Throws InvalidValue unless there is one score for each record.
OneRun one_run_audit(std::span<const double> scores, const std::vector<bool>& included,
                     double delta, double confidence);

}  // namespace sotto
