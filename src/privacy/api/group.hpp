// Group privacy: what a guarantee for one unit says of k units.
#pragma once

#include <cstdint>

#include "privacy/api/definitions.hpp"

namespace sotto {

/// (kε, δ (e^(kε) - 1)/(e^ε - 1)); pure: kε [Dwork2014, Thm 2.2; Vadhan2017, Lemma 2.2].
ApproximateDP group_of(std::int64_t k, const ApproximateDP& dp);
/// k²ρ [Bun2016, Prop 1.9].
ZeroConcentratedDP group_of(std::int64_t k, const ZeroConcentratedDP& zcdp);
/// (k²ρ, ω/k) while ω > k [Bun2018]; OutsideConditions otherwise.
TruncatedConcentratedDP group_of(std::int64_t k, const TruncatedConcentratedDP& tcdp);
/// kμ [Dong2022, Thm 2.14].
GaussianDP group_of(std::int64_t k, const GaussianDP& gdp);

/// (α / 2^c, 3^c ε̄) for k <= 2^c, if α >= 2^(c+1) [Mironov2017, Prop 2]; OutsideConditions otherwise.
RenyiDP group_of(std::int64_t k, const RenyiDP& rdp);
/// The c of k: the least with k <= 2^c.
int group_doublings(std::int64_t k);

}  // namespace sotto
