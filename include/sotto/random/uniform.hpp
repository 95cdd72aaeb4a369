// Exact coins and whole numbers.
#pragma once

#include <cstdint>

#include "sotto/random/random.hpp"
#include "sotto/random/stream.hpp"

namespace sotto {

/// Each whole number below n with the same probability; n >= 1.
std::uint64_t uniform_below(std::uint64_t n, Random& random = Random::here());
std::uint64_t uniform_below(std::uint64_t n, Stream& stream);
/// True with probability numerator/denominator, exactly.
bool bernoulli(std::uint64_t numerator, std::uint64_t denominator, Random& random = Random::here());
/// True with probability p, the double itself, exactly.
bool bernoulli(double p, Random& random = Random::here());
/// True with probability e^-γ for γ = numerator/denominator, exactly, in whole numbers alone [Canonne2020].
bool bernoulli_exp(std::uint64_t numerator, std::uint64_t denominator, Random& random = Random::here());

/// γ = rate · (high - low) / unit, of the doubles as they are; high >= low, the others above 0.
struct Decay {
  double rate;
  double high;
  double low;
  double unit;
};
/// True with probability e^-γ, exactly.
bool bernoulli_exp(const Decay& decay, Random& random = Random::here());

/// Poisson sampling: each record is in the sample with probability q, independently. Counts from one chosen record to the next, so
/// that a pass takes time in proportion to the sample.
class PoissonSample {
 public:
  /// q in (0, 1]; the double itself is the rate.
  explicit PoissonSample(double q);
  /// How many records are passed over before the next chosen one; 2^63 stands for that many or more.
  std::uint64_t skip(Random& random = Random::here()) const;
  std::uint64_t skip(Stream& stream) const;
  [[nodiscard]] double rate() const { return q_; }

 private:
  double q_;
  double per_step_;  // about 1/(-τ log(1-q))
};

}  // namespace sotto
