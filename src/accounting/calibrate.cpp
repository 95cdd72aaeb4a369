#include "sotto/accounting/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "methods.hpp"
#include "sotto/accounting/relation.hpp"
#include "sotto/core/contradiction.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/work.hpp"
#include "sotto/numerics/crossing.hpp"
#include "sotto/numerics/real.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"
#include "unknown.hpp"

namespace sotto {
namespace {

using accounting_detail::starting_point;
using accounting_detail::Unknown;
using accounting_detail::unknown_of;

constexpr double infinity = std::numeric_limits<double>::infinity();

// ε of the filled plan, by the asked method alone, or as `tight` would choose.
class Cost {
 public:
  Cost(const Plan& plan, Delta delta, const Question& question)
      : plan_(plan),
        delta_(delta),
        question_(question),
        precision_(accounting_detail::precision_of(question.precision)),
        each_(work_left() / most_values) {}

  /// How far ε, a certified upper bound, lies above the target, as a logarithm; infinite where no theorem applies.
  Excess above(double target, double value) {
    blur_ = 0;
    // the searched values share what work there is, each with as much as the others: what is found depends on nothing else
    if (work_left() < each_) throw OutOfWork();
    const WorkLimit limit(each_);
    double cost = infinity;
    attempted(1, [&] { cost = evaluate(value); });
    least_ = std::min(least_, cost);
    if (cost <= target) held_.push_back(value);
    if (cost <= target) return {cost == target ? 0 : target > 0 ? std::log(cost / target) : -infinity, blur_};
    return {target > 0 ? std::log(cost / target) : infinity, blur_};
  }
  /// Why nothing met the target: the least cost that was seen, or what a theorem said.
  /// The values that met their target.
  [[nodiscard]] const std::vector<double>& held() const { return held_; }
  [[nodiscard]] OutsideConditions reason() const {
    if (std::isfinite(least_)) return OutsideConditions("the least cost found is epsilon = " + rounded(least_, 6, Side::upper));
    return refusal_;
  }

 private:
  static constexpr double most_values = 6;  // that can all take what they may; most take far less

  double evaluate(double value) {
    try {
      const Plan filled = fill(plan_, value);
      if (filled.as<Approx>() != nullptr) return epsilon(filled, delta_, question_).value.upper;
      if (question_.by != Method::tight) return by(question_.by, filled);
      return delta_.value() == 0 ? by(Method::basic, filled) : tight(filled);
    } catch (const OutsideConditions& e) {
      refusal_ = e;
    } catch (const InvalidValue& e) {
      refusal_ = OutsideConditions(e.what(), e.remedy());
    }
    return infinity;
  }

  // The composed loss is as tight as can be; the other methods are asked only where it refuses or could not be narrowed,
  // just as `epsilon` does.
  double tight(const Plan& filled) {
    double best = infinity;
    try {
      accounting_detail::MethodCost cost{.value = infinity, .order = std::nullopt, .notes = {}, .why = {}};
      attempted(0.7, [&] { cost = pld(filled); });
      if (cost.closed || (std::isfinite(cost.value) && cost.value - cost.lower <= 1e-5 * cost.value)) return cost.value;
      best = cost.value;
    } catch (const OutsideConditions& e) {
      refusal_ = e;
    }
    for (const Method method : {Method::rdp, Method::zcdp, Method::tcdp, Method::optimal, Method::basic}) {
      try {
        attempted(0.5, [&] { best = std::min(best, by(method, filled)); });
      } catch (const OutsideConditions& e) {
        refusal_ = e;
      }
    }
    return best;
  }

  double by(Method method, const Plan& filled) {
    if (method == Method::pld) return pld(filled).value;
    const auto order = question_.order ? std::optional<double>(question_.order->value()) : std::nullopt;
    return accounting_detail::epsilon_by(method, filled, asked(), order, precision_).value;
  }

  accounting_detail::MethodCost pld(const Plan& filled) {
    accounting_detail::MethodCost cost = accounting_detail::epsilon_by(Method::pld, filled, asked(), std::nullopt, precision_);
    const double width = (cost.value - cost.lower) / cost.value;
    if (!cost.closed) blur_ = std::isfinite(width) ? std::max(width, 1e-11) : 1e-10;
    return cost;
  }

  [[nodiscard]] Bound asked() const {
    const Real reading = Real::reading(delta_.value());
    return {std::max(0.0, reading.lower()), reading.upper()};
  }

