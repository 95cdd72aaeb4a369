// Calibration to (ε, δ)-DP: a quick search with limited work for each number, and where that leaves
// the answer open, a second search with the full work of epsilon().
#include "sotto/accounting/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "accounting/api/relation.hpp"
#include "accounting/calibration/search_variable.hpp"
#include "accounting/methods/methods.hpp"
#include "core/api/contradiction.hpp"
#include "core/api/work.hpp"
#include "numerics/api/crossing.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/numerics/real.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using accounting_detail::search_variable_of;
using accounting_detail::SearchVariable;
using accounting_detail::starting_point;

constexpr double infinity = std::numeric_limits<double>::infinity();

// The work of a calibration, relative to that of one epsilon().
constexpr double work_factor = 4;

// ε of the filled plan by one method, or by a faster form of `tight`, each with a limited part of
// the work. It records which numbers met or missed the target.
class QuickCost {
 public:
  QuickCost(const Plan& plan, Delta delta, const Question& question)
      : plan_(plan),
        delta_(delta),
        question_(question),
        precision_(accounting_detail::precision_of(question.precision)),
        each_(work_left() / most_values) {}

  /// Returns log(ε/target) for a certified upper bound ε; infinite if no theorem applies. Throws
  /// OutOfWork.
  Excess above(double target, double value) {
    blur_ = 0;
    lower_ = 0;
    // Every number gets an equal part of the work, so that the result does not depend on the order
    // of the search.
    if (work_left() < each_) throw OutOfWork();
    const WorkLimit limit(each_);
    double cost = infinity;
    finishes_within(1, [&] { cost = evaluate(value); });
    if (cost < least_) closest_ = value;
    least_ = std::min(least_, cost);
    if (cost <= target) sufficient_.push_back(value);
    if (limit.cut()) cut_.push_back(value);
    if (lower_ > target) insufficient_.push_back(value);
    if (cost <= target)
      return {cost == target ? 0 : target > 0 ? std::log(cost / target) : -infinity, blur_};
    return {target > 0 ? std::log(cost / target) : infinity, blur_};
  }
  /// The numbers that met the target.
  [[nodiscard]] const std::vector<double>& sufficient() const { return sufficient_; }
  /// The numbers that certainly miss the target, with any amount of work.
  [[nodiscard]] const std::vector<double>& insufficient() const { return insufficient_; }
  /// Whether the work limit was reached at this number.
  [[nodiscard]] bool cut_at(double value) const {
    return std::find(cut_.begin(), cut_.end(), value) != cut_.end();
  }
  /// The number with the least cost; empty if no cost was finite.
  [[nodiscard]] std::optional<double> closest() const { return closest_; }
  /// The reason why no number met the target: the least cost, or the last refusal of a theorem.
  [[nodiscard]] OutsideConditions reason() const {
    if (std::isfinite(least_))
      return OutsideConditions("the least cost found is epsilon = " +
                               rounded(least_, 6, Side::upper));
    return refusal_;
  }

 private:
  static constexpr double most_values =
      6;  // the number of evaluations for which the work suffices in the worst case

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

  // pld is as tight as any method. The other methods are tried only if it does not apply or its
  // bracket is wide, as in epsilon().
  double tight(const Plan& filled) {
    double best = infinity;
    try {
      accounting_detail::MethodCost cost{
          .value = infinity, .order = std::nullopt, .notes = {}, .why = {}};
      finishes_within(0.7, [&] { cost = pld(filled); });
      if (cost.closed ||
          (std::isfinite(cost.value) && cost.value - cost.lower <= 1e-5 * cost.value))
        return cost.value;
      best = cost.value;
    } catch (const OutsideConditions& e) {
      refusal_ = e;
    }
    for (const Method method :
         {Method::rdp, Method::zcdp, Method::tcdp, Method::optimal, Method::basic}) {
      try {
        finishes_within(0.5, [&] { best = std::min(best, by(method, filled)); });
      } catch (const OutsideConditions& e) {
        refusal_ = e;
      }
    }
    return best;
  }

  double by(Method method, const Plan& filled) {
    if (method == Method::pld) return pld(filled).value;
    const auto order =
        question_.order ? std::optional<double>(question_.order->value()) : std::nullopt;
    return accounting_detail::epsilon_by(method, filled, delta_readings(), order, precision_).value;
  }

