// Brackets of few steps by ladders of losses, where lines leave them wide.
#pragma once

#include <optional>
#include <vector>

#include "ladder.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/loss/contour.hpp"

namespace sotto::loss_detail {

/// ε for every δ of a range, or δ for every ε of a range: a bracket that is known is narrowed where the laws of all losses are known. What was
/// narrowed before the work ran out stays so.
void ladder_epsilon(const std::vector<LossStep>& steps, Bound& epsilon, Bound delta, const Precision& precision);
/// A ladder from above for ε somewhat below and above this one, of so many rungs as a curve of many ε is worth; nothing where the losses' laws are
/// not known or ladders do not suit them. `log_delta` is about log δ(ε).
std::optional<Ladder> ladder_above(const std::vector<LossStep>& steps, double epsilon, double log_delta);
void ladder_delta(const std::vector<LossStep>& steps, Bound& delta, Bound epsilon, const Precision& precision);

}  // namespace sotto::loss_detail
