// Measures the accuracy of the default settings, which nobody tuned: official splits, add/remove, δ
// = 1e-5, mean and deviation over seeds.
//
//   bench_learning_defaults [DATA] [cnn]     "cnn" adds the convolutional net on MNIST, three seeds
//   of some minutes each
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "learning/api/defaults.hpp"
#include "learning_data.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/learning/network.hpp"

namespace {

using namespace sotto;

constexpr double delta = 1e-5;

double accuracy(const Model& model, const Examples& test, const std::vector<double>& parameters) {
  const auto prepared = model.prepare(parameters);
  const std::size_t outputs = model.outputs();
  std::vector<double> z(test.rows() * outputs);
  prepared->outputs(test, 0, z);
  double right = 0;
  for (std::size_t i = 0; i < test.rows(); ++i) {
    std::size_t best = outputs == 1 && z[i] > 0 ? 1 : 0;
    for (std::size_t k = 1; k < outputs; ++k)
      best = z[i * outputs + k] > z[i * outputs + best] ? k : best;
    right += best == static_cast<std::size_t>(test.target(i)) ? 1 : 0;
  }
  return right / static_cast<double>(test.rows());
}

struct Case {
  const char* name;
  std::shared_ptr<const Model> model;
  const bench::Split& data;
  double row_norm;  // follows from the columns alone
  int seeds;
};

void print_case(const Case& c, double epsilon) {
  const double mu = 1 / calibrate(gaussian(hole), Epsilon(epsilon), Delta(delta)).value;
  Training training = default_training(
      *c.model, {static_cast<double>(c.data.train.units()), c.row_norm, mu}, Relation::add_remove);
  training.noise = calibrate(plan_to_calibrate(training), Epsilon(epsilon), Delta(delta)).value;
  double sum = 0;
  double squares = 0;
  const auto from = std::chrono::steady_clock::now();
  for (int seed = 1; seed <= c.seeds; ++seed) {
    training.seed = static_cast<std::uint64_t>(seed);
    const double share = accuracy(
        *c.model, c.data.test, learned(train(c.model, c.data.train, training), training.optimiser));
    sum += share;
    squares += share * share;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count() / c.seeds;
  const double mean = sum / c.seeds;
  std::printf(
      "%-28s epsilon %-5g  %6.2f %% ± %.2f  (%d seeds, %lld steps, noise %.4g, %.1f s each)\n",
      c.name, epsilon, 100 * mean, 100 * std::sqrt(std::max(0.0, squares / c.seeds - mean * mean)),
      c.seeds, static_cast<long long>(training.steps), training.noise, seconds);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::filesystem::path folder = std::filesystem::path(SOTTO_SOURCE_DIR) / "../shared/data";
    bool cnn = false;
    for (int i = 1; i < argc; ++i) {
      if (std::strcmp(argv[i], "cnn") == 0) {
        cnn = true;
      } else {
        folder = argv[i];
      }
    }
    if (!std::filesystem::exists(folder / "adult/adult.data")) {
      std::printf("no data in %s: type the folder that has adult/ and mnist/\n", folder.c_str());
      return 77;
    }
    const bench::Table table = bench::adult(folder);
    const bench::Split adult{table.train, table.test};
    const std::shared_ptr<const Model> logistic =
        make_model(LinearModel{adult.train.width(), {LossKind::logistic}});
    for (const double epsilon : {0.1, 1.0})
      print_case({"Adult, logistic", logistic, adult, std::sqrt(15.0), 10}, epsilon);
    const bench::Split mnist = bench::mnist(folder);
    const std::shared_ptr<const Model> softmax =
        make_model(LinearModel{mnist.train.width(), {LossKind::softmax}, 10});
    print_case({"MNIST, softmax", softmax, mnist, std::sqrt(785.0), 10}, 1);
    if (cnn) {
      const std::shared_ptr<const Model> net = make_model(tanh_convolutional_net({1, 28, 28}, 10));
      print_case({"MNIST, convolutional net", net, mnist, std::sqrt(785.0), 3}, 2.93);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
