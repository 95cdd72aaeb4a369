// Calibration to a bound on Rényi divergences: an RDP, zCDP or tCDP target.
#include <cmath>
#include <limits>
#include <string>

#include "accounting/api/concentrated.hpp"
#include "accounting/api/relation.hpp"
#include "accounting/api/renyi.hpp"
#include "accounting/calibration/search_variable.hpp"
#include "accounting/leaves/leaf.hpp"
#include "core/api/contradiction.hpp"
#include "core/api/work.hpp"
#include "numerics/api/crossing.hpp"
#include "privacy/api/arsinh.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The guarantee of a filled plan in the terms of the target.
struct Guarantee {
  Real amount;       // the divergence or ρ
  double omega = 0;  // of tCDP, rounded down
};

// One of the three targets: its text, the guarantee of a plan in its terms, and lower bounds that
// prove that a plan misses it.
class Target {
 public:
  Target(const DivergenceTarget& target, const Question& question)
      : target_(target), by_(question.by) {
    const auto require = [](bool holds, const std::string& message) {
      if (!holds) throw InvalidValue(message);
    };
    const auto require_method = [](bool holds, const char* message) {
      if (!holds) throw InvalidValue(message, Remedy::method);
    };
    require(
        amount() > 0 && std::isfinite(amount()),
        "the target " + shortest(amount()) + " is not allowed: it must be a finite number above 0");
    if (const auto* renyi = std::get_if<RenyiTarget>(&target_)) {
      require(renyi->order.value() > 1,
              "order = " + shortest(renyi->order.value()) +
                  " is not allowed: the order of an RDP target must be above 1");
      require_method(by_ == Method::tight || by_ == Method::rdp || by_ == Method::rdp_simple ||
                         by_ == Method::rdp_one_order,
                     "an RDP target needs a method with a Rényi curve: use rdp, rdp-simple or "
                     "rdp-one-order, or leave the method out");
      if (by_ == Method::tight) by_ = Method::rdp;
    } else if (std::holds_alternative<ZcdpTarget>(target_)) {
      require_method(by_ == Method::tight || by_ == Method::zcdp || by_ == Method::zcdp_classic,
                     "a zCDP target needs a method with rho: use zcdp or zcdp-classic, or leave "
                     "the method out");
      if (by_ == Method::tight) by_ = Method::zcdp;
    } else {
      require(std::get<TcdpTarget>(target_).omega > 1,
              "omega = " + shortest(std::get<TcdpTarget>(target_).omega) +
                  " is not allowed: it must be above 1");
      require_method(
          by_ == Method::tight || by_ == Method::tcdp,
          "a tCDP target needs a method with (rho, omega): use tcdp, or leave the method out");
      by_ = Method::tcdp;
    }
  }

  [[nodiscard]] Method by() const { return by_; }
  [[nodiscard]] double amount() const {
    return std::visit(
        []<class T>(const T& target) {
          if constexpr (std::is_same_v<T, RenyiTarget>) return target.epsilon;
          if constexpr (!std::is_same_v<T, RenyiTarget>) return target.rho;
        },
        target_);
  }
  [[nodiscard]] Real reading() const { return Real::reading(amount()); }
  [[nodiscard]] std::optional<double> order() const {
    const auto* renyi = std::get_if<RenyiTarget>(&target_);
    return renyi == nullptr ? std::nullopt : std::optional(renyi->order.value());
  }
  [[nodiscard]] const TcdpTarget* tcdp() const { return std::get_if<TcdpTarget>(&target_); }
  [[nodiscard]] std::string text() const {
    const std::string amount_text = shortest(amount());
    if (order()) return "(" + shortest(*order()) + ", " + amount_text + ")-RDP";
    if (const auto* truncated = tcdp())
      return "(" + amount_text + ", " + shortest(truncated->omega) + ")-tCDP";
    return amount_text + "-zCDP";
  }

