// Noise from a generator that is not for secrets.
#include <random>

#include "sotto/random/noise.hpp"

double released(double value) {
  std::mt19937_64 twister;
  return sotto::RoundedNoise(sotto::NoiseKind::laplace, 1).add(value, twister);
}
