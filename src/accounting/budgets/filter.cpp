// Filters and odometers (docs/theory/filters.md): the cost of an event in each currency, limits,
// and claims.
#include "sotto/accounting/filter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "accounting/api/approximate_gdp.hpp"
#include "accounting/api/concentrated.hpp"
#include "accounting/api/relation.hpp"
#include "accounting/api/renyi.hpp"
#include "accounting/budgets/commitment.hpp"
#include "accounting/events/event_guarantee.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/conversions.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/accounting/derivation.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// --- The cost of an event in each currency ---

std::optional<Relation> requested(Relation relation) {
  return relation == Relation::as_stated ? std::nullopt : std::optional(relation);
}

// The tight ε of an event at δ, which is valid since an event is fixed before it runs. ε holds at
// every real that the decimal `at` may mean, so the double `at` itself may be charged. cost_of()
// excludes approx() at its own δ, for which ε holds at the stated δ only.
Charge tight_cost(const Plan& event, Relation relation, Delta at) {
  return {epsilon(event, at, {.relation = requested(relation)}).value.upper, at.value()};
}

Charge cost(const ApproximateBudget& /*budget*/, const Plan& event) {
  const auto own = accounting_detail::guarantee_without_share(event);
  if (!own) {
    throw OutsideConditions(print(event) +
                                " is (eps, delta)-DP only once a share of delta is chosen: charge "
                                "it at one, or state the event as approx(eps, delta)",
                            Remedy::event_delta);
  }
  return {own->epsilon.upper(), own->delta.upper()};
}

// The probability that an approx() part of the event fails.
double aside_of(const Plan& event) {
  return RenyiAccountant(event, Side::upper).delta_set_aside().upper();
}

Charge cost(const ZcdpBudget& /*budget*/, const Plan& event) {
  return {zcdp_of(event, RhoConversion::better).rho.upper(), aside_of(event)};
}

Charge cost(const RenyiBudget& budget, const Plan& event) {
  return {RenyiAccountant(event, Side::upper).at(budget.order).upper(), aside_of(event)};
}

// μ² and d at a given slack.
Charge gaussian_cost(const Plan& event, double slack) {
  const ApproximateGDP gdp = approximate_gdp_of(event, slack);
  return {square(Real(gdp.mu)).upper(), gdp.slack};
}

// The least slack that an event needs.
double own_delta(const Plan& event) {
  try {
    return aside_of(event);
  } catch (const OutsideConditions&) {
    return 0;  // the δ of catastrophe() is part of its profile
  }
}

// μ² and d at the event's share of the slack, which is proportional to μ². A first μ, at a
// sixteenth of the budget's slack, determines the share. The slack never exceeds `left`.
Charge gaussian_cost(const GdpBudget& budget, const Plan& event, double left) {
  const double own = own_delta(event);
  const double first = std::max(own, std::min(left, own + budget.delta / 16));
  const ApproximateGDP estimate = approximate_gdp_of(event, first);
  if (estimate.exact || first == own) return {square(Real(estimate.mu)).upper(), estimate.slack};
  return gaussian_cost(
      event,
      std::max(own, std::min(left, (Real(own) + Real(slack_share(budget, estimate.mu))).lower())));
}

Charge cost(const GdpBudget& budget, const Plan& event) {
  return gaussian_cost(budget, event, budget.delta);
}

Charge cost(const CommittedBudget& /*budget*/, const Plan& event) {
  return {static_cast<double>(accounting_detail::Commitment(event).total), 0};
}

std::string currency(const ApproximateBudget& /*budget*/) { return "epsilon"; }
std::string currency(const ZcdpBudget& /*budget*/) { return "rho"; }
std::string currency(const RenyiBudget& budget) {
  return "the divergence of order " + shortest(budget.order);
}
std::string currency(const GdpBudget& /*budget*/) { return "mu^2"; }
std::string currency(const CommittedBudget& /*budget*/) { return "parts"; }

std::string currency_of(const Budget& budget) {
  return std::visit([](const auto& b) { return currency(b); }, budget);
}

Charge require_finite(const Charge& charge, const Budget& budget, const Plan& event) {
  if (std::isfinite(charge.amount) && std::isfinite(charge.delta)) return charge;
  throw OutsideConditions(print(event) + " has no known finite cost in " + currency_of(budget));
}

Charge finite_cost(const Budget& budget, const Plan& event) {
  return require_finite(std::visit([&event](const auto& b) { return cost(b, event); }, budget),
                        budget, event);
}

bool has_cost(const Budget& budget, const Plan& event) {
  try {
    finite_cost(budget, event);
    return true;
  } catch (const OutsideConditions&) {
    return false;
  }
}

