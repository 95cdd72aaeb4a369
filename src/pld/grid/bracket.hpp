// Brackets of δ and ε by discretised distributions composed by the FFT, where the inversion integral leaves them wide.
#pragma once

#include <optional>
#include <vector>

#include "pld/grid/fft_compose.hpp"
#include "sotto/core/bound.hpp"
#include "pld/api/compose.hpp"

namespace sotto::pld_detail {

/// ε for every δ of a range, or δ for every ε of a range: a bracket that is known is narrowed where the distributions of all losses are known. What
/// was narrowed before the work ran out stays so.
void grid_epsilon(const std::vector<LossStep>& steps, Bound& epsilon, Bound delta, const Precision& precision);
/// A grid from above for ε somewhat below and above this one, of so many grid points as a curve of many ε is worth; nothing where the losses'
/// distributions are not known or grids do not suit them. `log_delta` is about log δ(ε).
std::optional<FftComposition> pessimistic_composition(const std::vector<LossStep>& steps, double epsilon, double log_delta);
void grid_delta(const std::vector<LossStep>& steps, Bound& delta, Bound epsilon, const Precision& precision);

}  // namespace sotto::pld_detail
