// Overfitting: a holdout set that is asked again and again fits what is tested on it [Dwork2015].
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

struct OverfittingSettings {
  std::int64_t people = 1000;     ///< in the made-up holdout set
  std::int64_t questions = 1000;  ///< features, each of which is asked about; people times questions times runs up to 10^9
  std::int64_t runs = 20;
  double epsilon = 0.2;  ///< of all private answers together, one person replaced
  double delta = 1e-6;
};

/// After so many questions.
struct OverfittingPoint {
  std::int64_t questions;
  double exact;   ///< the accuracy on the holdout set of the classifier that exact answers suggest, mean of the runs
  double noisy;   ///< of the one that private answers suggest
  double margin;  ///< two standard deviations of the latter
  double noise;   ///< σ of the noise on each private answer
  double most;    ///< what the expected accuracy on the holdout set cannot exceed: 1/2 and the total variation that the noise allows
};

struct OverfittingAttack {
  OverfittingSettings settings;
  double gap = 0;    ///< what (ε, δ) alone says: the expected gap is at most this
  double usual = 0;  ///< and by the usual line, e^ε - 1 + δ
  std::vector<OverfittingPoint> points{};
};

/// Labels and features are fair coins, so no classifier is right more than half the time on new people. The analyst asks how each feature correlates
/// with the label on the holdout set, lets every feature vote by the sign of its answer, and checks the vote on the same set. InvalidValue for
/// settings out of range.
OverfittingAttack overfitting_attack(const OverfittingSettings& settings = {});

}  // namespace sotto
