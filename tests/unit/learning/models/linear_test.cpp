// Linear models: gradients, and sums whose clipping bound holds for the very numbers that are
// added.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "sotto/core/errors.hpp"
#include "sotto/learning/model.hpp"

namespace sotto {
namespace {

struct Made {
  std::vector<double> values, targets;
  std::vector<std::int64_t> units;
};

Examples some(std::size_t rows, std::size_t width, std::size_t classes, std::uint64_t seed,
              std::size_t rows_a_unit = 1, double size = 1) {
  std::mt19937_64 words(seed);
  std::uniform_real_distribution<double> number(-size, size);
  Made made;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < width; ++j) made.values.push_back(number(words));
    made.targets.push_back(classes > 0 ? static_cast<double>(words() % classes) : number(words));
    made.units.push_back(static_cast<std::int64_t>(i / rows_a_unit));
  }
  Matrix matrix{made.values, width, std::vector<Scaled>(width, {-1, 1}), made.targets};
  if (classes == 0) matrix.target_scale = Scaled{-1, 1};
  if (rows_a_unit > 1) matrix.units = made.units;
  return examples_of(matrix);
}

std::vector<double> parameters_of(const Model& model, std::uint64_t seed, double size) {
  std::mt19937_64 words(seed);
  std::normal_distribution<double> number(0, size);
  std::vector<double> parameters(model.parameters());
  for (double& p : parameters) p = number(words);
  return parameters;
}

std::vector<std::int64_t> sum_of(const Model& model, const Examples& examples,
                                 const std::vector<std::uint32_t>& units,
                                 const std::vector<double>& parameters, const Clipping& clipping) {
  ExactSum sum(model.parameters());
  model.prepare(parameters)->add(examples, units, clipping, sum);
  EXPECT_EQ(sum.units, static_cast<std::int64_t>(units.size()));
  const auto totals = sum.totals();
  return {totals.begin(), totals.end()};
}

