// Random plans against a table of high-precision values (tests/oracle/make_profiles.py): the
// bracket holds the truth, at the usual precision and at coarse ones, where every term of the error
// bound has something to bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "../../support/number.hpp"
#include "accounting/api/pld.hpp"
#include "core/api/work.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

struct Row {
  std::string family, plan;
  double epsilon, delta, tolerance;
};

std::vector<Row> table(const std::string& name) {
  std::ifstream file(std::string(SOTTO_SOURCE_DIR) + "/tests/oracle/" + name);
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    rows.push_back({cells.at(0), cells.at(4), number_in(cells.at(1)), number_in(cells.at(2)),
                    number_in(cells.at(3)) + 0x1p-52});
  }
  return rows;
}

Bound reading(double x) {
  const Real ball = Real::reading(x);
  return {std::max(0.0, ball.lower()), ball.upper()};
}

// The result of a computation with a work limit; the trivial bracket if the limit is reached before
// a proof.
template <class Compute>
Bound within(double work, Bound unknown, Compute compute) {
  const WorkLimit limit(work);
  try {
    return compute();
  } catch (const OutOfWork&) {
    return unknown;
  }
}

constexpr double usual_work = 1e8;  // a tenth of a second; a command may take nine times as much

// Checks every row; returns how many had a pair.
int check(const std::vector<Row>& rows, const Precision& precision, double work = usual_work) {
  const Bound any_delta{0, 1};
  const Bound any_epsilon{0, std::numeric_limits<double>::infinity()};
  int checked = 0;
  for (const Row& row : rows) {
    if (row.delta < 1e-300) continue;
    PlanLoss loss;
    try {
      loss = loss_of(parse(row.plan), Side::upper);
    } catch (const OutsideConditions&) {
      continue;
    }
    ++checked;
    const auto delta_of = [&](const PlanLoss& one) {
      return within(work, any_delta, [&]() -> Bound {
        return composed_delta(one, reading(row.epsilon), precision);
      });
    };
    Bound delta = delta_of(loss);
    const bool two_sided =
        loss.attained ||
        !loss.discretized;  // discretised losses are bracketed by losses of their own from below
    const PlanLoss below = two_sided ? loss : loss_of(parse(row.plan), Side::lower);
    if (!two_sided) delta.lower = delta_of(below).lower;
    EXPECT_LE(delta.lower, row.delta * (1 + row.tolerance))
        << row.plan << " at epsilon " << row.epsilon;
    EXPECT_GE(delta.upper, row.delta * (1 - row.tolerance))
        << row.plan << " at epsilon " << row.epsilon;
    const Bound range{row.delta * (1 - row.tolerance), row.delta * (1 + row.tolerance)};
    const auto epsilon_of = [&](const PlanLoss& one) {
      return within(work, any_epsilon,
                    [&]() -> Bound { return composed_epsilon(one, range, precision); });
    };
    Bound epsilon = epsilon_of(loss);
    if (!two_sided) epsilon.lower = epsilon_of(below).lower;
    EXPECT_LE(epsilon.lower, row.epsilon * (1 + 0x1p-52)) << row.plan << " at delta " << row.delta;
    EXPECT_GE(epsilon.upper, row.epsilon * (1 - 0x1p-52)) << row.plan << " at delta " << row.delta;
  }
  return checked;
}

TEST(Profiles, TheBracketHoldsTheTruth) { EXPECT_GE(check(table("profiles.csv"), {}), 280); }

TEST(Profiles, ACoarseBracketHoldsTheTruth) {
  EXPECT_GE(check(table("profiles.csv"), {1e-4, 1e-3, 6e6}), 280);
  EXPECT_GE(check(table("profiles.csv"), {1e-2, 3e-2, 6e6}), 280);
  EXPECT_GE(check(table("profiles.csv"), {0.3, 0.3, 6e6}), 280);
}

// Plans whose pair has several stages (tests/oracle/make_joint.py).
TEST(Profiles, SeveralMechanismsOnOneSampleHoldTheTruth) {
  const std::vector<Row> rows = table("joint.csv");
  const int all = static_cast<int>(rows.size());
  EXPECT_GE(all, 27);
  for (const Precision& precision : {Precision{}, Precision{1e-3, 1e-2, 6e6}})
    EXPECT_EQ(check(rows, precision), all);
  for (const Row& row : rows) {
    const Bound delta = composed_delta(loss_of(parse(row.plan), Side::upper), reading(row.epsilon));
    EXPECT_LE(delta.upper - row.delta, 1e-2 * row.delta) << row.plan;
  }
}

TEST(SlowProfiles, TheBracketHoldsTheTruth) {
  const std::vector<Row> rows = table("profiles_slow.csv");
  EXPECT_GE(check(rows, {}), static_cast<int>(rows.size()) * 9 / 10);
}

