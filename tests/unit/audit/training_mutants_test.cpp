// Trainings that are broken on purpose. Each is caught by the test with its name, which the real
// training passes.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/accounting/account.hpp"
#include "sotto/audit/audit.hpp"
#include "sotto/audit/model_audit.hpp"
#include "sotto/learning/train.hpp"
#include "sotto/random/noise.hpp"

namespace sotto {
namespace {

constexpr std::size_t width = 2;
constexpr std::int64_t canaries = 1000;

Examples some_rows() {
  std::mt19937_64 random(6);
  std::uniform_int_distribution<int> code(-feature_one, feature_one);
  Examples::Builder builder(width);
  for (int u = 0; u < 50; ++u) {
    for (std::int16_t& x : builder.add(static_cast<std::int16_t>(u % 2)))
      x = static_cast<std::int16_t>(code(random));
  }
  return std::move(builder).build();
}

Training claimed() { return {.steps = 4, .clipping = {.norm = 0x1p-8}, .noise = 10, .batch = 10}; }

// Whether one run contradicts the claim; wrong with probability 1e-6.
bool is_caught(const Training& run) {
  const std::shared_ptr<const Model> model = make_model(LinearModel{
      .width = width + static_cast<std::size_t>(canaries), .loss = {}, .intercept = false});
  const Learn learn = [&](const Examples& examples) {
    return train(model, examples, run, {.threads = 1}).parameters;
  };
  const OneRun result = canary_audit(some_rows(), learn,
                                     {.canaries = canaries, .delta = 1e-9, .confidence = 1 - 1e-6});
  return result.epsilon > epsilon(plan_of(claimed()), Delta(1e-9)).value.upper;
}

TEST(TrainingMutants, TheRealOnePasses) { EXPECT_FALSE(is_caught(claimed())); }

TEST(TrainingMutants, NoNoise) {
  Training mutant = claimed();
  mutant.noise = 0;
  EXPECT_TRUE(is_caught(mutant));
}

// The noise is for the claimed norm, but the gradients are clipped to another one.
TEST(TrainingMutants, WrongClip) {
  Training mutant = claimed();
  mutant.clipping.norm *= 256;
  mutant.noise /= 256;
  EXPECT_TRUE(is_caught(mutant));
}

// One step from one unit or from two, observed through a weight that no row changes: it holds only
// the noise, divided by the number of units.
Suspect a_step_from_one_or_two(bool divided_by_number_of_units) {
  const auto one = std::make_shared<Examples>([] {
    Examples::Builder builder(2);
    builder.add(1)[0] = feature_one;
    return std::move(builder).build();
  }());
  const auto two = std::make_shared<Examples>([] {
    Examples::Builder builder(2);
    builder.add(1)[0] = feature_one;
    builder.add(1)[0] = feature_one;
    return std::move(builder).build();
  }());
  const std::shared_ptr<const Model> model =
      make_model(LinearModel{.width = 2, .loss = {}, .intercept = false});
  return {"one unit and two", {"size of a weight"}, [=](bool second, std::span<double> numbers) {
            const Examples& examples = second ? *two : *one;
            Training training{.steps = 1, .noise = 10, .batch = 2};
            if (divided_by_number_of_units) training.batch = static_cast<double>(examples.units());
            numbers[0] = std::abs(train(model, examples, training, {.threads = 1}).parameters[1]);
          }};
}

bool two_worlds_differ(const Suspect& suspect, std::int64_t trials) {
  AuditOptions options;
  options.trials = trials;
  options.confidence = 1 - 1e-9;
  options.delta = Delta(1e-5);
  const double most = claim_of(gaussian(10), options.delta, options.epsilon).epsilon;
  return audit({suspect}, options).epsilon.lower > most;
}

TEST(TrainingMutants, TheNumberOfUnitsLeakedThroughTheDivisor) {
  EXPECT_TRUE(two_worlds_differ(a_step_from_one_or_two(true), 20'000));
  EXPECT_FALSE(two_worlds_differ(a_step_from_one_or_two(false), 20'000));
}

// Each unit's gradient gets noise and is clipped afterwards: without units there is no noise.
TEST(TrainingMutants, NoiseBeforeClipping) {
  const auto suspect = [](bool before) {
    return Suspect{"no unit and one", {"gradient"}, [=](bool second, std::span<double> numbers) {
                     const RoundedNoise noise(NoiseKind::gaussian, 10);
                     const double gradient = second ? 0.5 : 0;
                     numbers[0] = before ? (second ? std::clamp(noise.add(gradient), -1.0, 1.0) : 0)
                                         : noise.add(std::clamp(gradient, -1.0, 1.0));
                   }};
  };
  EXPECT_TRUE(two_worlds_differ(suspect(true), 20'000));
  EXPECT_FALSE(two_worlds_differ(suspect(false), 20'000));
}

// The change of a sum of clipped gradients by one more unit, in norms. All rows are equal, so each
// adds one norm to one coordinate.
Examples alike(std::size_t units, bool one_more) {
  Examples::Builder builder(1);
  for (std::size_t u = 0; u < units; ++u) builder.add(1)[0] = feature_one;
  if (one_more) builder.add(1)[0] = feature_one;
  return std::move(builder).build();
}

double moved_exactly(std::size_t units, double norm) {
  const auto model = make_model(LinearModel{.width = 1, .loss = {}, .intercept = false});
  const Clipping clipping{.norm = norm};
  const auto total = [&](bool one_more) {
    const Examples examples = alike(units, one_more);
    std::vector<std::uint32_t> all(examples.units());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint32_t>(i);
    ExactSum sum(1);
    model->prepare(std::vector<double>{0})->add(examples, all, clipping, sum);
    return std::ldexp(static_cast<double>(sum.totals()[0]), model->exponents(clipping)[0]);
  };
  return std::abs(total(true) - total(false)) / norm;
}

// The sum in floats, added one by one.
double moved_in_floats(std::size_t units, float norm) {
  float sum = 0;
  for (std::size_t u = 0; u < units; ++u) sum += norm;
  const float before = sum;
  sum += norm;
  return static_cast<double>(sum - before) / static_cast<double>(norm);
}

TEST(TrainingMutants, AFloatSum) {
  double exact = 0;
  double in_floats = 0;
  for (const std::size_t units : {100U, 1'500U, 20'000U}) {
    for (const double norm : {0.1, 0.3, 0.37}) {
      exact = std::max(exact, moved_exactly(units, norm));
      in_floats = std::max(in_floats, moved_in_floats(units, static_cast<float>(norm)));
    }
  }
  EXPECT_LE(exact, 1);
  EXPECT_GT(exact, 0.99);
  EXPECT_GT(in_floats, 1);
}

// The rows of a unit must be clipped together. Clipped one by one, they move the sum by one norm
// for each row.
TEST(TrainingMutants, RowsClippedInsteadOfUnits) {
  const auto model = make_model(LinearModel{.width = 1, .loss = {}, .intercept = false});
  const Clipping clipping{.norm = 0.25};
  const auto size = [&](bool as_one_unit) {
    Examples::Builder builder(1);
    if (as_one_unit) builder.next_unit();
    for (int i = 0; i < 5; ++i) builder.add(1)[0] = feature_one;
    const Examples examples = std::move(builder).build();
    std::vector<std::uint32_t> all(examples.units());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint32_t>(i);
    ExactSum sum(1);
    model->prepare(std::vector<double>{0})->add(examples, all, clipping, sum);
    return std::abs(
               std::ldexp(static_cast<double>(sum.totals()[0]), model->exponents(clipping)[0])) /
           0.25;
  };
  EXPECT_LE(size(true), 1);
  EXPECT_GT(size(false), 4.9);
}

}  // namespace
}  // namespace sotto
