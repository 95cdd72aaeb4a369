#include "sotto/accounting/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "accounting/methods/methods.hpp"
#include "accounting/api/relation.hpp"
#include "core/api/contradiction.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/work.hpp"
#include "numerics/api/crossing.hpp"
#include "sotto/numerics/real.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"
#include "accounting/calibration/search_variable.hpp"

namespace sotto {
namespace {

using accounting_detail::starting_point;
using accounting_detail::Unknown;
using accounting_detail::unknown_of;

constexpr double infinity = std::numeric_limits<double>::infinity();

// How often a calibration may take the work of a command.
constexpr double works = 4;

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
    lower_ = 0;
    // the searched values share what work there is, each with as much as the others: what is found depends on nothing else
    if (work_left() < each_) throw OutOfWork();
    const WorkLimit limit(each_);
    double cost = infinity;
    attempted(1, [&] { cost = evaluate(value); });
    if (cost < least_) closest_ = value;
    least_ = std::min(least_, cost);
    if (cost <= target) held_.push_back(value);
    if (limit.cut()) cut_.push_back(value);
    if (lower_ > target) failed_.push_back(value);
    if (cost <= target) return {cost == target ? 0 : target > 0 ? std::log(cost / target) : -infinity, blur_};
    return {target > 0 ? std::log(cost / target) : infinity, blur_};
  }
  /// The values that met the target.
  [[nodiscard]] const std::vector<double>& held() const { return held_; }
  /// The values that certainly miss it, with any amount of work.
  [[nodiscard]] const std::vector<double>& failed() const { return failed_; }
  /// Whether the cost of this value was left open for lack of work.
  [[nodiscard]] bool cut_at(double value) const { return std::find(cut_.begin(), cut_.end(), value) != cut_.end(); }
  /// The value whose cost was least, if any was finite.
  [[nodiscard]] std::optional<double> closest() const { return closest_; }
  /// Why nothing met the target: the least cost that was seen, or what a theorem said.
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
    lower_ = cost.lower;
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
  double lower_ = 0;  // what the last filled plan costs at least
  std::vector<double> held_, failed_, cut_;
  std::optional<double> closest_;
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

// `epsilon` itself at one value after the other, each with all the work that a command has: what suffices here is what suffices there.
class FullCost {
 public:
  FullCost(const Plan& plan, const Unknown& unknown, double target, Delta delta, const Question& question)
      : plan_(plan), unknown_(unknown), target_(target), delta_(delta), question_(question), each_(allowance_of(question).work) {}

  /// How far ε lies above the target, as a logarithm. OutOfWork where the value failed with less work than a command has.
  Excess above(double value) {
    if (const auto known = known_.find(value); known != known_.end()) return known->second;
    const double left = work_left();
    if (left <= 0) throw OutOfWork();
    Excess excess{infinity};
    surely_fails_ = false;
    try {
      const WorkLimit limit(question_.seconds ? clock_share * left : left);
      Plan filled = fill(plan_, value);
      Answer answer = sotto::epsilon(filled, delta_, question_);
      const double cost = answer.value.upper;
      if (cost > target_ && !(answer.value.lower > target_) && limit.cut() && left < each_) throw OutOfWork();
      surely_fails_ = answer.value.lower > target_;
      excess.value = cost == target_ ? 0 : target_ > 0 ? std::log(cost / target_) : cost > 0 ? infinity : -infinity;
      if (cost <= target_ && (!best_ || is_better(value)))
        best_ = Calibration{value, std::move(filled), unknown_.text, unknown_.whole, std::move(answer), std::nullopt};
    } catch (const OutsideConditions&) {
    } catch (const InvalidValue&) {
    }
    known_.emplace(value, excess);
    return excess;
  }

  /// Whether not even the value that costs least suffices, whatever the work.
  bool hopeless() {
    above(unknown_.cheaper ? unknown_.most : unknown_.least);
    return surely_fails_;
  }
  /// log δ at the target's ε over the δ that is asked for: found sooner than ε at δ, and zero at about the same value.
  [[nodiscard]] double log_delta_above(double value) const {
    const double left = work_left();
    const WorkLimit limit(question_.seconds ? clock_share * left : 0.7 * each_);
    const Precision rough{.smooth = 1e-6, .atoms = 1e-5};
    const double found = accounting_detail::delta_by(Method::pld, fill(plan_, value), {target_, target_}, std::nullopt, rough).value;
    if (limit.cut() && left < 0.4 * each_) throw OutOfWork();
    return std::log(found / delta_.value());
  }
  /// The best of the values that meet the target, with what `epsilon` says of it.
  [[nodiscard]] const std::optional<Calibration>& best() const { return best_; }

