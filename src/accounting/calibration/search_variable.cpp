// Combines all holes of a plan into one variable with a range.
#include "accounting/calibration/search_variable.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sotto/core/bound.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/numerics/real.hpp"
#include "sotto/plan/holes.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string place_text(const HolePlace& place) {
  return place.node == "repeat" ? "steps" : place.parameter + " of " + place.node;
}

// Throws InvalidValue unless the cost is monotone in all holes, in one direction.
void require_one_direction(const std::vector<HolePlace>& holes) {
  if (holes.empty()) {
    throw InvalidValue(
        "there is nothing to calibrate: put '?' in place of the number to find, as in 100 * "
        "gaussian(?)");
  }
  for (const HolePlace& place : holes) {
    if (place.effect == Effect::unclear) {
      throw InvalidValue("calibrate cannot solve for " + place.parameter + " of " + place.node +
                         ": more of it does not always cost more");
    }
    if (place.effect != holes.front().effect) {
      const HolePlace& cheap = place.effect == Effect::cheaper ? place : holes.front();
      const HolePlace& costly = place.effect == Effect::cheaper ? holes.front() : place;
      throw InvalidValue(
          "every '?' stands for the same number, and here more of it is cheaper as " +
          place_text(cheap) + " but more expensive as " + place_text(costly) +
          ": leave only holes that push the cost one way");
    }
  }
}

// Whether the plan allows this number for its holes.
bool allowed(const Plan& plan, double value) {
  try {
    fill(plan, value);
    return true;
  } catch (const InvalidValue&) {
    return false;
  }
}

// The range of the variable that one hole allows.
Bound range_of(const HolePlace& place, bool whole) {
  const double least = place.least / place.factor;
  const double most = place.most / place.factor;
  return whole ? Bound{std::max(1.0, std::ceil(least)), std::floor(most)}
               : Bound{std::max(1e-150, least), std::min(1e150, most)};
}

}  // namespace

SearchVariable search_variable_of(const Plan& plan) {
  const std::vector<HolePlace> holes = holes_of(plan);
  require_one_direction(holes);
  SearchVariable result{"", "", holes.front().effect == Effect::cheaper, false, 0, infinity};
  for (const HolePlace& place : holes) result.whole = result.whole || place.whole;
  std::vector<std::string> names;
  for (const HolePlace& place : holes) {
    const Bound range = range_of(place, result.whole);
    result.least = std::max(result.least, range.lower);
    result.most = std::min(result.most, range.upper);
    const std::string name =
        place_text(place) + (place.factor == 1 ? "" : " as " + shortest(place.factor) + "*?");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  for (const std::string& name : names) result.text += (result.text.empty() ? "" : ", ") + name;
  result.no_value = names.size() > 1         ? "no value of '?'"
                    : result.text == "steps" ? "not even one step"
                                             : "no " + result.text;
  // A hole may exclude the end of its range, or its multiple of the end may round to a number
  // outside.
  if (!result.whole) {
    for (int i = 0; i < 4 && !allowed(plan, result.most); ++i) result.most = next_down(result.most);
    for (int i = 0; i < 4 && !allowed(plan, result.least); ++i)
      result.least = next_up(result.least);
  }
  if (!(result.least <= result.most))
    throw InvalidValue("no number can fill every '?' of the plan: their ranges do not meet");
  return result;
}

double starting_point(const SearchVariable& variable) {
  if (variable.whole) return std::max(16.0, variable.least);
  if (variable.most <= 1) return variable.most / 16;  // a sampling rate or a probability
  return variable.least >= 1 ? 2 * variable.least : 1;
}

}  // namespace sotto::accounting_detail
