// Networks: the gradient is that of the loss, each unit's share of the sum is within the norm, and
// it depends on the unit alone.
#include "sotto/learning/network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "../../../support/exact_norm.hpp"
#include "../../../support/reference_network.hpp"
#include "learning/models/network_plain.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/learning/train.hpp"

namespace sotto {
namespace {

Network network_of(ImageShape input, std::vector<NetworkLayer> layers, std::size_t classes = 3) {
  return {.input = input,
          .layers = std::move(layers),
          .loss = {.kind = LossKind::softmax},
          .classes = classes};
}

// One of each kind of layer, in sizes that fill no vector and no panel, too.
std::vector<Network> networks() {
  return {multilayer_perceptron(5, {}, Tanh{}, {.kind = LossKind::softmax}, 3),
          multilayer_perceptron(21, {9, 4}, Tanh{}, {.kind = LossKind::softmax}, 3),
          multilayer_perceptron(34, {17, 8}, Relu{}, {.kind = LossKind::softmax}, 3),
          multilayer_perceptron(7, {6}, Relu{}, {.kind = LossKind::logistic}, 2),
          multilayer_perceptron(7, {6}, Tanh{}, {.kind = LossKind::squared}, 2),
          multilayer_perceptron(7, {6}, Tanh{}, {.kind = LossKind::huber, .bend = 0.3}, 2),
          network_of({1, 1, 8}, {Dense{5}, Dense{3}}),
          network_of({1, 6, 5}, {Convolution{3, 3}, Tanh{}, Dense{3}}),
          network_of({2, 7, 6}, {Convolution{9, 3, 2, 1}, Relu{}, Dense{3}}),
          network_of({1, 9, 8}, {Convolution{4, 4, 2, 2}, Tanh{}, MaxPool{2, 1},
                                 Convolution{5, 2, 1, 0}, Tanh{}, Dense{3}}),
          network_of({1, 8, 8}, {Convolution{10, 3, 1, 1}, Relu{}, AveragePool{2, 2},
                                 Convolution{4, 3, 3, 2}, Relu{}, Dense{4}, Tanh{}, Dense{3}}),
          network_of({1, 7, 7},
                     {Convolution{4, 2, 3, 1}, Tanh{}, Convolution{3, 2, 2, 1}, Tanh{}, Dense{3}}),
          network_of({1, 6, 6}, {Convolution{4, 3}, GroupNorm{2}, Tanh{}, MaxPool{2, 2}, Dense{3}}),
          network_of({4, 3, 3}, {GroupNorm{4}, Convolution{6, 2}, GroupNorm{1}, Relu{},
                                 AveragePool{2, 2}, Dense{3}}),
          network_of({1, 5, 5}, {Convolution{3, 5}}),
          network_of({3, 2, 2}, {MaxPool{2, 2}, Dense{3}})};
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine_);
  }

  Examples examples(const Network& network, std::size_t units, std::size_t most_rows = 1) {
    Examples::Builder builder(network.input.size());
    for (std::size_t u = 0; u < units; ++u) {
      if (most_rows > 1) builder.next_unit();
      const std::size_t rows = most_rows > 1 ? 1 + below(most_rows) : 1;
      for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t target =
            network.loss.is_of_classes() ? below(network.classes) : below(feature_one);
        for (std::int16_t& code : builder.add(static_cast<std::int16_t>(target)))
          code = static_cast<std::int16_t>(uniform(-feature_one, feature_one));
      }
    }
    return std::move(builder).build();
  }
  std::vector<double> parameters(const Model& model, double scale = 1) {
    auto all = model.start(static_cast<std::uint64_t>(below(1000)));
    for (double& p : all) p = scale * (p + uniform(-0.3, 0.3));
    return all;
  }

 private:
  std::mt19937 engine_;
};

std::vector<std::uint32_t> all_units(const Examples& examples) {
  std::vector<std::uint32_t> units(examples.units());
  for (std::size_t i = 0; i < units.size(); ++i) units[i] = static_cast<std::uint32_t>(i);
  return units;
}

std::vector<std::int64_t> total(const Model& model, const std::vector<double>& parameters,
                                const Examples& examples, const std::vector<std::uint32_t>& units,
                                const Clipping& clipping) {
  ExactSum sum(model.parameters());
  model.prepare(parameters)->add(examples, units, clipping, sum);
  EXPECT_EQ(sum.units, static_cast<std::int64_t>(units.size()));
  const auto totals = sum.totals();
  return {totals.begin(), totals.end()};
}

