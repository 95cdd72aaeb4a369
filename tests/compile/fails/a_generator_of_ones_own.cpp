// A generator that is not the thread's.
// error: 'sotto::Random::Random\(\)' is private|calling a private constructor of class 'sotto::Random'
#include "sotto/random/random.hpp"

sotto::Random mine;
