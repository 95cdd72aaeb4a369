// The catastrophe: (ε, δ)-DP alone permits a mechanism that reveals everything with probability δ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sotto {

struct CatastropheSettings {
  double epsilon = 1;
  double delta = 0.01;           ///< large, so that the failure is visible
  std::int64_t releases = 1000;  ///< up to a million
  std::int64_t people = 100;     ///< in the made-up table, up to 10 000
};

/// The state of the attack after a number of releases.
struct CatastrophePoint {
  std::int64_t releases;
  std::int64_t revealed;  ///< the number of releases that were the whole table
  double expected;        ///< δ times the number of releases
  double delta;  ///< the total δ: an upper bound on the probability that any release reveals
                 ///< everything
};

/// The observed privacy losses of single releases about one person.
struct ObservedLosses {
  double above_epsilon = 0;  ///< the share above ε
  double largest = 0;        ///< infinite if any release revealed the table
  double divergence = 0;     ///< the Rényi divergence of order 2 from the accountant
};

struct CatastropheAttack {
  CatastropheSettings settings;
  std::int64_t learnt = 0;  ///< people whose bit the attacker knows with certainty at the end
  std::vector<std::int64_t>
      when{};  ///< the numbers of the releases that were the whole table, from 1
  std::vector<CatastrophePoint> points{};
  ObservedLosses catastrophe{};
  ObservedLosses gaussian{};  ///< for comparison: Gaussian noise with the same ε and δ
  double sigma = 0;           ///< standard deviation of the Gaussian noise
  std::string refusal{};      ///< why a zCDP budget refuses one such release
};

/// Runs the mechanism on a made-up table. It accepts no data, so it cannot be used on real people.
/// Throws InvalidValue for settings out of range.
CatastropheAttack catastrophe_attack(const CatastropheSettings& settings = {});

}  // namespace sotto
