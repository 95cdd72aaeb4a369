// Brackets of few steps by ladders of losses, where lines leave them wide.
#pragma once

#include <vector>

#include "sotto/core/bound.hpp"
#include "sotto/loss/contour.hpp"

namespace sotto::loss_detail {

/// ε for every δ of a range, or δ for every ε of a range: a bracket that is known is narrowed where the laws of all losses are known. What was
/// narrowed before the work ran out stays so.
void ladder_epsilon(const std::vector<LossStep>& steps, Bound& epsilon, Bound delta, const Precision& precision);
void ladder_delta(const std::vector<LossStep>& steps, Bound& delta, Bound epsilon, const Precision& precision);

}  // namespace sotto::loss_detail
