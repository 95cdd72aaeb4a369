// Searches over doubles: the boundary of a monotone condition, and the minimum of a unimodal function.
#pragma once

#include <cstdint>
#include <functional>

namespace sotto {

/// The smallest double x in [low, high] with `condition(x)`, where the condition, once true, stays true.
/// At most 64 evaluations. `high` itself is returned untested when nothing below it is true, so a caller that
/// needs certainty tests `high` first; every other result was tested.
double first_true(double low, double high, const std::function<bool(double)>& condition);

/// The same over whole numbers.
std::int64_t first_true_count(std::int64_t low, std::int64_t high, const std::function<bool(std::int64_t)>& condition);

/// A double in [low, high] near which `f` is least, for an f that falls and then rises and may be infinite (or NaN)
/// towards `high`. Golden sections, about 50 evaluations. An estimate: what is claimed at the result must be
/// evaluated there.
double least_point(double low, double high, const std::function<double(double)>& f);

}  // namespace sotto
