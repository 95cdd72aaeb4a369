// sotto's mechanisms on the neighbouring inputs that tell most.
#include <cmath>

#include "sotto/audit/audit.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/mechanisms/choice.hpp"
#include "numerics/api/elementary.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/random/noise.hpp"

namespace sotto {
namespace {

double number(const Parameter& parameter) {
  if (parameter.is_hole()) throw InvalidValue("an audit needs numbers: fill the hole, or let calibrate find it");
  return parameter.value();
}

Suspect one_number(const Additive& mechanism, double sensitivity) {
  return {"0 and " + shortest(sensitivity), {"output"}, [mechanism, sensitivity](bool second, std::span<double> numbers) {
            numbers[0] = mechanism.release(second ? sensitivity : 0.0);
          }};
}

// The sensitivity on the first coordinate. Noise that another coordinate shares would cancel in the difference.
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

// Every coordinate moves by `part`; the number is the log of the likelihood ratio, up to a constant and a factor.
Suspect all_coordinates(const Additive& mechanism, double part, std::size_t k, bool laplace) {
  const std::vector<double> zeros(k);
  const std::vector<double> moved(k, part);
  return {"zeros and " + shortest(part) + " everywhere",
          {laplace ? "sum of |x| - |x - " + shortest(part) + "|" : std::string("sum of the coordinates")},
          [mechanism, zeros, moved, part, laplace](bool second, std::span<double> numbers) {
            double sum = 0;
            for (const double x : mechanism.release(second ? moved : zeros)) sum += laplace ? std::abs(x) - std::abs(x - part) : x;
            numbers[0] = sum;
          }};
}

Audited additive(const Plan& leaf, std::optional<int> grid, std::size_t k, double sensitivity) {
  const Additive mechanism(leaf, grid);
  if (!(sensitivity <= mechanism.limit() / 4)) throw InvalidValue("the sensitivity is beyond the range of the grid: nothing would be measured");
  if (k == 1) return {mechanism.event(), {one_number(mechanism, sensitivity)}};
  Audited result{mechanism.event(), {one_coordinate(mechanism, sensitivity, k)}};
  const Real count = static_cast<double>(k);
  if (leaf.as<Laplace>() != nullptr) result.suspects.push_back(all_coordinates(mechanism, (Real(sensitivity) / count).lower(), k, true));
  if (leaf.as<Gaussian>() != nullptr) result.suspects.push_back(all_coordinates(mechanism, (Real(sensitivity) / sqrt(count)).lower(), k, false));
  return result;
}

Audited discrete(const Plan& leaf, NoiseKind kind, double scale, double sensitivity) {
  if (!(sensitivity <= 0x1p50)) throw InvalidValue("discrete noise is audited for sensitivities up to 2^50");
  return {leaf,
          {{"0 and " + shortest(sensitivity), {"output"}, [noise = DiscreteNoise(kind, scale), sensitivity](bool second, std::span<double> numbers) {
              numbers[0] = static_cast<double>(noise.draw()) + (second ? sensitivity : 0.0);
            }}}};
}

Audited response(const Plan& leaf, const RandomizedResponse& r) {
  const Respondent respondent(number(r.p), static_cast<std::int64_t>(number(r.k)));
  return {leaf, {{"0 and 1", {"response"}, [respondent](bool second, std::span<double> numbers) {
                    numbers[0] = static_cast<double>(respondent.respond(second ? 1 : 0));
                  }}}};
}

// Two candidates whose scores move towards each other's by 1, the sensitivity. Level scores tell most of δ, unequal ones of ε: the
// likelihood ratio comes near e^ε for a candidate that is rarely chosen.
Audited selection(const Plan& leaf, double epsilon) {
  if (!(epsilon > 0) || !std::isfinite(epsilon)) throw InvalidValue("an audit needs an epsilon above 0 and finite");
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
  // the first candidate is chosen with probability 1/(1 + e^(ε gap/2)): 1 in 100
  const double wide = std::round(64 * 2 * std::log(99.0) / epsilon) / 64;
  return {leaf, {with_gap(1), with_gap(wide > 1 && wide < 1e12 ? wide : 2)}};
}

}  // namespace

Audited audited(const Plan& leaf, std::optional<int> grid, std::int64_t coordinates) {
  if (coordinates < 1 || coordinates > 1'000'000) throw InvalidValue("a vector has 1 to 1000000 coordinates");
  const auto k = static_cast<std::size_t>(coordinates);
  if (const auto* l = leaf.as<Laplace>()) return additive(leaf, grid, k, number(l->sensitivity));
  if (const auto* g = leaf.as<Gaussian>()) return additive(leaf, grid, k, number(g->sensitivity));
  if (const auto* a = leaf.as<Arsinh>(); a != nullptr && k == 1) return additive(leaf, grid, k, number(a->sensitivity));
  if (k != 1) throw InvalidValue("only laplace and gaussian noise are audited on vectors: the others are priced for one number");
  if (grid) throw InvalidValue("only laplace, gaussian and arsinh noise have a grid");
  if (const auto* d = leaf.as<DiscreteLaplace>()) return discrete(leaf, NoiseKind::laplace, number(d->b), number(d->sensitivity));
  if (const auto* d = leaf.as<DiscreteGaussian>()) return discrete(leaf, NoiseKind::gaussian, number(d->sigma), number(d->sensitivity));
  if (const auto* r = leaf.as<RandomizedResponse>()) return response(leaf, *r);
  if (const auto* e = leaf.as<Exponential>()) return selection(leaf, number(e->eps));
  throw InvalidValue(
      "`" + print(leaf) +
      "` cannot be run: an audit is of gaussian, laplace, arsinh, discrete_gaussian, discrete_laplace, randomized_response or exponential");
}

}  // namespace sotto