  accounting_detail::MethodCost pld(const Plan& filled) {
    accounting_detail::MethodCost cost = accounting_detail::epsilon_by(
        Method::pld, filled, delta_readings(), std::nullopt, precision_);
    lower_ = cost.lower;
    const double width = (cost.value - cost.lower) / cost.value;
    if (!cost.closed) blur_ = std::isfinite(width) ? std::max(width, 1e-11) : 1e-10;
    return cost;
  }

  [[nodiscard]] Bound delta_readings() const {
    const Real reading = Real::reading(delta_.value());
    return {std::max(0.0, reading.lower()), reading.upper()};
  }

  const Plan& plan_;
  Delta delta_;
  const Question& question_;
  Precision precision_;
  double blur_ = 0;  // the relative width of the last bracket of pld; 0 for a formula
  OutsideConditions refusal_{""};
  double least_ = infinity;
  double each_;
  double lower_ = 0;  // a lower bound on the cost of the last filled plan
  std::vector<double> sufficient_, insufficient_, cut_;
  std::optional<double> closest_;
};

// The best number that meets the target; empty if none does.
std::optional<double> last_sufficient(QuickCost& cost, const SearchVariable& variable,
                                      double target) {
  const CrossingRange range{.low = variable.least,
                            .high = variable.most,
                            .holds_high = variable.lowers_cost,
                            .start = starting_point(variable),
                            .whole = variable.whole};
  std::optional<double> best;
  if (finishes_within(1, [&] {
        best = find_crossing(range, [&](double value) { return cost.above(target, value); }).holds;
      }))
    return best;
  for (const double value : cost.sufficient())
    best = !best ? value : variable.lowers_cost ? std::min(*best, value) : std::max(*best, value);
  return best;
}

// epsilon() itself, with its full work for each number. A number that suffices here also suffices
// for a later epsilon().
class FullCost {
 public:
  FullCost(const Plan& plan, const SearchVariable& variable, double target, Delta delta,
           const Question& question)
      : plan_(plan),
        variable_(variable),
        target_(target),
        delta_(delta),
        question_(question),
        each_(allowance_of(question).work) {}

  /// Returns log(ε/target). Throws OutOfWork if the number failed with less work than epsilon() may
  /// use.
  Excess above(double value) {
    if (const auto entry = known_.find(value); entry != known_.end()) return entry->second;
    const double left = work_left();
    if (left <= 0) throw OutOfWork();
    Excess excess{infinity};
    surely_fails_ = false;
    try {
      const WorkLimit limit(question_.seconds ? clock_share * left : left);
      Plan filled = fill(plan_, value);
      Answer answer = sotto::epsilon(filled, delta_, question_);
      const double cost = answer.value.upper;
      if (cost > target_ && !(answer.value.lower > target_) && limit.cut() && left < each_)
        throw OutOfWork();
      surely_fails_ = answer.value.lower > target_;
      excess.value = cost == target_ ? 0
                     : target_ > 0   ? std::log(cost / target_)
                     : cost > 0      ? infinity
                                     : -infinity;
      if (cost <= target_ && (!best_ || is_better(value)))
        best_ = Calibration{value,           std::move(filled), variable_.text,
                            variable_.whole, std::move(answer), std::nullopt};
    } catch (const OutsideConditions&) {
    } catch (const InvalidValue&) {
    }
    known_.emplace(value, excess);
    return excess;
  }

  /// Returns whether even the number with the least cost certainly fails, with any amount of work.
  bool is_hopeless() {
    above(variable_.lowers_cost ? variable_.most : variable_.least);
    return surely_fails_;
  }
  /// Returns the logarithm of δ(target) divided by the requested δ. It is faster than ε at δ, and
  /// is 0 at about the same number.
  [[nodiscard]] double log_delta_above(double value) const {
    const double left = work_left();
    const WorkLimit limit(question_.seconds ? clock_share * left : 0.7 * each_);
    const Precision rough{.smooth = 1e-6, .atoms = 1e-5};
    const double reached = accounting_detail::delta_by(Method::pld, fill(plan_, value),
                                                       {target_, target_}, std::nullopt, rough)
                               .value;
    if (limit.cut() && left < 0.4 * each_) throw OutOfWork();
    return std::log(reached / delta_.value());
  }
  /// The best number that meets the target, with its answer; empty if none does.
  [[nodiscard]] const std::optional<Calibration>& best() const { return best_; }

 private:
  static constexpr double clock_share = 0.3;

  [[nodiscard]] bool is_better(double value) const {
    return variable_.lowers_cost ? value < best_->value : value > best_->value;
  }

