// A source that pretends to be the generator.
#include "sotto/random/random.hpp"

struct Script : sotto::Random {
  Script() = default;
};
Script script;
