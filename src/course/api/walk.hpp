// Checks whether a gradient step on a walk is a contraction, the condition of privacy amplification
// by iteration.
#pragma once

#include <cstdint>
#include <string>

#include "sotto/learning/loss.hpp"

namespace sotto {

/// A gradient step w ← w - step · (clipped gradient of the loss of w·x) on one user's records, |x|
/// <= 1.
struct WalkStep {
  enum class Clipping {
    each_record,  ///< every record's gradient is clipped before the average
    average,      ///< the average of the gradients is clipped
  };

  LossFunction loss{};
  Clipping clipping = Clipping::each_record;
  double clip = 1;
  double step = 1;
};

/// Returns the largest |S(w) - S(w')| / |w - w'| over random records and close pairs of parameters,
/// S being the step. It is a lower bound on the Lipschitz constant, so a value above 1 refutes a
/// contraction.
double largest_expansion(const WalkStep& step, std::int64_t tries = 20'000);

struct WalkAdmission {
  bool admitted = false;
  double expansion = 0;  ///< largest_expansion() of the step
  std::string reason{};  ///< why it is not admitted
};

/// Admits a step that is a contraction by proof and that the random test does not refute.
/// Proof: with one output, clipping a record's gradient φ'(w·x) x to norm C clamps the monotone φ'
/// to ±C/|x|. The result is the gradient of a convex function of at most the same smoothness β, so
/// steps of at most 2/β along the average of such gradients are contractions. Clipping the average
/// instead is no contraction (an expansion of 1.26 occurs at 2/β for logistic loss), and the proof
/// does not cover several outputs. Steps that are not admitted are charged as under local DP.
WalkAdmission admit_to_walk(const WalkStep& step);
bool is_contraction_admitted(const WalkStep& step);

}  // namespace sotto