  const Plan& plan_;
  const SearchVariable& variable_;
  double target_;
  Delta delta_;
  const Question& question_;
  double each_;
  bool surely_fails_ = false;  // the last number certainly misses the target
  std::map<double, Excess> known_;
  std::optional<Calibration> best_;
};

// The range of the second search, which has full work for each number. It starts at the result of
// the quick search and ends at numbers that are known to fail.
CrossingRange second_range(const QuickCost& cost, const SearchVariable& variable,
                           std::optional<double> quick_result) {
  CrossingRange range{
      .low = variable.least,
      .high = variable.most,
      .holds_high = variable.lowers_cost,
      .start = quick_result.value_or(cost.closest().value_or(starting_point(variable))),
      .whole = variable.whole,
      .tolerance = 2e-5};
  for (const double value : cost.insufficient()) {
    if (variable.lowers_cost) range.low = std::max(range.low, value);
    if (!variable.lowers_cost) range.high = std::min(range.high, value);
  }
  range.start = std::clamp(range.start, range.low, range.high);
  if (!quick_result) {  // the cost hardly changes farther away
    range.low =
        std::max(range.low, variable.whole ? std::ceil(1e-6 * range.start) : 1e-6 * range.start);
    range.high = std::min(range.high, 1e6 * range.start);
  }
  return range;
}

// A start that is closer to the crossing, by the secant method on log δ. It is a heuristic.
double refined_start(const CrossingRange& range, const FullCost& cost) {
  constexpr double longest = 0.7;  // steps, in log x
  constexpr double close = 4e-6;
  double x = range.start;
  const double sign = range.holds_high ? -1 : 1;
  try {
    double slope = 20 * sign;
    double y = cost.log_delta_above(x);
    for (int turn = 0; turn < 16 && !std::isnan(y); ++turn) {
      const double step = std::clamp(-y / slope, -longest, longest);
      double next = std::clamp(x * std::exp(step), range.low, range.high);
      if (range.whole) next = range.holds_high ? std::ceil(next) : std::floor(next);
      if (std::abs(step) < close || next == x) break;
      const double there = cost.log_delta_above(next);
      const double secant = (there - y) / std::log(next / x);
      if (std::isfinite(secant) && secant * sign > 0) slope = secant;
      x = next;
      y = there;
    }
  } catch (const OutOfWork&) {  // the last x is a valid start
  } catch (const OutsideConditions&) {
  } catch (const InvalidValue&) {
  }
  return range.whole ? x : std::clamp(x * (1 - sign * close), range.low, range.high);
}

// The search for the crossing with full work for each number. Throws OutOfWork.
void search_with_full_work(FullCost& full, const CrossingRange& range, bool use_delta) {
  CrossingRange refined = range;
  if (use_delta) finishes_within(0.7, [&] { refined.start = refined_start(range, full); });
  find_crossing(refined, [&](double x) { return full.above(x); });
}

