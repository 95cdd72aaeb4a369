// Noise from a source that a test scripts.
// error: no matching (function for call to 'sotto::RoundedNoise::add\(double&, Script&\)'|member function for call to 'add')
#include "sotto/random/noise.hpp"

struct Script {
  std::uint64_t word() { return 4; }
};
double released(double value) {
  Script script;
  return sotto::RoundedNoise(sotto::NoiseKind::laplace, 1).add(value, script);
}
