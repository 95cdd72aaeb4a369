// The cost of a plan: ε at δ, δ at ε, or a Rényi divergence, each with the theorem that proves it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/accounting/derivation.hpp"
#include "sotto/accounting/method.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/core/values.hpp"
#include "sotto/plan/plan.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {

struct Allowance;

/// How a cost is computed: by which method, under which relation, with how much work.
struct Question {
  Method by = Method::tight;
  std::optional<Order> order = std::nullopt;  ///< fixes α for the methods with has_order()
  /// The neighbouring relation. If empty, the plan's sampling fixes it (see relation_of).
  std::optional<Relation> relation = std::nullopt;
  /// Relative width of the bracket that the method pld should reach. If it is set, the answer may
  /// take minutes and a gigabyte. If it is empty, the width is 1e-9, or 1e-6 for losses with atoms,
  /// and the answer takes about a second and 100 MB.
  std::optional<double> precision = std::nullopt;
  /// Limits the time by a clock instead of by counted work. The answer is then the best bound that
  /// was proved in time, so it depends on the machine.
  std::optional<double> seconds = std::nullopt;
};

/// Returns the work, memory and time that an answer to this question may use.
Allowance allowance_of(const Question& question);

/// A cost with its proof. `value.upper` holds for every mechanism that satisfies the plan.
/// `value.lower` is attained by one such mechanism; it is -inf if no lower bound is proved.
struct Answer {
  Bound value;                  ///< ε, δ or the Rényi divergence
  Method by = Method::tight;    ///< the method that gave the upper bound
  std::optional<double> order;  ///< the winning α of a Rényi method
  Relation relation = Relation::as_stated;
  std::vector<std::string> notes;
  Derivation derivation;
  /// The bracket is wider than `precision` because the work, memory or time limit was reached.
  bool cut = false;
};

/// Returns ε at δ. The bracket covers both the decimal number that was typed and its nearest
/// double, for δ and for every parameter of the plan. Throws OutsideConditions if no theorem
/// applies, and InvalidValue if the plan has a hole.
Answer epsilon(const Plan& plan, Delta delta, const Question& question = {});

/// Returns δ at ε, under the conditions of epsilon().
Answer delta(const Plan& plan, Epsilon epsilon, const Question& question = {});

/// Returns the Rényi divergence D_α for an order α in [1, inf], under the conditions of epsilon().
Answer divergence(const Plan& plan, Order order, const Question& question = {});

/// How much worse one method is than the best method, as factors of at least 1.
struct Waste {
  double best = 0;     ///< the least ε of all methods
  double epsilon = 1;  ///< this method's ε divided by `best`
  /// By which factor the plan's noise must grow until this method proves `best`; see noise_factor.
  std::optional<double> noise = std::nullopt;
};

/// One row of compare(): the answer of a method, or the reason why it does not apply.
struct Comparison {
  Method method;
  std::optional<Answer> answer;
  std::string refusal;
  /// Empty if the method does not apply, or if the best ε is 0 or infinite.
  std::optional<Waste> waste = std::nullopt;
};
/// Returns a row for each method, in the order of all_methods. Waste::noise is left empty;
/// with_noise_waste (calibrate.hpp) fills it.
std::vector<Comparison> compare(const Plan& plan, Delta delta, const Question& question = {});

}  // namespace sotto
