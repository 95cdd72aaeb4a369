// The search for the best Rényi order among the real numbers above 1.
#pragma once

#include <functional>

#include "privacy/api/conversions.hpp"

namespace sotto {

/// Returns an order in (1, largest] at which `value` is about least, with the value there. Every
/// order gives a valid bound, so the search itself needs no proof. It scans orders by factors of
/// two until the values rise, then refines by golden sections. `largest` may be infinite. If every
/// value is infinite, so is the result.
BestOrder best_order(double largest, const std::function<Real(double order)>& value);

}  // namespace sotto
