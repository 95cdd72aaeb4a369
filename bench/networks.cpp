// Compares private and exact sums of gradients with plain float ones, in the same engine:
// `bench_networks [THREADS]`.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "learning/models/network_plain.hpp"
#include "sotto/learning/network.hpp"
#include "sotto/learning/train.hpp"

namespace {

using namespace sotto;
constexpr std::size_t batch = 512;

Examples random_images(std::size_t rows) {
  std::mt19937 engine(1);
  Examples::Builder builder(784);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::int16_t& code : builder.add(static_cast<std::int16_t>(engine() % 10))) {
      code = static_cast<std::int16_t>(engine() % 5 == 0 ? engine() % (feature_one + 1U) : 0);
    }
  }
  return std::move(builder).build();
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Returns rows per second of processor time, on all threads, each with its part of the batch.
template <class Work>
double rows_a_second(int threads, const Work& work) {
  constexpr int repeats = 4;
  const double from = processor_seconds();
  std::vector<std::thread> crew;
  for (int t = 0; t < threads; ++t) {
    crew.emplace_back([&, t] {
      for (int i = 0; i < repeats; ++i) work(t);
    });
  }
  for (std::thread& thread : crew) thread.join();
  return threads * repeats * static_cast<double>(batch) / (processor_seconds() - from);
}

void measure(const char* name, const Network& network, const Examples& examples, int threads) {
  const std::shared_ptr<const Model> model = make_model(network);
  const auto prepared = model->prepare(model->start(1));
  std::vector<std::vector<std::uint32_t>> parts(static_cast<std::size_t>(threads));
  std::vector<ExactSum> sums(parts.size(), ExactSum(model->parameters()));
  for (std::size_t i = 0; i < batch; ++i)
    parts[i * parts.size() / batch].push_back(
        static_cast<std::uint32_t>((i * 7919) % examples.rows()));
  const Clipping clipping{.norm = 1};
  // in turns, and the best of each, because other work on the machine slows both down
  double plain = 0;
  double exact = 0;
  for (int round = 0; round < 40; ++round) {
    plain = std::max(plain, rows_a_second(threads, [&](int t) {
                       (void)learning_detail::plain_gradient(*prepared, examples,
                                                             parts[static_cast<std::size_t>(t)]);
                     }));
    exact = std::max(exact, rows_a_second(threads, [&](int t) {
                       ExactSum& sum = sums[static_cast<std::size_t>(t)];
                       sum.clear();
                       prepared->add(examples, parts[static_cast<std::size_t>(t)], clipping, sum);
                       (void)sum.totals();
                     }));
  }
  const Training training{.sampling = PoissonSampling{static_cast<double>(batch) /
                                                      static_cast<double>(examples.rows())},
                          .steps = 200,
                          .clipping = clipping,
                          .noise = 1,
                          .batch = batch};
  const double from = processor_seconds();
  (void)train(model, examples, training, {.threads = threads});
  const double seconds = (processor_seconds() - from) / threads;
  std::printf("%-28s %8zu %12.0f %12.0f %7.2f %14.0f\n", name, model->parameters(), plain, exact,
              exact / plain, static_cast<double>(training.steps) * batch / seconds);
}

}  // namespace

int main(int count, char** words) {
  const int threads = count > 1 ? std::atoi(words[1]) : 1;
  const Examples examples = random_images(20000);
  std::printf("batch %zu, threads %d; rows a second\n%-28s %8s %12s %12s %7s %14s\n", batch,
              threads, "network", "weights", "plain float", "private sum", "ratio",
              "whole training");
  measure("784-128-64-10, ReLU",
          multilayer_perceptron(784, {128, 64}, Relu{}, {.kind = LossKind::softmax}, 10), examples,
          threads);
  measure("784-128-64-10, tanh",
          multilayer_perceptron(784, {128, 64}, Tanh{}, {.kind = LossKind::softmax}, 10), examples,
          threads);
  measure("convolutional net, tanh", tanh_convolutional_net({1, 28, 28}, 10), examples, threads);
}