  // Returns the guarantee of a plan. Throws OutsideConditions if no theorem applies.
  [[nodiscard]] Guarantee guarantee_of(const Plan& plan, Derivation* why = nullptr) const {
    if (accounting_detail::can_fail(plan)) {
      throw OutsideConditions(
          "approx() and catastrophe() have an (eps, delta) guarantee alone, and every Rényi "
          "divergence of the plan is infinite");
    }
    Guarantee result;
    if (order()) {
      const WithoutReplacementBound bound =
          by_ == Method::rdp_simple      ? WithoutReplacementBound::every_order
          : by_ == Method::rdp_one_order ? WithoutReplacementBound::one_order
                                         : WithoutReplacementBound::best;
      const RenyiAccountant accountant(plan, Side::upper, bound);
      const double at = std::isinf(*order()) ? *order() : Real::reading(*order()).upper();
      result.amount = accountant.at(at);
      if (why != nullptr) *why = accountant.derive(*order());
    } else if (tcdp() != nullptr) {
      const TruncatedConcentratedDP dp = tcdp_of(plan, why);
      result.amount = dp.rho;
      result.omega = dp.omega.lower();
    } else {
      result.amount =
          zcdp_of(plan,
                  by_ == Method::zcdp_classic ? RhoConversion::classic : RhoConversion::better, why)
              .rho;
    }
    return result;
  }
  // Returns the upper bound of the divergence or ρ; infinite if ω is below that of the target.
  [[nodiscard]] double upper_amount(const Guarantee& guarantee) const {
    if (const auto* truncated = tcdp();
        truncated != nullptr && !(guarantee.omega >= Real::reading(truncated->omega).upper()))
      return infinity;
    return guarantee.amount.upper();
  }
  // Returns a lower bound on the amount of some mechanism that satisfies the plan: D_α of an
  // attained pair; or D_1 for ρ, since D_1 <= D_α <= ρα for every α > 1.
  [[nodiscard]] static double lower_amount(const Plan& plan, std::optional<double> order) {
    const RenyiAccountant accountant(plan, Side::lower);
    if (!order) return accountant.at(1).lower();
    return accountant.at(std::isinf(*order) ? *order : std::max(1.0, Real::reading(*order).lower()))
        .lower();
  }

 private:
  DivergenceTarget target_;
  Method by_;
};

// A lower bound on the amount, with a part of the work; -inf if nothing is proved.
double attempted_lower_amount(const Target& target, const Plan& plan) {
  double lower = -infinity;
  finishes_within(0.5, [&] {
    try {
      lower = Target::lower_amount(plan, target.order());
    } catch (const OutsideConditions&) {
      // No lower bound is known.
    }
  });
  return std::isinf(lower) && lower < 0 ? lower : std::max(0.0, lower);
}

// The result for a filled plan.
Calibration make_calibration(const Target& target, const Plan& plan, double value,
                             const std::string& hole, bool whole, const Question& question) {
  const PlanRelation relation = relation_of(plan, question.relation);
  Answer cost;
  const Guarantee guarantee = target.guarantee_of(plan, &cost.derivation);
  cost.by = target.by();
  cost.order = target.order();
  cost.relation = relation.relation;
  cost.notes = relation.notes;
  cost.value = bracket(std::min(attempted_lower_amount(target, plan), guarantee.amount.upper()),
                       guarantee.amount.upper(), "the divergence of " + print(plan));
  Calibration result{value, plan, hole, whole, std::move(cost), std::nullopt, std::nullopt};
  if (target.tcdp() != nullptr) result.omega = guarantee.omega;
  return result;
}