// A number next to the result with which the plan certainly costs more than the target; empty if
// none is proved.
std::optional<double> proven_insufficient(const Plan& plan, const SearchVariable& variable,
                                          const Calibration& result, double target, Delta delta,
                                          const Question& question) {
  const Bound cost = result.cost.value;
  if (!variable.whole && !(cost.lower >= target * (1 - 1e-4)))
    return std::nullopt;  // the lower bound is too loose
  const std::vector<double> gaps =
      variable.whole ? std::vector<double>{1} : std::vector<double>{1e-9, 1e-6};
  for (const double gap : gaps) {
    const double sign = variable.lowers_cost ? -1 : 1;
    const double value = variable.whole ? result.value + sign : result.value * (1 + sign * gap);
    if (value < variable.least || value > variable.most) return std::nullopt;
    try {
      if (epsilon(fill(plan, value), delta,
                  {.relation = question.relation, .precision = question.precision})
              .value.lower > target)
        return value;
    } catch (const OutsideConditions&) {
      return std::nullopt;
    } catch (const InvalidValue&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// Whether δ at the target's ε can steer the second search.
bool can_use_delta(const Question& question, double target, Delta delta) {
  return (question.by == Method::tight || question.by == Method::pld) && target > 0 &&
         delta.value() > 0;
}

// Throws the refusal if no number meets the target.
[[noreturn]] void refuse(const SearchVariable& variable, Epsilon epsilon, Delta delta,
                         const Question& question, const OutsideConditions& reason, bool cut) {
  std::string message = variable.no_value + " makes the plan (" + shortest(epsilon.value()) + ", " +
                        shortest(delta.value()) + ")-DP by " + std::string(name(question.by));
  if (cut) message += " within the default work limit (allow more time)";
  if (const std::string why = reason.what(); !why.empty()) message += ": " + why;
  throw OutsideConditions(message, reason.remedy() | (cut ? Remedy::work : Remedy::none));
}

}  // namespace

Calibration calibrate(const Plan& plan, Epsilon epsilon, Delta delta, const Question& question) {
  const SearchVariable variable = search_variable_of(plan);
  const Real reading = Real::reading(epsilon.value());
  const double target = std::max(0.0, reading.lower());
  const Allowance each = allowance_of(question);
  Allowance all = each;
  all.work *= work_factor;
  SharedAllowance pool(all);

  // The quick search.
  std::optional<double> value;
  std::optional<QuickCost> cost;
  pool.use(0.7 * (question.seconds ? 0.5 : 1 / work_factor), [&] {
    cost.emplace(plan, delta, question);
    value = last_sufficient(*cost, variable, target);
  });

  // Check its result with epsilon() itself, and try to prove that the next number fails.
  FullCost full(plan, variable, target, delta, question);
  std::optional<double> insufficient;
  const auto prove_insufficient = [&](double share) {
    insufficient.reset();
    if (full.best())
      pool.use(share, [&] {
        insufficient =
            proven_insufficient(plan, variable, *full.best(), reading.upper(), delta, question);
      });
  };
  if (value && !cost->cut_at(*value)) {
    pool.use(1, [&] { full.above(*value); });
    prove_insufficient(0.3);
  }

  // The second search, if the quick one was limited by its work.
  bool closed = insufficient || !pool.cut();
  bool hopeless = false;
  if (!closed || (value && !full.best())) {
    pool.use(1, [&] {
      hopeless = !value && full.is_hopeless();
      if (hopeless) return;
      search_with_full_work(full, second_range(*cost, variable, value),
                            can_use_delta(question, target, delta));
      closed = true;
    });
    if (!full.best() && value) pool.use(1, [&] { full.above(*value); });
    prove_insufficient(1);
  }

  if (!full.best())
    refuse(variable, epsilon, delta, question, cost->reason(), pool.cut() && !hopeless);
  Calibration result = *full.best();
  result.insufficient = insufficient;
  result.cost.cut = !closed || (result.cost.cut && !insufficient);
  return result;
}

std::optional<double> noise_factor(const Plan& plan, Epsilon epsilon, Delta delta,
                                   const Question& question) {
  const auto open = with_noise_holes(plan);
  if (!open) return std::nullopt;
  const WorkLimit limit(allowance_of(question));
  QuickCost cost(*open, delta, question);
  const CrossingRange range{.low = 1e-6,
                            .high = 1e6,
                            .holds_high = true,
                            .start = 1,
                            .tolerance = 4e-5,
                            .max_evaluations = 12};
  Crossing result;
  finishes_within(1, [&] {
    result = find_crossing(range, [&](double value) { return cost.above(epsilon.value(), value); });
  });
  if (!result.holds || !result.fails || *result.holds > *result.fails * (1 + 1e-4))
    return std::nullopt;
  return read_number(rounded(*result.holds, 5, Side::upper));
}

std::vector<Comparison> with_noise_waste(std::vector<Comparison> rows, const Plan& plan,
                                         Delta delta, const Question& question) {
  if (!with_noise_holes(plan)) return rows;
  SharedAllowance pool(half_of(allowance_of(question)));
  for (Comparison& row : rows) {
    if (!row.waste) continue;
    Question one = question;
    one.by = row.method;
    if (row.waste->epsilon == 1) row.waste->noise = 1;
    if (row.waste->epsilon != 1)
      pool.use(0.3, [&] {
        row.waste->noise = noise_factor(plan, Epsilon(row.waste->best), delta, one);
      });
  }
  return rows;
}

bool noise_waste_is_slow(const Plan& plan) {
  return std::visit(
      []<class T>(const T& node) {
        if constexpr (std::is_same_v<T, WithoutReplacement> || std::is_same_v<T, Group>)
          return true;
        if constexpr (std::is_same_v<T, Repeat> || std::is_same_v<T, Poisson>)
          return noise_waste_is_slow(node.plan);
        if constexpr (std::is_same_v<T, Sum> || std::is_same_v<T, Parallel>)
          return std::any_of(node.parts.begin(), node.parts.end(), noise_waste_is_slow);
        return false;
      },
      plan.node());
}

}  // namespace sotto
