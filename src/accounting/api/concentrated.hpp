// The zCDP, tCDP and Gaussian DP guarantees of a whole plan.
#pragma once

#include "privacy/api/definitions.hpp"
#include "sotto/accounting/derivation.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto {

/// The theorem by which an ε-DP guarantee becomes ρ-zCDP.
enum class RhoConversion {
  classic,  ///< ρ = ε²/2 [Bun2016]
  better,  ///< ρ = ε tanh(ε/2) [Harrison2025], and the exact ρ of a mechanism where one is known
};

/// Returns ρ of the plan's zCDP guarantee, rounded up [Bun2016]: ρ adds over a sum, is the largest
/// of parts in parallel, and is multiplied by k² for a group of k. The δ of approx() is not part of
/// ρ: see RenyiAccountant::delta_set_aside. Throws OutsideConditions for sampling, rdp, tcdp,
/// arsinh and catastrophe, which have no zCDP guarantee. If `why` is not null, it receives the
/// derivation.
ZeroConcentratedDP zcdp_of(const Plan& plan, RhoConversion conversion, Derivation* why = nullptr);

/// Returns (ρ, ω) of the plan's tCDP guarantee [Bun2018]: ρ adds, and ω is the smallest of all
/// parts. A part that is ρ-zCDP counts as (ρ, inf). Sampling without replacement is amplified under
/// the conditions of its theorem (amplification.hpp). Throws OutsideConditions if a part has no
/// tCDP guarantee.
TruncatedConcentratedDP tcdp_of(const Plan& plan, Derivation* why = nullptr);

/// Returns the exact μ = sqrt(Σμ²) of a plan that consists of Gaussian noise only [Dong2022].
/// Throws OutsideConditions for any other part.
GaussianDP gdp_of(const Plan& plan, Derivation* why = nullptr);

}  // namespace sotto
