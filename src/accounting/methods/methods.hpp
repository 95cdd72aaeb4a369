// One function a family of methods: an upper bound on ε at δ, or on δ at ε, with its derivation.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sotto/accounting/derivation.hpp"
#include "sotto/accounting/method.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/plan/plan.hpp"
#include "pld/api/compose.hpp"

namespace sotto::accounting_detail {

struct MethodCost {
  double value;  ///< certified upper bound; may be infinite
  std::optional<double> order;
  std::vector<std::string> notes;
  Derivation why;
  /// What some mechanism reaches, where the method found that on its way; else -inf.
  double lower = -std::numeric_limits<double>::infinity();
  /// Read off a closed form: no other method can give less.
  bool closed = false;
};

/// ε for all the readings of a δ in [0, 1): the value holds at the lower end, `lower` at the upper end. OutsideConditions
/// where the method does not apply. Without `total`, a group around a whole plan is only carried into its parts.
MethodCost epsilon_by(Method method, const Plan& plan, Bound delta, std::optional<double> order, const Precision& precision, bool total = true);
/// δ for all the readings of an ε >= 0, likewise.
MethodCost delta_by(Method method, const Plan& plan, Bound epsilon, std::optional<double> order, const Precision& precision);

// The families, without the conversion of a whole group (which the two above add).
MethodCost profile_epsilon(Method method, const Plan& plan, Bound delta, const Precision& precision);  // pld and gdp
MethodCost profile_delta(Method method, const Plan& plan, Bound epsilon, const Precision& precision);
// rdp, rdp-classic, moments, rdp-simple, rdp-one-order
MethodCost renyi_epsilon(Method method, const Plan& plan, double delta, std::optional<double> order);
MethodCost renyi_delta(Method method, const Plan& plan, double epsilon, std::optional<double> order);
MethodCost concentrated_epsilon(Method method, const Plan& plan, double delta);  // zcdp, zcdp-classic, zcdp-simple, tcdp, tcdp-classic
MethodCost concentrated_delta(Method method, const Plan& plan, double epsilon);
std::optional<MethodCost> optimal_delta_by(const Plan& plan, double epsilon);  // where no step needs a share of δ
MethodCost theorem_epsilon(const Plan& plan, double delta);                    // theorem
/// Whether the plan is one mechanism, however often, whose paper states a line of its own.
bool has_theorem(const Plan& plan);
MethodCost moments_closed_epsilon(Method method, const Plan& plan, double delta);  // moments-closed, moments-closed-epsilon
MethodCost moments_closed_delta(Method method, const Plan& plan, double epsilon);
/// (Σε, 1 - ∏(1-δ)) read at ε, where no step needs a share of δ and the sum is at most ε for some reading of the numbers; what a reading's last
/// place leaves between them is charged to δ (docs/decisions/0030).
std::optional<MethodCost> basic_delta_by(const Plan& plan, Bound epsilon);
bool optimal_suffices(const Plan& plan, double epsilon, double delta);          // δ(ε) <= delta, by the same and with shares
MethodCost composition_epsilon(Method method, const Plan& plan, double delta);  // basic, advanced(-simple), kov, optimal

/// Gaussian DP with slack, for plans that are not of Gaussians alone: what a GdpBudget claims for this one event. A tenth of δ is its slack.
MethodCost slack_epsilon(const Plan& plan, double delta);
MethodCost slack_delta(const Plan& plan, double epsilon);

/// What a question's precision asks of a contour. InvalidValue unless it lies between 0 and 1.
Precision precision_of(std::optional<double> asked);

/// "(ε, δ)-DP" with the numbers, as every derivation ends.
std::string approximate_text(double epsilon, double delta);

}  // namespace sotto::accounting_detail
