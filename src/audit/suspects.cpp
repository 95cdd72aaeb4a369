// The mechanisms of sotto on the neighbouring inputs that are easiest to distinguish.
#include <cmath>

#include "numerics/api/elementary.hpp"
#include "sotto/audit/audit.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/mechanisms/choice.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/random/noise.hpp"

namespace sotto {
namespace {

double number(const Parameter& parameter) {
  if (parameter.is_hole())
    throw InvalidValue(
        "the plan has a hole '?', and an audit needs numbers: fill it, or let calibrate find it");
  return parameter.value();
}

Suspect one_number(const Additive& mechanism, double sensitivity) {
  return {"0 and " + shortest(sensitivity),
          {"output"},
          [mechanism, sensitivity](bool second, std::span<double> numbers) {
            numbers[0] = mechanism.release(second ? sensitivity : 0.0);
          }};
}

// Moves the first coordinate by the sensitivity. The difference of two coordinates would reveal
// noise that both share.
Suspect one_coordinate(const Additive& mechanism, double sensitivity, std::size_t k) {
  std::vector<double> zeros(k);
  std::vector<double> moved(k);
  moved[0] = sensitivity;
  return {"zeros and (" + shortest(sensitivity) + ", 0, ...)",
          {"first coordinate", "first minus second coordinate"},
          [mechanism, zeros, moved](bool second, std::span<double> numbers) {
            const std::vector<double> released = mechanism.release(second ? moved : zeros);
            numbers[0] = released[0];
            numbers[1] = released[0] - released[1];
          }};
}

// Moves every coordinate by `part`. The number is the logarithm of the likelihood ratio, up to a
// constant and a factor.
Suspect all_coordinates(const Additive& mechanism, double part, std::size_t k, bool laplace) {
  const std::vector<double> zeros(k);
  const std::vector<double> moved(k, part);
  return {"zeros and " + shortest(part) + " everywhere",
          {laplace ? "sum of |x| - |x - " + shortest(part) + "|"
                   : std::string("sum of the coordinates")},
          [mechanism, zeros, moved, part, laplace](bool second, std::span<double> numbers) {
            double sum = 0;
            for (const double x : mechanism.release(second ? moved : zeros))
              sum += laplace ? std::abs(x) - std::abs(x - part) : x;
            numbers[0] = sum;
          }};
}

AuditSubject additive(const Plan& leaf, std::optional<int> grid, std::size_t k,
                      double sensitivity) {
  const Additive mechanism(leaf, grid);
  if (!(sensitivity <= mechanism.limit() / 4))
    throw InvalidValue("the sensitivity " + shortest(sensitivity) +
                       " is too large for the range of the grid: it must be at most " +
                       shortest(mechanism.limit() / 4) + "; choose a coarser grid");
  if (k == 1) return {mechanism.event(), {one_number(mechanism, sensitivity)}};
  AuditSubject result{mechanism.event(), {one_coordinate(mechanism, sensitivity, k)}};
  const Real count = static_cast<double>(k);
  if (leaf.as<Laplace>() != nullptr)
    result.suspects.push_back(
        all_coordinates(mechanism, (Real(sensitivity) / count).lower(), k, true));
  if (leaf.as<Gaussian>() != nullptr)
    result.suspects.push_back(
        all_coordinates(mechanism, (Real(sensitivity) / sqrt(count)).lower(), k, false));
  return result;
}

AuditSubject discrete(const Plan& leaf, NoiseKind kind, double scale, double sensitivity) {
  if (!(sensitivity <= 0x1p50))
    throw InvalidValue(
        "sensitivity = " + shortest(sensitivity) +
        " is not allowed: an audit of discrete noise needs a sensitivity of at most 2^50");
  return {
      leaf,
      {{"0 and " + shortest(sensitivity),
        {"output"},
        [noise = DiscreteNoise(kind, scale), sensitivity](bool second, std::span<double> numbers) {
          numbers[0] = static_cast<double>(noise.draw()) + (second ? sensitivity : 0.0);
        }}}};
}

AuditSubject response(const Plan& leaf, const RandomizedResponse& r) {
  const Respondent respondent(number(r.p), static_cast<std::int64_t>(number(r.k)));
  return {leaf, {{"0 and 1", {"response"}, [respondent](bool second, std::span<double> numbers) {
                    numbers[0] = static_cast<double>(respondent.respond(second ? 1 : 0));
                  }}}};
}

// Two candidates whose scores move towards each other by 1, the sensitivity. Nearly equal scores
// are best for δ. Unequal scores are best for ε: the likelihood ratio of a candidate that is rarely
// chosen approaches e^ε.
AuditSubject selection(const Plan& leaf, double epsilon) {
  if (!(epsilon > 0) || !std::isfinite(epsilon))
    throw InvalidValue("epsilon = " + shortest(epsilon) +
                       " is not allowed: an audit needs a finite epsilon above 0");
  const Selection chooser(Epsilon(epsilon), 1);
  const auto with_gap = [&](double gap) {
    const std::vector<double> first{-gap, 0};
    const std::vector<double> second{1 - gap, -1};
    return Suspect{"scores (" + shortest(first[0]) + ", 0) and (" + shortest(second[0]) + ", -1)",
                   {"choice"},
                   [chooser, first, second](bool moved, std::span<double> numbers) {
                     numbers[0] = static_cast<double>(chooser.choose(moved ? second : first));
                   }};
  };
  // The first candidate is chosen with probability 1/(1 + e^(ε gap/2)), here 1 in 100.
  const double wide = std::round(64 * 2 * std::log(99.0) / epsilon) / 64;
  return {leaf, {with_gap(1), with_gap(wide > 1 && wide < 1e12 ? wide : 2)}};
}

}  // namespace

AuditSubject audit_subject(const Plan& leaf, std::optional<int> grid, std::int64_t coordinates) {
  if (coordinates < 1 || coordinates > 1'000'000)
    throw InvalidValue(std::to_string(coordinates) +
                       " coordinates are not allowed: a vector has 1 to 1000000");
  const auto k = static_cast<std::size_t>(coordinates);
  if (const auto* l = leaf.as<Laplace>()) return additive(leaf, grid, k, number(l->sensitivity));
  if (const auto* g = leaf.as<Gaussian>()) return additive(leaf, grid, k, number(g->sensitivity));
  if (const auto* a = leaf.as<Arsinh>(); a != nullptr && k == 1)
    return additive(leaf, grid, k, number(a->sensitivity));
  if (k != 1)
    throw InvalidValue(
        "only laplace and gaussian noise are audited on vectors: leave the coordinates at 1 for "
        "other mechanisms");
  if (grid)
    throw InvalidValue("only laplace, gaussian and arsinh noise have a grid: leave the grid out");
  if (const auto* d = leaf.as<DiscreteLaplace>())
    return discrete(leaf, NoiseKind::laplace, number(d->b), number(d->sensitivity));
  if (const auto* d = leaf.as<DiscreteGaussian>())
    return discrete(leaf, NoiseKind::gaussian, number(d->sigma), number(d->sensitivity));
  if (const auto* r = leaf.as<RandomizedResponse>()) return response(leaf, *r);
  if (const auto* e = leaf.as<Exponential>()) return selection(leaf, number(e->eps));
  throw InvalidValue("`" + print(leaf) +
                     "` is not a mechanism that can be audited: use gaussian, laplace, arsinh, "
                     "discrete_gaussian, discrete_laplace, randomized_response or exponential");
}

}  // namespace sotto
