// Which models a token that walks may train: privacy amplification by iteration needs every step to be a contraction.
#pragma once

#include <cstdint>
#include <string>

#include "sotto/learning/loss.hpp"

namespace sotto {

/// One step w ← w - step · (clipped gradient of the loss of w·x) on one user's records, |x| <= 1.
struct WalkStep {
  enum class Clipping {
    each_record,  ///< every record's gradient is clipped, then they are averaged
    average,      ///< their average is clipped
  };

  LossFunction loss{};
  Clipping clipping = Clipping::each_record;
  double clip = 1;
  double step = 1;
};

/// The largest |S(w) - S(w')| / |w - w'| that random records and close pairs of parameters show: from below, so more than 1 refutes a contraction.
double largest_expansion(const WalkStep& step, std::int64_t tries = 20'000);

struct WalkAdmission {
  bool admitted = false;
  double expansion = 0;  ///< as seen at random
  std::string reason{};  ///< why it is not admitted
};

/// A step is admitted if it is a contraction by proof and the random test does not refute it. Proof: with one output, clipping a record's gradient
/// φ'(w·x) x to norm C clamps the monotone φ' to ±C/|x|, so it is the gradient of a convex function that is as smooth; steps up to 2/β of its average
/// are contractions, β the loss's smoothness. Clipping the average is not (1.26 times is seen at 2/β for logistic loss), nor is a vector of outputs
/// covered. All others are charged what local DP costs.
WalkAdmission admit_to_walk(const WalkStep& step);
bool is_contraction_admitted(const WalkStep& step);

}  // namespace sotto
