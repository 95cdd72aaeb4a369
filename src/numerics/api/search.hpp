// Searches over doubles: the boundary of a monotone condition, and the minimum of a unimodal
// function.
#pragma once

#include <cstdint>
#include <functional>

namespace sotto {

/// Returns the smallest double x in [low, high] with `condition(x)`, for a condition that stays
/// true above the first x for which it is. Takes at most 64 evaluations. If the condition is false
/// at all points that it evaluates, it returns `high` without an evaluation there: a caller that
/// needs to know evaluates `high` first.
double first_true(double low, double high, const std::function<bool(double)>& condition);

/// Returns the smallest whole number in [low, high] with `condition`, in the same way as
/// first_true().
std::int64_t first_true_count(std::int64_t low, std::int64_t high,
                              const std::function<bool(std::int64_t)>& condition);

/// Returns an estimate of the point of [low, high] at which `f` is least, for an f that falls and
/// then rises, and that may be infinite or NaN towards `high`. Takes about 50 evaluations, by
/// golden sections. Nothing is proved about the point: a bound must be evaluated at it.
double least_point(double low, double high, const std::function<double(double)>& f);

}  // namespace sotto
