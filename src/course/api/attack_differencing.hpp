// Differencing: two counts that differ by one person's presence give that person's bit away.
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

struct DifferencingSettings {
  std::int64_t people = 1000;      ///< in the made-up table, up to a million
  std::vector<double> epsilons{};  ///< of both counts together; empty: from 0.1 to 10
  std::int64_t trials = 20000;     ///< at each epsilon, up to a million
};

/// How often each attacker names the bit rightly, if both bits are as likely. Chance is 0.5.
struct DifferencingPoint {
  double epsilon;
  double difference;  ///< guesses by the difference of the two noisy counts
  double informed;    ///< knows everybody else's bit too
  double response;    ///< sees the bit through randomized response of that epsilon, which reaches the ceiling
  double mechanism;   ///< what no attacker on two such counts exceeds
  double ceiling;     ///< what epsilon-DP allows, e^ε/(1 + e^ε)
};

struct DifferencingAttack {
  DifferencingSettings settings;
  double exact = 0;  ///< how often the difference of the exact counts names the bit
  std::vector<DifferencingPoint> points{};
};

/// How many have the bit in a made-up table, with one person and without; each count has Laplace noise of half the epsilon.
/// InvalidValue for settings out of range.
DifferencingAttack differencing_attack(const DifferencingSettings& settings = {});

}  // namespace sotto
