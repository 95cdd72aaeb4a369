// From one definition to another. Each line holds for every mechanism that satisfies its premise.
#pragma once

#include "sotto/numerics/real.hpp"
#include "privacy/api/definitions.hpp"

namespace sotto {

// --- RDP to (ε, δ), at one order α > 1 ---

/// ε = ε̄ + log(1/δ)/(α-1), the classical line [Mironov2017, Prop 3].
Real epsilon_from_renyi_classic(const RenyiDP& renyi, const Real& delta);
/// δ = e^((α-1)(ε̄-ε)), the same line read for δ.
Real delta_from_renyi_classic(const RenyiDP& renyi, const Real& epsilon);

/// ε = max(0, ε̄ + log((α-1)/α) - (log δ + log α)/(α-1)) [Canonne2020, Prop 12; Balle2020, Thm 21].
Real epsilon_from_renyi(const RenyiDP& renyi, const Real& delta);
/// δ = e^((α-1)(ε̄-ε)) / (α-1) · (1-1/α)^α, at most 1.
Real delta_from_renyi(const RenyiDP& renyi, const Real& epsilon);

/// The least δ that (α, ε̄)-RDP at this one order implies at ε: the largest hockey-stick divergence of two coins whose Rényi
/// divergence is at most ε̄ [Asoodeh2021]. Rounded up; never above the line before.
double delta_from_renyi_optimal(const RenyiDP& renyi, double epsilon);
/// The same, read for ε.
double epsilon_from_renyi_optimal(const RenyiDP& renyi, double delta);

/// A target: (2 log(1/δ)/ε + 1, ε/2)-RDP implies (ε, δ)-DP. The order of that sufficient condition.
Real target_order(const Real& epsilon, const Real& delta);

// --- zCDP and tCDP to (ε, δ) ---

/// ε = ρ + 2 sqrt(ρ log(1/δ)) [Bun2016, Prop 1.3]; its inverse ρ = (sqrt(ε + log(1/δ)) - sqrt(log(1/δ)))².
Real epsilon_from_zcdp_classic(const ZeroConcentratedDP& zcdp, const Real& delta);
Real rho_for_target_classic(const Real& epsilon, const Real& delta);
/// δ = e^(-(ε-ρ)²/(4ρ)) for ε >= ρ, else 1: the same line read for δ.
Real delta_from_zcdp_classic(const ZeroConcentratedDP& zcdp, const Real& epsilon);

/// The best order for the better RDP line: ε = min over real α in (1, ω] (ω = inf for zCDP), with the winning α.
struct BestOrder {
  double order;
  Real value;
};
BestOrder epsilon_from_zcdp(const ZeroConcentratedDP& zcdp, const Real& delta);
BestOrder epsilon_from_tcdp(const TruncatedConcentratedDP& tcdp, const Real& delta);
BestOrder delta_from_zcdp(const ZeroConcentratedDP& zcdp, const Real& epsilon);
BestOrder delta_from_tcdp(const TruncatedConcentratedDP& tcdp, const Real& epsilon);

/// ρ + 2 sqrt(ρ log(1/δ)) if log(1/δ) <= (ω-1)² ρ, else ρω + log(1/δ)/(ω-1) [Bun2018, Lemma 6].
Real epsilon_from_tcdp_classic(const TruncatedConcentratedDP& tcdp, const Real& delta);
/// The same line read for δ: e^(-(ε-ρ)²/(4ρ)) if ρ <= ε <= (2ω-1)ρ, else e^((ω-1)(ωρ-ε)), at most 1.
Real delta_from_tcdp_classic(const TruncatedConcentratedDP& tcdp, const Real& epsilon);

/// ε = 2 sqrt(ρ log(1/δ)), the approximation ρ = ε²/(4 log(1/δ)) of the classical line. It leaves out ρ itself, so it is claimed only where
/// epsilon_from_zcdp proves no more; OutsideConditions elsewhere.
Real epsilon_from_zcdp_simple(const ZeroConcentratedDP& zcdp, const Real& delta);
/// δ = e^(-ε²/(4ρ)), the same read for δ, where it is proved.
Real delta_from_zcdp_simple(const ZeroConcentratedDP& zcdp, const Real& epsilon);

/// What an attacker gains from one order: P(E) <= (e^ε̄ Q(E))^((α-1)/α) for every event E, at most 1 [Mironov2017, Prop 10].
Real true_positive_rate_from_renyi(const RenyiDP& renyi, const Real& false_positive_rate);

}  // namespace sotto
