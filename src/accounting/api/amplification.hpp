// Privacy amplification by subsampling: a mechanism that runs on a secret sample at rate s costs
// less.
#pragma once

#include <functional>

#include "privacy/api/definitions.hpp"
#include "privacy/api/profile.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {

// Each theorem is for a pairing of sampling and neighbouring relation: Poisson sampling with
// add-remove, or sampling without replacement with replace-one. accounting/relation.hpp refuses
// other pairings.

/// Amplification of (ε, δ)-DP: (log(1 + s(e^ε - 1)), sδ), for both pairings [Balle2018b].
ApproximateDP amplified(const Real& rate, const ApproximateDP& dp);

/// Amplification of the privacy profile δ(·) of one use: s δ(log(1 + (e^ε - 1)/s)), for both
/// pairings [Balle2018b, Thm 2]. The result is a bound on the given side: on Side::upper the
/// argument of the base profile is rounded down, and on Side::lower it is rounded up.
Profile amplified(double rate, const Profile& base, Side side);

/// Amplification of (ρ, ω)-tCDP by sampling without replacement under replace-one: (13 s² ρ,
/// log(1/s)/(4ρ)) [Bun2018]. Conditions: s and ρ in (0, 0.1], log(1/s) >= 3ρ(2 + log2(1/ρ)), and ω
/// >= log(1/s)/(2ρ) >= 3. Throws OutsideConditions, which names the condition that fails.
TruncatedConcentratedDP amplified(const Real& rate, const TruncatedConcentratedDP& tcdp);

/// The Rényi curve ε(j) of the mechanism that runs on the sample, at integer orders j >= 2.
using WholeOrderCurve = std::function<Real(int order)>;

/// Rényi DP of a Poisson sample at an integer order α >= 2, add-remove [Zhu2019, Thm 6]:
/// log{(1-s)^(α-1)(αs-s+1) + C(α,2)s²(1-s)^(α-2)e^ε(2)
///     + c sum_{j>=3} C(α,j)(1-s)^(α-j)s^j e^((j-1)ε(j))} / (α-1)
/// with c = 3 for any base. For Gaussian and Laplace noise c = 1, and the bound is attained
/// [Mironov2019; Zhu2019]. Cost: α terms.
Real poisson_renyi(const Real& rate, int order, const WholeOrderCurve& base,
                   bool gaussian_or_laplace);
/// The factor of term j in that sum apart from its binomial weight: log(c e^((j-1)ε(j)) - 1), with
/// -inf written as -1e300. A caller that needs many orders α computes these once for each j, and
/// passes them to the second overload of poisson_renyi in place of the curve.
Real poisson_log_excess(int j, const Real& epsilon, bool gaussian_or_laplace);
Real poisson_renyi(const Real& rate, int order, const WholeOrderCurve& log_excess);

/// Rényi DP of sampling without replacement under replace-one at an integer order α >= 2 [Wang2019,
/// Thm 9]. `worst` is ε(inf) of the base, or Real::unknown(). Never above ε(α) of the base.
Real without_replacement_renyi(const Real& rate, int order, const WholeOrderCurve& base,
                               const Real& worst);
/// The tightened bound by forward differences [Wang2019, Thm 27]. It holds only for a base whose
/// curve is the exact curve of one pair at all orders. Cost: α² operations.
Real without_replacement_renyi_exact_pair(const Real& rate, int order, const WholeOrderCurve& base,
                                          const Real& worst);
/// The simplified closed form log(1 + sum_{j>=2} 2 s^j C(α,j) e^((j-1)ε(j))) / (α-1) [Wang2019].
/// The one_order form replaces every ε(j) by ε(α).
Real without_replacement_renyi_loose(const Real& rate, int order, const WholeOrderCurve& base);
Real without_replacement_renyi_one_order(const Real& rate, int order, const Real& epsilon);

/// Interpolates from integer orders to a real order: (α-1)D_α is convex in α and 0 at α = 1, so its
/// chords bound it from above. Returns Real::unknown() beyond order 1024.
Real between_whole_orders(double order, const std::function<Real(int order)>& renyi);

}  // namespace sotto
