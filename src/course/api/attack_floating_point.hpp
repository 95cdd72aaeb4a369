// The floating-point attack: the low bits of textbook Laplace noise reveal the value that it was
// added to [Mironov2012].
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

struct FloatingPointSettings {
  double value = 0;  ///< a coin decides whether noise is added to this value or to value + 1
  std::vector<double> epsilons{};  ///< of the noise; if empty, six values from 0.1 to 5
  std::int64_t releases = 20000;   ///< at each epsilon, up to a million
};

struct FloatingPointPoint {
  double epsilon;
  double identified;  ///< the share of textbook outputs that only one of the two values can produce
  std::int64_t mistaken;  ///< how many of the identified outputs came from the other value; 0 if
                          ///< the attack is correct
  double textbook;  ///< the share of right guesses on textbook outputs; the nearer value is guessed
                    ///< if both can produce one
  double sotto_identified;  ///< the share of sotto's outputs that only one of the two values can
                            ///< produce
  double sotto;             ///< the share of right guesses on sotto's outputs
  double ceiling;           ///< upper bound for any attacker on noise with this guarantee
};

struct FloatingPointAttack {
  FloatingPointSettings settings;
  std::vector<FloatingPointPoint> points{};
};

/// Textbook noise is value - b·sign(u)·log(1 - 2|u|) for u of 53 random bits, computed in doubles.
/// The attacker sees one output and searches, for either value, a u that produces it. Where the
/// search would take too long it assumes that the output is reachable, so every identification is
/// certain. sotto's outputs are multiples of a grid that depends on the scale alone, so each of
/// them can come from both values. Throws InvalidValue for settings out of range.
FloatingPointAttack floating_point_attack(const FloatingPointSettings& settings = {});

}  // namespace sotto
