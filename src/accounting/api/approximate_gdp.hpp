// Gaussian DP with slack: one currency for every event whose privacy profile is known.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "sotto/accounting/derivation.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto {

/// d-approximate μ-GDP: δ(ε) <= d + (1-d) δ_μ(ε) for every ε >= 0 and both directions, where δ_μ is the exact Gaussian profile. The right
/// side is the profile of the pair that tells N(μ, 1) from N(0, 1) with probability 1-d and reveals all with probability d, that is of
/// f_{0,d} ⊗ G_μ [Dong2022]; so by Blackwell's theorem the event is a post-processing of that pair, and in adaptive composition μ² and d
/// add up (docs/theory/filters.md).
struct ApproximateGDP {
  double mu;
  double slack;            ///< d; what the event needs of the slack that it was given
  double touch = 0;        ///< the ε at which the two profiles come nearest; 0 where one is the other
  double touch_delta = 0;  ///< the event's δ there, rounded up
  bool exact = false;      ///< the event is this pair itself
  Derivation derivation;
};

/// The least μ, within a part in 10^5, that is certified at this slack, under whatever relation the plan is costed. Gaussians cost exactly their μ,
/// and as slack only the δ of approx(0, δ) beside them. An event with a largest loss has a μ at slack 0 too.
/// Rounded up: between its nodes δ lies below its chords, since it is convex in e^ε, and these below tangents of the right side.
/// OutsideConditions where no finite μ is proved: the event's own δ exceeds the slack, or there is no slack and no largest loss. Milliseconds
/// where transforms are smooth; a second of counted work at most.
ApproximateGDP approximate_gdp_of(const Plan& event, double slack);

/// A profile as a cover needs it: upper bounds on a δ(ε) that is convex in e^ε, in both directions.
struct ProfileAbove {
  std::function<double(double epsilon)> delta;
  std::function<double(double delta)> epsilon;  ///< an ε that suffices at δ > 0
  double worst;                                 ///< the ε from which on δ is 0, or infinity
};
struct GaussianCover {
  double mu, touch, touch_delta;
  std::size_t nodes;  ///< at how many ε the two were compared
};
/// The same for a profile; nothing where no finite μ is proved.
std::optional<GaussianCover> gaussian_cover(const ProfileAbove& profile, double slack);

/// The budget's μ: the largest of six digits whose exact profile has this ε at (δ - slack)/(1 - slack), so that whatever stays within it is
/// (ε, δ)-DP. InvalidValue unless 0 <= slack < δ < 1 and ε > 0.
double gdp_budget_mu(double epsilon, double delta, double slack);

}  // namespace sotto
