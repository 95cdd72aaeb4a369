// Amplification by subsampling: running a mechanism on a secret sample taken at rate s costs less.
#pragma once

#include <functional>

#include "sotto/numerics/real.hpp"
#include "privacy/api/definitions.hpp"
#include "privacy/api/profile.hpp"

namespace sotto {

// Which pairing of sampling and relation each line is for: Poisson sampling with add-remove, sampling without
// replacement with replace-one. No theorem here covers another pairing; accounting/relation.hpp refuses those.

/// (log(1 + s(e^ε - 1)), sδ): both pairings [Balle2018b].
ApproximateDP amplified(const Real& rate, const ApproximateDP& dp);

/// One use of a mechanism with profile δ: s δ(log(1 + (e^ε - 1)/s)), both pairings [Balle2018b, Thm 2].
/// `side` is the side on which the base's argument is rounded.
Profile amplified(double rate, const Profile& base, Side side);

/// (13 s² ρ, log(1/s)/(4ρ)): without replacement, replace-one, and s, ρ in (0, 0.1], log(1/s) >= 3ρ(2 + log2(1/ρ)),
/// ω >= log(1/s)/(2ρ) >= 3 [Bun2018]. OutsideConditions names the condition that fails.
TruncatedConcentratedDP amplified(const Real& rate, const TruncatedConcentratedDP& tcdp);

/// A base mechanism's Rényi curve at whole orders j >= 2.
using WholeOrderCurve = std::function<Real(int order)>;

/// Poisson sampling, whole order α >= 2 [Zhu2019, Thm 6]:
/// log{(1-s)^(α-1)(αs-s+1) + C(α,2)s²(1-s)^(α-2)e^ε(2) + c sum_{j>=3} C(α,j)(1-s)^(α-j)s^j e^((j-1)ε(j))} / (α-1),
/// c = 3 for any base. For Gaussian and Laplace c = 1, and the bound is then attained [Mironov2019; Zhu2019].
Real poisson_renyi(const Real& rate, int order, const WholeOrderCurve& base, bool gaussian_or_laplace);
/// What one order j adds to it, apart from the binomial weight: log(c e^((j-1)ε(j)) - 1), -inf as -1e300. A caller
/// that asks for many orders keeps these and passes them instead of the curve.
Real poisson_log_excess(int j, const Real& epsilon, bool gaussian_or_laplace);
Real poisson_renyi(const Real& rate, int order, const WholeOrderCurve& log_excess);

/// Without replacement, whole order α >= 2 [Wang2019, Thm 9]; `worst` is ε(inf) of the base, or unknown.
Real without_replacement_renyi(const Real& rate, int order, const WholeOrderCurve& base, const Real& worst);
/// The tightened form [Wang2019, Thm 27]: only for a base whose curve is exact and attained by one pair at all orders.
Real without_replacement_renyi_exact_pair(const Real& rate, int order, const WholeOrderCurve& base, const Real& worst);
/// The cheat-sheet forms: log(1 + sum_{j>=2} 2 s^j C(α,j) e^((j-1)ε(j))) / (α-1), and with ε(α) in place of ε(j).
Real without_replacement_renyi_loose(const Real& rate, int order, const WholeOrderCurve& base);
Real without_replacement_renyi_one_order(const Real& rate, int order, const Real& epsilon);

/// From whole orders to a real one: (α-1)D_α is convex in α and 0 at α = 1, so a chord bounds it from above.
/// Unknown beyond order 1024.
Real between_whole_orders(double order, const std::function<Real(int order)>& renyi);

}  // namespace sotto
