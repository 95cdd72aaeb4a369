// The averaging attack: one question asked again and again, until the noise averages out.
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

struct AveragingSettings {
  double epsilon = 0.1;            ///< of each answer
  std::int64_t questions = 10000;  ///< how often the question is asked, up to a million
  std::int64_t runs = 100;         ///< how often the whole attack is tried; at most 10^8 answers in all
  double delta = 1e-6;             ///< at which all answers together are costed
  double budget = 1;               ///< the total epsilon that a ledger would grant
};

/// After so many answers.
struct AveragingPoint {
  std::int64_t questions;
  double typical_error;  ///< the median over the runs of |mean - secret|
  double large_error;    ///< its 95 % quantile
  double found;          ///< the share of runs in which the rounded mean is the secret
  double epsilon;        ///< what so many answers cost at delta, from above
};

struct AveragingAttack {
  AveragingSettings settings;
  double scale = 0;                      ///< of the Laplace noise
  std::int64_t secret = 0;               ///< the made-up count
  double guess = 0;                      ///< the mean of all answers of the last run
  std::vector<AveragingPoint> points{};  ///< at 1, 2, 5, 10, … questions, at the ledger's last one, and at the end
  AveragingPoint allowed{};              ///< where a ledger with the budget refuses: questions is 0 if it refuses the first
};

/// A count that the attack makes up is released with sotto's Laplace noise, afresh at each question; the attacker takes the mean.
/// The ledger is a Filter of Σε. InvalidValue for settings out of range.
AveragingAttack averaging_attack(const AveragingSettings& settings = {});

}  // namespace sotto
