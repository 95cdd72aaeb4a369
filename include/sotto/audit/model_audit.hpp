// Audits of a training: membership inference by loss and by likelihood ratio, and canaries.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sotto/audit/one_run.hpp"
#include "sotto/data/examples.hpp"
#include "sotto/learning/model.hpp"

namespace sotto {

/// The training under audit: returns the model's parameters.
using Learn = std::function<std::vector<double>(const Examples& examples)>;

/// Options of membership_inference.
struct ModelAuditOptions {
  std::int64_t shadows = 16;  ///< shadow models for the likelihood ratio; 0 omits that attack
  double delta = 1e-5;
  double confidence = 0.95;
};

/// The success of one attack at guessing which units the model was trained on.
struct MembershipInference {
  std::string attack;    ///< "loss threshold" or "likelihood ratio"
  double advantage = 0;  ///< the largest difference of true-positive and false-positive rate over all thresholds
  double tpr_at_1 = 0;   ///< the true-positive rate at a false-positive rate of 1 %
  double tpr_at_10 = 0;  ///< the true-positive rate at a false-positive rate of 10 %
  OneRun bound{};  ///< the lower bound on ε, under add-remove, that the guesses prove
};

/// Trains a model on a random half of the pool (each unit by a fair coin) and guesses which units
/// those were. Loss threshold: members have lower losses [Yeom2018]. Likelihood ratio: the score
/// log(p/(1-p)), p = e^-loss, of a unit is compared with its normal distributions among shadow
/// models that were trained with and without the unit [Carlini2022]. Throws InvalidValue for a pool
/// of fewer than 20 units.
std::vector<MembershipInference> membership_inference(const Model& model, const Examples& pool, const Learn& learn,
                                                      const ModelAuditOptions& options = {});

/// Options of canary_audit.
struct CanaryOptions {
  std::int64_t canaries = 1000;  ///< up to 20 000
  std::int16_t target = 1;       ///< the target of a canary: the index of a class, or the code of a number large enough to move the weight
  double delta = 1e-5;
  double confidence = 0.95;
};

/// The strongest one-run audit of a training. Each canary is a unit with a feature that no other
/// unit has, so the weight of that feature reveals whether the canary was included. Half of the
/// canaries, by fair coins, are added to the rows. `learn` receives examples of width rows.width()
/// + canaries and returns the parameters of a linear model with one output, weights first. The
/// bound is under add-remove. Throws InvalidValue for options out of range.
OneRun canary_audit(const Examples& rows, const Learn& learn, const CanaryOptions& options = {});

}  // namespace sotto