// The end of a refusal: the currencies in which the event has a finite cost.
std::string other_currencies(const Plan& event) {
  struct Other {
    Budget budget;
    const char* text;
  };
  const std::array<Other, 4> others{{{ApproximateBudget{1}, "epsilon"},
                                     {ZcdpBudget{1}, "rho"},
                                     {RenyiBudget{1.25, 1}, "Rényi divergence of a small order"},
                                     {GdpBudget{1, 1e-7}, "mu^2 with slack"}}};
  std::string text;
  for (const Other& other : others) {
    if (has_cost(other.budget, event))
      text +=
          (text.empty() ? "; in adaptive use it has a cost in " : ", ") + std::string(other.text);
  }
  return text;
}

// Throws OutsideConditions unless the event can be costed under the relation of the filter.
void require_relation(const Plan& event, Relation relation) {
  const Relation own = relation_of(event, requested(relation)).relation;
  if (own == relation) return;
  throw OutsideConditions(print(event) + " fixes the relation " + std::string(name(own)) +
                          ", but this filter or odometer costs events under \"" +
                          std::string(name(relation)) + "\": create it with the relation " +
                          std::string(name(own)));
}

void require_filled(const Plan& plan) {
  if (!holes_of(plan).empty())
    throw InvalidValue("the plan has a hole '?': fill it, or let calibrate find it");
}

// The cost of an event, at the δ or slack `at` if it is set. `left` is the remaining slack of a
// Gaussian budget.
Charge cost_of(const Budget& budget, Relation relation, const Plan& event,
               std::optional<Delta> at = std::nullopt, double left = infinity) {
  require_filled(event);
  const auto* gaussian = std::get_if<GdpBudget>(&budget);
  if (at && gaussian == nullptr && !std::holds_alternative<ApproximateBudget>(budget)) {
    throw InvalidValue(
        "a delta for one event is allowed only under an ApproximateBudget, or as the slack under a "
        "GdpBudget: leave the delta out");
  }
  if (gaussian != nullptr) {
    require_relation(event, relation);
    try {
      return require_finite(at ? gaussian_cost(event, at->value())
                               : gaussian_cost(*gaussian, event, std::min(left, gaussian->delta)),
                            budget, event);
    } catch (const OutsideConditions& e) {
      throw OutsideConditions(e.what() + other_currencies(event), e.remedy());
    }
  }
  if (const auto* approx = event.as<Approx>();
      at && approx != nullptr && approx->delta.value() == at->value()) {
    throw InvalidValue(print(event) + " has this delta by itself: charge it without one");
  }
  if (std::holds_alternative<CommittedBudget>(budget))
    return finite_cost(budget, event);  // the relation was checked for the whole plan
  require_relation(event, relation);
  try {
    return at ? require_finite(tight_cost(event, relation, *at), budget, event)
              : finite_cost(budget, event);
  } catch (const OutsideConditions& e) {
    throw OutsideConditions(e.what() + other_currencies(event), e.remedy());
  }
}

// --- Limits ---

// The limit that is enforced and claimed for a number of a budget. The allowance of a relative
// 2^-50 covers the rounding of the events' numbers: each differs from its decimal by at most a
// relative 2^-53, so their sum does too, and values computed from them by a few times that.
double with_allowance(const Real& stated) {
  const double limit = (stated * Real(1 + 0x1p-50)).upper();
  if (!std::isfinite(limit))
    throw InvalidValue("the budget is not a finite number: choose a smaller one");
  return limit;
}
double amount_limit(double stated, const char* name) {
  return with_allowance(Real::reading(require_non_negative(stated, name)));
}
double delta_limit(double stated) {
  return with_allowance(Real::reading(require_probability_below_one(stated, "delta")));
}

Charge limit_of(const ApproximateBudget& b) {
  return {amount_limit(b.epsilon, "epsilon"), delta_limit(b.delta)};
}
Charge limit_of(const ZcdpBudget& b) { return {amount_limit(b.rho, "rho"), delta_limit(b.delta)}; }
Charge limit_of(const RenyiBudget& b) {
  require_above_one(b.order, "order");
  return {amount_limit(b.epsilon, "epsilon"), delta_limit(b.delta)};
}
Charge limit_of(const GdpBudget& b) {
  return {with_allowance(square(Real::reading(require_non_negative(b.mu, "mu")))),
          delta_limit(b.delta)};
}
Charge limit_of(const CommittedBudget& b) { return cost(b, b.plan); }

// An upper bound on the excess of a sum over its limit; 0 only if the sum certainly stays within
// it.
double excess(const Real& sum, double limit) {
  return certainly_at_most(sum, limit) ? 0 : (sum - Real(limit)).upper();
}

