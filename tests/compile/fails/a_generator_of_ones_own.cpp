// A generator that is not the thread's.
#include "sotto/random/random.hpp"

sotto::Random mine;
