// Exact coins, on any source of bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "random/rounding.hpp"

namespace sotto::random_detail {

template <class Bits>
bool bernoulli(Bits& bits, std::uint64_t numerator, std::uint64_t denominator) {
  return uniform_below(bits, denominator) < numerator;
}

// p = m 2^-e: the first 64 bits decide but where they equal p's, and p has at most 53 bits below its first.
template <class Bits>
bool bernoulli(Bits& bits, double p) {
  if (p >= 1) return true;
  if (p <= 0) return false;
  // compare word by word with p's binary digits
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

// e^-γ for γ <= 1: the number of successes of coins γ/1, γ/2, … is even with that probability.
template <class Bits>
bool bernoulli_exp(Bits& bits, std::uint64_t numerator, std::uint64_t denominator) {
  while (numerator > denominator) {  // e^-1 for each whole
    if (!bernoulli_exp(bits, 1, 1)) return false;
    numerator -= denominator;
  }
  std::uint64_t k = 1;
  while (bernoulli(bits, numerator, denominator) && bernoulli(bits, 1, k)) ++k;
  return k % 2 == 1;
}

// floor(E/λ), E exponential and λ = -log(1-q): P(k) = (1-q)^k q.
template <class Bits>
std::uint64_t skip(Bits& bits, double q, double per_step) {
  if (q >= 1) return 0;
  const Table& table = real_table(Curve::laplace);
  auto [y, negative] = draw(bits, table);
  (void)negative;
  if (y.more.empty()) {
    const double steps = std::ldexp(static_cast<double>(y.head) + 0.5, -y.fraction) * per_step;
    const double doubt = std::ldexp(per_step, -y.fraction) + 0x1p-48 * steps;
    const double whole = std::floor(steps);
    if (steps < 0x1p50 && steps - whole > doubt && whole + 1 - steps > doubt) return static_cast<std::uint64_t>(whole);
  }
  for (;;) {
    if (const auto known = failures(q, table.tau, y)) return *known;
    y.more.push_back(bits.more());
  }
}

// An exponential of mean 1 is above γ: probability e^-γ.
template <class Bits>
bool outlasts(Bits& bits, const Quotient& quotient) {
  if (quotient.high == quotient.low) return true;
  const Table& table = real_table(Curve::laplace);
  auto [y, negative] = draw(bits, table);
  (void)negative;
  if (y.more.empty()) {
    const double life = std::ldexp(static_cast<double>(y.head), -y.fraction) / table.tau;
    const double level = (quotient.high - quotient.low) * (quotient.rate / quotient.unit);
    const double doubt = 0x1p-40 + 0x1p-48 * level;
    if (std::isnormal(level) && life > level + doubt) return true;
    if (std::isnormal(level) && life < level - doubt) return false;
  }
  for (;;) {
    if (const auto known = above(quotient, table.tau, y)) return *known;
    y.more.push_back(bits.more());
  }
}

/// The exact reference after Canonne, Kamath and Steinke, in whole numbers alone: discrete Laplace of scale t/s.
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

/// Discrete Gaussian of σ² = numerator/denominator, both small enough that (k σ-units)² fits.
template <class Bits>
std::int64_t plain_discrete_gaussian(Bits& bits, std::uint64_t numerator, std::uint64_t denominator) {
  const auto t = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(numerator) / static_cast<double>(denominator))) + 1;
  for (;;) {
    const std::int64_t k = plain_discrete_laplace(bits, t, 1);
    // e^-((|k| - σ²/t)² / (2σ²)), with (|k| t d - n)² / (2 t² n d) for σ² = n/d
    const auto size = static_cast<std::uint64_t>(k < 0 ? -k : k);
    const std::uint64_t a = size * t * denominator;
    const std::uint64_t difference = a > numerator ? a - numerator : numerator - a;
    if (bernoulli_exp(bits, difference * difference, 2 * t * t * numerator * denominator)) return k;
  }
}

}  // namespace sotto::random_detail
