// Discretisation on a grid: masses are conserved, and profiles are those of connecting the dots.
// Laplace noise has the profile 1 - e^((ε-x)/2) for |ε| <= x; values of Gaussian noise were
// computed by mpmath.
#include "pld/grid/discretize.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace sotto::pld_detail {
namespace {

using Long = long double;

struct Totals {
  double p, q;
};

Totals totals_of(const GridDistribution& grid) {
  Long p = grid.bulk ? std::exp(static_cast<Long>(grid.bulk->log_mass)) : 0;
  Long q = grid.bulk ? std::exp(static_cast<Long>(grid.bulk->log_mass) - grid.start) : 0;
  for (std::int64_t j = grid.first; j <= grid.last(); ++j) {
    const Long weight = grid.weights[static_cast<std::size_t>(j - grid.first)];
    p += weight;
    q += weight * std::exp(-static_cast<Long>(grid.loss_at(j)));
  }
  return {static_cast<double>(p), static_cast<double>(q)};
}

// Returns δ(ε) of a discretised step.
double profile_of(const GridDistribution& grid, double epsilon) {
  const auto part = [epsilon](double loss) {
    return std::max<Long>(0, -std::expm1(static_cast<Long>(epsilon) - loss));
  };
  Long sum = grid.bulk ? std::exp(static_cast<Long>(grid.bulk->log_mass)) * part(grid.start) : 0;
  for (std::int64_t j = grid.first; j <= grid.last(); ++j)
    sum += grid.weights[static_cast<std::size_t>(j - grid.first)] * part(grid.loss_at(j));
  return static_cast<double>(sum);
}

DistributionPtr laplace() { return laplace_distribution(RoundedDouble(Real(1))); }
double laplace_profile(double epsilon) { return -std::expm1((epsilon - 1) / 2); }

DistributionPtr gaussian() { return gaussian_distribution(RoundedDouble(Real(0.5))); }
double gaussian_profile(double epsilon) {
  const Long mu = 0.5L;
  const Long root = std::sqrt(2.0L);
  return static_cast<double>(std::erfc((epsilon / mu - mu / 2) / root) / 2 -
                             std::exp(static_cast<Long>(epsilon)) *
                                 std::erfc((epsilon / mu + mu / 2) / root) / 2);
}

TEST(Discretize, PessimisticConservesPMassAndQMass) {
  for (const double spacing :
       {0.125, 0.0625, 0.03}) {  // the last one fits neither atom but the anchor
    const Totals totals = totals_of(pessimistic(*laplace(), {-1, 1, spacing, 0}));
    EXPECT_NEAR(totals.p, 1, 1e-12) << spacing;
    EXPECT_NEAR(totals.q, 1, 1e-12) << spacing;
    EXPECT_GE(totals.p, 1 - 1e-15) << spacing;
  }
}

TEST(Discretize, OptimisticConservesQMassAndLosesLittlePMass) {
  for (const double spacing : {0.125, 0.0625, 0.03}) {
    const Totals totals = totals_of(optimistic(*laplace(), {-1, 1, spacing, 0}));
    EXPECT_NEAR(totals.q, 1, 1e-12) << spacing;
    EXPECT_LE(totals.p, 1) << spacing;
    EXPECT_GE(totals.p, 1 - spacing * spacing) << spacing;
  }
}

// Connecting the dots keeps h(a) at the grid points and is linear in a = e^ε between them.
TEST(Discretize, PessimisticProfileConnectsTheDots) {
  const double spacing = 0.125;
  const GridDistribution grid = pessimistic(*laplace(), {-1, 1, spacing, 0});
  for (double low = -0.875; low < 0.9; low += spacing) {
    const double high = low + spacing;
    EXPECT_NEAR(profile_of(grid, low), laplace_profile(low), 1e-13) << low;
    for (const double share : {0.2, 0.5, 0.9}) {
      const double epsilon = low + share * spacing;
      const double along = std::expm1(epsilon - low) / std::expm1(spacing);
      EXPECT_NEAR(profile_of(grid, epsilon),
                  (1 - along) * laplace_profile(low) + along * laplace_profile(high), 1e-13)
          << epsilon;
    }
  }
}

// mpmath, 40 digits: Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ) for μ = 1/2
TEST(Discretize, PessimisticProfileOfGaussianNoiseIsExactAtGridPoints) {
  const GridDistribution grid = pessimistic(*gaussian(), {-4, 4.05, 0.1, 1});
  struct Value {
    int point;
    double delta;
  };
  for (const auto& [point, delta] :
       {Value{-3, 0.330561706997805759}, Value{0, 0.197412651365847448},
        Value{1, 0.159260507413991665}, Value{4, 0.0720717194144931319},
        Value{9, 0.0109305182001487472}}) {
    EXPECT_NEAR(profile_of(grid, point * 0.1), delta, 1e-13) << point;  // P(L > 4) is 5e-15
  }
}

TEST(Discretize, BothSidesConvergeWithTheSquareOfTheSpacing) {
  const auto gaps_at = [](double spacing) {
    const GridDistribution up = pessimistic(*gaussian(), {-4, 4, spacing, 1});
    const GridDistribution down = optimistic(*gaussian(), {-4, 4, spacing, 1});
    Bound gaps{0, 0};  // of the lower and of the upper side
    for (double epsilon = 0; epsilon < 1; epsilon += 0.0007) {
      const double exact = gaussian_profile(epsilon);
      EXPECT_GE(profile_of(up, epsilon), exact - 1e-14) << epsilon;
      EXPECT_LE(profile_of(down, epsilon), exact + 1e-14) << epsilon;
      gaps.upper = std::max(gaps.upper, profile_of(up, epsilon) - exact);
      gaps.lower = std::max(gaps.lower, exact - profile_of(down, epsilon));
    }
    return gaps;
  };
  const Bound coarse = gaps_at(0.1);
  const Bound fine = gaps_at(0.05);
  EXPECT_NEAR(coarse.upper / fine.upper, 4, 0.4);
  EXPECT_NEAR(coarse.lower / fine.lower, 4, 0.4);
}

// A rarely used record: nearly all mass is at log(1 - q), on one grid point, and keeps its digits.
TEST(Discretize, BulkHasTheRemainingMass) {
  const double q = 1e-3;
  const auto sampled = poisson_distribution(gaussian_distribution(RoundedDouble(Real(1))),
                                            RoundedDouble(Real(q)), Direction::remove);
  const GridDistribution grid = pessimistic(*sampled, {std::log1p(-q), 8, 0.02, 1});
  ASSERT_TRUE(grid.bulk);
  EXPECT_NEAR(grid.start, std::log1p(-q), 1e-15);
  const Totals totals = totals_of(grid);
  EXPECT_NEAR(totals.q, 1, 1e-12);
  EXPECT_NEAR(totals.p, 1, 1e-9);
  // [Balle2018b]: h(a) = q h₀(1 + (a-1)/q), h₀ the profile of the base
  const auto exact = [q](double epsilon) {
    const Long base = std::log1p(std::expm1(static_cast<Long>(epsilon)) / q);
    return static_cast<double>(q *
                               (std::erfc((base - 0.5L) / std::sqrt(2.0L)) / 2 -
                                std::exp(base) * std::erfc((base + 0.5L) / std::sqrt(2.0L)) / 2));
  };
  for (const double epsilon : {0.001, 0.01, 0.1, 1.0}) {
    EXPECT_GE(profile_of(grid, epsilon), exact(epsilon) * (1 - 1e-12)) << epsilon;
    // the cell above the bulk is long compared with losses of about q
    if (epsilon >= 0.1) {
      EXPECT_LE(profile_of(grid, epsilon), 1.02 * exact(epsilon)) << epsilon;
    }
  }
}

TEST(GridDistribution, AddExtendsTheGridOnBothSides) {
  GridDistribution grid{0, 0.5, 2, {1.0}, std::nullopt, 0, 0};
  grid.add(4, 0.25);
  grid.add(1, 0.5);
  grid.add(2, 0.125);
  grid.add(7, 0);  // no weight: no point
  EXPECT_EQ(grid.first, 1);
  EXPECT_EQ(grid.weights, (std::vector<double>{0.5, 1.125, 0, 0.25}));
  EXPECT_THROW(grid.add(std::int64_t{1} << 40, 1), std::exception);
}

}  // namespace
}  // namespace sotto::pld_detail
