// What holds for every plan: its text and its JSON read back as the same plan.
#pragma once

#include <cstdlib>
#include <string>

#include "sotto/plan/text.hpp"

namespace sotto {

inline void demand(bool holds) {
  if (!holds) std::abort();
}

inline void demand_round_trips(const Plan& plan) {
  const std::string text = print(plan);
  const Plan from_text = parse(text);
  demand(from_text == plan);
  demand(print(from_text) == text);
  const std::string json = to_json(plan);
  const Plan from_that = from_json(json);
  demand(from_that == plan);
  demand(to_json(from_that) == json);
}

}  // namespace sotto
