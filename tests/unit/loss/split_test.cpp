// Split losses: against ladders, with which they share nothing but the laws, and against themselves.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "loss/ladder.hpp"
#include "loss/rare.hpp"

namespace sotto::loss_detail {
namespace {

// Little noise, ε in the hundreds: split losses and ladders, which share nothing but the mixture, agree.
TEST(SplitLosses, AgreeWithLaddersWhereEpsilonIsLarge) {
  struct Case {
    double count, rate, mu, epsilon, delta;
  };
  for (const auto& [count, rate, mu, epsilon, delta] : {Case{13, 3.88e-5, 7.1, 94.5, 3.5e-16}, Case{2272, 1.16e-5, 5.15, 338, 4e-88},
                                                        Case{50000, 2.9e-6, 9, 400, 1e-19}, Case{3, 0.01, 20, 700, 1e-7}}) {
    const LossPtr loss = sampled_gaussian_loss(Real(mu), Real(rate), Direction::remove);
    const auto plan = rare_plan({{loss, count}});
    const auto steps = known_steps({{loss, count}});
    ASSERT_TRUE(plan && steps);
    const Rare rare(*plan, epsilon, std::log(delta), 1e-7);
    ASSERT_FALSE(rare.failed()) << epsilon;
    const Bound split = rare.delta(epsilon);
    const Scaffold scaffold(*steps, epsilon, std::log(split.upper));
    ASSERT_FALSE(scaffold.failed());
    const Bound rungs{Ladder(*steps, scaffold, Side::lower, 1 << 17).delta(epsilon), Ladder(*steps, scaffold, Side::upper, 1 << 17).delta(epsilon)};
    EXPECT_LE(split.lower, rungs.upper) << epsilon;
    EXPECT_GE(split.upper, rungs.lower) << epsilon;
    EXPECT_LE(split.upper - split.lower, 1e-4 * split.upper) << epsilon;
    EXPECT_LE(rungs.upper - rungs.lower, 1e-3 * rungs.upper) << epsilon;
  }
}

// What a rule on a line leaves out beyond its cut is bounded: against one that goes farther.
TEST(SplitLosses, WhatIsCutOffIsBounded) {
  for (const double mu : {0.5, 1.0, 4.0}) {
    const Law law{Near(Real(mu)), Near(Real(1) / 1000), 50, gaussian_noise(Near(Real(mu)))};
    const Split split{32, Split{32}.theta_at(std::log(0.05)), Split{32}.theta_at(1.5)};
    constexpr double c = 3;
    const std::vector<Points> real{{law, split, 0, wide_angle(law, split) / mu, c + 1.5, c + 1.5, 25, -10}};
    ASSERT_FALSE(real.front().failed());
    const auto piece = [&](double wanted) { return Piece({law}, {}, Direction::remove, split, real, c, c + 0.4, {-10}, 1, wanted, 25, 1e9); };
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

// Other steps beside them, sampled ones too, with a record removed or added: as ladders have it, also where what is left out is no longer small.
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
      const std::vector<LossStep> steps{{sampled_gaussian_loss(Real(mu), Real(rate), direction), count},
                                        {sampled_laplace_loss(Real(other_loss), Real(other_rate), direction), other_count},
                                        {laplace_loss(Real(1) / 16), 2}};
      const auto plan = rare_plan(steps);
      const auto known = known_steps(steps);
      ASSERT_TRUE(plan && known);
      const double log_delta = rare_guess(*plan, at);
      const Scaffold scaffold(*known, at, log_delta);
      if (scaffold.failed()) continue;
      const Bound rungs{Ladder(*known, scaffold, Side::lower, 1 << 15).delta(at), Ladder(*known, scaffold, Side::upper, 1 << 15).delta(at)};
      for (const double tolerance : {1e-8, 0.05, 3.0}) {
        const Rare rare(*plan, at, log_delta, tolerance);
        if (rare.failed()) continue;
        const Bound split = rare.delta(at);
        EXPECT_LE(split.lower, rungs.upper) << at << " " << tolerance;
        EXPECT_GE(split.upper, rungs.lower) << at << " " << tolerance;
        compared += split.upper < 2 * rungs.lower && split.lower > 0.5 * rungs.upper ? 1 : 0;
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
      const Law law{Near(Real(mu)), Near(Real(1) / 1000), count, gaussian_noise(Near(Real(mu)))};
      const Split split{32, Split{32}.theta_at(std::log(0.002)), Split{32}.theta_at(std::log(0.006))};
      for (const double c : {300.0, 2000.0}) {
        const std::vector<Points> real{{law, split, 0, wide_angle(law, split) / mu, 1.5 * c, 1.5 * c, 25, -10}};
        if (real.front().failed()) continue;
        const auto piece = [&](double depth) { return Piece({law}, {}, Direction::remove, split, real, c, 1.3 * c, {-10}, 0.004, -60, depth, 1e9); };
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

// The loss of (Q, P) is that of the pair turned round: E_Q[e^(-sL)] by the law's cells.
TEST(Losses, AreTurnedRound) {
  const Real third = Real(1) / 3;
  const auto sum = sampled_sum_losses({{Real(1), true, 2}, {third, false, 1}}, third);
  ASSERT_TRUE(sum);
  for (const LossPtr& loss :
       {sampled_gaussian_loss(Real(1.5), third, Direction::remove), sampled_gaussian_loss(Real(1.5), third, Direction::add),
        sampled_laplace_loss(Real(2), third, Direction::remove), sampled_laplace_loss(Real(2), third, Direction::add), sum->removed, sum->added}) {
    const LossPtr reversed = loss->reversed();
    ASSERT_NE(reversed, nullptr);
    const LawPtr law = dynamic_cast<const KnownLoss&>(*loss).law();
    const double low = std::max(law->least(), -30.0);
    const double high = std::min(law->most(), 30.0);
    for (const double line : {0.5, 2.0, 4.0}) {
      double mean = 0;
      for (const LossLaw::Place& atom : law->atoms()) mean += atom.mass * std::exp(atom.log - line * atom.loss);
      constexpr int cells = 40000;
      for (int j = 0; j < cells; ++j) {
        const double from = low + (high - low) * j / cells;
        const double to = low + (high - low) * (j + 1) / cells;
        if (from < 0 && to > 0) {
          mean += law->without(law->edge(from), law->edge(-0x1p-1000)).at(0) + law->without(law->edge(0), law->edge(to)).at(0);
        } else {
          mean += law->without(law->edge(from), law->edge(to)).at(-line * (from + to) / 2);
        }
      }
      EXPECT_NEAR(reversed->cumulant(line), std::log(mean), 1e-4 * std::abs(std::log(mean))) << line;
      const LossPtr again = reversed->reversed();
      EXPECT_DOUBLE_EQ(again->cumulant(line), loss->cumulant(line));
    }
  }
}

}  // namespace
}  // namespace sotto::loss_detail
