// Group privacy: the guarantee for k units that follows from one for a single unit.
#pragma once

#include <cstdint>

#include "privacy/api/definitions.hpp"

namespace sotto {

/// (kε, δ (e^(kε) - 1)/(e^ε - 1)), and kε for pure DP [Dwork2014, Thm 2.2; Vadhan2017, Lemma 2.2].
ApproximateDP group_of(std::int64_t k, const ApproximateDP& dp);
/// k²ρ [Bun2016, Prop 1.9].
ZeroConcentratedDP group_of(std::int64_t k, const ZeroConcentratedDP& zcdp);
/// (k²ρ, ω/k) [Bun2018]. Throws OutsideConditions unless ω > k.
TruncatedConcentratedDP group_of(std::int64_t k, const TruncatedConcentratedDP& tcdp);
/// kμ [Dong2022, Thm 2.14].
GaussianDP group_of(std::int64_t k, const GaussianDP& gdp);

/// (α / 2^c, 3^c ε̄) with c = group_doublings(k) [Mironov2017, Prop 2]. Throws OutsideConditions
/// unless α >= 2^(c+1).
RenyiDP group_of(std::int64_t k, const RenyiDP& rdp);
/// Returns the least c with k <= 2^c.
int group_doublings(std::int64_t k);

}  // namespace sotto
