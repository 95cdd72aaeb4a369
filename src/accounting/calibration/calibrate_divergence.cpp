// Calibration to a Rényi, zCDP or tCDP target.
#include <cmath>
#include <limits>
#include <string>

#include "accounting/leaves/leaf.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "accounting/api/concentrated.hpp"
#include "accounting/api/relation.hpp"
#include "accounting/api/renyi.hpp"
#include "core/api/contradiction.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "numerics/api/crossing.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"
#include "privacy/api/arsinh.hpp"
#include "accounting/calibration/search_variable.hpp"
#include "core/api/work.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// What a filled plan guarantees in the target's terms.
struct Measured {
  Real amount;       // the divergence or ρ
  double omega = 0;  // of tCDP, rounded down
};

// One of the three targets: what it is called, how a plan is measured for it, and what proves that a plan misses it.
class Target {
 public:
  Target(const DivergenceTarget& target, const Question& question) : target_(target), by_(question.by) {
    const auto require = [](bool holds, const std::string& words) {
      if (!holds) throw InvalidValue(words);
    };
    const auto require_method = [](bool holds, const char* words) {
      if (!holds) throw InvalidValue(words, Remedy::method);
    };
    require(amount() > 0 && std::isfinite(amount()), "the target must be a finite number above 0");
    if (const auto* renyi = std::get_if<RenyiTarget>(&target_)) {
      require(renyi->order.value() > 1, "the order of an RDP target must be above 1");
      require_method(by_ == Method::tight || by_ == Method::rdp || by_ == Method::rdp_simple || by_ == Method::rdp_one_order,
                     "an RDP target is met by the Rényi curve: use rdp, rdp-simple or rdp-one-order, or leave it out");
      if (by_ == Method::tight) by_ = Method::rdp;
    } else if (std::holds_alternative<ZcdpTarget>(target_)) {
      require_method(by_ == Method::tight || by_ == Method::zcdp || by_ == Method::zcdp_classic,
                     "a zCDP target is met by rho: use zcdp or zcdp-classic, or leave it out");
      if (by_ == Method::tight) by_ = Method::zcdp;
    } else {
      require(std::get<TcdpTarget>(target_).omega > 1, "omega must be above 1");
      require_method(by_ == Method::tight || by_ == Method::tcdp, "a tCDP target is met by (rho, omega): use tcdp, or leave it out");
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
    if (const auto* truncated = tcdp()) return "(" + amount_text + ", " + shortest(truncated->omega) + ")-tCDP";
    return amount_text + "-zCDP";
  }

  // OutsideConditions where no theorem applies.
  [[nodiscard]] Measured measure(const Plan& plan, Derivation* why = nullptr) const {
    if (accounting_detail::can_fail(plan)) {
      throw OutsideConditions("approx() and catastrophe() have an (eps, delta) guarantee alone, and every Rényi divergence of the plan is infinite");
    }
    Measured found;
    if (order()) {
      const SamplingLine line = by_ == Method::rdp_simple      ? SamplingLine::every_order
                                : by_ == Method::rdp_one_order ? SamplingLine::one_order
                                                               : SamplingLine::best;
      const RenyiAccountant accountant(plan, Side::upper, line);
      const double at = std::isinf(*order()) ? *order() : Real::reading(*order()).upper();
      found.amount = accountant.at(at);
      if (why != nullptr) *why = accountant.derive(*order());
    } else if (tcdp() != nullptr) {
      const TruncatedConcentratedDP dp = tcdp_of(plan, why);
      found.amount = dp.rho;
      found.omega = dp.omega.lower();
    } else {
      found.amount = zcdp_of(plan, by_ == Method::zcdp_classic ? RhoLine::classic : RhoLine::better, why).rho;
    }
    return found;
  }
  // The upper bound of what is measured; infinite where ω is too small.
  [[nodiscard]] double above(const Measured& found) const {
    if (const auto* truncated = tcdp(); truncated != nullptr && !(found.omega >= Real::reading(truncated->omega).upper())) return infinity;
    return found.amount.upper();
  }
  // What some mechanism that the plan allows has at least: D_α of the plan's own pair, or D_1, since D_1 <= D_α <= ρα for every α > 1.
  [[nodiscard]] static double below(const Plan& plan, std::optional<double> order) {
    const RenyiAccountant accountant(plan, Side::lower);
    if (!order) return accountant.at(1).lower();
    return accountant.at(std::isinf(*order) ? *order : std::max(1.0, Real::reading(*order).lower())).lower();
  }

 private:
  DivergenceTarget target_;
  Method by_;
};

double lower_amount(const Target& target, const Plan& plan) {
  double lower = -infinity;
  attempted(0.5, [&] {
    try {
      lower = Target::below(plan, target.order());
    } catch (const OutsideConditions&) {
      // nothing is known from below
    }
  });
  return std::isinf(lower) && lower < 0 ? lower : std::max(0.0, lower);
}

Calibration filled_in(const Target& target, const Plan& plan, double value, const std::string& hole, bool whole, const Question& question) {
  const PlanRelation relation = relation_of(plan, question.relation);
  Answer cost;
  const Measured found = target.measure(plan, &cost.derivation);
  cost.by = target.by();
  cost.order = target.order();
  cost.relation = relation.relation;
  cost.notes = relation.notes;
  cost.value = bracket(std::min(lower_amount(target, plan), found.amount.upper()), found.amount.upper(), "the divergence of " + print(plan));
  Calibration result{value, plan, hole, whole, std::move(cost), std::nullopt, std::nullopt};
  if (target.tcdp() != nullptr) result.omega = found.omega;
  return result;
}

// arsinh(?, ?) for (ρ, ω)-tCDP, rounded to the safe side.
std::optional<Calibration> arsinh_by_theorem(const Target& target, const Plan& plan, const Question& question) {
  const auto* noise = plan.as<Arsinh>();
  if (noise == nullptr || target.tcdp() == nullptr) return std::nullopt;
  if (!noise->rho.is_hole() || !noise->a.is_hole() || noise->sensitivity.is_hole()) return std::nullopt;
  const ArsinhParameters parameters =
      arsinh_for_target(Real::reading(target.tcdp()->rho), Real::reading(target.tcdp()->omega), accounting_detail::reading(noise->sensitivity));
  double rho = parameters.rho.lower();
  double a = parameters.a.upper();
  for (int i = 0; i < 8; ++i, rho = next_down(rho), a = a == std::floor(a) && i < 4 ? a : next_up(a)) {
    const Plan filled = arsinh(rho, a, noise->sensitivity);
    if (target.above(target.measure(filled)) > target.reading().lower()) continue;
    return filled_in(target, filled, rho, "rho of arsinh, by its theorem; a = 8 sensitivity omega", false, question);
  }
  throw OutsideConditions("rounding leaves no arsinh noise for this target");
}

// A neighbour of the value with which the plan misses the target for certain.
std::optional<double> shown_insufficient(const Target& target, const Plan& plan, const accounting_detail::Unknown& unknown,
                                         const Calibration& found) {
  const std::vector<double> gaps = unknown.whole ? std::vector<double>{1} : std::vector<double>{1e-9, 1e-6};
  for (const double gap : gaps) {
    const double sign = unknown.cheaper ? -1 : 1;
    const double value = unknown.whole ? found.value + sign : found.value * (1 + sign * gap);
    if (value < unknown.least || value > unknown.most) return std::nullopt;
    if (lower_amount(target, fill(plan, value)) > target.reading().upper()) return value;
  }
  return std::nullopt;
}

}  // namespace