TEST(SlowProfiles, ACoarseBracketHoldsTheTruth) {
  const std::vector<Row> rows = table("profiles_slow.csv");
  check(rows, {1e-3, 1e-2, 6e6});
  check(rows, {0.1, 0.1, 6e6});
}

// Sampled so rarely that few steps have the record (tests/oracle/make_rare.py), far down
// (make_deep.py), and at the edges: two steps of any rate, little noise, several mechanisms on a
// rarely used sample, and dozens to thousands of uses (make_edges.py).
TEST(RareSteps, TheBracketHoldsTheTruth) {
  for (const std::string name : {"rare.csv", "deep.csv", "edges.csv"}) {
    const std::vector<Row> rows = table(name);
    EXPECT_GE(rows.size(), 20U);
    EXPECT_EQ(check(rows, {1e-7, 1e-6, 6e6}, 5e7), static_cast<int>(rows.size()));
  }
}

TEST(SlowRareSteps, TheBracketHoldsTheTruth) {
  for (const std::string name : {"rare.csv", "deep.csv", "edges.csv"}) {
    const std::vector<Row> rows = table(name);
    for (const Precision& precision :
         {Precision{}, Precision{1e-4, 1e-3, 6e6}, Precision{1e-2, 3e-2, 6e6}}) {
      EXPECT_EQ(check(rows, precision, 9e8), static_cast<int>(rows.size()));
    }
  }
}

TEST(SlowRareSteps, TheBracketIsNarrow) {
  int wide = 0;
  int all = 0;
  for (const std::string name : {"rare.csv", "edges.csv"}) {
    for (const Row& row : table(name)) {
      if (row.delta < 1e-15) continue;
      const PlanLoss loss = loss_of(parse(row.plan), Side::upper);
      const Bound epsilon = within(9e8, {0, 1e300}, [&]() -> Bound {
        return composed_epsilon(loss, {row.delta, row.delta});
      });
      ++all;
      if (epsilon.upper - epsilon.lower <= std::max(1e-12, 1e-4 * epsilon.upper)) continue;
      ++wide;
      std::printf("wide: %.1e %s at delta %.3g\n", (epsilon.upper - epsilon.lower) / epsilon.upper,
                  row.plan.c_str(), row.delta);
    }
  }
  EXPECT_LE(wide, all / 20);
}

// Two steps whose losses have kinks and atoms, by grids (tests/oracle/make_two.py).
void check_narrow(const std::vector<Row>& rows, const Precision& precision, double most) {
  for (const Row& row : rows) {
    const Bound epsilon =
        composed_epsilon(loss_of(parse(row.plan), Side::upper), {row.delta, row.delta}, precision);
    EXPECT_LE(epsilon.upper - epsilon.lower, std::max(1e-11, most * epsilon.upper))
        << row.plan << " at delta " << row.delta;
  }
}

TEST(FewSteps, TheBracketHoldsTheTruth) {
  const std::vector<Row> rows = table("two.csv");
  EXPECT_GE(rows.size(), 60U);
  EXPECT_EQ(check(rows, {}), 60);
  EXPECT_EQ(check(rows, {1e-3, 1e-2, 6e6}), 60);
  check_narrow(rows, {}, 1e-5);
}

TEST(SlowProfiles, BracketsOfFewStepsHoldTheTruthAndAreNarrow) {
  const std::vector<Row> rows = table("two.csv");
  const Precision fine{2e-11, 4e-10, 1e7};
  for (const Precision& precision : {fine, Precision{1e-8, 1e-7, 6e6}, Precision{0.1, 0.1, 6e6}})
    EXPECT_EQ(check(rows, precision, 9e9), 60);
  check_narrow(rows, fine, 2e-7);
}

// k * poisson(q, gaussian(σ)) over eight orders of k and seven of q, δ down to 10^-100.
TEST(SlowProfiles, BracketsOfSampledGaussiansAreNarrow) {
  std::mt19937_64 random(1);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  int all = 0;
  int wide = 0;
  for (int i = 0; i < 1500; ++i) {
    const double q = std::pow(10, between(-7, 0));
    const double sigma = std::pow(10, between(-1, 1.48));
    const double k = std::round(std::pow(10, between(0, 8)));
    const double delta = std::pow(10, between(0, 1) < 0.7 ? between(-20, -1) : between(-100, -20));
    const WorkLimit limit(9e8);
    const Bound epsilon =
        composed_epsilon(loss_of(k * poisson(q, gaussian(sigma)), Side::upper), {delta, delta});
    if (epsilon.lower > 1000) continue;
    ++all;
    if (epsilon.upper - epsilon.lower <= std::max(1e-12, 1e-4 * epsilon.upper)) continue;
    ++wide;
    std::printf("wide: [%.12g, %.12g], %.0f * poisson(%g, gaussian(%g)) at delta %g\n",
                epsilon.lower, epsilon.upper, k, q, sigma, delta);
  }
  EXPECT_GE(all, 1000);
  EXPECT_LE(wide, all / 10);
}

