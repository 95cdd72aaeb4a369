// Brackets of δ and ε by discretised distributions, composed by FFT, where the inversion integral
// leaves a wide bracket (docs/theory/pld/discretisation.md, "Convergence and tests").
#pragma once

#include <optional>
#include <vector>

#include "pld/api/compose.hpp"
#include "pld/grid/fft_compose.hpp"
#include "sotto/core/bound.hpp"

namespace sotto::pld_detail {

/// Narrows known bounds on ε(δ), for every δ of a range. Does nothing if the distribution of some
/// loss is unknown, or if the steps do not suit a grid. Throws OutOfWork; the bounds
/// that were proved by then are valid.
void grid_epsilon(const std::vector<LossStep>& steps, Bound& epsilon, Bound delta,
                  const Precision& precision);
/// Narrows known bounds on δ(ε), for every ε of a range, in the same way.
void grid_delta(const std::vector<LossStep>& steps, Bound& delta, Bound epsilon,
                const Precision& precision);
/// Returns a pessimistic composition of moderate size for ε near the given one, for curves of many
/// ε; nullopt if the steps do not suit a grid. `log_delta` is an estimate of log δ(ε).
std::optional<FftComposition> pessimistic_composition(const std::vector<LossStep>& steps,
                                                      double epsilon, double log_delta);

}  // namespace sotto::pld_detail
