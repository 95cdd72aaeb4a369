// Discrete noise on a sample, against sums and integrals from its pmf
// (tests/oracle/make_sampled_discrete.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "../../support/number.hpp"
#include "accounting/leaves/leaf.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

struct Row {
  double epsilon, delta, tolerance;
  std::string plan;
};

std::vector<Row> table() {
  std::ifstream file(std::string(SOTTO_SOURCE_DIR) + "/tests/oracle/sampled_discrete.csv");
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> cells(1);
    for (const char c : line) {
      if (c == ',' && cells.size() < 5) {
        cells.emplace_back();
      } else if (c != '"') {
        cells.back() += c;
      }
    }
    rows.push_back(
        {number_in(cells.at(1)), number_in(cells.at(2)), number_in(cells.at(3)), cells.at(4)});
  }
  return rows;
}

TEST(SampledDiscrete, TheBracketHoldsTheTruthAndIsNarrow) {
  const std::vector<Row> rows = table();
  EXPECT_EQ(rows.size(), 10U);
  for (const Row& row : rows) {
    const Bound delta = sotto::delta(parse(row.plan), Epsilon(row.epsilon)).value;
    EXPECT_LE(delta.lower, row.delta * (1 + row.tolerance)) << row.plan;
    EXPECT_GE(delta.upper, row.delta * (1 - row.tolerance)) << row.plan;
    const Bound epsilon = sotto::epsilon(parse(row.plan), Delta(row.delta)).value;
    EXPECT_LE(epsilon.lower, row.epsilon * (1 + 1e-8)) << row.plan;
    EXPECT_GE(epsilon.upper, row.epsilon * (1 - 1e-8)) << row.plan;
    EXPECT_LE(epsilon.upper - epsilon.lower, 1e-6 * std::max(1.0, epsilon.upper)) << row.plan;
  }
}

TEST(SampledDiscrete, SeveralStepsOnOneSampleCostMoreThanOneAndLessThanTwoSamples) {
  const auto upper = [](const char* plan) { return epsilon(parse(plan), Delta(1e-6)).value; };
  const Bound together = upper("50 * poisson(0.1, 2 * discrete_gaussian(3))");
  EXPECT_GT(together.lower, upper("50 * poisson(0.1, discrete_gaussian(3))").upper);
  EXPECT_LE(together.upper - together.lower, 1e-6 * together.upper);
  // Two noises together equal one narrower noise, since wide discrete noise is nearly Gaussian.
  EXPECT_NEAR(together.upper / upper("50 * poisson(0.1, 2 * gaussian(3))").upper, 1, 1e-3);
}

TEST(SampledDiscrete, WideNoiseIsNearlyContinuous) {
  const double discrete =
      epsilon(parse("100 * poisson(0.05, discrete_gaussian(40))"), Delta(1e-6)).value.upper;
  const double continuous =
      epsilon(parse("100 * poisson(0.05, gaussian(40))"), Delta(1e-6)).value.upper;
  EXPECT_NEAR(discrete / continuous, 1, 1e-3);
}

TEST(SampledDiscrete, TheLatticeTruncatesLessThanItsBound) {
  using accounting_detail::LatticeBase;
  for (const double sigma : {0.5, 2.0, 30.0}) {
    const auto base = accounting_detail::leaf_of(discrete_gaussian(sigma, 2), 1)->base();
    const auto& lattice = std::get<LatticeBase>(base);
    EXPECT_GT(lattice.truncated, 0);
    EXPECT_LT(lattice.truncated, 1e-100);
    Real total = 0;
    for (const Real& mass : lattice.masses) total += mass;
    EXPECT_LE(total.lower(), 1);
    EXPECT_GE(total.upper(), 1);
    // The outermost outcome is at least as likely as the bound: a reach that is shorter by 1 would
    // violate it.
    EXPECT_LT(lattice.masses.back().upper(), lattice.truncated * sigma);
  }
}

TEST(SampledDiscrete, WithOtherNoiseItIsRefusedAboveAndOmittedBelow) {
  const Plan plan = parse("10 * poisson(0.1, gaussian(2) + discrete_gaussian(2))");
  EXPECT_THROW(epsilon(plan, Delta(1e-5), {.by = Method::pld}), std::exception);
  EXPECT_GE(epsilon(plan, Delta(1e-5)).value.lower,
            epsilon(parse("10 * poisson(0.1, gaussian(2))"), Delta(1e-5)).value.lower * (1 - 1e-9));
}

}  // namespace
}  // namespace sotto
