// FFT composition of small distributions, against direct convolution and enumeration of all
// outcomes.
#include "pld/grid/fft_compose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "numerics/api/elementary.hpp"
#include "pld/grid/fit_spacing.hpp"

namespace sotto::pld_detail {
namespace {

using Long = long double;
using Outcomes = std::vector<std::pair<Long, Long>>;  // losses and masses under P

// Losses ±ℓ of weight w, and the remaining mass at 0.
Outcomes outcomes_of(const std::vector<std::pair<Long, Long>>& atoms) {
  Outcomes outcomes;
  Long rest = 1;
  for (const auto& [loss, weight] : atoms) {
    for (const Long side : {-loss, loss}) {
      outcomes.emplace_back(side, weight * std::exp(side / 2));
      rest -= weight * std::exp(side / 2);
    }
  }
  outcomes.emplace_back(0, rest);
  return outcomes;
}

Outcomes convolve(const Outcomes& a, const Outcomes& b) {
  Outcomes all;
  for (const auto& [x, p] : a) {
    for (const auto& [y, q] : b) all.emplace_back(x + y, p * q);
  }
  return all;
}

double delta_of(const Outcomes& outcomes, double epsilon) {
  Long sum = 0;
  for (const auto& [loss, mass] : outcomes)
    sum += mass * std::max<Long>(0, -std::expm1(epsilon - loss));
  return static_cast<double>(sum);
}

PrivacyLossPtr atoms_loss(const std::vector<std::pair<Long, Long>>& atoms) {
  std::vector<SymmetricAtom> all;
  for (const auto& [loss, weight] : atoms)
    all.push_back({Real(static_cast<double>(loss)), Real(static_cast<double>(weight))});
  return symmetric_atoms_loss(all, std::nullopt);
}

TEST(FftComposition, OfTwoDistributionsIsTheirConvolution) {
  const std::vector<std::pair<Long, Long>> a{{0.5L, 0.375L}};
  const std::vector<std::pair<Long, Long>> b{{0.25L, 0.25L}, {1.0L, 0.03125L}};
  Outcomes direct{{0, 1}};
  for (int i = 0; i < 3; ++i) direct = convolve(direct, outcomes_of(a));
  for (int i = 0; i < 2; ++i) direct = convolve(direct, outcomes_of(b));

  const auto steps = with_distributions({{atoms_loss(a), 3}, {atoms_loss(b), 2}});
  ASSERT_TRUE(steps);
  for (const double epsilon : {0.1, 0.6, 1.1, 1.9, 2.6, 3.4}) {  // between two losses each
    const double exact = delta_of(direct, epsilon);
    const GridChoice choice(*steps, epsilon, std::log(exact));
    ASSERT_FALSE(choice.failed()) << epsilon;
    const double up = FftComposition(*steps, choice, Side::upper, 1 << 14).delta(epsilon);
    const double down = FftComposition(*steps, choice, Side::lower, 1 << 14).delta(epsilon);
    EXPECT_GE(up, exact * (1 - 1e-15)) << epsilon;
    EXPECT_LE(down, exact * (1 + 1e-15)) << epsilon;
    EXPECT_LE(up - down, 1e-8 * exact) << epsilon;
  }
}

// mpmath, 40 digits: four steps of μ = 0.3 and two of μ = 1.1 are one of μ = √2.78
TEST(FftComposition, OfGaussianStepsIsTheClosedForm) {
  const auto steps =
      with_distributions({{gaussian_loss(Real(9) / 100), 4}, {gaussian_loss(Real(121) / 100), 2}});
  ASSERT_TRUE(steps);
  for (const auto& [epsilon, delta] :
       {std::pair{1.0, 0.386240702379031931}, std::pair{3.0, 0.0821091539151158186},
        std::pair{6.0, 0.000965782228215217904}, std::pair{10.0, 2.82105431653089092e-8}}) {
    const GridChoice choice(*steps, epsilon, std::log(delta));
    const double up = FftComposition(*steps, choice, Side::upper, 1 << 16).delta(epsilon);
    const double down = FftComposition(*steps, choice, Side::lower, 1 << 16).delta(epsilon);
    EXPECT_GE(up, delta * (1 - 1e-14)) << epsilon;
    EXPECT_LE(down, delta * (1 + 1e-14)) << epsilon;
    EXPECT_LE(up - down, 1e-6 * delta) << epsilon;
  }
}

TEST(FftComposition, IsTrivialOutsideItsWindow) {
  const auto steps = with_distributions({{laplace_loss(Real(1) / 2), 3}});
  const GridChoice choice(*steps, 1, std::log(1e-2));
  const FftComposition up(*steps, choice, Side::upper, 4096);
  const FftComposition down(*steps, choice, Side::lower, 4096);
  EXPECT_TRUE(up.window().contains(1));
  EXPECT_LT(up.delta(1), 1);
  EXPECT_EQ(up.delta(1e6), 1);
  EXPECT_EQ(down.delta(1e6), 0);
}

// A step with P-masses at the losses 0, 1/2 and 1.
DiscretisedStep step_of(double count, std::vector<double> weights) {
  return {count, {0, 0.5, 0, std::move(weights), std::nullopt, 1, 0}, false};
}

// Enumerates all outcomes of two equal steps and a third one; `keep` selects them by their largest
// loss.
template <class Keep>
std::map<int, Long> tilted_masses(const std::vector<double>& twice, const std::vector<double>& once,
                                  Long tilt, Keep keep) {
  std::map<int, Long> masses;
  const auto size = [](const std::vector<double>& of) { return static_cast<int>(of.size()); };
  for (int i = 0; i < size(twice); ++i) {
    for (int j = 0; j < size(twice); ++j) {
      for (int k = 0; k < size(once); ++k) {
        if (!keep(std::max({i, j, k}))) continue;
        masses[i + j + k] += static_cast<Long>(twice[static_cast<std::size_t>(i)]) *
                             twice[static_cast<std::size_t>(j)] *
                             once[static_cast<std::size_t>(k)] * std::exp(tilt * (i + j + k) / 2);
      }
    }
  }
  return masses;
}

TEST(TiltedStratum, HasTheMassesOfItsOutcomes) {
  const std::vector<double> twice{0.5, 0.375, 0.125};
  const std::vector<double> once{0.625, 0.25, 0.125};
  const std::vector<DiscretisedStep> steps{step_of(2, twice), step_of(1, once)};
  constexpr std::size_t size = 16;
  const Fft fft(size);
  const double tilt = 0.7;
  struct Case {
    std::optional<double> from;
    double to;
    int above, last;  // grid points of the largest loss
  };
  for (const auto& [from, to, above, last] : {Case{std::nullopt, 0.5, -1, 1}, Case{0.5, 1, 1, 2},
                                              Case{0.0, 1, 0, 2}, Case{std::nullopt, 1, -1, 2}}) {
    const Stratum stratum{from, to, tilt, 0, 2, -1, 4, false, 0};
    const TiltedStratum tilted(steps, stratum, 1, Side::upper, 0, fft, size);
    ASSERT_FALSE(tilted.failed());
    std::vector<Complex> product(size);
    double squared_error = 0;
    ASSERT_TRUE(tilted.multiply(product, squared_error));
    fft.inverse(product);
    const auto exact = tilted_masses(twice, once, tilt, [above = above, last = last](int largest) {
      return largest > above && largest <= last;
    });
    const double bound =
        2 * (tilted.transform_error(fft) + std::sqrt(squared_error / size) + 1e-15);
    const auto first = static_cast<std::int64_t>(std::lround(tilted.start() / 0.5));
    for (std::int64_t point = 0; point <= 6; ++point) {
      const auto entry = exact.find(static_cast<int>(point));
      const Long mass =
          entry == exact.end()
              ? 0
              : entry->second * std::exp(static_cast<Long>(-tilted.scale() - tilted.log_total()));
      EXPECT_NEAR(product[index_of(point - first, size)].re, static_cast<double>(mass), bound)
          << point;
    }
    EXPECT_LT(bound, 1e-12);
  }
}

TEST(FitSpacing, PutsTheAtomsOfAllStepsOnGridPoints) {
  const auto steps =
      with_distributions({{atoms_loss({{0.3L, 0.3L}}), 2}, {atoms_loss({{0.2L, 0.2L}}), 3}});
  const GridChoice choice(*steps, 0.5, std::log(1e-2));
  const double wanted = 0.0103;
  const double spacing = fit_spacing(*steps, choice, wanted);
  EXPECT_GE(spacing, wanted);
  EXPECT_LE(spacing, 1.18 * wanted);
  for (const double loss : {0.2, 0.3})
    EXPECT_NEAR(loss / spacing, std::round(loss / spacing), 1e-9) << loss;
}

TEST(FitSpacing, IsUnchangedWithoutAtoms) {
  const auto steps = with_distributions({{gaussian_loss(1), 2}});
  EXPECT_EQ(fit_spacing(*steps, GridChoice(*steps, 2, std::log(1e-2)), 0.0103), 0.0103);
}

}  // namespace
}  // namespace sotto::pld_detail
