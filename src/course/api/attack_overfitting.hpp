// Overfitting: a classifier that is built from repeated queries to a holdout set overfits that set
// [Dwork2015].
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

struct OverfittingSettings {
  std::int64_t people = 1000;  ///< in the made-up holdout set
  std::int64_t questions =
      1000;  ///< one for each feature; people times questions times runs is at most 10^9
  std::int64_t runs = 20;
  double epsilon = 0.2;  ///< of all private answers together, under replacement of a person
  double delta = 1e-6;
};

/// The state of the attack after a number of questions.
struct OverfittingPoint {
  std::int64_t questions;
  double exact;  ///< accuracy on the holdout set of the classifier built from exact answers, mean
                 ///< over the runs
  double noisy;  ///< accuracy on the holdout set of the classifier built from private answers, mean
                 ///< over the runs
  double margin;  ///< two standard deviations of `noisy`
  double noise;   ///< σ of the noise on each private answer
  double most;    ///< upper bound on the expected accuracy on the holdout set: 1/2 plus the total
                  ///< variation that the noise allows
};

struct OverfittingAttack {
  OverfittingSettings settings;
  double gap = 0;    ///< upper bound on the expected gap from (ε, δ) alone
  double usual = 0;  ///< the usual, larger bound e^ε - 1 + δ
  std::vector<OverfittingPoint> points{};
};

/// Labels and features are fair coins, so every classifier is right half of the time on new people.
/// The analyst asks for the correlation of each feature with the label on the holdout set, lets
/// every feature vote with the sign of its answer, and measures the vote on the same set. Throws
/// InvalidValue for settings out of range.
OverfittingAttack overfitting_attack(const OverfittingSettings& settings = {});

}  // namespace sotto