// A δ that only the largest losses attain, and lattices so coarse that δ is a step function.
TEST(Profiles, FewStepsWithAtomsHaveNarrowBrackets) {
  for (const std::string plan :
       {"5 * laplace(0.793)", "27 * laplace(1210)", "3 * randomized_response(0.534)",
        "38 * randomized_response(0.62, 5)", "211 * pure(0.0217)",
        "16 * discrete_laplace(7.96, sensitivity=5)", "2 * discrete_gaussian(0.802)",
        "30 * discrete_gaussian(0.429)", "22 * poisson(0.000235, laplace(6.68))",
        "3 * poisson(0.01, pure(1))", "2 * without_replacement(260, 1000, laplace(31.7))",
        "3 * laplace(2) + 5 * pure(0.1) + 2 * poisson(0.1, laplace(3))"}) {
    const PlanLoss loss = loss_of(parse(plan), Side::upper);
    for (const double delta : {1e-3, 1e-9, 1e-27}) {
      const Bound epsilon = composed_epsilon(loss, {delta, delta});
      EXPECT_LE(epsilon.upper - epsilon.lower, std::max(1e-12, 1e-5 * epsilon.upper))
          << plan << " at delta " << delta;
      const double least = epsilon.lower > 0 ? delta * (1 - 1e-9) : 0;
      EXPECT_GE(composed_delta(loss, {epsilon.lower, epsilon.lower}).upper, least)
          << plan << " at delta " << delta;
      EXPECT_LE(composed_delta(loss, {epsilon.upper, epsilon.upper}).lower, delta)
          << plan << " at delta " << delta;
    }
  }
}

// One step of Laplace noise, in closed form: ε = 1/b + 2 log(1 - δ).
TEST(Profiles, TheLargestLossOfLaplaceNoiseIsAttained) {
  for (const double delta : {1e-3, 1e-8, 1e-15}) {
    const Bound epsilon = composed_epsilon(loss_of(laplace(0.5), Side::upper), {delta, delta});
    const double truth = 2 + 2 * std::log1p(-delta);
    EXPECT_LE(epsilon.lower, truth * (1 + 0x1p-52));
    EXPECT_GE(epsilon.upper, truth * (1 - 0x1p-52));
    EXPECT_LE(epsilon.upper - epsilon.lower, 1e-6 * truth);
  }
}

// On a lattice the truncation is the only error of both signs. It matters deep in the tail, for
// coarse brackets.
TEST(Profiles, CoarseBracketsOnALatticeHoldTheFineOnes) {
  for (const int steps : {60, 120, 200, 241, 400}) {
    for (int p = 505; p < 560; p += 3) {
      const PlanLoss loss = loss_of(
          parse(std::to_string(steps) + " * randomized_response(0." + std::to_string(p) + ")"),
          Side::upper);
      const double most = steps * std::log(p / (1000.0 - p));
      for (const double share : {0.5, 0.63, 0.77, 0.84, 0.9}) {
        const Bound fine = composed_delta(loss, {share * most, share * most});
        for (const double coarse : {1e-2, 1.0}) {
          const Bound delta =
              composed_delta(loss, {share * most, share * most}, {coarse, coarse, 6e6});
          EXPECT_LE(delta.lower, fine.upper) << steps << " of 0." << p << " at " << share;
          EXPECT_GE(delta.upper, fine.lower) << steps << " of 0." << p << " at " << share;
        }
      }
    }
  }
}

// Plans with a smooth loss: a part in 10^9, or 10^-12; plans with atoms: a part in 10^6.
TEST(Profiles, TheBracketIsNarrow) {
  int wide = 0;
  int all = 0;
  for (const Row& row : table("profiles.csv")) {
    const bool smooth = row.family == "gaussian" || row.family == "gaussians" ||
                        row.family == "poisson-gaussian" || row.family == "laplace-many" ||
                        row.family == "gaussian-atoms" || row.family == "smooth" ||
                        row.family == "discrete-gaussian";
    if (!smooth || row.delta < 1e-300) continue;
    const PlanLoss loss = loss_of(parse(row.plan), Side::upper);
    const Bound epsilon = composed_epsilon(loss, {row.delta, row.delta});
    ++all;
    if (epsilon.upper - epsilon.lower > 1e-9 * epsilon.upper &&
        epsilon.upper - epsilon.lower > 1e-12) {
      ++wide;
      std::printf("wide: %.1e %s at delta %.3g\n", (epsilon.upper - epsilon.lower) / epsilon.upper,
                  row.plan.c_str(), row.delta);
    }
  }
  EXPECT_LE(wide, 2);
  EXPECT_GE(all, 50);
}

}  // namespace
}  // namespace sotto
