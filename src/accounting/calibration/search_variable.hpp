// A plan's holes as one unknown number, as calibration solves for it.
#pragma once

#include <string>

#include "sotto/plan/plan.hpp"

namespace sotto::accounting_detail {

/// All the holes of a plan as one unknown.
struct Unknown {
  std::string text;    ///< "sigma of gaussian, b of laplace as 2*?"
  std::string no_one;  ///< "no sigma of gaussian", as a refusal begins
  bool cheaper;        ///< more of it costs less
  bool whole;
  double least, most;  ///< the values that every place allows
};

/// InvalidValue for a plan without a hole, or with holes that calibration cannot order or that push the cost both ways.
Unknown unknown_of(const Plan& plan);

/// Where a search begins.
double starting_point(const Unknown& unknown);

}  // namespace sotto::accounting_detail
