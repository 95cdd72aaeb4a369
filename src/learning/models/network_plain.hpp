// The gradient of a network without clipping, rounding and exact sums. It is not private, and only
// for tests and benchmarks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learning/models/network_pass.hpp"
#include "sotto/learning/model.hpp"

namespace sotto::learning_detail {

/// Returns the sum of the rows' gradients in floats. `prepared` must belong to a network.
std::vector<double> plain_gradient(const Model::Prepared& prepared, const Examples& examples,
                                   std::span<const std::uint32_t> rows);
std::vector<double> plain_gradient(const Stages& stages, Workspace& space, const LossFunction& loss,
                                   const Examples& examples, std::span<const std::uint32_t> rows);

}  // namespace sotto::learning_detail
