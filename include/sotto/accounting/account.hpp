// What does this plan cost? Under which definition, by which theorem?
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

struct Question {
  Method by = Method::tight;
  std::optional<Order> order = std::nullopt;        ///< fixes α for the Rényi methods
  std::optional<Relation> relation = std::nullopt;  ///< else what the plan's sampling fixes
  /// The relative width of a bracket by pld that is worth minutes and a gigabyte; without it 1e-9, or 1e-6 with atoms, and about a second and 100 MB
  std::optional<double> precision = std::nullopt;
  std::optional<double> seconds = std::nullopt;  ///< a clock in place of counted work: the answer is the best that was proved by then
};

/// What an answer to this question may take.
Allowance allowance_of(const Question& question);

/// An answer. `value.upper` holds for every mechanism that satisfies the plan's words; `value.lower` is reached by
/// one of them and is -inf where nothing is proved.
struct Answer {
  Bound value;                  ///< ε, δ or the divergence that was asked for
  Method by = Method::tight;    ///< the method that gave the upper bound
  std::optional<double> order;  ///< the winning α of a Rényi method
  Relation relation = Relation::as_stated;
  std::vector<std::string> notes;
  Derivation derivation;
  bool cut = false;  ///< the bracket is wider than was wanted, since the work or memory that was allowed did not suffice
};

/// ε at δ. Decimal and binary reading of every number are both covered. OutsideConditions where no theorem applies.
Answer epsilon(const Plan& plan, Delta delta, const Question& question = {});

/// δ at ε.
Answer delta(const Plan& plan, Epsilon epsilon, const Question& question = {});

/// The Rényi divergence of an order in [1, inf].
Answer divergence(const Plan& plan, Order order, const Question& question = {});

/// What a method wastes against the best one, as factors from 1 on.
struct Waste {
  double best = 0;                             ///< the best ε
  double epsilon = 1;                          ///< its ε to the best ε
  std::optional<double> noise = std::nullopt;  ///< the noise with which it proves the best ε, to the plan's; see noise_factor
};

/// One row a method: what it gives, or why it does not apply.
struct Comparison {
  Method method;
  std::optional<Answer> answer;
  std::string refusal;
  std::optional<Waste> waste = std::nullopt;  ///< empty where the method does not apply, or the best ε is 0 or infinite
};
/// All methods, in the order of all_methods; the waste in noise is left open.
std::vector<Comparison> compare(const Plan& plan, Delta delta, const Question& question = {});

}  // namespace sotto
