// The best Rényi order, sought over the reals above 1.
#pragma once

#include <functional>

#include "privacy/api/conversions.hpp"

namespace sotto {

/// The order in (1, largest] at which `value` is least: a coarse scan upwards that stops once the values rise, then
/// golden sections. Every order gives a valid bound, so the search needs no proof; the value is the certified one at
/// the order found. `largest` may be infinite. Where every value is infinite the result is infinite too.
BestOrder best_order(double largest, const std::function<Real(double order)>& value);

}  // namespace sotto
