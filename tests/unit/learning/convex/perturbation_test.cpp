// Output and objective perturbation: minima are proved, neighbours' minima are near, noise is as
// planned, and the theorem's inequality holds.
#include "learning/api/perturbation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "learning/convex/minimum.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

const LossFunction logistic{.kind = LossKind::logistic};
const LossFunction huber{.kind = LossKind::huber, .bend = 0.1};

// Units of one row; the first `units` of the same random sequence.
Examples made_up(std::size_t units, std::size_t width, const LossFunction& loss,
                 std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> code(-feature_one, feature_one);
  Examples::Builder builder(width);
  for (std::size_t u = 0; u < units; ++u) {
    const auto first = static_cast<std::int16_t>(code(random));
    const bool flips = code(random) > feature_one / 2;
    const auto target = loss.is_of_classes()
                            ? static_cast<std::int16_t>((first > 0) != flips ? 1 : 0)
                            : static_cast<std::int16_t>(first / 2);
    const auto row = builder.add(target);
    for (std::int16_t& x : row) x = static_cast<std::int16_t>(code(random));
    row[0] = first;
  }
  return std::move(builder).build();
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double square = 0;
  for (std::size_t i = 0; i < a.size(); ++i) square += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(square);
}

// By other loops, in doubles, of rows that are not shortened.
double gradient_norm(const Examples& examples, const ConvexProblem& problem,
                     const std::vector<double>& theta, const std::vector<double>& b) {
  std::vector<double> g(theta.size());
  for (std::size_t i = 0; i < examples.rows(); ++i) {
    double z = theta.back();
    for (std::size_t j = 0; j < problem.width; ++j)
      z += theta[j] * examples.row(i)[j] / feature_one;
    std::vector<double> slope(1);
    problem.loss.slope(std::vector<double>{z}, examples.target(i), slope);
    for (std::size_t j = 0; j < problem.width; ++j)
      g[j] += slope[0] * examples.row(i)[j] / feature_one;
    g.back() += slope[0];
  }
  for (std::size_t j = 0; j < g.size(); ++j)
    g[j] += problem.strength * theta[j] + (b.empty() ? 0 : b[j]);
  return distance(g, std::vector<double>(g.size()));
}

TEST(Minimum, TheGradientThereIsWithinTheTolerance) {
  for (const LossFunction& loss : {logistic, huber}) {
    for (const double strength : {1e-3, 1.0, 1000.0}) {
      const ConvexProblem problem{.width = 5, .loss = loss, .norm = 3, .strength = strength};
      const Examples examples = made_up(2000, 5, loss, 1);
      const std::vector<double> b{30, -20, 0, 5, 1, -7};
      EXPECT_LE(gradient_norm(examples, problem,
                              learning_detail::minimum(problem, examples, {}, 1e-6), {}),
                1.01e-6)
          << strength;
      EXPECT_LE(
          gradient_norm(examples, problem, learning_detail::minimum(problem, examples, b, 1e-6), b),
          1.01e-6)
          << strength;
    }
  }
}

TEST(Minimum, ToleranceBelowRoundingIsRefused) {
  const ConvexProblem problem{.width = 5, .loss = logistic, .norm = 3, .strength = 4};
  EXPECT_THROW((void)learning_detail::minimum(problem, made_up(200, 5, logistic, 1), {}, 1e-18),
               OutsideConditions);
  // the computed gradient is 0 at -b/4, but its rounding errors are not
  const std::vector<double> b(6, 8.0);
  EXPECT_THROW((void)learning_detail::minimum(problem, made_up(0, 5, logistic, 1), b, 1e-18),
               OutsideConditions);
  EXPECT_NO_THROW((void)learning_detail::minimum(problem, made_up(0, 5, logistic, 1), b, 1e-15));
}

