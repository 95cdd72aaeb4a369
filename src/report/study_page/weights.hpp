// The weights of a model in words, the same in text and pages.
#pragma once

#include <string>

#include "study/api/weights.hpp"

namespace sotto::report_detail {

/// "age", or "region=south, against north".
inline std::string name_with_reference(const ModelWeight& weight) {
  return weight.against.empty() ? weight.name : weight.name + ", against " + weight.against;
}

/// What a weight and the intercept say.
inline std::string meaning_of(const ModelWeights& weights) {
  return "A weight is the change in " + weights.unit + " for one more of a number, or for a level against another; the intercept is " + weights.unit +
         (weights.reference.empty() ? "" : " at " + weights.reference) + ".";
}

}  // namespace sotto::report_detail
