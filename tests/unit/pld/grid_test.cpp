// Loss distributions, their discretisation and FFT composition, against sums that are made another
// way, and against error terms that are made large.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "numerics/api/fft.hpp"
#include "pld/grid/discretize.hpp"
#include "pld/grid/fft_compose.hpp"

namespace sotto::pld_detail {
namespace {

using Long = long double;

TEST(Fft, UndoesItselfWithinItsBound) {
  std::mt19937_64 bits(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const std::size_t size : {2U, 8U, 1024U, 65536U}) {
    const Fft fft(size);
    std::vector<Complex> values(size);
    for (Complex& value : values) value = {uniform(bits), uniform(bits)};
    const std::vector<Complex> before = values;
    fft.forward(values);
    fft.inverse(values);
    double off = 0;
    double all = 0;
    for (std::size_t i = 0; i < size; ++i) {
      off += std::pow(abs(values[i] - before[i]), 2);
      all += std::pow(abs(before[i]), 2);
    }
    EXPECT_LE(std::sqrt(off / all), 2 * fft.error() * 1.01) << size;
  }
}

TEST(Fft, MultipliesAsConvolution) {
  constexpr std::size_t size = 64;
  std::mt19937_64 bits(4);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Complex> a(size), b(size);
  std::vector<Long> direct(size, 0);
  for (std::size_t i = 0; i < size; ++i) a[i] = {uniform(bits), 0};
  for (std::size_t i = 0; i < size; ++i) b[i] = {uniform(bits), 0};
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j)
      direct[(i + j) % size] += static_cast<Long>(a[i].re) * b[j].re;
  }
  const Fft fft(size);
  fft.forward(a);
  fft.forward(b);
  for (std::size_t i = 0; i < size; ++i) a[i] = a[i] * b[i];
  fft.inverse(a);
  for (std::size_t i = 0; i < size; ++i)
    EXPECT_NEAR(a[i].re, static_cast<double>(direct[i]), 1e-12);
}

struct NamedDistribution {
  std::string name;
  DistributionPtr distribution;
};

std::vector<NamedDistribution> distributions() {
  const RoundedDouble third(Real(1) / 3);
  const RoundedDouble two(Real(2));
  const RoundedDouble tenth(Real(1) / 10);
  std::vector<NamedDistribution> all{
      {"arsinh 3, 1/5", arsinh_distribution(RoundedDouble(Real(3)), RoundedDouble(Real(1) / 5))},
      {"arsinh 20, 1/20",
       arsinh_distribution(RoundedDouble(Real(20)), RoundedDouble(Real(1) / 20))},
      {"exponential 1/3", exponential_distribution(third)},
      {"atoms",
       symmetric_atoms_loss({{Real(1) / 7, Real(1) / 5}, {Real(1), Real(1) / 9}}, std::nullopt)
           ->distribution()}};
  for (const auto& [name, base] : {NamedDistribution{"gaussian 1/3", gaussian_distribution(third)},
                                   NamedDistribution{"gaussian 2", gaussian_distribution(two)},
                                   NamedDistribution{"laplace 2", laplace_distribution(two)}}) {
    all.push_back({name, base});
    all.push_back({name + " removed", poisson_distribution(base, tenth, Direction::remove)});
    all.push_back({name + " added", poisson_distribution(base, tenth, Direction::add)});
    all.push_back({name + " replaced", without_replacement_distribution(base, tenth)});
  }
  return all;
}