std::vector<double> numbers(const Model& model, const std::vector<std::int64_t>& totals,
                            const Clipping& clipping) {
  std::vector<double> all;
  const auto exponents = model.exponents(clipping);
  const auto layers = model.layers();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    for (std::size_t j = 0; j < layers[l].size; ++j)
      all.push_back(std::ldexp(static_cast<double>(totals[layers[l].start + j]), exponents[l]));
  }
  return all;
}

std::vector<double> row_of(const Examples& examples, std::size_t row) {
  std::vector<double> numbers;
  for (std::size_t j = 0; j < examples.width(); ++j)
    numbers.push_back(static_cast<double>(examples.row(row)[j]) / feature_one);
  return numbers;
}

double norm_of(const std::vector<double>& numbers) {
  double square = 0;
  for (const double x : numbers) square += x * x;
  return std::sqrt(square);
}

TEST(Network, OutputsAreThoseOfTheDefinition) {
  Random random(1);
  for (const Network& network : networks()) {
    SCOPED_TRACE(print(network));
    const auto model = make_model(network);
    const auto parameters = random.parameters(*model);
    const Examples examples = random.examples(network, 37);
    std::vector<double> found(37 * model->outputs());
    model->prepare(parameters)->outputs(examples, 0, found);
    for (std::size_t i = 0; i < 37; ++i) {
      const auto expected = reference::outputs(network, parameters, row_of(examples, i));
      for (std::size_t o = 0; o < expected.size(); ++o)
        EXPECT_NEAR(found[i * expected.size() + o], expected[o], 2e-3);
    }
  }
}

// What is rounded to grids of 2^-12 and 2^-14 is off by a few parts in a thousand.
TEST(Network, GradientIsThatOfTheLoss) {
  Random random(2);
  for (const Network& network : networks()) {
    SCOPED_TRACE(print(network));
    const auto model = make_model(network);
    const auto parameters = random.parameters(*model);
    const Examples examples = random.examples(network, 5);
    std::vector<double> norms(5);
    model->prepare(parameters)->norms(examples, all_units(examples), norms);
    for (std::uint32_t i = 0; i < 5; ++i) {
      const auto expected =
          reference::gradient(network, parameters, row_of(examples, i), examples.target(i));
      const Clipping clipping{.norm = 1.1 * norms[i]};
      const auto found =
          numbers(*model, total(*model, parameters, examples, {i}, clipping), clipping);
      const double size = norm_of(expected);
      double off = 0;
      for (std::size_t j = 0; j < found.size(); ++j)
        off += (found[j] - expected[j]) * (found[j] - expected[j]);
      EXPECT_LT(std::sqrt(off), 4e-3 * size + 1e-4) << size;
      EXPECT_NEAR(norms[i], size, 4e-3 * size + 1e-4);
      EXPECT_GE(norms[i], norm_of(found));
    }
  }
}

TEST(Network, NoUnitIsLongerThanTheNormExactly) {
  Random random(3);
  for (const Network& network : networks()) {
    SCOPED_TRACE(print(network));
    const auto model = make_model(network);
    for (const std::size_t rows : {1, 4}) {
      const Examples examples = random.examples(network, 20, rows);
      for (int round = 0; round < 6; ++round) {
        const auto parameters = random.parameters(*model, std::exp(random.uniform(-2, 2)));
        for (const ClippingKind kind :
             {ClippingKind::flat, ClippingKind::per_layer, ClippingKind::automatic}) {
          // a norm of few bits, next to the gradients' own or far below
          const double norm =
              static_cast<double>(static_cast<float>(std::exp(random.uniform(-6, 1.5))));
          const Clipping clipping{
              .kind = kind, .norm = norm, .stability = round % 2 == 0 ? 0.01 : 1e-9};
          for (const std::uint32_t unit : all_units(examples)) {
            const auto totals = total(*model, parameters, examples, {unit}, clipping);
            ASSERT_TRUE(is_within_norm(*model, totals, clipping)) << name_of(kind) << " " << norm;
          }
        }
      }
    }
  }
}