TEST(OutputPerturbation, NeighboursHaveMinimaWithinTheSensitivity) {
  for (const LossFunction& loss : {logistic, huber}) {
    for (const double strength : {0.5, 5.0}) {
      const OutputPerturbation p{
          .problem = {.width = 3, .loss = loss, .norm = 1.2, .strength = strength}};
      const double tolerance = p.tolerance * gradient_bound(p.problem);
      for (const std::size_t units : {1U, 2U, 5U, 30U}) {
        const auto more =
            learning_detail::minimum(p.problem, made_up(units, 3, loss, 2), {}, tolerance);
        const auto less =
            learning_detail::minimum(p.problem, made_up(units - 1, 3, loss, 2), {}, tolerance);
        EXPECT_LE(distance(more, less), sensitivity_of(p)) << units;
      }
    }
  }
}

TEST(OutputPerturbation, TheSensitivityIsNearlyReached) {
  // one unit far from its target, and none
  const OutputPerturbation p{
      .problem = {
          .width = 1, .loss = {.kind = LossKind::huber, .bend = 0.01}, .norm = 1, .strength = 1}};
  Examples::Builder builder(1);
  builder.add(feature_one)[0] = feature_one;
  const auto one = learning_detail::minimum(p.problem, std::move(builder).build(), {}, 1e-9);
  EXPECT_LE(distance(one, {0, 0}), sensitivity_of(p));
  EXPECT_GT(distance(one, {0, 0}), 0.995 * sensitivity_of(p));
  OutputPerturbation replacing = p;
  replacing.problem.relation = Relation::replace_one;
  EXPECT_GT(sensitivity_of(replacing), 1.99 * distance(one, {0, 0}));
}

TEST(OutputPerturbation, AUnitsRowsCountAsOne) {
  const OutputPerturbation p{
      .problem = {
          .width = 1, .loss = {.kind = LossKind::huber, .bend = 0.01}, .norm = 1, .strength = 1}};
  Examples::Builder builder(1);
  builder.next_unit();
  for (int i = 0; i < 7; ++i) builder.add(feature_one)[0] = feature_one;
  EXPECT_LE(
      distance(learning_detail::minimum(p.problem, std::move(builder).build(), {}, 1e-9), {0, 0}),
      sensitivity_of(p));
}

TEST(OutputPerturbation, NoiseIsAsPlanned) {
  const OutputPerturbation p{.problem = {.width = 99, .loss = logistic, .norm = 2, .strength = 4},
                             .noise = 3};
  EXPECT_EQ(print(plan_of(p)), "gaussian(3)");
  const Examples none = made_up(0, 99, logistic, 1);
  double square = 0;
  for (int i = 0; i < 300; ++i) {
    for (const double x : learn(none, p)) square += x * x;
  }
  // 30 000 numbers: the deviation is measured to 0.4 %
  EXPECT_NEAR(std::sqrt(square / 30000) / (3 * sensitivity_of(p)), 1, 0.02);
  EXPECT_NEAR(sensitivity_of(p), 2 * (1 + 0x1p-9) / 4, 1e-12);
}

TEST(Perturbation, OutsideTheTheoremsConditionsIsAnError) {
  const auto with = [](const LossFunction& loss, double strength) {
    return ConvexProblem{.width = 3, .loss = loss, .norm = 2, .strength = strength};
  };
  for (const LossKind kind : {LossKind::squared, LossKind::squared_hinge, LossKind::softmax}) {
    EXPECT_THROW((void)plan_of(OutputPerturbation{.problem = with({.kind = kind}, 1)}),
                 OutsideConditions);
  }
  EXPECT_THROW((void)plan_of(OutputPerturbation{.problem = with(logistic, 0)}), OutsideConditions);
  EXPECT_THROW((void)plan_of(OutputPerturbation{.problem = with(logistic, 1), .noise = 0}),
               OutsideConditions);
  // log(1 + 1/Λ) < ε
  EXPECT_THROW((void)plan_of(ObjectivePerturbation{
                   .problem = with(logistic, 0.58), .epsilon = 1, .delta = 1e-6}),
               OutsideConditions);
  EXPECT_NO_THROW((void)plan_of(
      ObjectivePerturbation{.problem = with(logistic, 0.59), .epsilon = 1, .delta = 1e-6}));
  EXPECT_THROW(
      (void)plan_of(ObjectivePerturbation{.problem = with(logistic, 1), .epsilon = 1, .delta = 0}),
      OutsideConditions);
  Examples::Builder several(3);
  several.next_unit();
  several.add(0);
  several.add(1);
  EXPECT_THROW(
      (void)learn(std::move(several).build(),
                  ObjectivePerturbation{.problem = with(logistic, 1), .epsilon = 1, .delta = 1e-6}),
      OutsideConditions);
}

