#include "accounting/api/generalisation.hpp"

#include "numerics/api/elementary.hpp"

namespace sotto {
namespace {

struct Pair {
  Real epsilon, delta;
};

// The guarantee for one record that is replaced.
Pair replaced(const Real& epsilon, const Real& delta, Relation relation) {
  if (relation == Relation::replace_one) return {epsilon, delta};
  return {Real(2) * epsilon, (Real(1) + exp(epsilon)) * delta};
}

constexpr double says_nothing = 300;  // from this ε on

}  // namespace

Real generalisation_gap(const Real& epsilon, const Real& delta, Relation relation) {
  if (!(epsilon.upper() < says_nothing)) return Real(1);
  const Pair pair = replaced(epsilon, delta, relation);
  return min(Real(1), (expm1(pair.epsilon) + Real(2) * pair.delta) / (exp(pair.epsilon) + Real(1)));
}

Real usual_generalisation_gap(const Real& epsilon, const Real& delta, Relation relation) {
  if (!(epsilon.upper() < says_nothing)) return Real(1);
  const Pair pair = replaced(epsilon, delta, relation);
  return min(Real(1), expm1(pair.epsilon) + pair.delta);
}

}  // namespace sotto
