// Checks of parameters; the samplers are in coins.hpp. No message holds a parameter of a coin,
// which may come from the data.
#include "sotto/random/uniform.hpp"

#include <cmath>

#include "random/coins.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {

std::uint64_t uniform_below(std::uint64_t n, Random& random) {
  if (n == 0)
    throw InvalidValue(
        "n = 0 is not allowed: it must be at least 1, the number of values to choose from");
  return random_detail::uniform_below(random, n);
}
std::uint64_t uniform_below(std::uint64_t n, Stream& stream) {
  if (n == 0)
    throw InvalidValue(
        "n = 0 is not allowed: it must be at least 1, the number of values to choose from");
  return random_detail::uniform_below(stream, n);
}

bool bernoulli(std::uint64_t numerator, std::uint64_t denominator, Random& random) {
  if (denominator == 0 || numerator > denominator)
    throw InvalidValue("numerator/denominator must be a probability, from 0 to 1");
  return random_detail::bernoulli(random, numerator, denominator);
}

bool bernoulli(double p, Random& random) {
  if (!(p >= 0 && p <= 1)) throw InvalidValue("p must be a probability, from 0 to 1");
  return random_detail::bernoulli(random, p);
}

bool bernoulli_exp(std::uint64_t numerator, std::uint64_t denominator, Random& random) {
  if (denominator == 0) throw InvalidValue("the denominator of γ must be at least 1");
  return random_detail::bernoulli_exp(random, numerator, denominator);
}

bool bernoulli_exp(const Decay& decay, Random& random) {
  const bool finite = std::isfinite(decay.rate) && std::isfinite(decay.high) &&
                      std::isfinite(decay.low) && std::isfinite(decay.unit);
  if (!finite || !(decay.rate > 0) || !(decay.unit > 0) || decay.high < decay.low)
    throw InvalidValue(
        "γ = rate (high - low) / unit must be finite, with rate > 0, unit > 0 and high >= low");
  return random_detail::exponential_exceeds(random,
                                            {decay.rate, decay.high, decay.low, decay.unit});
}

PoissonSample::PoissonSample(double q)
    : q_(q),
      per_step_(-1 /
                (random_detail::real_table(random_detail::Curve::laplace).tau * std::log1p(-q))) {
  if (!(q > 0 && q <= 1))
    throw InvalidValue("rate = " + shortest(q) + " is not allowed: it must be a number in (0, 1]");
}

std::uint64_t PoissonSample::skip(Random& random) const {
  return random_detail::skip(random, q_, per_step_);
}
std::uint64_t PoissonSample::skip(Stream& stream) const {
  return random_detail::skip(stream, q_, per_step_);
}

}  // namespace sotto