Calibration calibrate(const Plan& plan, const DivergenceTarget& wanted, const Question& question) {
  const Target target(wanted, question);
  const WorkLimit limit(allowance_of(question));
  if (auto found = arsinh_by_theorem(target, plan, question)) return *found;
  const accounting_detail::Unknown unknown = accounting_detail::unknown_of(plan);
  const double most = target.reading().lower();
  std::string reason;
  double least = infinity;
  const auto excess = [&](double value) -> Excess {
    double cost = infinity;
    try {
      const Plan filled = fill(plan, value);
      (void)relation_of(filled, question.relation);
      cost = target.above(target.measure(filled));
    } catch (const OutsideConditions& refusal) {
      reason = refusal.what();
    } catch (const InvalidValue& refusal) {
      reason = refusal.what();
    }
    least = std::min(least, cost);
    return {cost == most ? 0 : cost > 0 ? std::log(cost / most) : -infinity};
  };
  const CrossingRange range{.low = unknown.least,
                            .high = unknown.most,
                            .holds_high = unknown.cheaper,
                            .start = accounting_detail::starting_point(unknown),
                            .whole = unknown.whole};
  std::optional<double> value;
  if (!attempted(0.8, [&] { value = crossing(range, excess).holds; })) {
    throw OutsideConditions("the work that is allowed by default did not suffice to calibrate this plan: allow more time", Remedy::work);
  }
  if (!value) {
    if (std::isfinite(least)) reason = "the least found is " + rounded(least, 6, Side::upper);
    if (reason.empty() && target.tcdp() != nullptr) reason = "its omega is smaller";
    throw OutsideConditions(unknown.no_one + " makes the plan " + target.text() + " by " + std::string(name(target.by())) +
                            (reason.empty() ? "" : ": " + reason));
  }
  Calibration result = filled_in(target, fill(plan, *value), *value, unknown.text, unknown.whole, question);
  attempted(1, [&] { result.insufficient = shown_insufficient(target, plan, unknown, result); });
  return result;
}

}  // namespace sotto
