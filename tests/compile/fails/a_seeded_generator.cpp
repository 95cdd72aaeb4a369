// A generator with a seed.
// error: no matching (function for call to 'sotto::Random::Random\(int\)'|constructor for initialization of 'sotto::Random')
#include "sotto/random/random.hpp"

sotto::Random seeded(42);