  const Plan& plan_;
  Delta delta_;
  const Question& question_;
  Precision precision_;
  double blur_ = 0;  // of the last ε: the width of a contour's bracket, relative; 0 for a formula
  OutsideConditions refusal_{""};
  double least_ = infinity;
  double each_;
  std::vector<double> held_;
};

// The last value that meets the target, if any.
std::optional<double> last_sufficient(Cost& cost, const Unknown& unknown, double target) {
  const CrossingRange range{
      .low = unknown.least, .high = unknown.most, .holds_high = unknown.cheaper, .start = starting_point(unknown), .whole = unknown.whole};
  std::optional<double> best;
  if (attempted(1, [&] { best = crossing(range, [&](double value) { return cost.above(target, value); }).holds; })) return best;
  for (const double value : cost.held()) best = !best ? value : unknown.cheaper ? std::min(*best, value) : std::max(*best, value);
  return best;
}

// What was found, or a little more noise or less else, as `epsilon` itself proves it: with other shares of the work its bracket may be wider.
std::optional<Calibration> confirmed(const Plan& plan, const Unknown& unknown, double value, double target, Delta delta, const Question& question) {
  for (const double room : {0.0, 1e-6, 1e-3, 0.1}) {
    double tried = unknown.cheaper ? value * (1 + room) : value / (1 + room);
    if (unknown.whole) tried = unknown.cheaper ? std::ceil(tried) : std::floor(tried);
    tried = std::clamp(tried, unknown.least, unknown.most);
    const WorkLimit limit(0.5 * work_left());
    Plan filled = fill(plan, tried);
    Answer answer = sotto::epsilon(filled, delta, question);
    if (answer.value.upper <= target) return Calibration{tried, std::move(filled), unknown.text, unknown.whole, std::move(answer), std::nullopt};
    if (!answer.cut) break;
  }
  return std::nullopt;
}

// A neighbour of the value with which the plan costs more than the target for certain.
std::optional<double> shown_insufficient(const Plan& plan, const Unknown& unknown, const Calibration& found, double target, Delta delta,
                                         const Question& question) {
  const Bound cost = found.cost.value;
  if (!unknown.whole && !(cost.lower >= target * (1 - 1e-4))) return std::nullopt;  // what is true lies too far below what is proved
  const std::vector<double> gaps = unknown.whole ? std::vector<double>{1} : std::vector<double>{1e-9, 1e-6};
  for (const double gap : gaps) {
    const double sign = unknown.cheaper ? -1 : 1;
    const double value = unknown.whole ? found.value + sign : found.value * (1 + sign * gap);
    if (value < unknown.least || value > unknown.most) return std::nullopt;
    try {
      if (epsilon(fill(plan, value), delta, {.relation = question.relation, .precision = question.precision}).value.lower > target) return value;
    } catch (const OutsideConditions&) {
      return std::nullopt;
    } catch (const InvalidValue&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

Calibration calibrate(const Plan& plan, Epsilon epsilon, Delta delta, const Question& question) {
  const Unknown unknown = unknown_of(plan);
  const Real asked = Real::reading(epsilon.value());
  const double target = std::max(0.0, asked.lower());
  WorkPool pool(allowance_of(question));
  std::optional<double> value;
  OutsideConditions reason("");
  pool.use(0.7, [&] {
    Cost cost(plan, delta, question);
    value = last_sufficient(cost, unknown, target);
    reason = cost.reason();
  });
  if (!value) {
    std::string message = unknown.no_one + " makes the plan (" + shortest(epsilon.value()) + ", " + shortest(delta.value()) + ")-DP by " +
                          std::string(name(question.by));
    if (pool.cut()) message += ", as far as the work went that is allowed by default (allow more time)";
    if (const std::string why = reason.what(); !why.empty()) message += ": " + why;
    throw OutsideConditions(message, reason.remedy() | (pool.cut() ? Remedy::work : Remedy::none));
  }
  std::optional<Calibration> result;
  pool.use(0.6, [&] { result = confirmed(plan, unknown, *value, target, delta, question); });
  if (!result && !pool.cut()) {
    const Plan filled = fill(plan, *value);
    throw Contradiction("epsilon of " + print(filled) + ", which met the target,", sotto::epsilon(filled, delta, question).value.upper, target);
  }
  if (!result) throw OutsideConditions("the work that is allowed by default did not suffice to calibrate this plan: allow more time", Remedy::work);
  pool.use(1, [&] { result->insufficient = shown_insufficient(plan, unknown, *result, asked.upper(), delta, question); });
  result->cost.cut = pool.cut() && !result->insufficient;
  return *result;
}

std::optional<double> noise_factor(const Plan& plan, Epsilon epsilon, Delta delta, const Question& question) {
  const auto open = with_noise_open(plan);
  if (!open) return std::nullopt;
  const WorkLimit limit(allowance_of(question));
  Cost cost(*open, delta, question);
  const CrossingRange range{.low = 1e-6, .high = 1e6, .holds_high = true, .start = 1, .tolerance = 4e-5, .most = 12};
  Crossing found;
  attempted(1, [&] { found = crossing(range, [&](double value) { return cost.above(epsilon.value(), value); }); });
  if (!found.holds || !found.fails || *found.holds > *found.fails * (1 + 1e-4)) return std::nullopt;
  return read_number(rounded(*found.holds, 5, Side::upper));
}

std::vector<Comparison> with_noise_waste(std::vector<Comparison> rows, const Plan& plan, Delta delta, const Question& question) {
  if (!with_noise_open(plan)) return rows;
  WorkPool pool(half_of(allowance_of(question)));
  for (Comparison& row : rows) {
    if (!row.waste) continue;
    Question one = question;
    one.by = row.method;
    if (row.waste->epsilon == 1) row.waste->noise = 1;
    if (row.waste->epsilon != 1) pool.use(0.3, [&] { row.waste->noise = noise_factor(plan, Epsilon(row.waste->best), delta, one); });
  }
  return rows;
}

bool noise_waste_is_slow(const Plan& plan) {
  return std::visit(
      []<class T>(const T& node) {
        if constexpr (std::is_same_v<T, WithoutReplacement> || std::is_same_v<T, Group>) return true;
        if constexpr (std::is_same_v<T, Repeat> || std::is_same_v<T, Poisson>) return noise_waste_is_slow(node.plan);
        if constexpr (std::is_same_v<T, Sum> || std::is_same_v<T, Parallel>)
          return std::any_of(node.parts.begin(), node.parts.end(), noise_waste_is_slow);
        return false;
      },
      plan.node());
}

}  // namespace sotto
