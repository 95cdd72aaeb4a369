#include "sotto/learning/row_norm.hpp"

#include <cmath>

#include "sotto/numerics/elementary.hpp"

namespace sotto {

double row_norm(const std::vector<Feature>& features, bool with_target) {
  return sqrt(Real(static_cast<double>(features.size() + (with_target ? 2 : 1)))).upper();
}

}  // namespace sotto
