// The certificate that a Gaussian profile with slack lies above a profile that is known at some
// nodes.
#pragma once

#include <vector>

#include "accounting/api/approximate_gdp.hpp"

namespace sotto::accounting_detail {

/// An ε with an upper bound on the profile δ(ε).
struct ProfileNode {
  double epsilon;
  double above;  ///< >= δ(ε)
};

/// Returns whether δ(ε) <= slack + (1 - slack) δ_μ(ε) for every ε >= 0 is certain for every profile
/// δ that decreases, is convex in e^ε, and is at most `above` at the nodes. The nodes ascend from ε
/// = 0. Proof: between two nodes δ lies below their chord, and the chord lies below a tangent of
/// the right side if it does at both nodes; beyond the last node δ is at most the slack. `false`
/// does not disprove the inequality.
bool is_cover(const std::vector<ProfileNode>& nodes, double mu, double slack);

}  // namespace sotto::accounting_detail
