// Audits of a trained model by membership inference: by loss, by likelihood ratio, and by canaries.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sotto/audit/one_run.hpp"
#include "sotto/data/examples.hpp"
#include "sotto/learning/model.hpp"

namespace sotto {

/// Trains a model on these examples and returns its parameters. The audit measures this function.
using Learn = std::function<std::vector<double>(const Examples& examples)>;

/// Options of membership_inference.
struct ModelAuditOptions {
  std::int64_t shadows =
      16;  ///< the number of shadow models for the likelihood ratio; 0 omits that attack
  double delta = 1e-5;
  double confidence = 0.95;
};

/// The success of one attack that guesses which units were members of the training data.
struct MembershipInference {
  std::string attack;  ///< "loss threshold" or "likelihood ratio"
  double advantage =
      0;  ///< the largest true-positive rate less false-positive rate over all thresholds
  double tpr_at_1 = 0;  ///< the true-positive rate at a false-positive rate of 1 %
  double tpr_at_10 = 0;
  OneRun bound{};  ///< the lower bound on ε that the guesses prove, under add-remove
};

/// Includes each unit of the pool in the training data by a fair coin, trains once, and attacks the
/// model. The loss threshold attack uses that members have lower losses [Yeom2018]. The likelihood
/// ratio attack compares each unit's score log(p/(1-p)), p = e^-loss, with normal distributions
/// that are fitted to shadow models trained with and without the unit [Carlini2022]. Throws
/// InvalidValue for a pool of fewer than 20 units, or options out of range.
std::vector<MembershipInference> membership_inference(const Model& model, const Examples& pool,
                                                      const Learn& learn,
                                                      const ModelAuditOptions& options = {});

/// Options of canary_audit.
struct CanaryOptions {
  std::int64_t canaries = 1000;  ///< from 20 to 20 000
  std::int16_t target = 1;  ///< the canaries' target: a class index, or the code of a large number
  double delta = 1e-5;
  double confidence = 0.95;
};
/// The strongest audit of a training in one run [Steinke2023]. Each canary is a unit with one
/// feature that no other unit has, so that the model's weight for this feature shows whether the
/// canary was included. Each canary is added to the rows by a fair coin. `learn` gets examples of
/// width rows.width() + canaries, and must return the parameters of a linear model with one output
/// of that width, weights first. The bound is under add-remove. Throws InvalidValue for options out
/// of range or too few parameters.
OneRun canary_audit(const Examples& rows, const Learn& learn, const CanaryOptions& options = {});

}  // namespace sotto