std::vector<std::uint32_t> all_of(const Examples& examples) {
  std::vector<std::uint32_t> all(examples.units());
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

double loss_of(const Model& model, const Examples& examples,
               const std::vector<double>& parameters) {
  std::vector<double> z(examples.rows() * model.outputs());
  model.prepare(parameters)->outputs(examples, 0, z);
  double sum = 0;
  for (std::size_t i = 0; i < examples.rows(); ++i) {
    sum +=
        model.loss().value(std::span<const double>(z).subspan(i * model.outputs(), model.outputs()),
                           examples.target(i));
  }
  return sum;
}

std::vector<LinearModel> kinds(std::size_t width) {
  return {{width, {LossKind::logistic}},         {width, {LossKind::squared}},
          {width, {LossKind::huber, 0.25}},      {width, {LossKind::squared_hinge}},
          {width, {LossKind::softmax}, 5},       {width, {LossKind::logistic}, 2, false},
          {width, {LossKind::squared}, 2, false}};
}

Examples for_kind(const LinearModel& kind, std::size_t rows, std::uint64_t seed,
                  std::size_t rows_a_unit = 1, double size = 1) {
  return some(rows, kind.width, kind.loss.is_of_classes() ? kind.classes : 0, seed, rows_a_unit,
              size);
}

TEST(Linear, AGradientIsTheSlopeOfTheLoss) {
  for (const LinearModel& kind : kinds(7)) {
    const auto model = make_model(kind);
    const Examples examples = for_kind(kind, 40, 3);
    std::vector<double> parameters = parameters_of(*model, 5, 0.4);
    const Clipping wide{.norm = 16};
    const auto sum = sum_of(*model, examples, all_of(examples), parameters, wide);
    const double step = std::ldexp(1.0, model->exponents(wide)[0]);
    for (std::size_t j = 0; j < parameters.size(); ++j) {
      const double here = parameters[j];
      parameters[j] = here + 1e-2;
      const double up = loss_of(*model, examples, parameters);
      parameters[j] = here - 1e-2;
      const double down = loss_of(*model, examples, parameters);
      parameters[j] = here;
      EXPECT_NEAR(static_cast<double>(sum[j]) * step, (up - down) / 2e-2, 0.02)
          << model->description() << " " << j;
    }
  }
}

// The sum over the squares of whole numbers, against the square of the norm in the same units, with
// 128 bits.
bool within(const std::vector<std::int64_t>& gradient, const Model& model,
            const Clipping& clipping) {
  long double square = 0;
  for (const std::int64_t g : gradient)
    square += static_cast<long double>(g) * static_cast<long double>(g);
  const long double norm =
      std::ldexp(static_cast<long double>(clipping.norm), -model.exponents(clipping)[0]);
  return square <= norm * norm;
}

TEST(Linear, NoUnitAddsMoreThanTheNorm) {
  std::mt19937_64 words(11);
  int clipped = 0;
  for (int round = 0; round < 300; ++round) {
    const std::size_t width = 1 + words() % 70;
    for (const LinearModel& kind : kinds(width)) {
      const auto model = make_model(kind);
      const std::size_t rows_a_unit = round % 3 == 0 ? 1 + words() % 4 : 1;
      const Examples examples =
          for_kind(kind, 3 * rows_a_unit, words(), rows_a_unit, round % 5 == 0 ? 1e-3 : 1);
      Clipping clipping{.norm = std::ldexp(1.0 + static_cast<double>(words() % 1000) / 1000,
                                           static_cast<int>(words() % 12) - 9)};
      if (round % 4 == 1) clipping.kind = ClippingKind::automatic;
      const auto parameters = parameters_of(*model, words(), round % 2 == 0 ? 0.3 : 30);
      for (std::uint32_t unit = 0; unit < examples.units(); ++unit) {
        const auto gradient = sum_of(*model, examples, {unit}, parameters, clipping);
        EXPECT_TRUE(within(gradient, *model, clipping))
            << model->description() << " norm " << clipping.norm;
        Clipping smaller = clipping;
        smaller.norm *= 0.99;
        clipped += within(gradient, *model, smaller) ? 0 : 1;
      }
    }
  }
  EXPECT_GT(clipped, 1000);  // many come close to the norm: the bound is met, not undercut
}

TEST(Linear, AUnitAddsTheSameVectorAtAnyPosition) {
  for (const LinearModel& kind : kinds(37)) {
    for (const std::size_t rows_a_unit : {std::size_t{1}, std::size_t{3}}) {
      const auto model = make_model(kind);
      const Examples examples = for_kind(kind, 23 * rows_a_unit, 17, rows_a_unit);
      const auto parameters = parameters_of(*model, 19, 1);
      const Clipping clipping{.norm = 0.7};
      std::vector<std::uint32_t> order = all_of(examples);
      const auto together = sum_of(*model, examples, order, parameters, clipping);
      std::vector<std::int64_t> one_by_one(together.size());
      for (const std::uint32_t unit : order) {
        const auto alone = sum_of(*model, examples, {unit}, parameters, clipping);
        for (std::size_t j = 0; j < alone.size(); ++j) one_by_one[j] += alone[j];
      }
      EXPECT_EQ(together, one_by_one) << model->description();
      std::shuffle(order.begin(), order.end(), std::mt19937_64(2));
      EXPECT_EQ(together, sum_of(*model, examples, order, parameters, clipping));
    }
  }
}

// Sums are emptied from 32 bits into doubles, and from doubles into whole numbers, before they are
// full: the longest row with the steepest slope.
TEST(Linear, ManyRowsAddUpToTheirNumberTimesOne) {
  const Examples one = examples_of({.values = std::vector<double>{0x1.fff8p-1, -1, 1},
                                    .width = 3,
                                    .scales = {3, {-1, 1}},
                                    .targets = std::vector<double>{1}});
  const auto model = make_model(LinearModel{3, {LossKind::logistic}});
  const std::vector<double> parameters{-5, 4, -4, 0};
  const Clipping wide{.norm = 16};
  const auto alone = sum_of(*model, one, {0}, parameters, wide);
  ASSERT_GE(std::abs(alone[0]), (std::int64_t{1} << 32U) - (1 << 20));
  ASSERT_EQ(alone[0] % 2, -1);  // so that doubles beyond 2^53 would round
  for (const std::size_t count : {300, 5000, 3 * (1 << 20) + 77}) {
    const auto all = sum_of(*model, one, std::vector<std::uint32_t>(count), parameters, wide);
    for (std::size_t j = 0; j < alone.size(); ++j)
      ASSERT_EQ(all[j], alone[j] * static_cast<std::int64_t>(count)) << count;
  }
}

TEST(Linear, NormsAreFromAbove) {
  for (const LinearModel& kind : kinds(21)) {
    for (const std::size_t rows_a_unit : {std::size_t{1}, std::size_t{2}}) {
      const auto model = make_model(kind);
      const Examples examples = for_kind(kind, 30 * rows_a_unit, 23, rows_a_unit);
      const auto parameters = parameters_of(*model, 29, 0.2);
      const auto units = all_of(examples);
      std::vector<double> norms(units.size());
      model->prepare(parameters)->norms(examples, units, norms);
      const Clipping wide{.norm = 64};
      for (const std::uint32_t unit : units) {
        const auto gradient = sum_of(*model, examples, {unit}, parameters, wide);
        double square = 0;
        for (const std::int64_t g : gradient)
          square += static_cast<double>(g) * static_cast<double>(g);
        const double norm = std::ldexp(std::sqrt(square), model->exponents(wide)[0]);
        EXPECT_LE(norm, norms[unit] * (1 + 1e-4));
        EXPECT_GE(norm, norms[unit] * (1 - 1e-2) - 1e-3) << model->description();
      }
    }
  }
}

TEST(Linear, OverflowedParametersStayWithinTheNorm) {
  for (const LinearModel& kind : kinds(5)) {
    const auto model = make_model(kind);
    const Examples examples = for_kind(kind, 8, 31);
    for (const double wild : {std::nan(""), std::numeric_limits<double>::infinity(), 1e300}) {
      const std::vector<double> parameters(model->parameters(), wild);
      for (std::uint32_t unit = 0; unit < 8; ++unit) {
        EXPECT_TRUE(within(sum_of(*model, examples, {unit}, parameters, {}), *model, {}));
      }
    }
  }
}

TEST(ExactSums, AreFoldedBeforeDoublesRound) {
  ExactSum sum(1);
  for (int i = 0; i < 5; ++i) sum.room_for(0x1p53)[0] += 0x1p53 - 1;
  EXPECT_EQ(sum.totals()[0], 5 * ((std::int64_t{1} << 53U) - 1));
}

TEST(Linear, InvalidModelsAreRefused) {
  EXPECT_THROW((void)make_model(LinearModel{0, {}}), InvalidValue);
  EXPECT_THROW((void)make_model(LinearModel{3, {LossKind::logistic}, 3}), InvalidValue);
  EXPECT_THROW((void)make_model(LinearModel{3, {LossKind::softmax}, 1}), InvalidValue);
}

}  // namespace
}  // namespace sotto
