// Gradient inversion: the gradient that a party sends in federated learning holds its records, and one record can be read off [Phong2018].
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

struct GradientInversionSettings {
  std::int64_t features = 64;      ///< of a made-up record, each a fair bit
  std::int64_t classes = 10;       ///< of the softmax model; features times classes up to 10^6
  std::int64_t batch = 1;          ///< records in the gradient
  std::int64_t runs = 200;         ///< gradients at each epsilon; features times classes times batch times runs up to 10^9
  std::vector<double> epsilons{};  ///< of one private gradient, one record replaced; empty: 1 to 3000
  double delta = 1e-6;             ///< of the same
  double clip = 1;                 ///< the norm that each record's gradient is clipped to
};

/// With the noise of one epsilon.
struct GradientInversionPoint {
  double epsilon;
  double noise;      ///< σ on each coordinate of the sum of clipped gradients
  double recovered;  ///< the share of a record's bits that are read rightly
  double whole;      ///< the share of runs in which all of them are
  double ceiling;    ///< no attacker on this release reads a fair bit rightly more often
};

struct GradientInversionAttack {
  GradientInversionSettings settings;
  double plain_error = 0;      ///< from plain gradients: the largest |x̂ - x| over all features and runs, before rounding to bits
  double plain_recovered = 0;  ///< and the share of bits read rightly
  double plain_whole = 0;      ///< and of records
  std::vector<GradientInversionPoint> points{};
};

/// In the first round, all weights 0, a record (x, y) has the gradient ∂W = (p - e_y) xᵀ, ∂b = p - e_y with p = 1/classes. From a plain gradient of
/// one record x = ∂W_c / ∂b_c for any class c, exactly but for rounding. Of a batch x = (∂W_c - ∂W_a) / (∂b_c - ∂b_a) where one record has class c
/// and none a; where no such classes are left it is a mixture. From a private gradient the attacker takes the class whose pattern p - e_y fits best
/// and projects onto it. InvalidValue for settings out of range.
GradientInversionAttack gradient_inversion_attack(const GradientInversionSettings& settings = {});

}  // namespace sotto