double remaining(double limit, const Real& sum) {
  return std::max(0.0, (Real(limit) - sum).lower());
}

std::string reason(const std::string& currency, double cost, double left, double missing) {
  if (missing == 0) return "";
  // A spent budget still has the allowance for rounding, which counts as nothing.
  return currency + " costs " + rounded_up(cost) + ", " +
         (left <= 1e-12 * cost ? "nothing" : rounded_down(left)) +
         " is left: " + rounded_up(missing) + " is missing";
}

// --- Claims: ε at the δ that remains after the δ of the budget itself ---

double epsilon_of_budget(const ZcdpBudget& /*budget*/, double limit, double delta) {
  return epsilon_from_zcdp({limit}, delta).value.upper();
}
double epsilon_of_budget(const RenyiBudget& budget, double limit, double delta) {
  return epsilon_from_renyi({budget.order, limit}, delta).upper();
}
double epsilon_of_budget(const GdpBudget& /*budget*/, double limit, double delta) {
  return epsilon_of(gaussian_profile(sqrt(Real(limit)).upper()), delta, Side::upper);
}

// The least real that a decimal δ may mean.
double lower_reading(double delta) { return std::max(0.0, Real::reading(delta).lower()); }

template <class B>
Claim claim_of(const B& budget, Relation /*relation*/, const Charge& limit, double delta) {
  const Real aside = limit.delta;
  const double left = limit.delta == 0 ? lower_reading(delta)
                      : certainly_less(aside, 1)
                          ? ((Real(lower_reading(delta)) - aside) / (1 - aside)).lower()
                          : -1;
  if (limit.amount == 0 && left >= 0) return {0, delta};
  return {left > 0 ? epsilon_of_budget(budget, limit.amount, left) : infinity, delta};
}

Claim claim_of(const ApproximateBudget& budget, Relation /*relation*/, const Charge& limit,
               double delta) {
  if (delta < budget.delta) return {infinity, delta};
  return {limit.amount, std::max(delta, limit.delta)};
}

Claim claim_of(const CommittedBudget& budget, Relation relation, const Charge& /*limit*/,
               double delta) {
  return {tight_cost(budget.plan, relation, Delta(delta)).amount, delta};
}

}  // namespace

double slack_share(const GdpBudget& budget, double mu) {
  if (!(budget.delta > 0 && budget.mu > 0)) return 0;
  const double part = std::min(1.0, mu / budget.mu * (mu / budget.mu));
  return read_number(rounded(part * budget.delta, 3, Side::lower));
}

Filter::Filter(Budget budget, Relation relation) : budget_(std::move(budget)), relation_(relation) {
  if (const auto* committed = std::get_if<CommittedBudget>(&budget_)) {
    require_filled(committed->plan);
    require_relation(committed->plan, relation);
    commitment_ = std::make_shared<const accounting_detail::Commitment>(committed->plan);
    used_.resize(commitment_->parts.size());
  }
  limit_ = std::visit([](const auto& b) { return limit_of(b); }, budget_);
}

Filter::Filter(Budget budget, Relation relation, const Tally& tally)
    : Filter(std::move(budget), relation) {
  amount_ = tally.amount;
  delta_ = tally.delta;
  if (tally.used.empty()) return;
  bool fits = tally.used.size() == used_.size();
  for (std::size_t i = 0; fits && i < used_.size(); ++i)
    fits = tally.used[i] >= 0 && tally.used[i] <= commitment_->parts[i].count;
  if (!fits)
    throw InvalidValue(
        "the tally does not fit the committed plan: its counts must be those of the parts of this "
        "plan, each at most as often as the plan says");
  used_ = tally.used;
}

Decision Filter::admit(const Plan& event, std::optional<Delta> at) {
  const Charge cost = cost_of(budget_, relation_, event, at, left().delta);
  if (commitment_ != nullptr) {
    std::int64_t missing = 0;
    std::string reason;
    std::vector<std::int64_t> after =
        commitment_->with(used_, accounting_detail::Commitment(event), missing, reason);
    if (missing > 0) return {false, cost, {static_cast<double>(missing), 0}, reason};
    used_ = std::move(after);
    amount_ += Real(cost.amount);
    return {true, cost, {}, ""};
  }
  const Real amount = amount_ + Real(cost.amount);
  const Real delta = delta_ + Real(cost.delta);
  const Charge missing{excess(amount, limit_.amount), excess(delta, limit_.delta)};
  if (missing == Charge{}) {
    amount_ = amount;
    delta_ = delta;
    return {true, cost, {}, ""};
  }
  const std::string first =
      reason(currency_of(budget_), cost.amount, left().amount, missing.amount);
  const std::string second = reason(std::holds_alternative<GdpBudget>(budget_) ? "slack" : "delta",
                                    cost.delta, left().delta, missing.delta);
  return {false, cost, missing, first + (first.empty() || second.empty() ? "" : "; ") + second};
}

