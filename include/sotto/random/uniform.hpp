// Coins, whole numbers and Poisson samples whose probabilities are exact, not rounded.
#pragma once

#include <cstdint>

#include "sotto/random/random.hpp"
#include "sotto/random/stream.hpp"

namespace sotto {

/// Returns each whole number below n with probability 1/n. Throws InvalidValue if n is 0.
std::uint64_t uniform_below(std::uint64_t n, Random& random = Random::here());
std::uint64_t uniform_below(std::uint64_t n, Stream& stream);
/// Returns true with probability numerator/denominator. Throws InvalidValue if that is not in [0,
/// 1].
bool bernoulli(std::uint64_t numerator, std::uint64_t denominator, Random& random = Random::here());
/// Returns true with probability p, the exact value of the double. Throws InvalidValue if p is not
/// in [0, 1].
bool bernoulli(double p, Random& random = Random::here());
/// Returns true with probability e^-γ for γ = numerator/denominator, by whole numbers only
/// [Canonne2020]. Throws InvalidValue if the denominator is 0.
bool bernoulli_exp(std::uint64_t numerator, std::uint64_t denominator,
                   Random& random = Random::here());

/// An exponent γ = rate · (high - low) / unit of the exact values of the doubles, which are finite,
/// with high >= low, rate > 0 and unit > 0.
struct Decay {
  double rate;
  double high;
  double low;
  double unit;
};
/// Returns true with probability e^-γ. Throws InvalidValue if γ is not of that form.
bool bernoulli_exp(const Decay& decay, Random& random = Random::here());

/// Poisson sampling: each record is in the sample with probability q, independently of the others.
/// The sample is drawn by skips from one sampled record to the next, which takes time in proportion
/// to the size of the sample.
class PoissonSample {
 public:
  /// The rate is the exact value of the double. Throws InvalidValue unless q is in (0, 1].
  explicit PoissonSample(double q);
  /// Returns the number of records before the next sampled one, a geometric variable; 2^63 means at
  /// least 2^63.
  std::uint64_t skip(Random& random = Random::here()) const;
  std::uint64_t skip(Stream& stream) const;
  [[nodiscard]] double rate() const { return q_; }

 private:
  double q_;
  // about 1/(-τ log(1-q)): records per unit of the exponential position (columns.hpp)
  double per_step_;
};

}  // namespace sotto
