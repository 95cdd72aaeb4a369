// A generator with a seed.
#include "sotto/random/random.hpp"

sotto::Random seeded(42);
