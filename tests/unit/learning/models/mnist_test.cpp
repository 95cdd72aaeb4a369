// Convolutional nets that learn privately: a small one on made-up images, and MNIST by a published
// recipe.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>

#include "learning/api/calibration.hpp"
#include "sotto/learning/network.hpp"
#include "sotto/learning/train.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

double accuracy(const Model& model, const std::vector<double>& parameters,
                const Examples& examples) {
  std::vector<double> outputs(examples.rows() * model.outputs());
  model.prepare(parameters)->outputs(examples, 0, outputs);
  std::size_t right = 0;
  for (std::size_t i = 0; i < examples.rows(); ++i) {
    const auto first = outputs.begin() + static_cast<std::ptrdiff_t>(i * model.outputs());
    const auto best =
        std::max_element(first, first + static_cast<std::ptrdiff_t>(model.outputs())) - first;
    if (best == examples.target(i)) ++right;
  }
  return static_cast<double>(right) / static_cast<double>(examples.rows());
}

double noise_for(const Training& training, double epsilon, double delta) {
  return noise_by_method(training, Epsilon(epsilon), Delta(delta)).front().noise.value();
}

// 8 x 8 images of noise with one bright bar, lying or standing, anywhere: 4 classes with its half
// of the image.
Examples bars(unsigned seed, std::size_t count) {
  std::mt19937 engine(seed);
  Examples::Builder builder(64);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = engine() % 8;
    const bool lies = engine() % 2 == 0;
    const auto image = builder.add(static_cast<std::int16_t>((lies ? 0 : 2) + (place < 4 ? 0 : 1)));
    for (std::int16_t& code : image) code = static_cast<std::int16_t>(engine() % (feature_one / 2));
    for (std::size_t k = 0; k < 8; ++k) image[lies ? place * 8 + k : k * 8 + place] = feature_one;
  }
  return std::move(builder).build();
}

TEST(ConvolutionalNets, LearnToSeeBars) {
  const Examples train_rows = bars(1, 6000);
  const Examples test_rows = bars(2, 2000);
  for (const auto& layers : {std::vector<NetworkLayer>{Convolution{8, 3, 1, 1}, Tanh{},
                                                       MaxPool{2, 2}, Dense{16}, Tanh{}, Dense{4}},
                             std::vector<NetworkLayer>{Convolution{8, 3, 1, 1}, GroupNorm{4},
                                                       Relu{}, AveragePool{2, 2}, Dense{4}}}) {
    const Network network{
        .input = {1, 8, 8}, .layers = layers, .loss = {.kind = LossKind::softmax}, .classes = 4};
    SCOPED_TRACE(print(network));
    const std::shared_ptr<const Model> model = make_model(network);
    Training training{.sampling = PoissonSampling{0.05},
                      .steps = 200,
                      .clipping = {.norm = 1},
                      .batch = 300,
                      .optimiser = {.kind = OptimiserKind::momentum, .size = 0.1}};
    training.noise = noise_for(training, 3, 1e-5);
    EXPECT_GT(
        accuracy(*model, train(model, train_rows, training, {.threads = 1}).parameters, test_rows),
        0.9);
  }
}

fs::path mnist() {
  for (const char* place :
       {SOTTO_SOURCE_DIR "/../shared/data/mnist", SOTTO_SOURCE_DIR "/../../shared/data/mnist"}) {
    if (fs::exists(place)) return place;
  }
  return {};
}

// The net of [Papernot2021], who report 98.1 % at ε = 2.93 and δ = 1e-5, with the settings of
// [Tramer2021]: batches of 512, norm 0.1, momentum 0.9 and steps of 0.5 on the mean gradient; 40
// epochs. Four runs gave 98.1 %, standard deviation 0.1 %: 97.85 % is four standard errors below
// the mean of three.
TEST(SlowMnist, TheTanhNetReaches98PercentAtEpsilon293) {
  const fs::path folder = mnist();
  if (folder.empty()) GTEST_SKIP() << "no MNIST in ../shared/data/mnist";
  const Images train_images =
      read_idx(folder / "train-images-idx3-ubyte.gz", folder / "train-labels-idx1-ubyte.gz");
  const Images test_images =
      read_idx(folder / "t10k-images-idx3-ubyte.gz", folder / "t10k-labels-idx1-ubyte.gz");
  const std::shared_ptr<const Model> model =
      make_model(tanh_convolutional_net({1, train_images.height, train_images.width}, 10));
  Training training{.sampling = PoissonSampling{512.0 / 60000},
                    .steps = 40 * 60000 / 512,
                    .clipping = {.norm = 0.1},
                    .batch = 512,
                    .optimiser = {.kind = OptimiserKind::momentum, .size = 0.5}};
  training.noise = noise_for(training, 2.93, 1e-5);
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    training.seed = seed;
    const auto from = std::chrono::steady_clock::now();
    const auto iterate = train(model, train_images.examples, training);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
    const double share = accuracy(*model, iterate.parameters, test_images.examples);
    std::printf("seed %llu: %.2f %% in %.0f s\n", static_cast<unsigned long long>(seed),
                100 * share, seconds);
    sum += share;
  }
  EXPECT_GE(sum / 3, 0.9785);
}

}  // namespace
}  // namespace sotto
