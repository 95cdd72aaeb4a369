// Values as plain text, in the spelling of data files and predictions.
#pragma once

#include <string>

#include "sotto/core/decimal.hpp"
#include "sotto/data/schema.hpp"

namespace sotto::study_detail {

inline std::string text_of(const Value& value) {
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return shortest(*real);
  return std::get<std::string>(value);
}

}  // namespace sotto::study_detail
