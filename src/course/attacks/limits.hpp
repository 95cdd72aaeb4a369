// Upper limits of an attack's settings, which keep its running time in bounds.
#pragma once

#include <cstdint>
#include <string>

#include "sotto/core/errors.hpp"

namespace sotto::course_detail {

/// Throws InvalidValue if `value` exceeds `most`; `name` is the setting's name.
inline void require_at_most(std::int64_t value, std::int64_t most, const std::string& name) {
  if (value <= most) return;
  throw InvalidValue(name + " = " + std::to_string(value) + " is not allowed: it must be at most " +
                     std::to_string(most));
}

}  // namespace sotto::course_detail