TEST(ObjectivePerturbation, ThePlanCostsAtMostTheTarget) {
  for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
    for (const double epsilon : {0.1, 1.0, 4.0}) {
      const ObjectivePerturbation p = objective_perturbation_for(
          {.width = 3, .loss = logistic, .norm = 2, .strength = 0, .relation = relation},
          Epsilon(epsilon), Delta(1e-5));
      const double cost = sotto::epsilon(plan_of(p), Delta(1e-5)).value.upper;
      EXPECT_LE(cost, epsilon);
      EXPECT_GT(cost, 0.8 * epsilon);
    }
  }
}

// The hockey-stick divergences between the minima without and with one unit of norm R. Only the
// coordinate along its row matters: t, with density φ(Λt/σ)Λ/σ without it and φ((Λt + R
// l'(Rt))/σ)(Λ + R² l''(Rt))/σ with it.
std::pair<double, double> divergences(const ObjectivePerturbation& p, double sigma, double epsilon,
                                      std::int16_t target) {
  const double r = p.problem.norm;
  const double strength = p.problem.strength;
  double removed = 0;
  double added = 0;
  const double far = 12 * sigma / strength;
  const int cells = 400'000;
  const double h = 2 * far / cells;
  for (int i = 0; i < cells; ++i) {
    const double t = -far + (i + 0.5) * h;
    std::vector<double> slope(1);
    std::vector<double> up(1);
    p.problem.loss.slope(std::vector<double>{r * t}, target, slope);
    p.problem.loss.slope(std::vector<double>{r * t + 1e-6}, target, up);
    const auto density = [&](double b, double rate) {
      return std::exp(-b * b / (2 * sigma * sigma)) * rate / (sigma * std::sqrt(2 * M_PI));
    };
    const double without = density(strength * t, strength);
    const double with =
        density(strength * t + r * slope[0], strength + r * r * (up[0] - slope[0]) / 1e-6);
    removed += std::max(0.0, with - std::exp(epsilon) * without) * h;
    added += std::max(0.0, without - std::exp(epsilon) * with) * h;
  }
  return {removed, added};
}

TEST(ObjectivePerturbation, TheTheoremHoldsWhereBothDensitiesAreKnown) {
  double nearest = 0;
  for (const LossFunction& loss : {logistic, huber}) {
    for (const double epsilon : {0.3, 1.0, 3.0}) {
      for (const double strength : {0.0, 4.0, 100.0}) {
        ObjectivePerturbation p{
            .problem = {.width = 1, .loss = loss, .norm = 1, .strength = strength},
            .epsilon = epsilon,
            .delta = 1e-3};
        if (strength == 0) p.problem.strength = 1.05 * loss.smoothness() / std::expm1(epsilon);
        if (std::log1p(loss.smoothness() / p.problem.strength) >= epsilon) continue;
        for (const std::int16_t target : {std::int16_t{0}, std::int16_t{1}}) {
          const auto [removed, added] = divergences(p, objective_noise(p), epsilon, target);
          EXPECT_LE(removed, p.delta) << epsilon << " " << strength;
          EXPECT_LE(added, p.delta) << epsilon << " " << strength;
          nearest = std::max({nearest, removed, added});
        }
      }
    }
  }
  EXPECT_GT(nearest, 1e-4);  // not so loose that the test would not see
}

