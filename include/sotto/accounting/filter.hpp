// Privacy filters and odometers: budgets for an analyst who chooses each event from the answers so
// far.
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

// An event is a plan that runs completely before the next one is chosen. docs/theory/filters.md
// proves every statement here, for any rule that chooses the next event (full adaptivity). The
// tight total of a plan holds only for a plan that was fixed in advance: it applies to a
// CommittedBudget alone.

/// The cost of events: `amount` in the filter's currency, and `delta`. Both are upper bounds.
struct Charge {
  double amount = 0;
  double delta = 0;
  friend bool operator==(const Charge&, const Charge&) = default;
};

/// An (ε, δ)-DP guarantee; pure DP is δ = 0.
struct Claim {
  double epsilon;
  double delta;
  friend bool operator==(const Claim&, const Claim&) = default;
};

// --- Filters ---

// In every budget `delta` limits the sum of the δ of approx() events [Whitehouse2023]. In a
// GdpBudget it limits the sum of the slacks d.

/// Limits Σε and Σδ of events that are (ε, δ)-DP by themselves [Rogers2016].
struct ApproximateBudget {
  double epsilon;
  double delta = 0;
};
/// Limits Σρ of zCDP [Feldman2021; Lecuyer2021; Whitehouse2023].
struct ZcdpBudget {
  double rho;
  double delta = 0;
};
/// Limits ΣD_α at one order α in (1, inf) [Feldman2021; Lecuyer2021].
struct RenyiBudget {
  double order;
  double epsilon;
  double delta = 0;
};
/// Limits Σμ² to mu² and Σd to delta, of events that are d-approximately μ-GDP
/// [Smith2022; Koskela2023; Dong2022].
struct GdpBudget {
  double mu;
  double delta = 0;
};
/// One plan that is fixed now. Each of its parts may run at most as often as the plan says, in any
/// order.
struct CommittedBudget {
  Plan plan;
};
using Budget = std::variant<ApproximateBudget, ZcdpBudget, RenyiBudget, GdpBudget, CommittedBudget>;

/// The answer of a filter to one event. A refusal is a value, not an exception.
struct Decision {
  bool admitted;
  Charge cost;         ///< the cost of the event; charged only if it is admitted
  Charge missing;      ///< how far the event exceeds the remaining budget; 0 if it is admitted
  std::string reason;  ///< says what is missing; empty if it is admitted
  explicit operator bool() const { return admitted; }
};

/// Returns the part of a Gaussian budget's slack for an event of this μ: budget.delta
/// (μ/budget.mu)², at most budget.delta, rounded down to three digits.
double slack_share(const GdpBudget& budget, double mu);

/// The state of a filter: the sums of all charges. A new Filter can continue from it.
struct Tally {
  Real amount = 0;
  Real delta = 0;
  std::vector<std::int64_t> used =
      {};  ///< of a CommittedBudget: how often each part ran; empty if none ran
};

namespace accounting_detail {
struct Commitment;
}

/// A privacy filter admits events as long as the sum of their costs certainly stays within a
/// budget. It is a small value of constant size, so a copy can try out an event. Not thread-safe.
class Filter {
 public:
  /// Every event is costed under `relation`; if it is `as_stated`, events that fix a relation are
  /// refused. Throws InvalidValue if a number of the budget is out of range.
  explicit Filter(Budget budget, Relation relation = Relation::as_stated);
  /// Continues from a tally. Throws InvalidValue if the tally belongs to another committed plan.
  Filter(Budget budget, Relation relation, const Tally& tally);

