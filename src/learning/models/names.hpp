// Converts enumeration values to their names and back.
#pragma once

#include <span>
#include <string>

#include "sotto/core/errors.hpp"

namespace sotto::learning_detail {

template <class Kind>
struct Named {
  Kind kind;
  const char* name;
};

template <class Kind>
std::string name_in(std::span<const Named<Kind>> names, Kind kind) {
  for (const auto& named : names) {
    if (named.kind == kind) return named.name;
  }
  throw InvalidValue("an enumeration value has no name");
}

template <class Kind>
Kind parse_in(std::span<const Named<Kind>> names, const std::string& what,
              const std::string& text) {
  std::string all;
  for (const auto& named : names) {
    if (text == named.name) return named.kind;
    all += (all.empty() ? "" : ", ") + std::string(named.name);
  }
  throw InvalidValue("there is no " + what + " \"" + text + "\": write one of " + all);
}

}  // namespace sotto::learning_detail
