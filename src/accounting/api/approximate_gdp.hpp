// Approximate Gaussian DP (d-approximate μ-GDP), which every event with a known privacy profile
// satisfies.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "sotto/accounting/derivation.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto {

/// An event is d-approximately μ-GDP if δ(ε) <= d + (1-d) δ_μ(ε) for every ε >= 0 and both
/// directions, where δ_μ is the exact Gaussian profile. The right side is the profile of f_{0,d} ⊗
/// G_μ [Dong2022]: a pair that is N(μ, 1) against N(0, 1) with probability 1-d, and reveals
/// everything with probability d. By Blackwell's theorem the event is then a post-processing of
/// that pair. In adaptive composition μ² and d add up (docs/theory/filters.md).
struct ApproximateGDP {
  double mu;
  double slack;            ///< d: the part of the allowed slack that the event uses
  double touch = 0;        ///< the ε at which the two profiles are closest; 0 if they are equal
  double touch_delta = 0;  ///< the event's δ at `touch`, rounded up
  bool exact = false;      ///< the event is this pair itself, not only dominated by it
  Derivation derivation;
};

/// Returns the least certified μ of the event at this slack, to a relative 1e-5, rounded up. It
/// holds under the relation for which the plan is costed. A plan of Gaussians has exactly its own
/// μ, and its slack is the δ of its approx(0, δ) parts. An event with bounded loss has a finite μ
/// at slack 0 too. Proof of the bound: δ is convex in e^ε, so between nodes it lies below its
/// chords, which are certified to lie below tangents of the right side. Throws OutsideConditions if
/// no finite μ is proved: the event's own δ exceeds the slack, or the slack is 0 and the loss is
/// unbounded. Takes milliseconds for smooth losses, and at most a second of counted work.
ApproximateGDP approximate_gdp_of(const Plan& event, double slack);

/// Upper bounds on the larger of an event's two profiles δ(ε), which is convex in e^ε.
struct ProfileAbove {
  std::function<double(double epsilon)> delta;
  std::function<double(double delta)> epsilon;  ///< an ε that suffices at δ > 0
  double worst;  ///< the largest loss: δ is 0 from here on; may be infinite
};
/// A Gaussian profile with slack that certainly lies above a given profile.
struct GaussianCover {
  double mu, touch, touch_delta;  ///< as in ApproximateGDP
  std::size_t nodes;              ///< the number of ε at which the two profiles were compared
};
/// Returns the cover of the profile with the least certified μ at this slack; empty if no finite μ
/// is proved.
std::optional<GaussianCover> gaussian_cover(const ProfileAbove& profile, double slack);

/// Returns the μ of a GdpBudget for (ε, δ)-DP: the largest number of six digits whose exact
/// Gaussian profile is at most (δ - slack)/(1 - slack) at ε. All events within that budget together
/// are then (ε, δ)-DP. Throws InvalidValue unless 0 <= slack < δ < 1 and ε > 0.
double gdp_budget_mu(double epsilon, double delta, double slack);

}  // namespace sotto