  /// Charges the event if the remaining budget covers it. An admitted event may then run once. A
  /// refused event costs nothing. `at` selects the δ of the charge. Under an ApproximateBudget the
  /// event is charged this δ and its tight ε at it. Under a GdpBudget it is charged a slack of at
  /// most `at` and its least certified μ (approximate_gdp_of); if `at` is empty, the slack is
  /// slack_share(). Under a CommittedBudget the event consists of remaining parts of the plan (one
  /// part, a repetition of it, or a sum of parts) and costs their number. Throws OutsideConditions
  /// if the event fixes another relation or has no finite cost in the budget's currency, and
  /// InvalidValue if `at` is set under any other budget.
  [[nodiscard]] Decision admit(const Plan& event, std::optional<Delta> at = std::nullopt);

  /// Returns the budget that is enforced and claimed. Each number is larger by a relative 2^-50
  /// than in budget(), so that events whose decimal numbers add up to the budget are admitted in
  /// spite of rounding: ten events of 0.1 fit into 1.
  [[nodiscard]] Charge limit() const { return limit_; }
  /// Returns the sum of all charges, rounded up. It is not a privacy guarantee: claim() is.
  [[nodiscard]] Charge spent() const { return {amount_.upper(), delta_.upper()}; }
  [[nodiscard]] Tally tally() const { return {amount_, delta_, used_}; }
  /// Returns the remaining budget, rounded down.
  [[nodiscard]] Charge left() const;
  /// Returns the remaining parts of a committed plan; empty if no part remains, and for other
  /// budgets.
  [[nodiscard]] std::optional<Plan> rest() const;
  [[nodiscard]] Relation relation() const { return relation_; }
  [[nodiscard]] const Budget& budget() const { return budget_; }

  /// Returns the (ε, δ)-DP guarantee of the whole interaction, however it continues. It depends on
  /// the budget, not on the charges so far. For an ApproximateBudget at its own δ, ε is that of
  /// limit(); for a committed plan it is the plan's tight ε. ε is infinite if δ is too small for
  /// the budget's δ.
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

// `delta` is the total δ of every reading. `aside` is the part of it that is reserved for the sum
// of the δ of approx() events.

/// Reads Σε of events that are (ε, δ)-DP by themselves; `delta` limits the sum of their δ
/// [Rogers2016].
struct EpsilonGauge {
  double delta = 0;
};
/// Reads Σρ of zCDP, by a linear bound that is tuned for each of rho, 2 rho, 4 rho, …
/// [Whitehouse2023].
struct ZcdpGauge {
  double delta;
  double aside = 0;
  double rho = 0x1p-10;  ///< the least Σρ for which a reading is tuned
};
/// Reads ΣD_α + log(1/δ)/(α-1) at one order α in (1, inf) [Feldman2021; Whitehouse2023].
struct RenyiGauge {
  double order;
  double delta;
  double aside = 0;
};
using Gauge = std::variant<EpsilonGauge, ZcdpGauge, RenyiGauge>;

/// A privacy odometer [Rogers2016] measures the cost of adaptive events without a budget. Its
/// readings ε_1, ε_2, … hold simultaneously: for any adaptive choice of the events and of the
/// stopping time τ, the distributions P and Q of the transcript on neighbouring inputs satisfy P(S)
/// <= E_Q[e^(ε_τ); S] + δ for every set S of transcripts with finite ε_τ. Not thread-safe.
class Odometer {
 public:
  /// Throws InvalidValue if a number of the gauge is out of range.
  explicit Odometer(const Gauge& gauge, Relation relation = Relation::as_stated);

  /// Counts an event that is about to run, and returns the new reading. Throws OutsideConditions in
  /// the cases of Filter::admit; the event is then not counted and must not run.
  Claim record(const Plan& event);
  /// Returns ε and δ so far. ε is infinite from the moment at which the sum of the events' δ
  /// exceeds the δ that is reserved for it.
  [[nodiscard]] Claim reading() const;

 private:
  Gauge gauge_;
  Relation relation_;
  double aside_;    // the δ that is reserved for events, with the allowance for rounding
  double slack_;    // the remaining δ, which the conversion to ε uses
  double claimed_;  // the δ of every reading
  Real amount_ = 0;
  Real delta_ = 0;
};

}  // namespace sotto
