// The privacy profile of composed losses, from both sides.
#pragma once

#include <vector>

#include "sotto/core/bound.hpp"
#include "sotto/pld/privacy_loss.hpp"

namespace sotto {

/// How narrow a bracket should be: relative to ε, for losses that are smooth and for losses with atoms; and how much work
/// may be spent on it. What is proved does not depend on them.
struct Precision {
  double smooth = 2e-11;
  double atoms = 5e-7;
  double work = 1e7;  ///< terms to sum: about a tenth of a second; split losses may take more. A WorkLimit counts all of them together
};

/// By what an end of a bracket is proved.
enum class ProofMethod {
  max_loss,      ///< no outcome has more; or all steps at theirs together
  chernoff,      ///< Chernoff's bound, as Rényi DP has it
  saddle_point,  ///< the inversion integral through the saddle point
  lattice,       ///< the same over one period, for losses on a lattice
  grid,          ///< losses moved to a grid, up or down, and composed by the Fourier transform
  smoothed,      ///< the inversion integral with one small Gaussian step added
  merged,        ///< steps that differ little, as fewer kinds that cost more, or less
};

/// A bracket, and by what its ends are proved.
struct Bracket : Bound {
  ProofMethod above = ProofMethod::max_loss;
  ProofMethod below = ProofMethod::max_loss;
};

/// Whether δ(ε) <= delta is seen at a glance, by Chernoff's bound or from a few nodes. `false` says nothing.
bool surely_below(const std::vector<LossStep>& steps, double epsilon, double delta);

/// δ(ε) of the composition for every ε in a range of ε >= 0: above at its lower end, below at its upper end. Between 0
/// and 1 always; [0, 1] where nothing better could be proved.
Bracket composed_delta(const std::vector<LossStep>& steps, Bound epsilon, const Precision& precision = {});

/// ε(δ) for every δ in a range within (0, 1): the upper end suffices for certain, the lower end does not exceed the exact
/// value. [0, the largest loss] where nothing better could be proved.
Bracket composed_epsilon(const std::vector<LossStep>& steps, Bound delta, const Precision& precision = {});

}  // namespace sotto
