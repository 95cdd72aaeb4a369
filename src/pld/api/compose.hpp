// Certified brackets of the privacy profile δ(ε), and of its inverse ε(δ), of composed privacy
// losses. docs/theory/pld/README.md lists the methods and proves their bounds.
#pragma once

#include <vector>

#include "pld/api/privacy_loss.hpp"
#include "sotto/core/bound.hpp"

namespace sotto {

/// The relative width in ε at which the search for a narrower bracket stops, and the work that it
/// may take. A bracket is valid whatever these values are: they trade width against time.
struct Precision {
  double smooth = 2e-11;  ///< for losses that have a density
  double atoms = 5e-7;    ///< for losses that have atoms, which converge more slowly
  double work = 1e7;      ///< terms that one inversion integral may sum, about a tenth of a second
};

/// The method that proves one end of a bracket (docs/theory/pld/README.md has a section on each).
enum class ProofMethod {
  max_loss,      ///< above: no outcome has a larger loss; below: all steps reach theirs together
  chernoff,      ///< Chernoff's bound, which is the conversion from Rényi DP [Canonne2020]
  saddle_point,  ///< the inversion integral through the saddle point [Alghamdi2023]
  lattice,       ///< the inversion integral over one period, for losses on a lattice
  grid,          ///< discretised loss distributions composed by FFT, pessimistic or optimistic
  smoothed,      ///< the inversion integral with one small Gaussian step added
  merged,        ///< similar steps replaced by fewer kinds that dominate them, or are dominated
};

/// Bounds on ε or δ, and the method that proves each of the two ends.
struct Bracket : Bound {
  ProofMethod above = ProofMethod::max_loss;
  ProofMethod below = ProofMethod::max_loss;
};

/// Returns true if Chernoff's bound, or an integral of few nodes, proves δ(ε) <= delta. It is fast;
/// `false` means that they do not prove it, not that it is wrong.
bool surely_below(const std::vector<LossStep>& steps, double epsilon, double delta);

/// Returns bounds on δ(ε) that hold for every ε of a range with lower end >= 0: `upper` bounds δ at
/// the range's lower end and `lower` at its upper end. Both are within [0, 1].
Bracket composed_delta(const std::vector<LossStep>& steps, Bound epsilon,
                       const Precision& precision = {});

/// Returns bounds on ε(δ) that hold for every δ of a range within (0, 1): the composition is
/// (upper, δ)-DP, and `lower` does not exceed the exact ε(δ). [0, the largest loss] if no method
/// proves more.
Bracket composed_epsilon(const std::vector<LossStep>& steps, Bound delta,
                         const Precision& precision = {});

}  // namespace sotto
