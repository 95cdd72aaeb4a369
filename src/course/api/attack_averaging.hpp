// The averaging attack: the same question is repeated until the noise averages out.
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

struct AveragingSettings {
  double epsilon = 0.1;            ///< of each answer
  std::int64_t questions = 10000;  ///< number of repetitions of the question, at most 10^6
  std::int64_t runs =
      100;              ///< repetitions of the whole attack; questions times runs is at most 10^8
  double delta = 1e-6;  ///< the δ at which the cost of all answers together is stated
  double budget = 1;    ///< the ε of the ledger that would stop the attack
};

/// The state of the attack after a number of answers.
struct AveragingPoint {
  std::int64_t questions;
  double typical_error;  ///< the median over the runs of |mean - secret|
  double large_error;    ///< its 95 % quantile
  double recovered;      ///< the share of runs in which the rounded mean is the secret
  double epsilon;        ///< upper bound on the cost of these answers at delta
};

struct AveragingAttack {
  AveragingSettings settings;
  double scale = 0;         ///< of the Laplace noise
  std::int64_t secret = 0;  ///< the made-up count
  double guess = 0;         ///< the mean of all answers of the last run
  std::vector<AveragingPoint>
      points{};  ///< at 1, 2, 5, 10, … questions, where the ledger refuses, and at the end
  AveragingPoint allowed{};  ///< where a ledger with the budget refuses the next question; its
                             ///< `questions` is 0 if it refuses the first
};

/// Releases a made-up count repeatedly, with new Laplace noise for each question; the attacker
/// takes the mean of the answers. The ledger is a Filter on Σε. Throws InvalidValue for settings
/// out of range.
AveragingAttack averaging_attack(const AveragingSettings& settings = {});

}  // namespace sotto