TEST(ObjectivePerturbation, TheNoiseIsTheLeastOfTheTheorem) {
  const ObjectivePerturbation p{
      .problem = {.width = 3, .loss = logistic, .norm = 3, .strength = 20},
      .epsilon = 1,
      .delta = 1e-5};
  const double left = 1 - std::log1p(9.0 / 4 / 20);
  EXPECT_LE(2 * gaussian_delta(left, 3 / objective_noise(p)).lower(), 1e-5);
  EXPECT_GT(2 * gaussian_delta(left, 3 / (0.999 * objective_noise(p))).upper(), 1e-5);
  // where delta is large the condition rules: left >= μ²/2
  const ObjectivePerturbation large{
      .problem = {.width = 3, .loss = logistic, .norm = 3, .strength = 2e4},
      .epsilon = 1e-3,
      .delta = 0.5};
  EXPECT_GE(objective_noise(large), 3 / std::sqrt(2 * (1e-3 - std::log1p(9.0 / 4 / 2e4))));
}

TEST(ObjectivePerturbation, NoiseIsAsPlanned) {
  const ObjectivePerturbation p{
      .problem = {.width = 99, .loss = logistic, .norm = 2, .strength = 4},
      .epsilon = 1,
      .delta = 1e-5};
  const Examples none = made_up(0, 99, logistic, 1);
  double square = 0;
  for (int i = 0; i < 300; ++i) {
    for (const double x : learn(none, p)) square += x * x;
  }
  EXPECT_NEAR(std::sqrt(square / 30000) * 4 / objective_noise(p), 1, 0.02);
  EXPECT_EQ(print(plan_of(p)), "approx(1, 1e-05) + gaussian(1000)");
}

TEST(ObjectivePerturbation, MinimaHaveTheNoiseForTheirError) {
  // a large strength fixes the minimum near 0; own_noise large enough to be all that is seen
  const ObjectivePerturbation p{
      .problem = {.width = 99, .loss = logistic, .norm = 2, .strength = 4},
      .epsilon = 10,
      .delta = 0.5,
      .own_noise = 1e8,
      .tolerance = 0x1p-10};
  const Examples none = made_up(0, 99, logistic, 1);
  double square = 0;
  for (int i = 0; i < 100; ++i) {
    for (const double x : learn(none, p)) square += x * x;
  }
  EXPECT_NEAR(std::sqrt(square / 10000) / (1e8 * 2 * 0x1p-10 * 2 / 4), 1, 0.03);
}

TEST(Perturbation, BothLearnFromEnoughUnits) {
  const Examples examples = made_up(20000, 3, logistic, 9);
  const auto right = [&](const std::vector<double>& theta) {
    int count = 0;
    for (std::size_t i = 0; i < examples.rows(); ++i) {
      double z = theta.back();
      for (std::size_t j = 0; j < 3; ++j) z += theta[j] * examples.row(i)[j] / feature_one;
      count += (z > 0) == (examples.target(i) > 0) ? 1 : 0;
    }
    return static_cast<double>(count) / static_cast<double>(examples.rows());
  };
  const double best = right(learning_detail::minimum(
      {.width = 3, .loss = logistic, .norm = 2, .strength = 1}, examples, {}, 1e-3));
  OutputPerturbation output{.problem = {.width = 3, .loss = logistic, .norm = 2, .strength = 1}};
  output.noise = calibrate(plan_to_calibrate(output), Epsilon(1), Delta(1e-5)).value;
  output.problem.strength = balanced_strength(output.problem, output.noise, 20000);
  EXPECT_GT(right(learn(examples, output)), best - 0.02);
  EXPECT_GT(right(learn(examples, objective_perturbation_for(
                                      {.width = 3, .loss = logistic, .norm = 2, .strength = 0},
                                      Epsilon(1), Delta(1e-5)))),
            best - 0.02);
}

}  // namespace
}  // namespace sotto
