// Noise from a generator that is not for secrets.
// error: no matching (function for call to 'sotto::RoundedNoise::add\(double&, std::mt19937_64&\)'|member function for call to 'add')
#include <random>

#include "sotto/random/noise.hpp"

double released(double value) {
  std::mt19937_64 twister;
  return sotto::RoundedNoise(sotto::NoiseKind::laplace, 1).add(value, twister);
}