// The bound is used: what is longer is shortened to the norm, but for rounding.
TEST(Network, LongGradientsAreShortenedToTheNormAndNoFurther) {
  Random random(4);
  for (const Network& network : networks()) {
    SCOPED_TRACE(print(network));
    const auto model = make_model(network);
    for (const std::size_t rows : {1, 4}) {
      const Examples examples = random.examples(network, 10, rows);
      const auto parameters = random.parameters(*model);
      std::vector<double> norms(10);
      model->prepare(parameters)->norms(examples, all_units(examples), norms);
      for (const std::uint32_t unit : all_units(examples)) {
        if (norms[unit] < 1e-3) continue;
        const Clipping half{.norm = norms[unit] / 2};
        EXPECT_NEAR(
            norm_of(numbers(*model, total(*model, parameters, examples, {unit}, half), half)),
            half.norm, 1e-3 * half.norm);
        const Clipping automatic{.kind = ClippingKind::automatic, .norm = 1, .stability = 0.5};
        EXPECT_NEAR(norm_of(numbers(*model, total(*model, parameters, examples, {unit}, automatic),
                                    automatic)),
                    norms[unit] / (norms[unit] + 0.5), 1e-3);
        const Clipping layers{.kind = ClippingKind::per_layer, .norm = norms[unit] / 100};
        const double length =
            norm_of(numbers(*model, total(*model, parameters, examples, {unit}, layers), layers));
        EXPECT_LE(length, layers.norm);
      }
    }
  }
}

TEST(Network, AUnitsShareDependsOnTheUnitAlone) {
  Random random(5);
  for (const Network& network : networks()) {
    SCOPED_TRACE(print(network));
    const auto model = make_model(network);
    for (const std::size_t rows : {1, 40}) {
      const std::size_t count = rows == 1 ? 150 : 12;
      const Examples examples = random.examples(network, count, rows);
      const auto parameters = random.parameters(*model);
      const Clipping clipping{.norm = 0.75};
      auto units = all_units(examples);
      std::vector<std::int64_t> alone(model->parameters());
      for (const std::uint32_t unit : units) {
        const auto own = total(*model, parameters, examples, {unit}, clipping);
        for (std::size_t j = 0; j < own.size(); ++j) alone[j] += own[j];
      }
      EXPECT_EQ(total(*model, parameters, examples, units, clipping), alone);
      for (int round = 0; round < 3; ++round) {
        for (std::size_t i = units.size(); i-- > 1;)
          std::swap(units[i], units[random.below(i + 1)]);
        EXPECT_EQ(total(*model, parameters, examples, units, clipping), alone);
      }
      // without the first: all but its share
      const auto first = total(*model, parameters, examples, {units[0]}, clipping);
      units.erase(units.begin());
      const auto rest = total(*model, parameters, examples, units, clipping);
      for (std::size_t j = 0; j < rest.size(); ++j) ASSERT_EQ(rest[j] + first[j], alone[j]);
    }
  }
}

TEST(Network, AUnitOfSeveralRowsHasTheSumOfTheirGradients) {
  Random random(6);
  for (const Network& network : networks()) {
    SCOPED_TRACE(print(network));
    const auto model = make_model(network);
    const auto parameters = random.parameters(*model);
    const Examples rows = random.examples(network, 70);
    Examples::Builder builder(network.input.size());
    builder.next_unit();
    for (std::size_t i = 0; i < 70; ++i)
      std::copy_n(rows.row(i), rows.width(), builder.add(rows.target(i)).begin());
    builder.next_unit();
    std::copy_n(rows.row(0), rows.width(), builder.add(rows.target(0)).begin());
    const Examples together = std::move(builder).build();
    const Clipping clipping{.norm = 512};
    const auto one = numbers(*model, total(*model, parameters, together, {0}, clipping), clipping);
    const auto many =
        numbers(*model, total(*model, parameters, rows, all_units(rows), clipping), clipping);
    const double size = norm_of(many);
    for (std::size_t j = 0; j < one.size(); ++j) ASSERT_NEAR(one[j], many[j], 0.1 + 1e-4 * size);
  }
}

