// Audits of a trained model: who was learned from? By the loss, by a likelihood ratio, and by canaries.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sotto/audit/one_run.hpp"
#include "sotto/data/examples.hpp"
#include "sotto/learning/model.hpp"

namespace sotto {

/// Learns the model's parameters from these examples. Whatever it does is what is audited.
using Learn = std::function<std::vector<double>(const Examples& examples)>;

struct ModelAuditOptions {
  std::int64_t shadows = 16;  ///< models that the likelihood ratio is fitted to; 0: no such attack
  double delta = 1e-5;
  double confidence = 0.95;
};

/// What one attack finds out about who was in.
struct MembershipInference {
  std::string attack;    ///< "loss threshold" or "likelihood ratio"
  double advantage = 0;  ///< the largest true-positive rate less false-positive rate over all thresholds
  double tpr_at_1 = 0;   ///< the true-positive rate at a false-positive rate of 1 %
  double tpr_at_10 = 0;
  OneRun bound{};  ///< the lower bound on ε that its guesses prove, under add/remove
};

/// Each unit of the pool is learned from, or not, by a fair coin. Loss threshold: members have lower losses [Yeom2018]. Likelihood ratio: each
/// unit's score log(p/(1-p)), p = e^-loss, is compared with its normal distributions among shadow models that were and were not learned from it
/// [Carlini2022]. InvalidValue for a pool of fewer than 20 units.
std::vector<MembershipInference> membership_inference(const Model& model, const Examples& pool, const Learn& learn,
                                                      const ModelAuditOptions& options = {});

struct CanaryOptions {
  std::int64_t canaries = 1000;  ///< up to 20 000
  std::int16_t target = 1;       ///< a class's index, or the code of a number: so large that the weight grows
  double delta = 1e-5;
  double confidence = 0.95;
};
/// The strongest one-run audit of a training's code: each canary is a unit with a feature of its own, which the model's weight for it gives away.
/// Half of them, by fair coins, are added to the rows; `learn` gets examples of width rows.width() + canaries, and returns the parameters of a linear
/// model with one output of that width, weights first. Under add/remove.
OneRun canary_audit(const Examples& rows, const Learn& learn, const CanaryOptions& options = {});

}  // namespace sotto
