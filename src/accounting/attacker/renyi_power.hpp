// The best test of anything with a Rényi curve: the largest P(E) with Q(E) <= α that the curve allows.
#pragma once

#include "accounting/api/renyi.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto::accounting_detail {

/// An upper bound for α in [0, 1]. "E or not" is post-processing, so with p = P(E), q = Q(E) both
/// p^γ q^(1-γ) + (1-p)^γ (1-q)^(1-γ) and the same with p and q exchanged are at most e^((γ-1)D_γ) [Balle2020]; each
/// grows with p from q on. The least over the orders γ > 1. What `approx` leaves fail by is set aside: with
/// P = f P'' + (1-f) P' and Q likewise, P(E) <= f + (1-f) P'(E) where Q'(E) <= α/(1-f).
double power_by_renyi(const RenyiAccountant& accountant, const Real& alpha);

}  // namespace sotto::accounting_detail