TEST(Network, GradientsThatLeaveTheFloatsStayWithinTheNorm) {
  for (const Network& network : networks()) {
    SCOPED_TRACE(print(network));
    Random random(7);
    const auto model = make_model(network);
    for (const std::size_t rows : {1, 3}) {
      const Examples examples = random.examples(network, 9, rows);
      for (const double bad : {std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN(), 1e38, -1e30, 1e300}) {
        auto parameters = random.parameters(*model);
        parameters[random.below(parameters.size())] = bad;
        for (const ClippingKind kind :
             {ClippingKind::flat, ClippingKind::per_layer, ClippingKind::automatic}) {
          const Clipping clipping{.kind = kind, .norm = 0.5};
          for (const std::uint32_t unit : all_units(examples)) {
            ASSERT_TRUE(is_within_norm(
                *model, total(*model, parameters, examples, {unit}, clipping), clipping))
                << bad;
          }
        }
      }
    }
  }
}

TEST(Network, AnyNumberOfThreadsGivesTheSameBits) {
  Random random(8);
  for (const Network& network :
       {multilayer_perceptron(6, {5}, Tanh{}, {.kind = LossKind::softmax}, 3),
        network_of({1, 4, 4}, {Convolution{3, 3}, Relu{}, Dense{3}})}) {
    const std::shared_ptr<const Model> model = make_model(network);
    const Examples examples = random.examples(network, 4 * Sampler::units_a_block + 77);
    const Training training{
        .sampling = FullBatch{}, .steps = 3, .clipping = {.norm = 0.3}, .noise = 0, .batch = 1000};
    const auto one = train(model, examples, training, {.threads = 1}).parameters;
    EXPECT_EQ(train(model, examples, training, {.threads = 2}).parameters, one);
    EXPECT_EQ(train(model, examples, training, {.threads = 4}).parameters, one);
  }
}

TEST(Network, ThePlainGradientIsTheSumOfUnclippedOnes) {
  Random random(9);
  for (const Network& network : networks()) {
    SCOPED_TRACE(print(network));
    const auto model = make_model(network);
    const auto parameters = random.parameters(*model);
    const Examples examples = random.examples(network, 300);
    const Clipping clipping{.norm = 64};
    const auto exact = numbers(
        *model, total(*model, parameters, examples, all_units(examples), clipping), clipping);
    const auto plain =
        learning_detail::plain_gradient(*model->prepare(parameters), examples, all_units(examples));
    const double size = norm_of(exact);
    for (std::size_t j = 0; j < exact.size(); ++j)
      ASSERT_NEAR(exact[j], plain[j], 2e-3 * size + 0.05);
  }
}

// What enters a dense layer is at most 8 less 2^-12, and no slope goes further back from there.
TEST(Network, InputsOfADenseLayerSaturate) {
  const Network network = multilayer_perceptron(1, {1}, Relu{}, {.kind = LossKind::squared}, 2);
  const auto model = make_model(network);
  Examples::Builder builder(1);
  builder.add(0)[0] = feature_one;
  const Examples examples = std::move(builder).build();
  std::vector<double> output(1);
  for (const double weight : {7.5, 20.0, 1e6}) {
    const std::vector<double> parameters{weight, 0, 1, 0};  // weight and bias, twice
    model->prepare(parameters)->outputs(examples, 0, output);
    EXPECT_EQ(output[0], std::min(weight, 8 - 0x1p-12));
    const Clipping clipping{.norm = 1024};
    const auto gradient =
        numbers(*model, total(*model, parameters, examples, {0}, clipping), clipping);
    EXPECT_EQ(gradient[0], weight < 8 ? weight : 0);
    EXPECT_NEAR(gradient[2], output[0] * output[0], 0.02);
  }
}

