#include "sotto/random/uniform.hpp"

#include <cmath>

#include "random/coins.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {

std::uint64_t uniform_below(std::uint64_t n, Random& random) {
  if (n == 0) throw InvalidValue("n must be at least 1: there is no whole number below 0");
  return random_detail::uniform_below(random, n);
}
std::uint64_t uniform_below(std::uint64_t n, Stream& stream) {
  if (n == 0) throw InvalidValue("n must be at least 1: there is no whole number below 0");
  return random_detail::uniform_below(stream, n);
}

bool bernoulli(std::uint64_t numerator, std::uint64_t denominator, Random& random) {
  if (denominator == 0 || numerator > denominator) throw InvalidValue("a probability is between 0 and 1");
  return random_detail::bernoulli(random, numerator, denominator);
}

bool bernoulli(double p, Random& random) {
  if (!(p >= 0 && p <= 1)) throw InvalidValue("a probability is between 0 and 1");
  return random_detail::bernoulli(random, p);
}

bool bernoulli_exp(std::uint64_t numerator, std::uint64_t denominator, Random& random) {
  if (denominator == 0) throw InvalidValue("γ must be finite: its denominator is 0");
  return random_detail::bernoulli_exp(random, numerator, denominator);
}

bool bernoulli_exp(const Decay& decay, Random& random) {
  const bool finite = std::isfinite(decay.rate) && std::isfinite(decay.high) && std::isfinite(decay.low) && std::isfinite(decay.unit);
  if (!finite || !(decay.rate > 0) || !(decay.unit > 0) || decay.high < decay.low) throw InvalidValue("γ must be finite and at least 0");
  return random_detail::outlasts(random, {decay.rate, decay.high, decay.low, decay.unit});
}

PoissonSample::PoissonSample(double q) : q_(q), per_step_(-1 / (random_detail::real_table(random_detail::Curve::laplace).tau * std::log1p(-q))) {
  if (!(q > 0 && q <= 1)) throw InvalidValue("rate must be above 0 and at most 1");
}

std::uint64_t PoissonSample::skip(Random& random) const { return random_detail::skip(random, q_, per_step_); }
std::uint64_t PoissonSample::skip(Stream& stream) const { return random_detail::skip(stream, q_, per_step_); }

}  // namespace sotto
