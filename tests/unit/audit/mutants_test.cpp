// Mechanisms that are broken on purpose. Each is caught by the test with its name, which the real
// mechanism passes.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "../random/scripted.hpp"
#include "sotto/audit/audit.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/random/noise.hpp"

namespace sotto {
namespace {

using random_detail::Curve;

// A wrong bound has probability 1e-9: these tests do not fail by chance.
bool is_caught(const Suspect& suspect, const char* claimed, std::int64_t trials, double delta = 0) {
  AuditOptions options;
  options.trials = trials;
  options.confidence = 1 - 1e-9;
  options.delta = Delta(delta);
  return contradicts(audit({suspect}, options),
                     claim_of(parse(claimed), options.delta, options.epsilon));
}

// One number, released from either of two inputs.
Suspect releases(double first, double second, const std::function<double(double)>& release) {
  return {"two inputs", {"output"}, [=](bool moved, std::span<double> numbers) {
            numbers[0] = release(moved ? second : first);
          }};
}

double real_noise(NoiseKind kind, double scale, double x) {
  return RoundedNoise(kind, scale).add(x);
}

TEST(Mutants, SigmaThreePercentTooSmall) {
  const RoundedNoise real(NoiseKind::gaussian, 1);
  const RoundedNoise mutant(NoiseKind::gaussian, 0.97);
  EXPECT_TRUE(is_caught(releases(0, 1, [&](double x) { return mutant.add(x); }), "gaussian(1)",
                        1'500'000, 1e-5));
  EXPECT_FALSE(is_caught(releases(0, 1, [&](double x) { return real.add(x); }), "gaussian(1)",
                         400'000, 1e-5));
}

TEST(Mutants, ScaleThreePercentTooSmall) {
  const RoundedNoise real(NoiseKind::laplace, 1);
  const RoundedNoise mutant(NoiseKind::laplace, 0.97);
  EXPECT_TRUE(
      is_caught(releases(0, 1, [&](double x) { return mutant.add(x); }), "laplace(1)", 1'500'000));
  EXPECT_FALSE(
      is_caught(releases(0, 1, [&](double x) { return real.add(x); }), "laplace(1)", 400'000));
}

// The query's sensitivity is 2, the noise is calibrated for 1.
TEST(Mutants, NoiseForHalfTheSensitivity) {
  const Additive mutant = laplace_for(Epsilon(1), 1);
  const Additive real = laplace_for(Epsilon(1), 2);
  EXPECT_TRUE(
      is_caught(releases(0, 2, [&](double x) { return mutant.release(x); }), "pure(1)", 100'000));
  EXPECT_FALSE(
      is_caught(releases(0, 2, [&](double x) { return real.release(x); }), "pure(1)", 100'000));
}

// A grid of 2^-10 times the value: the last bits of the output reveal on which side of 4 the value
// is.
TEST(Mutants, AGridFromTheData) {
  const auto mutant = [](double x) {
    return RoundedNoise(NoiseKind::laplace, 1, RoundedNoise::grid_for(x)).add(x);
  };
  EXPECT_TRUE(is_caught(releases(3, 4, mutant), "laplace(1)", 100'000));
  EXPECT_FALSE(
      is_caught(releases(3, 4, [](double x) { return real_noise(NoiseKind::laplace, 1, x); }),
                "laplace(1)", 100'000));
}

TEST(Mutants, NoiseOnOneSideOnly) {
  const auto mutant = [](double x) { return x + std::abs(real_noise(NoiseKind::laplace, 1, 0)); };
  EXPECT_TRUE(is_caught(releases(0, 1, mutant), "laplace(1)", 100'000));
  EXPECT_FALSE(
      is_caught(releases(0, 1, [](double x) { return real_noise(NoiseKind::laplace, 1, x); }),
                "laplace(1)", 100'000));
}

// One random stream for both coordinates: the noise cancels in their difference.
TEST(Mutants, OneStreamForTwoCoordinates) {
  const AuditSubject real = audit_subject(parse("laplace(1)"), std::nullopt, 2);
  const Suspect mutant{real.suspects[0].inputs, real.suspects[0].numbers,
                       [](bool second, std::span<double> numbers) {
                         const double noise = real_noise(NoiseKind::laplace, 1, 0);
                         numbers[0] = noise + (second ? 1 : 0);
                         numbers[1] = numbers[0] - noise;
                       }};
  EXPECT_TRUE(is_caught(mutant, "laplace(1)", 20'000));
  for (const Suspect& suspect : real.suspects)
    EXPECT_FALSE(is_caught(suspect, "laplace(1)", 100'000));
}

// Two releases with different scales, the second of a query that does not change. Every release
// restarts its random stream.
TEST(Mutants, OneStreamForTwoReleases) {
  const auto suspect = [](bool anew) {
    return Suspect{
        "two releases",
        {"first less half of the second"},
        [anew](bool second, std::span<double> numbers) {
          const auto release = [](testing::Stream& bits, double x, double scale) {
            const random_detail::Rounding rounding{
                x,     -10, random_detail::Shape::linear,
                scale, 0,   random_detail::unit_of(Curve::laplace)};
            const auto steps = std::ldexp(x, 10);
            return std::ldexp(
                random_detail::draw_rounded(bits, random_detail::real_table(Curve::laplace),
                                            rounding, steps, random_detail::half_unit_of(rounding)),
                -10);
          };
          testing::Stream bits(Random::here().word());
          testing::Stream again = bits;
          const double one = release(bits, second ? 1 : 0, 1);
          const double two = release(anew ? again : bits, 0, 2);
          numbers[0] = one - two / 2;
        }};
  };
  EXPECT_TRUE(is_caught(suspect(true), "laplace(1) + laplace(2, 1)", 20'000));
  EXPECT_FALSE(is_caught(suspect(false), "laplace(1) + laplace(2, 1)", 100'000));
}

// A grid so fine that the first random word never decides: 2^-45 of the scale, which is 16 grid
// steps for each unit of that word.
constexpr int fine_grid = -45;
double finely(double x, bool doubles_alone) {
  const random_detail::Rounding rounding{x, fine_grid, random_detail::Shape::linear,
                                         1, 0,         random_detail::unit_of(Curve::gaussian)};
  const random_detail::Table& table = random_detail::real_table(Curve::gaussian);
  Random& bits = Random::here();
  const double steps = std::ldexp(x, -fine_grid);
  if (!doubles_alone)
    return std::ldexp(random_detail::draw_rounded(bits, table, rounding, steps,
                                                  random_detail::half_unit_of(rounding)),
                      fine_grid);
  const auto [y, negative] = random_detail::draw_from(bits, table, bits.word());
  const auto twice = static_cast<double>(2 * y.head + 1);
  return std::ldexp(random_detail::try_round(steps, random_detail::half_unit_of(rounding),
                                             negative ? -twice : twice)
                        .whole,
                    fine_grid);
}

// Rounding in doubles without further random bits: the last bits of the output are those of the
// value.
TEST(Mutants, TiesDecidedByTheDoublesAlone) {
  const double moved = 0.75 + 0x1p-44;
  EXPECT_TRUE(is_caught(releases(0, moved, [](double x) { return finely(x, true); }), "gaussian(1)",
                        20'000, 1e-5));
  EXPECT_FALSE(is_caught(releases(0, moved, [](double x) { return finely(x, false); }),
                         "gaussian(1)", 100'000, 1e-5));
}

// The same defect by enumeration of all continuations of an ambiguous word. The real rounding
// splits them at the exact sum.
TEST(Mutants, AnAmbiguousWordThatIsNotSplit) {
  // y is just below the columns that end at the noise 1/2. The factor puts 1/2 at three quarters of
  // the last unit.
  const int unit = random_detail::unit_of(Curve::laplace);
  const int bits_to_half = random_detail::real_fraction - unit - 1;
  const random_detail::Rounding rounding{
      0, 0, random_detail::Shape::linear, 1 + std::ldexp(1.0, -bits_to_half - 2), 0, unit};
  const std::uint64_t head = (std::uint64_t{1} << static_cast<unsigned>(bits_to_half)) - 1;
  const auto rounded_with = [&](std::vector<std::uint64_t> words, std::uint64_t rest) {
    testing::Prefix bits(std::move(words), rest);
    return random_detail::round_exactly(bits, rounding, false,
                                        {head, random_detail::real_fraction, true, {}});
  };
  EXPECT_EQ(rounded_with({}, 0), 0);
  EXPECT_EQ(rounded_with({}, ~std::uint64_t{0}), 1);
  int ones = 0;
  for (std::uint64_t k = 0; k < 1024; ++k) ones += rounded_with({k << 54U}, 0) == 1 ? 1 : 0;
  EXPECT_NEAR(ones, 256, 1);
  const auto attempt = random_detail::try_round(0, random_detail::half_unit_of(rounding),
                                                static_cast<double>(2 * head + 1));
  EXPECT_FALSE(attempt.sure);  // the mutant returns attempt.whole for all 1024
}

// χ² of counts on whole numbers against the exact masses, in standard deviations of its cube root:
// above 6 by chance with probability 10⁻⁹.
double misfit(const std::map<double, double>& counts, double draws,
              const std::function<double(double)>& mass) {
  double sum = 0;
  int cells = -1;
  for (const auto& [value, count] : counts) {
    const double expected = draws * mass(value);
    if (expected < 20) continue;
    sum += (count - expected) * (count - expected) / expected;
    ++cells;
  }
  const double share = 2.0 / (9 * cells);
  return (std::cbrt(sum / cells) - (1 - share)) / std::sqrt(share);
}

// Rounds to half steps first, then to whole ones: all halves go to even numbers.
TEST(Mutants, RoundedTwice) {
  constexpr int draws = 200'000;
  const auto law = [](double k) {
    const auto above = [](double x) { return std::erfc(x / std::sqrt(2.0) / 3) / 2; };
    return above(std::abs(k) - 0.5) - above(std::abs(k) + 0.5);
  };
  const RoundedNoise halves(NoiseKind::gaussian, 3, -1);
  const RoundedNoise integer_noise(NoiseKind::gaussian, 3, 0);
  std::map<double, double> mutant;
  std::map<double, double> real;
  for (int i = 0; i < draws; ++i) {
    ++mutant[std::nearbyint(halves.add(0))];
    ++real[integer_noise.add(0)];
  }
  EXPECT_GT(misfit(mutant, draws, law), 8);
  EXPECT_LT(misfit(real, draws, law), 6);
}

// Noise in doubles from a uniform number of 12 bits: some values are impossible on the other input.
TEST(Mutants, NoiseFromACoarseUniform) {
  const auto mutant = [](double x) {
    const double u = (static_cast<double>(Random::here().word() >> 52U) + 0.5) * 0x1p-12;
    return x + (u < 0.5 ? std::log(2 * u) : -std::log(2 * (1 - u)));
  };
  EXPECT_TRUE(is_caught(releases(0, 1, mutant), "laplace(1)", 100'000));
}

}  // namespace
}  // namespace sotto
