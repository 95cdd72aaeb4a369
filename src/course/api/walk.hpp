// Decides which models a walking token may train. Privacy amplification by iteration requires that
// every step is a contraction.
#pragma once

#include <cstdint>
#include <string>

#include "sotto/learning/loss.hpp"

namespace sotto {

/// A gradient step w ← w - step · (clipped gradient of the loss of w·x) on one user's records, |x|
/// <= 1.
struct WalkStep {
  enum class Clipping {
    each_record,  ///< clips every record's gradient, then averages
    average,      ///< averages the gradients, then clips the average
  };

  LossFunction loss{};
  Clipping clipping = Clipping::each_record;
  double clip = 1;
  double step = 1;
};

/// Returns the largest |S(w) - S(w')| / |w - w'| over random records and random close pairs of
/// parameters. This is a lower bound on the Lipschitz constant, so a value above 1 refutes a
/// contraction.
double largest_expansion(const WalkStep& step, std::int64_t tries = 20'000);

struct WalkAdmission {
  bool admitted = false;
  double expansion = 0;  ///< largest_expansion() of the step
  std::string reason{};  ///< why the step is not admitted; empty if it is
};

/// Admits a step if it is provably a contraction and the random test does not refute it. A step
/// that is not admitted is charged as local DP.
///
/// Proof for one output: clipping a record's gradient φ'(w·x) x to norm C clamps the monotone
/// function φ' to ±C/|x|. The result is the gradient of a convex function with the loss's
/// smoothness β, so steps up to 2/β along the average are contractions. Clipping the average of
/// gradients is not a contraction: for logistic loss at 2/β an expansion of 1.26 occurs. The proof
/// does not cover several outputs.
WalkAdmission admit_to_walk(const WalkStep& step);
bool is_contraction_admitted(const WalkStep& step);

}  // namespace sotto
