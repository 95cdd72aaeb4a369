// For comparison alone: the same network's gradient without clipping, rounding and exact sums. Nothing that trains calls it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learning/models/network_pass.hpp"
#include "sotto/learning/model.hpp"

namespace sotto::learning_detail {

/// The sum of the rows' gradients in floats. `prepared` is a network's.
std::vector<double> plain_gradient(const Model::Prepared& prepared, const Examples& examples, std::span<const std::uint32_t> rows);
std::vector<double> plain_gradient(const Stages& stages, Workspace& space, const LossFunction& loss, const Examples& examples,
                                   std::span<const std::uint32_t> rows);

}  // namespace sotto::learning_detail