Charge Filter::left() const {
  return {remaining(limit_.amount, amount_), remaining(limit_.delta, delta_)};
}

Claim Filter::claim(Delta delta) const {
  return std::visit([&](const auto& b) { return claim_of(b, relation_, limit_, delta.value()); },
                    budget_);
}

std::optional<Plan> Filter::rest() const {
  return commitment_ == nullptr ? std::nullopt : commitment_->rest(used_);
}

// --- Odometers ---

namespace {

// A budget in the currency of the gauge, for the cost of events.
Budget budget_of(const Gauge& gauge) {
  if (const auto* renyi = std::get_if<RenyiGauge>(&gauge)) return RenyiBudget{renyi->order, 0};
  if (std::holds_alternative<ZcdpGauge>(gauge)) return ZcdpBudget{0};
  return ApproximateBudget{0};
}

// The δ that is reserved for the δ of events.
double aside_limit(const EpsilonGauge& gauge) { return delta_limit(gauge.delta); }
double aside_limit(const ZcdpGauge& gauge) {
  require_positive(gauge.rho, "rho");
  return delta_limit(gauge.aside);
}
double aside_limit(const RenyiGauge& gauge) {
  require_above_one(gauge.order, "order");
  return delta_limit(gauge.aside);
}

// The remaining δ, for the conversion to ε.
double slack_of(const EpsilonGauge& /*gauge*/, double /*aside*/) { return 0; }
template <class G>
double slack_of(const G& gauge, double aside) {
  const double slack =
      (Real(lower_reading(require_open_unit(gauge.delta, "delta"))) - Real(aside)).lower();
  if (!(slack > 0))
    throw InvalidValue("aside = " + shortest(gauge.aside) +
                       " is not allowed: it must be less than delta = " + shortest(gauge.delta));
  return slack;
}

// The δ of a reading.
double claimed_delta(const EpsilonGauge& /*gauge*/, double aside) { return aside; }
template <class G>
double claimed_delta(const G& gauge, double /*aside*/) {
  return gauge.delta;
}

// ε of a reading.
double epsilon_at(const EpsilonGauge& /*gauge*/, const Real& spent, double /*slack*/) {
  return spent.upper();
}

double epsilon_at(const RenyiGauge& gauge, const Real& spent, double slack) {
  return (spent - log(Real(slack)) / (Real(gauge.order) - 1)).upper();
}

// The least of the bounds (1+λ_j)Σρ + log(1/δ_j)/λ_j for j = 0, 1, …, where δ_j = δ/((j+1)(j+2))
// and λ_j is the best one at Σρ = 2^j rho [Whitehouse2023]. All bounds hold simultaneously with
// probability 1 - δ, so any selection is valid; the three around the present Σρ suffice.
double epsilon_at(const ZcdpGauge& gauge, const Real& spent, double slack) {
  const int near = static_cast<int>(
      std::clamp(std::round(std::log2(spent.estimate() / gauge.rho)), 0.0, 2000.0));
  double least = infinity;
  for (int j = std::max(0, near - 1); j <= near + 1; ++j) {
    const Real log_share = log(Real(slack)) - log(Real(j + 1) * Real(j + 2));
    const Real lambda = std::sqrt(-log_share.estimate() / std::ldexp(gauge.rho, j));
    least = std::min(least, (spent * (1 + lambda) - log_share / lambda).upper());
  }
  return least;
}

}  // namespace

Odometer::Odometer(const Gauge& gauge, Relation relation)
    : gauge_(gauge),
      relation_(relation),
      aside_(std::visit([](const auto& g) { return aside_limit(g); }, gauge)),
      slack_(std::visit([this](const auto& g) { return slack_of(g, aside_); }, gauge)),
      claimed_(std::visit([this](const auto& g) { return claimed_delta(g, aside_); }, gauge)) {}

Claim Odometer::record(const Plan& event) {
  const Charge cost = cost_of(budget_of(gauge_), relation_, event);
  amount_ += Real(cost.amount);
  delta_ += Real(cost.delta);
  return reading();
}

Claim Odometer::reading() const {
  if (!certainly_at_most(delta_, aside_)) return {infinity, claimed_};
  if (amount_.upper() == 0) return {0, claimed_};
  return {std::visit([this](const auto& g) { return epsilon_at(g, amount_, slack_); }, gauge_),
          claimed_};
}

}  // namespace sotto
