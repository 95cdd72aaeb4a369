// Conversions from one definition of privacy to another. A conversion holds for every mechanism
// that satisfies the definition it starts from. The theory and the command call a conversion a
// line.
#pragma once

#include "privacy/api/definitions.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {

// --- RDP to (ε, δ), at one order α > 1 ---

/// The classical conversion, ε = ε̄ + log(1/δ)/(α-1) [Mironov2017, Prop 3].
Real epsilon_from_renyi_classic(const RenyiDP& renyi, const Real& delta);
/// The classical conversion solved for δ: e^((α-1)(ε̄-ε)), at most 1.
Real delta_from_renyi_classic(const RenyiDP& renyi, const Real& epsilon);

/// The better conversion, ε = max(0, ε̄ + log((α-1)/α) - (log δ + log α)/(α-1))
/// [Canonne2020, Prop 12; Balle2020, Thm 21].
Real epsilon_from_renyi(const RenyiDP& renyi, const Real& delta);
/// The better conversion solved for δ: e^((α-1)(ε̄-ε)) / (α-1) · (1-1/α)^α, at most 1.
Real delta_from_renyi(const RenyiDP& renyi, const Real& epsilon);

/// The optimal conversion at one order: the least δ that (α, ε̄)-RDP implies at ε, which is the
/// largest hockey-stick divergence of two coins whose Rényi divergence is at most ε̄ [Asoodeh2021].
/// Rounded up, and never above the better conversion.
double delta_from_renyi_optimal(const RenyiDP& renyi, double epsilon);
/// The optimal conversion solved for ε, rounded up.
double epsilon_from_renyi_optimal(const RenyiDP& renyi, double delta);

/// Returns the order 2 log(1/δ)/ε + 1. RDP of that order with ε/2 implies (ε, δ)-DP.
Real target_order(const Real& epsilon, const Real& delta);

// --- zCDP and tCDP to (ε, δ) ---

/// The classical conversion, ε = ρ + 2 sqrt(ρ log(1/δ)) [Bun2016, Prop 1.3].
Real epsilon_from_zcdp_classic(const ZeroConcentratedDP& zcdp, const Real& delta);
/// The classical conversion solved for ρ: (sqrt(ε + log(1/δ)) - sqrt(log(1/δ)))².
Real rho_for_target_classic(const Real& epsilon, const Real& delta);
/// The classical conversion solved for δ: e^(-(ε-ρ)²/(4ρ)) for ε >= ρ, else 1.
Real delta_from_zcdp_classic(const ZeroConcentratedDP& zcdp, const Real& epsilon);

/// The result of a minimisation over real orders.
struct BestOrder {
  double order;  ///< the order α with the least value
  Real value;
};
// Each is the minimum of the better RDP conversion over the orders in (1, ω], where ω is infinite
// for zCDP.
BestOrder epsilon_from_zcdp(const ZeroConcentratedDP& zcdp, const Real& delta);
BestOrder epsilon_from_tcdp(const TruncatedConcentratedDP& tcdp, const Real& delta);
BestOrder delta_from_zcdp(const ZeroConcentratedDP& zcdp, const Real& epsilon);
BestOrder delta_from_tcdp(const TruncatedConcentratedDP& tcdp, const Real& epsilon);

/// The classical conversion of tCDP: ε = ρ + 2 sqrt(ρ log(1/δ)) if log(1/δ) <= (ω-1)² ρ, else
/// ρω + log(1/δ)/(ω-1) [Bun2018, Lemma 6].
Real epsilon_from_tcdp_classic(const TruncatedConcentratedDP& tcdp, const Real& delta);
/// That conversion solved for δ: e^(-(ε-ρ)²/(4ρ)) if ρ <= ε <= (2ω-1)ρ, else e^((ω-1)(ωρ-ε)), at
/// most 1.
Real delta_from_tcdp_classic(const TruncatedConcentratedDP& tcdp, const Real& epsilon);

/// The approximation ε = 2 sqrt(ρ log(1/δ)) of the classical conversion. It omits the term ρ, so it
/// is only returned if epsilon_from_zcdp() proves it. Throws OutsideConditions otherwise.
Real epsilon_from_zcdp_simple(const ZeroConcentratedDP& zcdp, const Real& delta);
/// The approximation solved for δ: e^(-ε²/(4ρ)), if that is proved. Throws OutsideConditions
/// otherwise.
Real delta_from_zcdp_simple(const ZeroConcentratedDP& zcdp, const Real& epsilon);

/// Returns a bound on the true positive rate of an attack with the given false positive rate, from
/// one order: P(E) <= (e^ε̄ Q(E))^((α-1)/α) for every event E, at most 1 [Mironov2017, Prop 10].
Real true_positive_rate_from_renyi(const RenyiDP& renyi, const Real& false_positive_rate);

}  // namespace sotto
