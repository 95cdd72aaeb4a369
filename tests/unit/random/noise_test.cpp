// The samplers of the public interface: distributions, grids, extreme values, and errors.
#include "sotto/random/noise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "scripted.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

using random_detail::Curve;

double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }
double laplace_cdf(double x) { return x < 0 ? std::exp(x) / 2 : 1 - std::exp(-x) / 2; }

// Returns the χ² statistic of counts against probabilities, in standard deviations above its mean.
// Cells that expect fewer than 20 counts are pooled. A correct sampler exceeds 6 with probability
// 10⁻⁹, by the normal tail: the cube root of χ² is nearly normal from three cells on (Wilson and
// Hilferty).
double chi_squared(const std::map<double, double>& counts, double draws,
                   const std::function<double(double)>& mass) {
  double pooled = draws;
  double pooled_mass = 1;
  double sum = 0;
  int cells = 0;
  for (const auto& [value, count] : counts) {
    const double expected = draws * mass(value);
    if (expected < 20) continue;
    sum += (count - expected) * (count - expected) / expected;
    ++cells;
    pooled -= count;
    pooled_mass -= mass(value);
  }
  if (pooled_mass * draws > 5) {
    sum += std::pow(pooled - draws * pooled_mass, 2) / (draws * pooled_mass);
    ++cells;
  }
  // the cube root has mean 1 - share and variance share
  const double share = 2.0 / (9 * (cells - 1));
  return (std::cbrt(sum / (cells - 1)) - (1 - share)) / std::sqrt(share);
}

