// Reconstruction: too many answers that are too accurate give the whole table away [Dinur2003].
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

struct ReconstructionSettings {
  std::int64_t people = 200;    ///< each with one secret bit, up to 1000
  std::int64_t queries = 800;   ///< counts over random subsets, from `people` to 20 000
  std::vector<double> noise{};  ///< standard deviations to try; empty: ten from 1 to 200
  std::int64_t runs = 50;       ///< tables a noise level, up to 1000
  double delta = 1e-6;          ///< at which all answers together are costed
  double budget = 1;            ///< the total epsilon for which noise is calibrated at the end
};

struct ReconstructionPoint {
  double noise;      ///< the standard deviation of the Gaussian noise on each count
  double epsilon;    ///< of all answers together at delta, from above
  double recovered;  ///< the share of the bits that the attacker gets right; 0.5 is chance
  double ceiling;    ///< the largest share that any attacker gets right, from above
};

struct ReconstructionAttack {
  ReconstructionSettings settings;
  double sensitivity = 0;                     ///< L2, of all answers together when one bit flips
  std::vector<ReconstructionPoint> points{};  ///< by noise, ascending
  ReconstructionPoint within_budget{};        ///< with the least noise that keeps to the budget
};

/// Made-up bits; every query counts the ones among people chosen by fair coins, and all answers are one release of Gaussian noise.
/// The attacker knows the queries, solves for the bits by least squares and rounds. InvalidValue for settings out of range.
ReconstructionAttack reconstruction_attack(const ReconstructionSettings& settings = {});

}  // namespace sotto