// arsinh(?, ?) for (ρ, ω)-tCDP by the formula of its theorem [Bun2018], rounded to the safe side;
// empty for any other plan or target.
std::optional<Calibration> arsinh_by_theorem(const Target& target, const Plan& plan,
                                             const Question& question) {
  const auto* noise = plan.as<Arsinh>();
  if (noise == nullptr || target.tcdp() == nullptr) return std::nullopt;
  if (!noise->rho.is_hole() || !noise->a.is_hole() || noise->sensitivity.is_hole())
    return std::nullopt;
  const ArsinhParameters parameters =
      arsinh_for_target(Real::reading(target.tcdp()->rho), Real::reading(target.tcdp()->omega),
                        accounting_detail::reading(noise->sensitivity));
  double rho = parameters.rho.lower();
  double a = parameters.a.upper();
  for (int i = 0; i < 8;
       ++i, rho = next_down(rho), a = a == std::floor(a) && i < 4 ? a : next_up(a)) {
    const Plan filled = arsinh(rho, a, noise->sensitivity);
    if (target.upper_amount(target.guarantee_of(filled)) > target.reading().lower()) continue;
    return make_calibration(target, filled, rho,
                            "rho of arsinh, by its theorem; a = 8 sensitivity omega", false,
                            question);
  }
  throw OutsideConditions(
      "no double parameters of arsinh noise meet this target after rounding: choose a slightly "
      "larger rho or smaller omega");
}

// A number next to the result with which the plan certainly misses the target; empty if none is
// proved.
std::optional<double> proven_insufficient(const Target& target, const Plan& plan,
                                          const accounting_detail::SearchVariable& variable,
                                          const Calibration& result) {
  const std::vector<double> gaps =
      variable.whole ? std::vector<double>{1} : std::vector<double>{1e-9, 1e-6};
  for (const double gap : gaps) {
    const double sign = variable.lowers_cost ? -1 : 1;
    const double value = variable.whole ? result.value + sign : result.value * (1 + sign * gap);
    if (value < variable.least || value > variable.most) return std::nullopt;
    if (attempted_lower_amount(target, fill(plan, value)) > target.reading().upper()) return value;
  }
  return std::nullopt;
}

}  // namespace

Calibration calibrate(const Plan& plan, const DivergenceTarget& divergence_target,
                      const Question& question) {
  const Target target(divergence_target, question);
  const WorkLimit limit(allowance_of(question));
  if (auto result = arsinh_by_theorem(target, plan, question)) return *result;
  const accounting_detail::SearchVariable variable = accounting_detail::search_variable_of(plan);
  const double most = target.reading().lower();
  std::string reason;
  double least = infinity;
  const auto excess = [&](double value) -> Excess {
    double cost = infinity;
    try {
      const Plan filled = fill(plan, value);
      (void)relation_of(filled, question.relation);
      cost = target.upper_amount(target.guarantee_of(filled));
    } catch (const OutsideConditions& refusal) {
      reason = refusal.what();
    } catch (const InvalidValue& refusal) {
      reason = refusal.what();
    }
    least = std::min(least, cost);
    return {cost == most ? 0 : cost > 0 ? std::log(cost / most) : -infinity};
  };
  const CrossingRange range{.low = variable.least,
                            .high = variable.most,
                            .holds_high = variable.lowers_cost,
                            .start = accounting_detail::starting_point(variable),
                            .whole = variable.whole};
  std::optional<double> value;
  if (!finishes_within(0.8, [&] { value = find_crossing(range, excess).holds; })) {
    throw OutsideConditions(
        "the default work limit did not suffice to calibrate this plan: allow more time",
        Remedy::work);
  }
  if (!value) {
    if (std::isfinite(least)) reason = "the least value is " + rounded(least, 6, Side::upper);
    if (reason.empty() && target.tcdp() != nullptr) reason = "its omega is smaller";
    throw OutsideConditions(variable.no_value + " makes the plan " + target.text() + " by " +
                            std::string(name(target.by())) + (reason.empty() ? "" : ": " + reason));
  }
  Calibration result =
      make_calibration(target, fill(plan, *value), *value, variable.text, variable.whole, question);
  finishes_within(
      1, [&] { result.insufficient = proven_insufficient(target, plan, variable, result); });
  return result;
}

}  // namespace sotto
