// Coins, skips and reference samplers with exact probabilities. `Bits` is a source of words:
// Random, Stream, or a script in tests.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "random/rounding.hpp"

namespace sotto::random_detail {

// Returns true with probability numerator/denominator.
template <class Bits>
bool bernoulli(Bits& bits, std::uint64_t numerator, std::uint64_t denominator) {
  return uniform_below(bits, denominator) < numerator;
}

// Returns true with probability p: compares a uniform real number, word by word, with the binary
// digits of p. The first word decides unless it equals the first 64 digits of p.
template <class Bits>
bool bernoulli(Bits& bits, double p) {
  if (p >= 1) return true;
  if (p <= 0) return false;
  double rest = p;
  for (;;) {
    rest = std::ldexp(rest, 64);
    const double whole = std::floor(rest);
    const auto digits = static_cast<std::uint64_t>(whole);
    const std::uint64_t word = bits.word();
    if (word != digits) return word < digits;
    rest -= whole;
    if (rest == 0) return false;
  }
}

// Returns true with probability e^-γ for γ = numerator/denominator [Canonne2020]. For γ <= 1: with
// coins of probability γ/1, γ/2, …, the number of successes before the first failure is even with
// probability e^-γ.
template <class Bits>
bool bernoulli_exp(Bits& bits, std::uint64_t numerator, std::uint64_t denominator) {
  while (numerator > denominator) {  // e^-γ is the product of e^-1 for each whole unit and the rest
    if (!bernoulli_exp(bits, 1, 1)) return false;
    numerator -= denominator;
  }
  std::uint64_t k = 1;
  while (bernoulli(bits, numerator, denominator) && bernoulli(bits, 1, k)) ++k;
  return k % 2 == 1;
}

// Returns floor(E/λ), where E is a standard exponential and λ = -log(1-q): k has probability
// (1-q)^k q.
template <class Bits>
std::uint64_t skip(Bits& bits, double q, double per_step) {
  if (q >= 1) return 0;
  const Table& table = real_table(Curve::laplace);
  auto [y, negative] = draw(bits, table);
  (void)negative;
  if (y.lower_words.empty()) {
    const double steps = std::ldexp(static_cast<double>(y.head) + 0.5, -y.fraction) * per_step;
    const double margin = std::ldexp(per_step, -y.fraction) + 0x1p-48 * steps;
    const double whole = std::floor(steps);
    if (steps < 0x1p50 && steps - whole > margin && whole + 1 - steps > margin)
      return static_cast<std::uint64_t>(whole);
  }
  for (;;) {
    if (const auto count = failures(q, table.tau, y)) return *count;
    y.lower_words.push_back(bits.extra_word());
  }
}

// Returns whether a standard exponential exceeds γ, which has probability e^-γ.
template <class Bits>
bool exponential_exceeds(Bits& bits, const Quotient& quotient) {
  if (quotient.high == quotient.low) return true;
  const Table& table = real_table(Curve::laplace);
  auto [y, negative] = draw(bits, table);
  (void)negative;
  if (y.lower_words.empty()) {
    const double life = std::ldexp(static_cast<double>(y.head), -y.fraction) / table.tau;
    const double level = (quotient.high - quotient.low) * (quotient.rate / quotient.unit);
    const double margin = 0x1p-40 + 0x1p-48 * level;
    if (std::isnormal(level) && life > level + margin) return true;
    if (std::isnormal(level) && life < level - margin) return false;
  }
  for (;;) {
    if (const auto result = above(quotient, table.tau, y)) return *result;
    y.lower_words.push_back(bits.extra_word());
  }
}

/// Draws discrete Laplace noise of scale t/s by whole numbers only, after Canonne, Kamath and
/// Steinke [Canonne2020]. Tests compare DiscreteNoise with it.
template <class Bits>
std::int64_t plain_discrete_laplace(Bits& bits, std::uint64_t t, std::uint64_t s) {
  for (;;) {
    const std::uint64_t u = uniform_below(bits, t);
    if (!bernoulli_exp(bits, u, t)) continue;
    std::uint64_t v = 0;
    while (bernoulli_exp(bits, 1, 1)) ++v;
    const auto size = static_cast<std::int64_t>((u + t * v) / s);
    const bool negative = (bits.word() & 1U) != 0;
    if (negative && size == 0) continue;
    return negative ? -size : size;
  }
}

/// Draws discrete Gaussian noise of variance numerator/denominator by whole numbers only
/// [Canonne2020]. Both must be so small that the squares below fit 64 bits.
template <class Bits>
std::int64_t plain_discrete_gaussian(Bits& bits, std::uint64_t numerator,
                                     std::uint64_t denominator) {
  const auto t = static_cast<std::uint64_t>(
                     std::sqrt(static_cast<double>(numerator) / static_cast<double>(denominator))) +
                 1;
  for (;;) {
    const std::int64_t k = plain_discrete_laplace(bits, t, 1);
    // accept k with probability e^-((|k| - σ²/t)² / (2σ²)); with σ² = n/d the exponent is
    // (|k| t d - n)² / (2 t² n d)
    const auto size = static_cast<std::uint64_t>(k < 0 ? -k : k);
    const std::uint64_t a = size * t * denominator;
    const std::uint64_t difference = a > numerator ? a - numerator : numerator - a;
    if (bernoulli_exp(bits, difference * difference, 2 * t * t * numerator * denominator)) return k;
  }
}

}  // namespace sotto::random_detail
