// The closed forms of randomized response with k values.
#include "privacy/api/randomized_response.hpp"

#include <cmath>

#include "numerics/api/elementary.hpp"

namespace sotto {

ResponseProbabilities response_probabilities(const Real& p, std::int64_t k) {
  return {p, (1 - p) / Real(static_cast<double>(k - 1))};
}

namespace {

// Returns log(p/r), accurately also if p and r are close.
Real log_ratio(const ResponseProbabilities& response) {
  const double ratio = response.truth.estimate() / response.other.estimate();
  if (!(ratio > 0.5 && ratio < 2)) return log(response.truth) - log(response.other);
  return log1p((response.truth - response.other) / response.other);
}

}  // namespace

Real response_epsilon(const ResponseProbabilities& response) {
  const Real loss = log_ratio(response);
  return loss.high() < 0 ? -loss : loss;
}

Real response_delta(double epsilon, const ResponseProbabilities& response) {
  const bool truthful = response.truth.high() >= response.other.high();
  const Real& more = truthful ? response.truth : response.other;
  const Real& less = truthful ? response.other : response.truth;
  if (epsilon > 700) return Real::hull(0.0, more);  // e^ε overflows
  return max(0, more - exp(epsilon) * less);
}

Real response_renyi(const ResponseProbabilities& response, double order) {
  const Real& p = response.truth;
  const Real& r = response.other;
  const Real loss = response_epsilon(response);
  if (order == 1) return max(0, (p - r) * log_ratio(response));
  if (std::isinf(order)) return loss;
  // with h the larger and l the smaller of p and r: h e^((α-1)ε) + l e^(-(α-1)ε) + rest, from which
  // e^((α-1)ε) is factored out
  const bool truthful = p.high() >= r.high();
  const Real& high = truthful ? p : r;
  const Real& low = truthful ? r : p;
  const Real step = (Real(order) - 1) * loss;
  // rest = 1 - p - r; the other factor is 1 + low (e^(-2 step) - 1) + rest (e^-step - 1), since
  // high = 1 - low - rest
  const Real rest = 1 - high - low;
  return loss + log1p(low * expm1(-2 * step) + rest * expm1(-step)) / (Real(order) - 1);
}

}  // namespace sotto
