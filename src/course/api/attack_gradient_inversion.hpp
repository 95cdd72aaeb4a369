// Gradient inversion: a record can be computed from the gradient that a party sends in federated
// learning [Phong2018].
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

struct GradientInversionSettings {
  std::int64_t features = 64;  ///< of a made-up record, each a fair bit
  std::int64_t classes = 10;   ///< of the softmax model; features times classes up to 10^6
  std::int64_t batch = 1;      ///< records in the gradient
  std::int64_t runs =
      200;  ///< gradients at each epsilon; features times classes times batch times runs up to 10^9
  std::vector<double> epsilons{};  ///< of one private gradient under replacement of a record; if
                                   ///< empty, eight values from 1 to 3000
  double delta = 1e-6;             ///< of one private gradient
  double clip = 1;                 ///< the norm that each record's gradient is clipped to
};

/// The result at one ε.
struct GradientInversionPoint {
  double epsilon;
  double noise;      ///< σ on each coordinate of the sum of clipped gradients
  double recovered;  ///< the share of a record's bits that the attacker gets right
  double whole;      ///< the share of runs in which all bits are right
  double ceiling;    ///< upper bound on the probability that any attacker gets a fair bit right
};

struct GradientInversionAttack {
  GradientInversionSettings settings;
  double plain_error = 0;      ///< without noise: the largest |x̂ - x| over all features and runs,
                               ///< before rounding to bits
  double plain_recovered = 0;  ///< without noise: the share of bits that are right
  double plain_whole = 0;      ///< without noise: the share of runs in which all bits are right
  std::vector<GradientInversionPoint> points{};
};

/// Attacks the first round of federated softmax regression, in which all weights are 0. There a
/// record (x, y) has the gradient ∂W = (p - e_y) xᵀ, ∂b = p - e_y with p = 1/classes.
///  - From a plain gradient of one record, x = ∂W_c / ∂b_c for any class c, up to rounding.
///  - From a plain gradient of a batch, x = (∂W_c - ∂W_a) / (∂b_c - ∂b_a) if exactly one record has
///  class
///    c and none has class a. Without such classes the result is a mixture of records.
///  - From a private gradient the attacker chooses the class whose pattern p - e_y fits best and
///  projects
///    the gradient onto that pattern.
/// Throws InvalidValue for settings out of range.
GradientInversionAttack gradient_inversion_attack(const GradientInversionSettings& settings = {});

}  // namespace sotto
