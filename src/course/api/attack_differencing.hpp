// Differencing: two counts, one with and one without a person, reveal that person's bit.
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

struct DifferencingSettings {
  std::int64_t people = 1000;  ///< in the made-up table, up to a million
  std::vector<double>
      epsilons{};               ///< of both counts together; if empty, seven values from 0.1 to 10
  std::int64_t trials = 20000;  ///< at each epsilon, up to a million
};

/// The share of trials in which each attacker guesses the bit; both bits are equally likely, so
/// chance is 0.5.
struct DifferencingPoint {
  double epsilon;
  double difference;  ///< guesses by the difference of the two noisy counts
  double informed;    ///< also knows all other bits
  double response;    ///< sees the bit through randomized response with this ε, which attains the
                      ///< ceiling
  double mechanism;   ///< upper bound for any attacker on two such counts
  double ceiling;     ///< upper bound for any attacker under ε-DP, e^ε/(1 + e^ε)
};

struct DifferencingAttack {
  DifferencingSettings settings;
  double exact = 0;  ///< the share of trials in which the difference of the exact counts is the bit
  std::vector<DifferencingPoint> points{};
};

/// Counts the people with the bit in a made-up table, once with and once without one person, each
/// with Laplace noise of half the ε. Throws InvalidValue for settings out of range.
DifferencingAttack differencing_attack(const DifferencingSettings& settings = {});

}  // namespace sotto
