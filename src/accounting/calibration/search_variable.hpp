// The variable of a calibration: all holes of a plan as one number to search for.
#pragma once

#include <string>

#include "sotto/plan/plan.hpp"

namespace sotto::accounting_detail {

/// The number that all holes of a plan stand for.
struct SearchVariable {
  std::string text;      ///< names the holes: "sigma of gaussian, b of laplace as 2*?"
  std::string no_value;  ///< the subject of a refusal: "no sigma of gaussian"
  bool lowers_cost;      ///< the cost falls if the number grows, as for noise
  bool whole;            ///< the number is a count
  double least, most;    ///< the range that every hole allows
};

/// Returns the variable of a plan. Throws InvalidValue if the plan has no hole, if the cost is not
/// monotone in a hole, or if the cost grows with some holes and falls with others.
SearchVariable search_variable_of(const Plan& plan);

/// Returns the number at which a search begins.
double starting_point(const SearchVariable& variable);

}  // namespace sotto::accounting_detail
