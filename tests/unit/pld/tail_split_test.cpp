// Split losses: against grids, with which they share nothing but the distributions, and against themselves.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "pld/grid/fft_compose.hpp"
#include "pld/tail_split/rare.hpp"

namespace sotto::pld_detail {
namespace {

// Little noise, ε in the hundreds: split losses and grids, which share nothing but the mixture, agree.
TEST(SplitLosses, AgreeWithLaddersWhereEpsilonIsLarge) {
  struct Case {
    double count, rate, mu, epsilon, delta;
  };
  for (const auto& [count, rate, mu, epsilon, delta] : {Case{13, 3.88e-5, 7.1, 94.5, 3.5e-16}, Case{2272, 1.16e-5, 5.15, 338, 4e-88},
                                                        Case{50000, 2.9e-6, 9, 400, 1e-19}, Case{3, 0.01, 20, 700, 1e-7}}) {
    const PrivacyLossPtr loss = poisson_gaussian_loss(Real(mu), Real(rate), Direction::remove);
    const auto plan = rare_plan({{loss, count}});
    const auto steps = with_distributions({{loss, count}});
    ASSERT_TRUE(plan && steps);
    const Rare rare(*plan, epsilon, std::log(delta), 1e-7);
    ASSERT_FALSE(rare.failed()) << epsilon;
    const Bound split = rare.delta(epsilon);
    const GridChoice choice(*steps, epsilon, std::log(split.upper));
    ASSERT_FALSE(choice.failed());
    const Bound grid{FftComposition(*steps, choice, Side::lower, 1 << 17).delta(epsilon),
                     FftComposition(*steps, choice, Side::upper, 1 << 17).delta(epsilon)};
    EXPECT_LE(split.lower, grid.upper) << epsilon;
    EXPECT_GE(split.upper, grid.lower) << epsilon;
    EXPECT_LE(split.upper - split.lower, 1e-4 * split.upper) << epsilon;
    EXPECT_LE(grid.upper - grid.lower, 1e-3 * grid.upper) << epsilon;
  }
}

// What a rule on a line leaves out beyond its cut is bounded: against one that goes farther.
TEST(SplitLosses, WhatIsCutOffIsBounded) {
  for (const double mu : {0.5, 1.0, 4.0}) {
    const Law distribution{RoundedDouble(Real(mu)), RoundedDouble(Real(1) / 1000), 50, gaussian_noise(RoundedDouble(Real(mu)))};
    const Split split{32, Split{32}.theta_at(std::log(0.05)), Split{32}.theta_at(1.5)};
    constexpr double c = 3;
    const std::vector<Points> real{{distribution, split, 0, wide_angle(distribution, split) / mu, c + 1.5, c + 1.5, 25, -10}};
    ASSERT_FALSE(real.front().failed());
    const auto piece = [&](double wanted) {
      return Piece({distribution}, {}, Direction::remove, split, real, c, c + 0.4, {-10}, 1, wanted, 25, 1e9);
    };
    const Piece fine = piece(-40);
    ASSERT_FALSE(fine.failed());
    for (const double wanted : {-5.0, -12.0, -25.0}) {
      const Piece coarse = piece(wanted);
      ASSERT_FALSE(coarse.failed());
      ASSERT_LT(coarse.top(), fine.top());
      EXPECT_GT(fine.beyond(coarse.top()), 0);
      EXPECT_LE(fine.beyond(coarse.top()), coarse.cut_off()) << mu << " " << wanted;
    }
  }
}

// Other steps beside them, sampled ones too, with a record removed or added: as grids have it, also where what is left out is no longer small.
TEST(SplitLosses, AgreeWithLaddersBesideOtherSteps) {
  struct Case {
    double count, rate, mu;
    double other_count, other_rate, other_loss;
    double epsilon;
  };
  for (const Direction direction : {Direction::remove, Direction::add}) {
    int compared = 0;
    for (const auto& [count, rate, mu, other_count, other_rate, other_loss, epsilon] :
         {Case{40, 1e-3, 1, 3, 0.02, 0.5, 0.3}, Case{300, 1e-4, 1.5, 8, 0.1, 2, 2}, Case{5, 0.02, 2.5, 20, 0.3, 0.2, 0.9},
          Case{2000, 1e-3, 0.8, 2, 0.5, 1, 0.7}, Case{4, 0.01, 2, 30, 0.5, 1, 6}, Case{20, 0.02, 1, 60, 0.4, 0.7, 5}}) {
      const double at = direction == Direction::remove ? epsilon : epsilon / 4;
      const std::vector<LossStep> steps{{poisson_gaussian_loss(Real(mu), Real(rate), direction), count},
                                        {poisson_laplace_loss(Real(other_loss), Real(other_rate), direction), other_count},
                                        {laplace_loss(Real(1) / 16), 2}};
      const auto plan = rare_plan(steps);
      const auto known = with_distributions(steps);
      ASSERT_TRUE(plan && known);
      const double log_delta = rare_guess(*plan, at);
      const GridChoice choice(*known, at, log_delta);
      if (choice.failed()) continue;
      const Bound grid{FftComposition(*known, choice, Side::lower, 1 << 15).delta(at),
                       FftComposition(*known, choice, Side::upper, 1 << 15).delta(at)};
      for (const double tolerance : {1e-8, 0.05, 3.0}) {
        const Rare rare(*plan, at, log_delta, tolerance);
        if (rare.failed()) continue;
        const Bound split = rare.delta(at);
        EXPECT_LE(split.lower, grid.upper) << at << " " << tolerance;
        EXPECT_GE(split.upper, grid.lower) << at << " " << tolerance;
        compared += split.upper < 2 * grid.lower && split.lower > 0.5 * grid.upper ? 1 : 0;
      }
    }
    EXPECT_GE(compared, 4) << (direction == Direction::remove ? "removed" : "added");
  }
}

// Sums so rough that A is lost in its error at many nodes: against sharp ones.
TEST(SplitLosses, RoughSumsAreBounded) {
  int rough = 0;
  for (const double mu : {0.1, 0.4}) {
    for (const double count : {2.0, 5.0}) {
      const Law distribution{RoundedDouble(Real(mu)), RoundedDouble(Real(1) / 1000), count, gaussian_noise(RoundedDouble(Real(mu)))};
      const Split split{32, Split{32}.theta_at(std::log(0.002)), Split{32}.theta_at(std::log(0.006))};
      for (const double c : {300.0, 2000.0}) {
        const std::vector<Points> real{{distribution, split, 0, wide_angle(distribution, split) / mu, 1.5 * c, 1.5 * c, 25, -10}};
        if (real.front().failed()) continue;
        const auto piece = [&](double depth) {
          return Piece({distribution}, {}, Direction::remove, split, real, c, 1.3 * c, {-10}, 0.004, -60, depth, 1e9);
        };
        const Piece fine = piece(28);
        if (fine.failed()) continue;
        for (const double depth : {-4.0, -1.0, 2.0, 5.0, 9.0, 14.0}) {
          const Piece coarse = piece(depth);
          if (coarse.failed()) continue;
          for (const double epsilon : {0.003, 0.004, 0.005}) {
            const Bound sharp = fine.delta(epsilon);
            const Bound here = coarse.delta(epsilon);
            EXPECT_LE(here.lower, sharp.upper) << mu << " " << count << " " << c << " " << depth << " " << epsilon;
            EXPECT_GE(here.upper, sharp.lower) << mu << " " << count << " " << c << " " << depth << " " << epsilon;
            rough += here.upper - here.lower > 1e-3 * sharp.upper ? 1 : 0;
          }
        }
      }
    }
  }
  EXPECT_GE(rough, 10);
}

// The loss of (Q, P) is that of the pair turned round: E_Q[e^(-sL)] by the distribution's cells.
TEST(Losses, AreTurnedRound) {
  const Real third = Real(1) / 3;
  const auto sum = poisson_sum_losses({{Real(1), true, 2}, {third, false, 1}}, third);
  ASSERT_TRUE(sum);
  for (const PrivacyLossPtr& loss :
       {poisson_gaussian_loss(Real(1.5), third, Direction::remove), poisson_gaussian_loss(Real(1.5), third, Direction::add),
        poisson_laplace_loss(Real(2), third, Direction::remove), poisson_laplace_loss(Real(2), third, Direction::add), sum->removed, sum->added}) {
    const PrivacyLossPtr reversed = loss->reversed();
    ASSERT_NE(reversed, nullptr);
    const DistributionPtr distribution = dynamic_cast<const HasDistribution&>(*loss).distribution();
    const double low = std::max(distribution->least(), -30.0);
    const double high = std::min(distribution->most(), 30.0);
    for (const double line : {0.5, 2.0, 4.0}) {
      double mean = 0;
      for (const LossDistribution::PointMass& atom : distribution->atoms()) mean += atom.mass * std::exp(atom.log - line * atom.loss);
      constexpr int cells = 40000;
      for (int j = 0; j < cells; ++j) {
        const double from = low + (high - low) * j / cells;
        const double to = low + (high - low) * (j + 1) / cells;
        if (from < 0 && to > 0) {
          mean += distribution->mass_q(distribution->edge(from), distribution->edge(-0x1p-1000)).at(0) +
                  distribution->mass_q(distribution->edge(0), distribution->edge(to)).at(0);
        } else {
          mean += distribution->mass_q(distribution->edge(from), distribution->edge(to)).at(-line * (from + to) / 2);
        }
      }
      EXPECT_NEAR(reversed->cumulant(line), std::log(mean), 1e-4 * std::abs(std::log(mean))) << line;
      const PrivacyLossPtr again = reversed->reversed();
      EXPECT_DOUBLE_EQ(again->cumulant(line), loss->cumulant(line));
    }
  }
}

}  // namespace
}  // namespace sotto::pld_detail