void distribution_of_rounded(NoiseKind kind, std::size_t draws) {
  // a coarse grid, about 14 steps a scale, so that cells at 5 scales still have counts
  const double scale = 1.7;
  const int grid = -3;
  const double step = std::ldexp(1.0, grid);
  const double value = 0.3;
  const RoundedNoise noise(kind, scale, grid);
  std::map<double, double> counts;
  std::vector<double> block(100'000);
  for (std::size_t done = 0; done < draws; done += block.size()) {
    std::fill(block.begin(), block.end(), value);
    if (done % 200'000 == 0) {
      noise.add(block);
    } else {
      for (double& x : block) x = noise.add(x);
    }
    for (const double x : block) ++counts[x];
  }
  const auto cdf = kind == NoiseKind::gaussian ? normal_cdf : laplace_cdf;
  const auto mass = [&](double x) {
    const double low = (x - step / 2 - value) / scale;
    const double high = (x + step / 2 - value) / scale;
    return low > 0 ? cdf(-low) - cdf(-high) : cdf(high) - cdf(low);
  };
  EXPECT_LT(chi_squared(counts, static_cast<double>(draws), mass), 6);
}

void distribution_of_discrete(NoiseKind kind, double scale, std::size_t draws) {
  const DiscreteNoise noise(kind, scale);
  std::map<double, double> counts;
  for (std::size_t i = 0; i < draws; ++i) ++counts[static_cast<double>(noise.draw())];
  const auto weight = [&](double k) {
    return std::exp(kind == NoiseKind::gaussian ? -k * k / (2 * scale * scale)
                                                : -std::abs(k) / scale);
  };
  double total = weight(0);
  for (double k = 1; weight(k) > 1e-18; ++k) total += 2 * weight(k);
  EXPECT_LT(
      chi_squared(counts, static_cast<double>(draws), [&](double k) { return weight(k) / total; }),
      6);
}

TEST(NoiseDistribution, RoundedGaussian) {
  distribution_of_rounded(NoiseKind::gaussian, 10'000'000);
}
TEST(NoiseDistribution, RoundedLaplace) { distribution_of_rounded(NoiseKind::laplace, 10'000'000); }
TEST(NoiseDistribution, DiscreteGaussian) {
  for (const double scale : {0.4, 3.0, 150.0})
    distribution_of_discrete(NoiseKind::gaussian, scale, 3'000'000);
}
TEST(NoiseDistribution, DiscreteLaplace) {
  for (const double scale : {0.4, 3.0, 90.0})
    distribution_of_discrete(NoiseKind::laplace, scale, 3'000'000);
}
TEST(SlowNoiseDistribution, RoundedGaussian) {
  distribution_of_rounded(NoiseKind::gaussian, 1'000'000'000);
}
TEST(SlowNoiseDistribution, RoundedLaplace) {
  distribution_of_rounded(NoiseKind::laplace, 1'000'000'000);
}
TEST(SlowNoiseDistribution, DiscreteGaussian) {
  distribution_of_discrete(NoiseKind::gaussian, 150, 1'000'000'000);
}
TEST(SlowNoiseDistribution, DiscreteLaplace) {
  distribution_of_discrete(NoiseKind::laplace, 90, 1'000'000'000);
}

// The reference samplers in whole numbers, with the same test.
TEST(NoiseDistribution, TheReferenceInWholeNumbers) {
  std::map<double, double> gaussian;
  std::map<double, double> laplace;
  constexpr int draws = 200'000;
  for (int i = 0; i < draws; ++i) {
    // σ = 2.5
    ++gaussian[static_cast<double>(random_detail::plain_discrete_gaussian(Random::here(), 25, 4))];
    // b = 3.5
    ++laplace[static_cast<double>(random_detail::plain_discrete_laplace(Random::here(), 7, 2))];
  }
  const auto check = [&](const std::map<double, double>& counts,
                         const std::function<double(double)>& weight) {
    double total = weight(0);
    for (double k = 1; k < 400; ++k) total += 2 * weight(k);
    EXPECT_LT(chi_squared(counts, draws, [&](double k) { return weight(k) / total; }), 6);
  };
  check(gaussian, [](double k) { return std::exp(-k * k / 12.5); });
  check(laplace, [](double k) { return std::exp(-std::abs(k) / 3.5); });
}

TEST(NoiseDistribution, Arsinh) {
  const double sigma = 2;
  const double a = 9;
  const RoundedNoise noise = RoundedNoise::arsinh(sigma, a, -2);
  std::map<double, double> counts;
  constexpr int draws = 100'000;
  for (int i = 0; i < draws; ++i) ++counts[noise.add(1)];
  const auto cdf = [&](double x) { return normal_cdf(a * std::sinh((x - 1) / a) / sigma); };
  EXPECT_LT(chi_squared(counts, draws, [&](double x) { return cdf(x + 0.125) - cdf(x - 0.125); }),
            6);
}

TEST(NoiseGrid, EveryOutputIsAMultipleOfTheGrid) {
  for (const double scale : {1e-300, 3e-7, 1.0, 12345.678, 1e300}) {
    for (const NoiseKind kind : {NoiseKind::gaussian, NoiseKind::laplace}) {
      const RoundedNoise noise(kind, scale);
      std::vector<double> values(100'000);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = scale * 0.1234567 * static_cast<double>(i);
      noise.add(values);
      for (const double x : values) {
        const double steps = std::ldexp(x, -noise.grid());
        ASSERT_EQ(steps, std::floor(steps)) << x;
        ASSERT_LE(std::abs(steps), 0x1p53);
      }
    }
  }
}

TEST(NoiseGrid, IsBetweenTwoPowersOfTheScale) {
  for (const double scale : {1e-290, 0.7, 1.0, 5.0, 1e290}) {
    const double share = std::ldexp(1.0, RoundedNoise::grid_for(scale)) / scale;
    EXPECT_LE(share, 0x1p-10);
    EXPECT_GT(share, 0x1p-11);
  }
}

TEST(NoiseExtremes, SaturatesAtTheLimitOnBothSides) {
  const RoundedNoise noise(NoiseKind::laplace, 1);
  EXPECT_EQ(noise.limit(), 0x1p43);
  EXPECT_EQ(noise.add(1e300), noise.limit());
  EXPECT_EQ(noise.add(-1e300), -noise.limit());
  std::vector<double> values(20, -1.7e308);
  noise.add(values);
  for (const double x : values) EXPECT_EQ(x, -noise.limit());
}

TEST(NoiseExtremes, ATinyValueAddsNothing) {
  const RoundedNoise noise(NoiseKind::gaussian, 1e300);
  for (int i = 0; i < 1000; ++i) EXPECT_LT(std::abs(noise.add(5e-324)), 1e302);
}

TEST(NoiseExtremes, TheSmallestDiscreteNoiseIsZero) {
  for (const double scale : {5e-324, 1e-300, 1e-170, 1e-9}) {
    EXPECT_EQ(DiscreteNoise(NoiseKind::gaussian, scale).draw(), 0);
    EXPECT_EQ(DiscreteNoise(NoiseKind::laplace, scale).draw(), 0);
  }
}

TEST(NoiseExtremes, RefusesInvalidParametersAndValues) {
  const RoundedNoise noise(NoiseKind::gaussian, 1);
  EXPECT_THROW((void)noise.add(std::nan("")), InvalidValue);
  EXPECT_THROW((void)noise.add(INFINITY), InvalidValue);
  std::vector<double> values{1, 2, -INFINITY};
  EXPECT_THROW(noise.add(values), InvalidValue);
  EXPECT_EQ(values[0], 1);  // no value was changed
  EXPECT_THROW(RoundedNoise(NoiseKind::gaussian, 0), InvalidValue);
  EXPECT_THROW(RoundedNoise(NoiseKind::gaussian, -1), InvalidValue);
  EXPECT_THROW(RoundedNoise(NoiseKind::gaussian, std::nan("")), InvalidValue);
  EXPECT_THROW(RoundedNoise(NoiseKind::gaussian, 1, 971), InvalidValue);
  EXPECT_THROW(DiscreteNoise(NoiseKind::gaussian, 1e20), InvalidValue);
  EXPECT_THROW(PoissonSample(0), InvalidValue);
  EXPECT_THROW((void)uniform_below(0), InvalidValue);
  EXPECT_THROW((void)bernoulli(3, 2), InvalidValue);
  EXPECT_THROW((void)bernoulli(1.5), InvalidValue);
}

// Equal words on neighbouring values: the outputs differ by at most Δ, rounded up to the grid, on
// fine and coarse grids.
TEST(NoiseReplay, NeighboursStayWithinTheSensitivity) {
  testing::Stream pick(7);
  for (int pair = 0; pair < 10'000; ++pair) {
    const double value = (static_cast<double>(pick.word() >> 11U) * 0x1p-53 - 0.5) * 100;
    const double delta = std::ldexp(static_cast<double>(pick.word() >> 11U),
                                    -53 - static_cast<int>(pick.word() % 8) + 4);
    const int grid = static_cast<int>(pick.word() % 16) - 12;
    const Curve curve = pair % 2 == 0 ? Curve::gaussian : Curve::laplace;
    const std::uint64_t seed = pick.word();
    const auto run = [&](double x) {
      testing::Stream bits(seed);
      const random_detail::Rounding rounding{x,   grid, random_detail::Shape::linear,
                                             1.3, 0,    random_detail::unit_of(curve)};
      return random_detail::draw_rounded(bits, random_detail::real_table(curve), rounding,
                                         std::ldexp(x, -grid),
                                         random_detail::half_unit_of(rounding));
    };
    const double moved = value + delta;
    const double most = std::ceil(std::ldexp(moved - value, -grid));
    ASSERT_LE(std::abs(run(moved) - run(value)), most) << value << " " << delta << " " << grid;
  }
}

TEST(Coins, HaveTheirProbabilities) {
  constexpr int draws = 400'000;
  const auto share = [](const std::function<bool()>& coin) {
    int heads = 0;
    for (int i = 0; i < draws; ++i) heads += coin() ? 1 : 0;
    return static_cast<double>(heads) / draws;
  };
  EXPECT_NEAR(share([] { return bernoulli(3, 7); }), 3.0 / 7, 0.005);
  EXPECT_NEAR(share([] { return bernoulli(0.123); }), 0.123, 0.004);
  EXPECT_NEAR(share([] { return bernoulli_exp(1, 2); }), std::exp(-0.5), 0.005);
  EXPECT_NEAR(share([] { return bernoulli_exp(5, 2); }), std::exp(-2.5), 0.003);
  EXPECT_TRUE(bernoulli(1.0));
  EXPECT_FALSE(bernoulli(0.0));
}

// The binary digits of p decide, for every p.
TEST(Coins, ADoubleIsItsOwnProbability) {
  using testing::Script;
  const auto toss = [](double p, std::vector<std::uint64_t> words) {
    Script bits(std::move(words));
    return random_detail::bernoulli(bits, p);
  };
  EXPECT_TRUE(toss(0.75, {0xbfffffffffffffff}));
  EXPECT_FALSE(toss(0.75, {0xc000000000000000}));
  EXPECT_TRUE(toss(0x1p-70, {0, 0x03ffffffffffffff}));
  EXPECT_FALSE(toss(0x1p-70, {0, 0x0400000000000000}));
  EXPECT_TRUE(toss(5e-324, std::vector<std::uint64_t>(17, 0)));
}

TEST(Coins, UniformRejectsSurplusWords) {
  using testing::Script;
  // 2^64 = 3·k + 1, so one low part of 2^64 is rejected, that below 1
  Script bits({0, 0x5555555555555556, 0xffffffffffffffff});
  EXPECT_EQ(random_detail::uniform_below(bits, 3), 1U);  // 0 is rejected; 3 · 0x5…56 = 2^64 + 2
  EXPECT_EQ(random_detail::uniform_below(bits, 3), 2U);
  std::map<std::uint64_t, int> counts;
  for (int i = 0; i < 60'000; ++i) ++counts[uniform_below(6)];
  EXPECT_EQ(counts.size(), 6U);
  for (const auto& [value, count] : counts) EXPECT_NEAR(count, 10'000, 600) << value;
}

TEST(PoissonSampling, SkipsAreGeometric) {
  for (const double q : {0.9, 0.3, 0.01}) {
    const PoissonSample sample(q);
    std::map<double, double> counts;
    constexpr int draws = 1'000'000;
    for (int i = 0; i < draws; ++i) ++counts[static_cast<double>(sample.skip())];
    EXPECT_LT(chi_squared(counts, draws, [&](double k) { return q * std::pow(1 - q, k); }), 6) << q;
  }
  EXPECT_EQ(PoissonSample(1).skip(), 0U);
  EXPECT_GT(PoissonSample(1e-300).skip(), std::uint64_t{1} << 60U);
}

}  // namespace
}  // namespace sotto
