// ComposedCurve: its brackets agree with those of each ε alone, in any order of calls.
#include "pld/api/curve.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pld/api/compose.hpp"

namespace sotto {
namespace {

struct Case {
  std::string name;
  std::vector<LossStep> steps;
  double end;
};

std::vector<Case> cases() {
  const Real rate = Real(0.01);
  return {
      {"sampled Gaussian, removed", {{poisson_gaussian_loss(1, rate, Direction::remove), 1000}}, 4},
      {"sampled Gaussian, added", {{poisson_gaussian_loss(1, rate, Direction::add), 1000}}, 4},
      {"many Laplace", {{laplace_loss(0.1), 500}}, 20},
      {"few Laplace", {{laplace_loss(0.1), 7}}, 0.7},
      {"one Laplace", {{laplace_loss(0.5), 1}}, 0.5},
      {"Laplace beside Gaussian", {{laplace_loss(0.3), 2}, {gaussian_loss(0.04), 1}}, 2},
      {"exponential", {{exponential_loss(0.5), 20}}, 8}};
}

TEST(ComposedCurve, AgreesWithTheBracketOfEachEpsilonAlone) {
  for (const Case& one : cases()) {
    ComposedCurve curve(one.steps);
    for (const double share : {0.9, 0.0, 0.1, 0.5, 0.52, 0.3, 0.7, 0.05, 0.95}) {
      const double epsilon = share * one.end;
      const Bound alone = composed_delta(one.steps, {epsilon, epsilon});
      const Bound cached = curve.delta(epsilon);
      EXPECT_GE(cached.upper, alone.lower) << one.name << " at " << epsilon;
      EXPECT_LE(cached.lower, alone.upper) << one.name << " at " << epsilon;
      EXPECT_LE(cached.upper, alone.upper * (1 + 1e-3) + 1e-15) << one.name << " at " << epsilon;
    }
  }
}

TEST(ComposedCurve, IsZeroFromTheLargestLossOn) {
  ComposedCurve curve({{laplace_loss(0.5), 3}});
  EXPECT_NEAR(curve.max_loss(), 1.5, 1e-12);
  EXPECT_GE(curve.max_loss(), 1.5);
  EXPECT_EQ(curve.delta(1.51).upper, 0);
  EXPECT_GT(curve.delta(1.4).upper, 0);
}

}  // namespace
}  // namespace sotto