 private:
  static constexpr double clock_share = 0.3;

  [[nodiscard]] bool is_better(double value) const { return unknown_.cheaper ? value < best_->value : value > best_->value; }

  const Plan& plan_;
  const Unknown& unknown_;
  double target_;
  Delta delta_;
  const Question& question_;
  double each_;
  bool surely_fails_ = false;  // the last value
  std::map<double, Excess> known_;
  std::optional<Calibration> best_;
};

// The interval in which the second search looks, with full work per value: from the estimated crossing to a value that is known to fail.
CrossingRange near(const Cost& cost, const Unknown& unknown, std::optional<double> found) {
  CrossingRange range{.low = unknown.least,
                      .high = unknown.most,
                      .holds_high = unknown.cheaper,
                      .start = found.value_or(cost.closest().value_or(starting_point(unknown))),
                      .whole = unknown.whole,
                      .tolerance = 2e-5};
  for (const double value : cost.failed()) {
    if (unknown.cheaper) range.low = std::max(range.low, value);
    if (!unknown.cheaper) range.high = std::min(range.high, value);
  }
  range.start = std::clamp(range.start, range.low, range.high);
  if (!found) {  // further out nothing changes
    range.low = std::max(range.low, unknown.whole ? std::ceil(1e-6 * range.start) : 1e-6 * range.start);
    range.high = std::min(range.high, 1e6 * range.start);
  }
  return range;
}

// A start nearer to the crossing, by secants on log δ. It proves nothing.
double steered(const CrossingRange& range, const FullCost& cost) {
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
  } catch (const OutOfWork&) {  // so near it came
  } catch (const OutsideConditions&) {
  } catch (const InvalidValue&) {
  }
  return range.whole ? x : std::clamp(x * (1 - sign * close), range.low, range.high);
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

// Returns whether δ at the target's ε is informative enough to estimate the crossing.
bool has_loss(const Question& question, double target, Delta delta) {
  return (question.by == Method::tight || question.by == Method::pld) && target > 0 && delta.value() > 0;
}

}  // namespace

Calibration calibrate(const Plan& plan, Epsilon epsilon, Delta delta, const Question& question) {
  const Unknown unknown = unknown_of(plan);
  const Real asked = Real::reading(epsilon.value());
  const double target = std::max(0.0, asked.lower());
  const Allowance each = allowance_of(question);
  Allowance all = each;
  all.work *= works;
  std::optional<double> value;
  WorkPool pool(all);
  std::optional<Cost> cost;
  pool.use(0.7 * (question.seconds ? 0.5 : 1 / works), [&] {
    cost.emplace(plan, delta, question);
    value = last_sufficient(*cost, unknown, target);
  });
  FullCost full(plan, unknown, target, delta, question);
  std::optional<double> insufficient;
  const auto try_less = [&](double share) {
    insufficient.reset();
    if (full.best()) pool.use(share, [&] { insufficient = shown_insufficient(plan, unknown, *full.best(), asked.upper(), delta, question); });
  };
  if (value && !cost->cut_at(*value)) {
    pool.use(1, [&] { full.above(*value); });
    try_less(0.3);
  }
  bool closed = insufficient || !pool.cut();
  bool hopeless = false;
  if (!closed || (value && !full.best())) {
    pool.use(1, [&] {
      hopeless = !value && full.hopeless();
      if (hopeless) return;
      CrossingRange range = near(*cost, unknown, value);
      if (has_loss(question, target, delta)) attempted(0.7, [&] { range.start = steered(range, full); });
      crossing(range, [&](double x) { return full.above(x); });
      closed = true;
    });
    if (!full.best() && value) pool.use(1, [&] { full.above(*value); });
    try_less(1);
  }
  if (!full.best()) {
    const OutsideConditions reason = cost->reason();
    std::string message = unknown.no_one + " makes the plan (" + shortest(epsilon.value()) + ", " + shortest(delta.value()) + ")-DP by " +
                          std::string(name(question.by));
    const bool cut = pool.cut() && !hopeless;
    if (cut) message += ", as far as the work went that is allowed by default (allow more time)";
    if (const std::string why = reason.what(); !why.empty()) message += ": " + why;
    throw OutsideConditions(message, reason.remedy() | (cut ? Remedy::work : Remedy::none));
  }
  Calibration result = *full.best();
  result.insufficient = insufficient;
  result.cost.cut = !closed || (result.cost.cut && !insufficient);
  return result;
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
