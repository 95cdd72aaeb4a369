// The values of a plan's parameters as certified reals and as counts.
#pragma once

#include <cstdint>

#include "sotto/numerics/real.hpp"
#include "sotto/plan/parameter.hpp"

namespace sotto::accounting_detail {

/// Returns a ball that holds the decimal number that was typed as well as its double.
inline Real reading(const Parameter& p) { return Real::reading(p.value()); }
inline Real real(std::int64_t n) { return static_cast<double>(n); }
inline std::int64_t count(const Parameter& p) { return static_cast<std::int64_t>(p.value()); }
/// Returns k times a count. Throws InvalidValue if the product exceeds 2^53.
std::int64_t times(std::int64_t k, const Parameter& p);

}  // namespace sotto::accounting_detail
