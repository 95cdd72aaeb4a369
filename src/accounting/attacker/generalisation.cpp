// Generalisation bounds, rounded up.
#include "accounting/api/generalisation.hpp"

#include "numerics/api/elementary.hpp"

namespace sotto {
namespace {

struct Guarantee {
  Real epsilon, delta;
};

// Converts a guarantee to replace-one. Under another relation a replacement is a removal and an
// addition.
Guarantee under_replace_one(const Real& epsilon, const Real& delta, Relation relation) {
  if (relation == Relation::replace_one) return {epsilon, delta};
  return {Real(2) * epsilon, (Real(1) + exp(epsilon)) * delta};
}

constexpr double trivial_from = 300;  // the ε from which on the bound is 1

}  // namespace

Real generalisation_gap(const Real& epsilon, const Real& delta, Relation relation) {
  if (!(epsilon.upper() < trivial_from)) return Real(1);
  const Guarantee dp = under_replace_one(epsilon, delta, relation);
  return min(Real(1), (expm1(dp.epsilon) + Real(2) * dp.delta) / (exp(dp.epsilon) + Real(1)));
}

Real usual_generalisation_gap(const Real& epsilon, const Real& delta, Relation relation) {
  if (!(epsilon.upper() < trivial_from)) return Real(1);
  const Guarantee dp = under_replace_one(epsilon, delta, relation);
  return min(Real(1), expm1(dp.epsilon) + dp.delta);
}

}  // namespace sotto
