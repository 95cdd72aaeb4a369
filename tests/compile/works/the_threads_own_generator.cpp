// Noise from the thread's generator.
#include "sotto/random/noise.hpp"

double released(double value) { return sotto::RoundedNoise(sotto::NoiseKind::laplace, 1).add(value, sotto::Random::here()); }
