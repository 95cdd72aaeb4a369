// A source that pretends to be the generator.
// error: cannot derive from 'final' base 'sotto::Random'|base 'Random' is marked 'final'
#include "sotto/random/random.hpp"

struct Script : sotto::Random {
  Script() = default;
};
Script script;
