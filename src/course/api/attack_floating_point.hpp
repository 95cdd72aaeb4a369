// The floating-point attack: the low bits of textbook Laplace noise tell the value that it was added to [Mironov2012].
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

struct FloatingPointSettings {
  double value = 0;                ///< the noise is added to this or to one more, as a coin decides
  std::vector<double> epsilons{};  ///< of the noise; empty: from 0.1 to 5
  std::int64_t releases = 20000;   ///< at each epsilon, up to a million
};

struct FloatingPointPoint {
  double epsilon;
  double identified;        ///< the share of textbook outputs that only one of the two values can give
  std::int64_t mistaken;    ///< how many of those pointed at the wrong value
  double textbook;          ///< how often the attacker is right about textbook outputs; where both values can give one, by the nearer
  double sotto_identified;  ///< the share of sotto's outputs that only one of the two values can give
  double sotto;             ///< how often the attacker is right about sotto's outputs
  double ceiling;           ///< what no attacker on noise with this guarantee exceeds
};

struct FloatingPointAttack {
  FloatingPointSettings settings;
  std::vector<FloatingPointPoint> points{};
};

/// Textbook noise is value - b·sign(u)·log(1 - 2|u|) for u of 53 random bits, all in doubles. The attacker has one output and looks for a
/// u that gives it, for either value. It says "reachable" where it cannot search, so what it identifies is certain.
/// sotto's outputs are the multiples of a grid that depends on the scale alone: every one is reachable from both values.
/// InvalidValue for settings out of range.
FloatingPointAttack floating_point_attack(const FloatingPointSettings& settings = {});

}  // namespace sotto