// The masses of a partition sum to 1 under P and under Q, the P-mass of a short cell is e^loss
// times its Q-mass, and the bounds on slopes hold for the cells' masses.
TEST(LossDistribution, MassesAreThoseOfAPrivacyLoss) {
  for (const auto& [name, distribution] : distributions()) {
    const double low = std::max(distribution->min_loss(), -3.0);
    const double high = std::min(distribution->max_loss(), 12.0);
    double p = 0;
    double q = 0;
    double off = 1e-13;
    for (const LossDistribution::PointMass& atom : distribution->atoms()) {
      q += atom.mass * std::exp(atom.log);
      p += atom.mass * std::exp(atom.log + atom.loss);
    }
    const auto add = [&](double from, double to) {
      const LossDistribution::Mass mass_q =
          distribution->mass_q(distribution->edge(from), distribution->edge(to));
      const LossDistribution::Mass mass_p =
          distribution->mass_p(distribution->edge(from), distribution->edge(to));
      q += mass_q.as_double();
      p += mass_p.as_double();
      off += mass_q.as_double() * mass_q.error_bound + mass_p.as_double() * mass_p.error_bound;
      return std::pair{mass_p.as_double(), mass_q.as_double()};
    };
    if (distribution->min_loss() < low) add(distribution->min_loss(), low);
    if (distribution->max_loss() > high) add(high, distribution->max_loss());
    const int cells = 3000;
    for (const auto& [from, to] : {std::pair{low, -0x1p-1000}, std::pair{0.0, high}}) {
      const double width = (to - from) / cells;
      double before = 0;
      for (int j = 0; j < cells; ++j) {
        const double start = from + j * width;
        const double end = j + 1 == cells ? to : start + width;
        const LossDistribution::Edge b = distribution->edge(end);
        const auto [p_mass, q_mass] = add(start, end);
        if (q_mass > 1e-30) {
          const double loss = std::log(p_mass / q_mass);
          EXPECT_GE(loss, start - 1e-9) << name;
          EXPECT_LE(loss, end + 1e-9) << name;
          if (j > 0 && before > 1e-30) {
            const LossDistribution::Slopes slopes =
                distribution->slopes(distribution->edge(start - width), b);
            const double slope = std::log(q_mass / before) / width;
            EXPECT_GE(slope, slopes.min - 1e-6 * (1 + std::abs(slope))) << name << " at " << start;
            EXPECT_LE(slope, slopes.max + 1e-6 * (1 + std::abs(slope))) << name << " at " << start;
          }
        }
        before = q_mass;
      }
    }
    EXPECT_NEAR(q, 1, off) << name;
    EXPECT_NEAR(p, 1, off) << name;
    EXPECT_LE(off, 1e-9) << name;
  }
}

// Returns δ(ε) of one discretised step.
Long profile_of(const GridDistribution& grid, double epsilon) {
  Long sum = grid.bulk ? std::exp(static_cast<Long>(grid.bulk->log_mass)) *
                             std::max<Long>(0, -std::expm1(static_cast<Long>(epsilon) - grid.start))
                       : 0;
  for (std::int64_t j = grid.first; j <= grid.last(); ++j) {
    sum += grid.weights[static_cast<std::size_t>(j - grid.first)] *
           std::max<Long>(0, -std::expm1(static_cast<Long>(epsilon) - grid.loss_at(j)));
  }
  return sum;
}

GridRange span_of(const LossDistribution& distribution, double spacing) {
  return {std::max(distribution.min_loss(), -20.0), std::min(distribution.max_loss(), 30.0),
          spacing, 1};
}

// A pessimistic profile is nowhere below an optimistic one, at any spacings, and on fine grids the
// two are close.
TEST(Discretize, PessimisticProfileIsAboveTheOptimisticOne) {
  for (const auto& [name, distribution] : distributions()) {
    for (const double spacing : {0.02, 0.05}) {
      const GridDistribution up = pessimistic(*distribution, span_of(*distribution, spacing));
      const GridDistribution down = optimistic(*distribution, span_of(*distribution, spacing));
      const GridDistribution fine_up =
          pessimistic(*distribution, span_of(*distribution, spacing / 16));
      const GridDistribution fine_down =
          optimistic(*distribution, span_of(*distribution, spacing / 16));
      for (const double epsilon : {-0.4, -0.01, 0.0, 0.02, 0.3, 1.1}) {
        const double tiny = 1e-12;
        const auto at = [&](const GridDistribution& grid) {
          return static_cast<double>(profile_of(grid, epsilon));
        };
        EXPECT_LE(at(fine_down), at(fine_up) + tiny) << name << " at " << epsilon;
        EXPECT_GE(at(up), at(fine_down) - tiny) << name << " at " << epsilon;
        EXPECT_LE(at(down), at(fine_up) + tiny) << name << " at " << epsilon;
        EXPECT_LE(at(fine_up) - at(fine_down), 0.05 * spacing + tiny) << name << " at " << epsilon;
      }
    }
  }
}

