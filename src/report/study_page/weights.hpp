// The weights of a linear model in words, shared by the text output and the page.
#pragma once

#include <string>

#include "study/api/weights.hpp"

namespace sotto::report_detail {

/// Returns "age" for a numeric feature and "region=south, against north" for a level of a text
/// feature.
inline std::string name_with_reference(const ModelWeight& weight) {
  return weight.against.empty() ? weight.name : weight.name + ", against " + weight.against;
}

/// Explains the unit of the weights and of the intercept.
inline std::string meaning_of(const ModelWeights& weights) {
  return "A weight is the change in " + weights.unit +
         " for one more of a number, or for a level against another; the intercept is " +
         weights.unit + (weights.reference.empty() ? "" : " at " + weights.reference) + ".";
}

}  // namespace sotto::report_detail
