// The power of a test that a Rényi curve allows: an upper bound on P(E) with Q(E) <= α.
#pragma once

#include "accounting/api/renyi.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto::accounting_detail {

/// Returns an upper bound on P(E) over all tests E with Q(E) <= α, for α in [0, 1] [Balle2020]. The
/// indicator of E is a post-processing, so p = P(E) and q = Q(E) satisfy p^γ q^(1-γ) + (1-p)^γ
/// (1-q)^(1-γ) <= e^((γ-1)D_γ) for every order γ > 1, and the inequality with p and q exchanged.
/// Both left sides grow with p for p >= q. The bound is the least over the orders. The probability
/// f that an approx() leaf fails is handled apart: with P = f P'' + (1-f) P' and Q likewise, P(E)
/// <= f + (1-f) P'(E), where Q'(E) <= α/(1-f).
double power_by_renyi(const RenyiAccountant& accountant, const Real& alpha);

}  // namespace sotto::accounting_detail
