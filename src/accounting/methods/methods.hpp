// The accounting methods by family. Each returns a certified upper bound on ε at δ, or on δ at ε,
// with its derivation.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "pld/api/compose.hpp"
#include "sotto/accounting/derivation.hpp"
#include "sotto/accounting/method.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto::accounting_detail {

/// The bound of one method.
struct MethodCost {
  double value;  ///< certified upper bound; may be infinite
  std::optional<double> order;
  std::vector<std::string> notes;
  Derivation why;
  /// A lower bound that some mechanism attains, if the method computes one too; else -inf.
  double lower = -std::numeric_limits<double>::infinity();
  /// The bound is an exact closed form, so no other method can give less.
  bool closed = false;
};

/// Returns ε for every δ in a range within [0, 1): the value holds at the lower end of the range,
/// and `lower` at its upper end. If `total` is false, a group around the whole plan is only carried
/// into its parts, and the group conversion of the total is not tried. Throws OutsideConditions if
/// the method does not apply.
MethodCost epsilon_by(Method method, const Plan& plan, Bound delta, std::optional<double> order,
                      const Precision& precision, bool total = true);
/// Returns δ for every ε in a range within [0, inf), in the same way.
MethodCost delta_by(Method method, const Plan& plan, Bound epsilon, std::optional<double> order,
                    const Precision& precision);

// The families. They do not try the group conversion of a total: epsilon_by and delta_by do.

// pld, and gdp of Gaussians
MethodCost profile_epsilon(Method method, const Plan& plan, Bound delta,
                           const Precision& precision);
MethodCost profile_delta(Method method, const Plan& plan, Bound epsilon,
                         const Precision& precision);
// rdp, rdp-classic, moments, rdp-simple, rdp-one-order
MethodCost renyi_epsilon(Method method, const Plan& plan, double delta,
                         std::optional<double> order);
MethodCost renyi_delta(Method method, const Plan& plan, double epsilon,
                       std::optional<double> order);
// zcdp, zcdp-classic, zcdp-simple, tcdp, tcdp-classic
MethodCost concentrated_epsilon(Method method, const Plan& plan, double delta);
MethodCost concentrated_delta(Method method, const Plan& plan, double epsilon);
// theorem: the bound that the paper of the plan's only mechanism states
MethodCost published_epsilon(const Plan& plan, double delta);
/// Returns whether the plan is one mechanism or repetitions of it, and its paper states a bound on
/// ε that differs from the exact one.
bool has_published_bound(const Plan& plan);
// moments-closed, moments-closed-epsilon
MethodCost moments_closed_epsilon(Method method, const Plan& plan, double delta);
MethodCost moments_closed_delta(Method method, const Plan& plan, double epsilon);
// basic, advanced, advanced-simple, kov, optimal
MethodCost composition_epsilon(Method method, const Plan& plan, double delta);
/// Returns δ = 1 - ∏(1-δᵢ) of basic composition at ε. Empty if a step needs a share of δ, or Σεᵢ
/// certainly exceeds ε. If the decimal numbers may satisfy Σεᵢ <= ε but their doubles do not, the
/// difference is charged to δ (docs/decisions/0030).
std::optional<MethodCost> basic_delta_by(const Plan& plan, Bound epsilon);
/// Returns δ of optimal composition at ε. Empty if a step needs a share of δ.
std::optional<MethodCost> optimal_delta_by(const Plan& plan, double epsilon);
/// Returns whether optimal composition proves (epsilon, delta)-DP. Steps may need a share of δ.
bool optimal_suffices(const Plan& plan, double epsilon, double delta);

// gdp of plans that are not Gaussians only, by approximate Gaussian DP: the claim of a GdpBudget
// that this one event fills. The slack is a tenth of δ.
MethodCost approximate_gdp_epsilon(const Plan& plan, double delta);
MethodCost approximate_gdp_delta(const Plan& plan, double epsilon);

/// Returns the widths and the work for brackets of this relative width; the default if it is empty.
/// Throws InvalidValue unless the width is between 0 and 1.
Precision precision_of(std::optional<double> width);

/// Returns "(ε, δ)-DP" with both numbers rounded up: the guarantee at the root of a derivation.
std::string approximate_text(double epsilon, double delta);

}  // namespace sotto::accounting_detail