// The profile of one step follows from its distribution. Grids of any spacing bound it, and
// optimistic ones are close to it.
TEST(Discretize, EachSideBoundsTheTrueProfile) {
  for (const auto& [name, distribution] : distributions()) {
    const auto truth = [&distribution = *distribution](double epsilon) {
      Long sum = 0;
      for (const LossDistribution::PointMass& atom : distribution.atoms()) {
        sum += std::max<Long>(0, -std::expm1(static_cast<Long>(epsilon) - atom.loss)) * atom.mass *
               std::exp(static_cast<Long>(atom.log) + atom.loss);
      }
      const auto add = [&](double from, double to) {
        sum +=
            static_cast<Long>(
                distribution.mass_p(distribution.edge(from), distribution.edge(to)).as_double()) -
            distribution.mass_q(distribution.edge(from), distribution.edge(to)).times_exp(epsilon);
      };
      if (epsilon < 0) add(epsilon, -0x1p-1000);
      add(std::max(epsilon, 0.0), distribution.max_loss());
      return static_cast<double>(sum);
    };
    double worst = 0;
    for (double spacing = 0.0031; spacing < 0.3; spacing *= 1.37) {
      const GridDistribution up = pessimistic(*distribution, span_of(*distribution, spacing));
      const GridDistribution down = optimistic(*distribution, span_of(*distribution, spacing));
      for (double epsilon = std::max(distribution->min_loss(), -1.0) + 0.0123;
           epsilon < std::min(3.0, distribution->max_loss()); epsilon += 0.0317) {
        const double exact = truth(epsilon);
        EXPECT_GE(static_cast<double>(profile_of(up, epsilon - up.loss_error)),
                  exact * (1 - 1e-12) - 1e-15)
            << name << " " << spacing << " at " << epsilon;
        const double below = static_cast<double>(profile_of(down, epsilon + down.loss_error));
        EXPECT_LE(below, exact * (1 + 1e-12) + 1e-15)
            << name << " " << spacing << " at " << epsilon;
        if (spacing < 0.01) worst = std::max(worst, (exact - below) / spacing);
      }
    }
    EXPECT_LE(worst, 0.6) << name;
  }
}

// An optimistic grid of any spacing has at most the masses of P and of Q.
TEST(Discretize, OptimisticMassesSumToAtMostOne) {
  for (const auto& [name, distribution] : distributions()) {
    for (double spacing = 0.01; spacing < 0.3; spacing *= 1.05) {
      const GridDistribution down = optimistic(*distribution, span_of(*distribution, spacing));
      Long p = down.bulk ? std::exp(static_cast<Long>(down.bulk->log_mass)) : 0;
      Long q = down.bulk ? std::exp(static_cast<Long>(down.bulk->log_mass) - down.start) : 0;
      for (std::int64_t j = down.first; j <= down.last(); ++j) {
        const Long weight = down.weights[static_cast<std::size_t>(j - down.first)];
        p += weight;
        q += weight * std::exp(-static_cast<Long>(down.loss_at(j)));
      }
      EXPECT_LE(static_cast<double>(p), 1 + 1e-12) << name << " " << spacing;
      EXPECT_LE(static_cast<double>(q), 1 + 1e-12) << name << " " << spacing;
    }
  }
}

// A grid that is made for one ε bounds δ at every other ε, where its truncations are no longer
// small, and so does one whose window is too short: against grids that are made for the other ε.
TEST(FftComposition, IsValidFarFromItsOwnEpsilon) {
  struct Case {
    PrivacyLossPtr loss;
    double count, epsilon, delta;
  };
  for (const auto& [loss, count, epsilon, delta] :
       {Case{without_replacement_gaussian_loss(1, Real(1) / 100), 10, 0.1, 1e-4},
        Case{without_replacement_gaussian_loss(Real(1) / 3, Real(1) / 2), 2, 0.3, 1e-3},
        Case{poisson_laplace_loss(1, Real(1) / 10, Direction::remove), 3, 0.2, 1e-3},
        Case{without_replacement_laplace_loss(1, Real(1) / 5), 2, 0.2, 1e-2},
        Case{poisson_gaussian_loss(3, Real(1) / 1000, Direction::remove), 4, 1, 1e-5},
        Case{poisson_laplace_loss(1, Real(1) / 2, Direction::remove), 60, 12, 1e-3},
        Case{arsinh_loss(3, Real(1) / 5), 2, 1, 1e-2}}) {
    const auto steps = with_distributions({{loss, count}});
    ASSERT_TRUE(steps);
    int known = 0;
    for (const double depth : {-4.0, 0.1, 3.0, 23.0}) {
      const GridChoice choice(*steps, epsilon, std::log(delta), depth);
      if (choice.failed()) continue;
      const FftComposition up(*steps, choice, Side::upper, 4096);
      const FftComposition down(*steps, choice, Side::lower, 4096);
      for (double times = 0.05; times < 60; times *= 1.7) {
        const double at = times * epsilon;
        const double lower = down.delta(at);
        const double upper = up.delta(at);
        EXPECT_LE(lower, upper);
        const double about = std::max(1e-80, lower > 0 ? lower : std::min(upper, delta) * 1e-3);
        for (const double guess : {about, 1e-3 * about, 1e-10 * about}) {
          const GridChoice own(*steps, at, std::log(guess));
          if (own.failed()) continue;
          const double truly_lower = FftComposition(*steps, own, Side::lower, 4096).delta(at);
          const double truly_upper = FftComposition(*steps, own, Side::upper, 4096).delta(at);
          EXPECT_LE(lower, truly_upper * (1 + 1e-12)) << at;
          EXPECT_GE(upper, truly_lower * (1 - 1e-12)) << at;
          known += truly_lower > 0 ? 1 : 0;
        }
      }
    }
    EXPECT_GE(known, 10);
  }
}

