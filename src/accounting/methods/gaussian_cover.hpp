// The proof that a Gaussian profile with slack lies above a profile that is known at nodes.
#pragma once

#include <vector>

#include "accounting/api/approximate_gdp.hpp"

namespace sotto::accounting_detail {

struct ProfileNode {
  double epsilon;
  double above;  ///< >= δ(ε)
};

/// Whether δ(ε) <= slack + (1 - slack) δ_μ(ε) for every ε >= 0 is certain for every δ that falls, is convex in e^ε and is at most `above` at
/// the nodes, which go up from 0. Between two nodes δ lies below their chord, and that below a tangent of the right side if it does at both;
/// beyond the last one δ is at most the slack. Certified; `false` says nothing.
bool is_cover(const std::vector<ProfileNode>& nodes, double mu, double slack);

}  // namespace sotto::accounting_detail
