// The catastrophe: (ε, δ)-DP alone permits a mechanism that reveals everything with probability δ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sotto {

struct CatastropheSettings {
  double epsilon = 1;
  double delta = 0.01;           ///< large, so that it can be seen
  std::int64_t releases = 1000;  ///< up to a million
  std::int64_t people = 100;     ///< in the made-up table, up to 10 000
};

/// After so many releases.
struct CatastrophePoint {
  std::int64_t releases;
  std::int64_t revealed;  ///< of them, how many were the whole table
  double expected;        ///< δ times their number
  double delta;           ///< of all of them together: how likely one reveals everything, from above
};

/// The privacy losses of single releases about one person, as they came out.
struct SeenLosses {
  double above_epsilon = 0;  ///< the share above ε
  double largest = 0;        ///< infinite once the table is revealed
  double divergence = 0;     ///< Rényi, of order 2, as the accounting has it
};

struct CatastropheAttack {
  CatastropheSettings settings;
  std::int64_t learnt = 0;           ///< people whose bit is known for certain in the end
  std::vector<std::int64_t> when{};  ///< the releases that were the whole table, counted from 1
  std::vector<CatastrophePoint> points{};
  SeenLosses catastrophe{};
  SeenLosses gaussian{};  ///< beside it, Gaussian noise with the same ε and δ
  double sigma = 0;       ///< of that noise
  std::string refusal{};  ///< what a budget in zero-concentrated DP says of one such release
};

/// The mechanism is run on a table that the attack makes up, and on no other: there is no way to hand it data.
/// InvalidValue for settings out of range.
CatastropheAttack catastrophe_attack(const CatastropheSettings& settings = {});

}  // namespace sotto