// Far above ε the tilted masses are below the FFT's rounding, which its error bound must cover.
TEST(FftComposition, RoundingOfTheFftIsCovered) {
  for (const auto& [loss, count, epsilon, delta] :
       {std::tuple{without_replacement_gaussian_loss(1, Real(1) / 100), 10.0, 0.1, 1e-4},
        std::tuple{poisson_gaussian_loss(3, Real(1) / 1000, Direction::remove), 4.0, 1.0, 1e-5},
        std::tuple{poisson_laplace_loss(1, Real(1) / 2, Direction::remove), 60.0, 12.0, 1e-3}}) {
    const auto steps = with_distributions({{loss, count}});
    const GridChoice choice(*steps, epsilon, std::log(delta), 90);
    ASSERT_FALSE(choice.failed());
    const FftComposition up(*steps, choice, Side::upper, 8192);
    const FftComposition down(*steps, choice, Side::lower, 8192);
    int within = 0;
    for (double at = epsilon; at < 40 * epsilon; at *= 1.02) {
      EXPECT_LE(down.delta(at), up.delta(at)) << at;
      within += up.delta(at) < 1 ? 1 : 0;
    }
    EXPECT_GE(within, 5);
  }
}

// At the top of a window that is too short, most outcomes that count are beyond it.
TEST(FftComposition, OutcomesBeyondTheWindowAreBounded) {
  const auto steps =
      with_distributions({{poisson_laplace_loss(1, Real(1) / 2, Direction::remove), 60}});
  int compared = 0;
  for (const double depth : {-6.0, -4.0, -2.0, 0.0, 4.0}) {
    const GridChoice choice(*steps, 12, std::log(1e-3), depth);
    if (choice.failed()) continue;
    const FftComposition up(*steps, choice, Side::upper, 4096);
    const FftComposition down(*steps, choice, Side::lower, 4096);
    double top = 0;
    for (double at = 12; at < 60; at *= 1.001) top = up.delta(at) < 1 ? at : top;
    for (const double at : {top, 0.99 * top, 0.9 * top, 12.0, 10.0}) {
      for (const double guess : {1e-1, 1e-3, 1e-6, 1e-12, 1e-20}) {
        const GridChoice own(*steps, at, std::log(guess));
        if (own.failed()) continue;
        EXPECT_GE(up.delta(at), FftComposition(*steps, own, Side::lower, 4096).delta(at))
            << depth << " " << at;
        EXPECT_LE(down.delta(at), FftComposition(*steps, own, Side::upper, 4096).delta(at))
            << depth << " " << at;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 20);
}

// Means of steep cells follow from slopes: a pessimistic grid has at least P's mass, and an
// optimistic one at most, to the last digits.
TEST(Discretize, ConservesMassWithSteepCells) {
  for (const double mu : {0.05, 0.4, 3.0}) {
    const auto distribution = gaussian_distribution(RoundedDouble(Real(mu)));
    const double spacing = 0.05 * mu;  // slopes are up to 6/μ where the masses are
    const GridRange span{-8 * mu, 8 * mu, spacing, 0};
    const auto sum = [](const GridDistribution& grid) {
      Long all = 0;
      for (const double weight : grid.weights) all += weight;
      return static_cast<double>(all);
    };
    const GridDistribution up = pessimistic(*distribution, span);
    const GridDistribution down = optimistic(*distribution, span);
    const auto mass_p = [&](double from, double to) {
      return distribution->mass_p(distribution->edge(from), distribution->edge(to)).as_double();
    };
    EXPECT_GE(sum(up), mass_p(-infinity, 0) + mass_p(0, up.end) - 2e-14) << mu;
    EXPECT_LE(sum(down), mass_p(-9 * mu, 0) + mass_p(0, down.end) + 2e-14) << mu;
  }
}

// An edge of arsinh noise has its loss to within loss_error().
TEST(LossDistribution, EdgesOfArsinhNoiseHaveTheirLoss) {
  for (const double kappa : {1.0, 7.0, 300.0, 1e6}) {
    for (const double shift : {1e-4, 0.01, 0.24}) {
      const auto distribution =
          arsinh_distribution(RoundedDouble(Real(kappa)), RoundedDouble(Real(shift)));
      const Long d = shift;
      for (double times = -30; times <= 30; times += 0.7) {
        const double loss = times * shift * std::sqrt(2 * kappa);
        const Long u = -static_cast<Long>(distribution->edge(loss).noise_value);
        const Long there = std::log(std::cosh(u) / std::cosh(u - d)) -
                           static_cast<Long>(kappa) * std::sinh(d) * std::sinh(2 * u - d);
        if (std::sqrt(2 * kappa) * std::abs(std::sinh(static_cast<double>(u))) > 45)
          continue;  // where the mass underflows
        EXPECT_LE(std::abs(static_cast<double>(there - loss)), distribution->loss_error(loss))
            << kappa << " " << shift << " " << loss;
        EXPECT_LE(distribution->loss_error(loss), 1e-9 * (1 + std::abs(loss)))
            << kappa << " " << shift << " " << loss;
      }
    }
  }
}

// A pessimistic grid raises losses below its first point to it.
TEST(Discretize, RaisesLossesBelowTheFirstGridPoint) {
  for (const auto& [name, distribution] : distributions()) {
    const auto profile = [&, &one = *distribution](double lowest, double epsilon) {
      return static_cast<double>(profile_of(
          pessimistic(one,
                      {std::max(lowest, one.min_loss()), std::min(one.max_loss(), 30.0), 0.01, 1}),
          epsilon));
    };
    for (const double epsilon : {-1.5, -0.5})
      EXPECT_GE(profile(-0.2, epsilon), profile(-20, epsilon) - 1e-12) << name;
  }
}

// The reversed loss is that of (Q, P), whose moment generating function is E_Q[e^(-sL)]: by the
// cells of the original distribution.
TEST(PrivacyLoss, ReversedIsTheLossOfTheSwappedPair) {
  const Real third = Real(1) / 3;
  for (const PrivacyLossPtr& loss : {poisson_gaussian_loss(Real(1.5), third, Direction::remove),
                                     poisson_gaussian_loss(Real(1.5), third, Direction::add),
                                     poisson_laplace_loss(Real(2), third, Direction::remove),
                                     poisson_laplace_loss(Real(2), third, Direction::add)}) {
    const PrivacyLossPtr reversed = loss->reversed();
    ASSERT_NE(reversed, nullptr);
    const DistributionPtr distribution = loss->distribution();
    const double low = std::max(distribution->min_loss(), -30.0);
    const double high = std::min(distribution->max_loss(), 30.0);
    for (const double line : {0.5, 2.0, 4.0}) {
      double mean = 0;
      for (const LossDistribution::PointMass& atom : distribution->atoms())
        mean += atom.mass * std::exp(atom.log - line * atom.loss);
      constexpr int cells = 40000;
      for (int j = 0; j < cells; ++j) {
        const double from = low + (high - low) * j / cells;
        const double to = low + (high - low) * (j + 1) / cells;
        if (from < 0 && to > 0) {
          mean += distribution->mass_q(distribution->edge(from), distribution->edge(-0x1p-1000))
                      .as_double() +
                  distribution->mass_q(distribution->edge(0), distribution->edge(to)).as_double();
        } else {
          mean += distribution->mass_q(distribution->edge(from), distribution->edge(to))
                      .times_exp(-line * (from + to) / 2);
        }
      }
      EXPECT_NEAR(reversed->cumulant(line), std::log(mean), 1e-4 * std::abs(std::log(mean)))
          << line;
      const PrivacyLossPtr again = reversed->reversed();
      EXPECT_DOUBLE_EQ(again->cumulant(line), loss->cumulant(line));
    }
  }
}

}  // namespace
}  // namespace sotto::pld_detail