// Opposite quadrants, which no line divides; noise as for privacy.
TEST(Network, LearnsWhatNoLinearModelCan) {
  Random random(10);
  Examples::Builder builder(2);
  for (int i = 0; i < 4000; ++i) {
    const double a = random.uniform(-1, 1);
    const double b = random.uniform(-1, 1);
    const auto row = builder.add(static_cast<std::int16_t>(a * b > 0 ? 1 : 0));
    row[0] = static_cast<std::int16_t>(a * feature_one);
    row[1] = static_cast<std::int16_t>(b * feature_one);
  }
  const Examples examples = std::move(builder).build();
  const std::shared_ptr<const Model> model =
      make_model(multilayer_perceptron(2, {16}, Tanh{}, {.kind = LossKind::softmax}, 2));
  const Training training{.sampling = PoissonSampling{0.125},
                          .steps = 300,
                          .clipping = {.norm = 1},
                          .noise = 1,
                          .batch = 500,
                          .optimiser = {.kind = OptimiserKind::momentum, .size = 0.5}};
  const auto iterate = train(model, examples, training, {.threads = 1});
  std::vector<double> outputs(2 * examples.rows());
  model->prepare(iterate.parameters)->outputs(examples, 0, outputs);
  int right = 0;
  for (std::size_t i = 0; i < examples.rows(); ++i)
    right += (outputs[2 * i + 1] > outputs[2 * i]) == (examples.target(i) == 1) ? 1 : 0;
  EXPECT_GT(right, 3700);
}

TEST(Network, TheDescriptionMakesAnEqualModel) {
  for (const Network& network : networks())
    EXPECT_EQ(parse_network(make_model(network)->description()), network);
  const Network net = tanh_convolutional_net({1, 28, 28}, 10);
  EXPECT_EQ(make_model(net)->parameters(), 26010U);
  EXPECT_EQ(print(net),
            "network(input=1x28x28, loss=softmax, classes=10, layers=[conv 16 size 8 stride 2 "
            "padding 3, tanh, max-pool 2 stride 1, conv 32 size 4 "
            "stride 2 padding 0, tanh, max-pool 2 stride 1, dense 32, tanh, dense 10])");
  EXPECT_EQ(parse_layer("conv 4 size 3"), NetworkLayer(Convolution{4, 3, 1, 0}));
  EXPECT_EQ(parse_layer("average-pool 2"), NetworkLayer(AveragePool{2, 2}));
}

TEST(Network, WhatDoesNotFitIsRefused) {
  for (const char* text :
       {"", "dense", "dense x", "dense -1", "conv 4", "conv 4 size 0", "max-pool 2 padding 1",
        "tanh 3", "relu  ", "dense 3 stride 2", "dense 99999999999"}) {
    EXPECT_THROW((void)parse_layer(text), InvalidValue) << text;
  }
  for (const char* text :
       {"", "network(", "network(input=1x28, loss=softmax, layers=[dense 2])",
        "network(input=1x1x4, layers=[])",
        "network(input=1x2x2, loss=softmax, classes=2, layers=[conv 2 size 3, dense 2])",
        "network(, layers=[", "network(input=1x1x4, colour=red, layers=[dense 2])",
        "network(input=1x1x4, loss=huber, bend=nan, layers=[dense 1])"}) {
    EXPECT_THROW((void)parse_network(text), InvalidValue) << text;
  }
  EXPECT_THROW((void)make_model(network_of({1, 1, 4}, {Dense{4}})), InvalidValue);
  EXPECT_THROW((void)make_model(network_of({1, 1, 3}, {Tanh{}})), InvalidValue);
  EXPECT_THROW((void)make_model(network_of({1, 1, 1 << 20}, {Dense{1 << 20}, Dense{3}})),
               InvalidValue);
  EXPECT_THROW((void)make_model(network_of({1, 1, 1 << 12}, {Dense{1 << 13}, Dense{3}})),
               InvalidValue);
  EXPECT_THROW((void)make_model(network_of({1, 1, 4}, std::vector<NetworkLayer>(1 << 21, Tanh{}))),
               InvalidValue);
  EXPECT_THROW((void)make_model(network_of({3, 4, 4}, {GroupNorm{2}, Dense{3}})), InvalidValue);
  EXPECT_THROW(
      (void)make_model(multilayer_perceptron(3, {4}, Relu{}, {.kind = LossKind::logistic}, 3)),
      InvalidValue);
  Random random(11);
  const Network small = multilayer_perceptron(3, {4}, Relu{}, {.kind = LossKind::softmax}, 2);
  const Network wide = multilayer_perceptron(3, {4}, Relu{}, {.kind = LossKind::softmax}, 9);
  const auto model = make_model(small);
  const Examples examples = random.examples(wide, 50);
  ExactSum sum(model->parameters());
  EXPECT_THROW(model->prepare(model->start(0))->add(examples, all_units(examples), {}, sum),
               InvalidValue);
}

}  // namespace
}  // namespace sotto
