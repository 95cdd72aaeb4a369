// Reconstruction: many accurate answers determine the whole table [Dinur2003].
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

struct ReconstructionSettings {
  std::int64_t people = 200;    ///< each with one secret bit, up to 1000
  std::int64_t queries = 800;   ///< counts over random subsets, from `people` to 20 000
  std::vector<double> noise{};  ///< standard deviations to try; if empty, ten values from 1 to 200
  std::int64_t runs = 50;       ///< tables for each standard deviation, up to 1000
  double delta = 1e-6;          ///< the δ at which the cost of all answers together is stated
  double budget = 1;            ///< the ε for which `within_budget` is calibrated
};

struct ReconstructionPoint {
  double noise;      ///< the standard deviation of the Gaussian noise on each count
  double epsilon;    ///< upper bound on the cost of all answers together at delta
  double recovered;  ///< the share of the bits that the attacker gets right; 0.5 is chance
  double ceiling;    ///< upper bound on the share that any attacker gets right
};

struct ReconstructionAttack {
  ReconstructionSettings settings;
  double sensitivity = 0;  ///< L2 sensitivity of all answers together when one bit flips
  std::vector<ReconstructionPoint> points{};  ///< by noise, ascending
  ReconstructionPoint within_budget{};        ///< with the least noise that the budget allows
};

/// Uses made-up bits. Every query counts the ones in a subset of people chosen by fair coins, and
/// all answers are one release with Gaussian noise. The attacker knows the subsets, solves for the
/// bits by least squares and rounds. Throws InvalidValue for settings out of range.
ReconstructionAttack reconstruction_attack(const ReconstructionSettings& settings = {});

}  // namespace sotto
