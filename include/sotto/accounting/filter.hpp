// Filters and odometers: budgets for an analyst who chooses every next event, and its parameters, from the answers so far.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sotto/core/values.hpp"
#include "sotto/numerics/real.hpp"
#include "sotto/plan/plan.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {

// An event is a plan that is run whole before the next one is chosen. Every statement here is proved in
// docs/theory/filters.md, for any rule by which the next event is chosen. The tight total of a plan is a statement
// about a plan that was fixed in advance: it binds where the plan is the budget (CommittedBudget), and nowhere else.

/// What events cost: `amount` in the filter's currency, `delta` apart from it. Bounds from above.
struct Charge {
  double amount = 0;
  double delta = 0;
  friend bool operator==(const Charge&, const Charge&) = default;
};

/// (ε, δ)-DP; pure DP is δ = 0.
struct Claim {
  double epsilon;
  double delta;
  friend bool operator==(const Claim&, const Claim&) = default;
};

// --- Filters ---

// In all budgets `delta` is what the δ of approx() events may add up to [Whitehouse2023]; under a GdpBudget it is the slack.

struct ApproximateBudget {  ///< Σε and Σδ, of events that are (ε, δ)-DP by themselves [Rogers2016]
  double epsilon;
  double delta = 0;
};
struct ZcdpBudget {  ///< Σρ [Feldman2021; Lecuyer2021; Whitehouse2023]
  double rho;
  double delta = 0;
};
struct RenyiBudget {  ///< ΣD_α at this one order α in (1, inf) [Feldman2021; Lecuyer2021]
  double order;
  double epsilon;
  double delta = 0;
};
struct GdpBudget {  ///< Σμ² <= μ² and Σd <= delta, of events that are d-approximately μ-GDP [Smith2022; Koskela2023; Dong2022]
  double mu;
  double delta = 0;
};
struct CommittedBudget {  ///< the parts of one plan, fixed now: each is run at most as often as the plan says, in any order
  Plan plan;
};
using Budget = std::variant<ApproximateBudget, ZcdpBudget, RenyiBudget, GdpBudget, CommittedBudget>;

struct Decision {
  bool admitted;
  Charge cost;         ///< the event's, charged if it is admitted
  Charge missing;      ///< by how much the event exceeds what is left; 0 if it is admitted
  std::string reason;  ///< the same in words; empty if it is admitted
  explicit operator bool() const { return admitted; }
};

/// The part of a Gaussian budget's slack that goes with an event of this μ: delta μ²/μ_budget², at most all of it, of three digits, rounded down.
double slack_share(const GdpBudget& budget, double mu);

/// What was charged, as it is summed: enough to go on from later.
struct Tally {
  Real amount = 0;
  Real delta = 0;
  std::vector<std::int64_t> used = {};  ///< under a CommittedBudget: how often each part of the plan was run; empty is never
};

namespace accounting_detail {
struct Commitment;
}

/// Admits events while their costs certainly stay within a budget. A small value that is as large after a million
/// events as before the first: a copy tries an event out.
class Filter {
 public:
  /// The relation holds for every event; under `as_stated` no event may fix one. InvalidValue for numbers out of range.
  explicit Filter(Budget budget, Relation relation = Relation::as_stated);
  /// A filter that has charged this much already. InvalidValue for a tally of another plan.
  Filter(Budget budget, Relation relation, const Tally& tally);

  /// Charges the event if what is left covers it: it may then be run, once. A refused event costs nothing.
  /// OutsideConditions for an event of another relation or without a cost in the budget's currency.
  /// With `at`, under an ApproximateBudget, the event is charged that δ and its tight ε there, whatever it is made of; under a GdpBudget the
  /// slack d = `at`, or less where it needs less, and its least certified μ there (approximate_gdp_of); without it, slack_share of the budget.
  /// InvalidValue under any other budget. Under a CommittedBudget an event is parts of the plan that are left: one, several of a
  /// kind, or a sum; it costs their number.
  [[nodiscard]] Decision admit(const Plan& event, std::optional<Delta> at = std::nullopt);

  /// The budget as it is enforced and claimed: 2^-50 of each number more than was given, so that events whose stated
  /// numbers add up to the budget are admitted whatever the rounding (ten times 0.1 against 1).
  [[nodiscard]] Charge limit() const { return limit_; }
  /// What was charged, rounded up. It is no guarantee by itself: that is claim().
  [[nodiscard]] Charge spent() const { return {amount_.upper(), delta_.upper()}; }
  [[nodiscard]] Tally tally() const { return {amount_, delta_, used_}; }
  /// What certainly is left.
  [[nodiscard]] Charge left() const;
  /// What is left of a committed plan; empty if nothing is, and under any other budget.
  [[nodiscard]] std::optional<Plan> rest() const;
  [[nodiscard]] Relation relation() const { return relation_; }
  [[nodiscard]] const Budget& budget() const { return budget_; }

  /// What the whole interaction satisfies, however it goes on: a property of the budget, whatever was spent. ε is
  /// infinite where δ does not cover the budget's own. At the δ of an ApproximateBudget it is that of limit(). That of a committed
  /// plan is the plan's tight ε.
  [[nodiscard]] Claim claim(Delta delta) const;

 private:
  Budget budget_;
  Relation relation_;
  Charge limit_;
  std::shared_ptr<const accounting_detail::Commitment> commitment_;  // of a CommittedBudget
  Real amount_ = 0;
  Real delta_ = 0;
  std::vector<std::int64_t> used_;
};

// --- Odometers ---

// `delta` is the whole δ of every reading; `aside` is the part of it that the δ of approx() events may add up to.

struct EpsilonGauge {  ///< Σε, of events that are (ε, δ)-DP by themselves; all of `delta` is for their δ [Rogers2016]
  double delta = 0;
};
struct ZcdpGauge {  ///< Σρ, read by a line for each of rho, 2 rho, 4 rho, … [Whitehouse2023]
  double delta;
  double aside = 0;
  double rho = 0x1p-10;  ///< below it the reading is not at its best
};
struct RenyiGauge {  ///< ΣD_α + log(1/δ)/(α-1) at one order α in (1, inf) [Feldman2021; Whitehouse2023]
  double order;
  double delta;
  double aside = 0;
};
using Gauge = std::variant<EpsilonGauge, ZcdpGauge, RenyiGauge>;

/// Says what was spent, without a budget: readings ε_1, ε_2, … that hold together. However the events and the time τ to
/// stop are chosen, the laws P, Q of the transcript on neighbours satisfy P(S) <= E_Q[e^(ε_τ); S] + δ for all sets S of
/// transcripts with finite ε_τ.
class Odometer {
 public:
  explicit Odometer(const Gauge& gauge, Relation relation = Relation::as_stated);

  /// Counts an event that is about to be run, and reads. OutsideConditions as for a filter: the event is not counted
  /// then, and must not be run.
  Claim record(const Plan& event);
  /// ε and δ so far. ε is infinite once the events' own δ exceed their part, and stays so.
  [[nodiscard]] Claim reading() const;

 private:
  Gauge gauge_;
  Relation relation_;
  double aside_;    // as enforced
  double slack_;    // what is left of δ for the lines
  double claimed_;  // the δ of every reading
  Real amount_ = 0;
  Real delta_ = 0;
};

}  // namespace sotto
