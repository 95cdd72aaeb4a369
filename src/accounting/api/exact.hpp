// Plans whose privacy profile δ(ε) has a closed form.
#pragma once

#include <optional>
#include <string>

#include "sotto/accounting/derivation.hpp"
#include "sotto/plan/plan.hpp"
#include "privacy/api/profile.hpp"

namespace sotto {

/// The plan's profile on one side, with its derivation, if the plan is one of: Gaussians alone; one use of any
/// mechanism with a known pair, sampled or not; any number of equal (ε, δ)-DP steps (pure, approx, binary randomized
/// response, discrete_laplace at sensitivity 1). On Side::upper it bounds every mechanism that satisfies the plan's
/// words; on Side::lower it is reached by one of them.
struct ExactProfile {
  Profile profile;
  Derivation derivation;
};
std::optional<ExactProfile> exact_profile(const Plan& plan, Side side);

/// A lower bound on ε(δ) that some mechanism consistent with the plan reaches: that of the plan itself, or else the larger
/// of its costliest single step and of all parts whose pair is reached, composed: leaving parts out cannot cost more. -inf
/// where there is none.
double epsilon_lower(const Plan& plan, double delta);
/// The same for δ(ε).
double delta_lower(const Plan& plan, double epsilon);

}  // namespace sotto
