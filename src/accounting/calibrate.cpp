#include "sotto/accounting/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "methods.hpp"
#include "sotto/accounting/relation.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/numerics/real.hpp"
#include "sotto/numerics/search.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

HolePlace only_hole(const Plan& plan) {
  const std::vector<HolePlace> holes = holes_of(plan);
  if (holes.size() != 1) {
    throw InvalidValue(holes.empty() ? "there is nothing to calibrate: put '?' where the number is wanted, as in 100 * gaussian(?)"
                                     : "calibrate fills one hole, the plan has " + std::to_string(holes.size()));
  }
  if (holes.front().effect == Effect::unclear) {
    throw InvalidValue("calibrate cannot solve for " + holes.front().parameter + " of " + holes.front().node +
                       ": more of it does not always cost more");
  }
  return holes.front();
}

std::string hole_text(const HolePlace& place) { return place.node == "repeat" ? "steps" : place.parameter + " of " + place.node; }

// Whether a filled plan meets the target. Tries the method that last succeeded first.
class Target {
 public:
  Target(const Plan& plan, double epsilon, double delta, const Question& question)
      : plan_(plan), epsilon_(epsilon), delta_(delta), question_(question) {
    if (question.by != Method::tight) {
      methods_ = {question.by};
    } else {
      methods_ = {Method::gdp, Method::pld, Method::rdp, Method::zcdp, Method::tcdp, Method::optimal, Method::basic};
    }
  }

  bool met_by(double value) {
    for (auto method = methods_.begin(); method != methods_.end(); ++method) {
      try {
        const auto order = question_.order ? std::optional<double>(question_.order->value()) : std::nullopt;
        const double cost = detail::epsilon_by(*method, fill(plan_, value), delta_, order).value;
        if (cost <= epsilon_) {
          std::rotate(methods_.begin(), method, method + 1);
          return true;
        }
        least_ = std::min(least_, cost);
      } catch (const OutsideConditions& e) {
        refusal_ = e.what();
      } catch (const InvalidValue& e) {
        refusal_ = e.what();
      }
    }
    return false;
  }
  /// Why nothing met the target: the least cost that was seen, or what a theorem said.
  [[nodiscard]] std::string reason() const {
    if (std::isfinite(least_)) return "the least cost found is epsilon = " + rounded(least_, 6, Side::upper);
    return refusal_;
  }

 private:
  const Plan& plan_;
  double epsilon_;
  double delta_;
  const Question& question_;
  std::vector<Method> methods_;
  std::string refusal_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

Calibration calibrate(const Plan& plan, Epsilon epsilon, Delta delta, const Question& question) {
  const HolePlace place = only_hole(plan);
  Target target(plan, std::max(0.0, Real::reading(epsilon.value()).lower()), std::max(0.0, Real::reading(delta.value()).lower()), question);
  const auto impossible = [&]() -> OutsideConditions {
    std::string message = (place.node == "repeat" ? std::string("not even one step") : "no " + hole_text(place)) + " makes the plan (" +
                          shortest(epsilon.value()) + ", " + shortest(delta.value()) + ")-DP by " + std::string(name(question.by));
    if (const std::string reason = target.reason(); !reason.empty()) message += ": " + reason;
    return OutsideConditions(message);
  };

  double value = 0;
  if (place.whole) {
    // Search by doubling, then by halves; whole numbers.
    const auto least = static_cast<std::int64_t>(place.least);
    const auto most = static_cast<std::int64_t>(place.most);
    const auto met = [&](std::int64_t n) { return target.met_by(static_cast<double>(n)); };
    if (place.effect == Effect::dearer) {
      if (!met(least)) throw impossible();
      std::int64_t high = least;
      while (high < most && met(std::min(most, 2 * high))) high = std::min(most, 2 * high);
      const std::int64_t end = std::min(most, 2 * high);
      const std::int64_t failing = high == most ? most + 1 : first_true_count(high + 1, end, [&](std::int64_t n) { return !met(n); });
      value = static_cast<double>(failing - 1);
    } else {
      std::int64_t high = least;
      while (!met(high)) {
        if (high == most) throw impossible();
        high = std::min(most, 2 * high);
      }
      value = static_cast<double>(first_true_count(std::max(least, high / 2), high, met));
    }
  } else {
    // The range in which the answer can lie, by powers of 16 from 1, then double by double.
    const bool noise = place.effect == Effect::cheaper;
    const double top = std::isinf(place.most) ? 1e150 : place.most == 1 ? (place.parameter == "rate" ? 1.0 : next_down(1.0)) : place.most;
    const double bottom = place.least == 1 ? next_up(1.0) : 1e-150;
    const auto met = [&](double v) { return target.met_by(v); };
    if (noise) {
      double high = std::clamp(1.0, bottom, top);
      while (!met(high)) {
        if (high >= top) throw impossible();
        high = std::min(top, high * 16);
      }
      double low = high;
      while (low > bottom && met(low)) {
        high = low;
        low = std::max(bottom, low / 16);
      }
      value = first_true(low, high, met);
    } else {
      double low = std::min(1.0, top);
      while (!met(low)) {
        if (low <= bottom) throw impossible();
        low = std::max(bottom, low / 16);
      }
      double high = low;
      while (high < top && met(std::min(top, high * 16))) high = std::min(top, high * 16);
      if (high >= top) {
        value = top;
      } else {
        value = next_down(first_true(high, std::min(top, high * 16), [&](double v) { return !met(v); }));
      }
    }
  }
  Plan filled = fill(plan, value);
  Answer cost = sotto::epsilon(filled, delta, question);
  return {value, std::move(filled), hole_text(place), place.whole, std::move(cost)};
}

}  // namespace sotto
