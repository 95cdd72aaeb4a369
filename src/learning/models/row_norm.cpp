// Bounds on the norm of a row.
#include "learning/api/row_norm.hpp"

#include <cmath>

#include "numerics/api/elementary.hpp"

namespace sotto {

double row_norm(const std::vector<Feature>& features, bool with_target) {
  return sqrt(Real(static_cast<double>(features.size() + (with_target ? 2 : 1)))).upper();
}

double typical_row_norm(const std::vector<Feature>& features, bool with_target) {
  double square = 1 + (with_target ? 1.0 / 3 : 0);
  for (const Feature& feature : features)
    square += std::holds_alternative<Scaled>(feature.encoding) ? 1.0 / 3 : 1;
  return std::sqrt(square);
}

}  // namespace sotto
