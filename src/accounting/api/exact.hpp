// Exact privacy profiles δ(ε) in closed form, and lower bounds on ε and δ.
#pragma once

#include <optional>
#include <string>

#include "privacy/api/profile.hpp"
#include "sotto/accounting/derivation.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto {

/// A privacy profile in closed form, with the theorem that gives it.
struct ExactProfile {
  Profile profile;
  Derivation derivation;
};
/// Returns the plan's profile on one side if it has a closed form: for Gaussian noise only; for one
/// use of a mechanism with a known profile, sampled or not; for equal (ε, δ)-DP steps (pure,
/// approx, binary randomized response, discrete_laplace at sensitivity 1); and for such parts in
/// parallel. On Side::upper the profile bounds every mechanism that satisfies the plan; on
/// Side::lower one such mechanism attains it. Empty if no closed form is known.
std::optional<ExactProfile> exact_profile(const Plan& plan, Side side);

/// Returns a lower bound on ε(δ), rounded down, that some mechanism which satisfies the plan
/// attains. If the plan has an exact profile, the bound comes from it. Else it is the larger one of
/// the most expensive single step and the composition of all parts with an attained pair; it is
/// valid since leaving out parts cannot cost more. -inf if nothing is proved.
double epsilon_lower(const Plan& plan, double delta);
/// Returns the corresponding lower bound on δ(ε).
double delta_lower(const Plan& plan, double epsilon);

}  // namespace sotto
