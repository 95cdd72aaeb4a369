// Compares the time of exact noise with that of the standard library and with that of its random
// bits, and measures what the time reveals about the noise.
//   bench_noise [PEERS]   PEERS has lines of a name, a tab and ns, as bench/peers/noise.py prints
//   them
#include "sotto/random/noise.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "sotto/random/uniform.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
static std::uint64_t ticks() {
  unsigned aux = 0;
  return __rdtscp(&aux);
}
#else
static std::uint64_t ticks() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}
#endif

namespace {

using namespace sotto;

volatile double sink;

// Returns this thread's processor time, which other work on the machine does not affect.
double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Returns ns per draw, the best of sixty runs of n draws.
double best(std::size_t n, const std::function<void()>& run) {
  double least = 1e9;
  for (int turn = 0; turn < 60; ++turn) {
    const double start = seconds();
    run();
    least = std::min(least, (seconds() - start) / static_cast<double>(n) * 1e9);
  }
  return least;
}

struct Row {
  std::string name;
  double ns;
};

std::vector<Row> times() {
  constexpr std::size_t n = 400'000;
  std::vector<Row> rows;
  std::vector<double> block(8192);
  Random& random = Random::here();
  const auto one_by_one = [&](auto draw) {
    return best(n, [&] {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += draw();
      sink = sum;
    });
  };
  const auto in_batch = [&](const RoundedNoise& noise, std::vector<double>& values) {
    const std::size_t turns = std::max<std::size_t>(1, n / values.size());
    return best(turns * values.size(), [&] {
      for (std::size_t i = 0; i < turns; ++i) {
        std::fill(values.begin(), values.end(), 0.25);
        noise.add(values, random);
      }
      sink = values[0];
    });
  };
  std::mt19937_64 twister(1);
  std::normal_distribution<double> normal;
  std::exponential_distribution<double> exponential;
  rows.push_back(
      {"std::normal_distribution, mt19937_64", one_by_one([&] { return normal(twister); })});
  rows.push_back({"std::exponential_distribution with a sign, mt19937_64", one_by_one([&] {
                    return (twister() & 1U) != 0 ? exponential(twister) : -exponential(twister);
                  })});
  rows.push_back({"limit: one word of the generator",
                  one_by_one([&] { return static_cast<double>(random.word() >> 63U); })});
  std::vector<double> million(1'000'000);
  for (const NoiseKind kind : {NoiseKind::gaussian, NoiseKind::laplace}) {
    const std::string name = kind == NoiseKind::gaussian ? "Gaussian" : "Laplace";
    const RoundedNoise noise(kind, 1.5);
    rows.push_back({name + ", one by one", one_by_one([&] { return noise.add(0.25, random); })});
    rows.push_back({name + ", in batch", in_batch(noise, block)});
    rows.push_back({name + ", vector of 10^6", in_batch(noise, million)});
  }
  for (const double scale : {3.0, 1e6}) {
    for (const NoiseKind kind : {NoiseKind::gaussian, NoiseKind::laplace}) {
      const DiscreteNoise noise(kind, scale);
      const std::string name =
          kind == NoiseKind::gaussian ? "discrete Gaussian, " : "discrete Laplace, ";
      rows.push_back({name + (scale == 3 ? "scale 3" : "scale 10^6"),
                      one_by_one([&] { return static_cast<double>(noise.draw(random)); })});
    }
  }
  const PoissonSample sample(0.01);
  rows.push_back({"Poisson sampling, a chosen record",
                  one_by_one([&] { return static_cast<double>(sample.skip(random)); })});
  return rows;
}

// Returns the correlation of |noise| with the time of its draw, over draws that no interrupt
// disturbed.
double correlation(std::vector<std::pair<double, double>> draws) {
  std::vector<double> all;
  all.reserve(draws.size());
  for (const auto& draw : draws) all.push_back(draw.second);
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                   all.end());
  const double median = all[all.size() / 2];
  double n = 0, x = 0, t = 0, xx = 0, tt = 0, xt = 0;
  for (const auto& [size, time] : draws) {
    if (time > 40 * median) continue;
    ++n, x += size, t += time, xx += size * size, tt += time * time, xt += size * time;
  }
  return (xt / n - x / n * t / n) / std::sqrt((xx / n - x / n * x / n) * (tt / n - t / n * t / n));
}

double per_draw(const std::function<double()>& draw, std::size_t n) {
  std::vector<std::pair<double, double>> draws;
  draws.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t start = ticks();
    const double noise = draw();
    draws.emplace_back(std::abs(noise), static_cast<double>(ticks() - start));
  }
  return correlation(std::move(draws));
}

double per_batch(const std::function<void(std::vector<double>&)>& add, std::size_t n) {
  std::vector<std::pair<double, double>> draws;
  std::vector<double> values(64);
  for (std::size_t i = 0; i < n; ++i) {
    std::fill(values.begin(), values.end(), 0.0);
    const std::uint64_t start = ticks();
    add(values);
    const auto time = static_cast<double>(ticks() - start);
    double sum = 0;
    for (const double x : values) sum += std::abs(x);
    draws.emplace_back(sum, time);
  }
  return correlation(std::move(draws));
}

// A textbook's Laplace noise: it flips a geometric number of coins, so its time is proportional to
// the noise.
double naive_laplace(Random& random, double scale) {
  const double stop = -std::expm1(-1 / (64 * scale));
  double steps = 0;
  while (!bernoulli(stop, random)) ++steps;
  return steps / 64;
}

// Reads what peers measured in their processes.
std::vector<Row> peers_in(const char* path) {
  std::vector<Row> rows;
  std::ifstream in(path);
  std::string name;
  double ns = 0;
  while (std::getline(in, name, '\t') && in >> ns >> std::ws) rows.push_back({name, ns});
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Row> rows = times();
  const double standard = rows.front().ns;
  if (argc > 1) {
    for (const Row& row : peers_in(argv[1])) rows.push_back(row);
  }
  std::printf("%-56s %10s %10s\n", "draw", "ns", "ratio");
  for (const Row& row : rows)
    std::printf("%-56s %10.2f %10.2f\n", row.name.c_str(), row.ns, row.ns / standard);
  std::printf("\ncorrelation of |noise| with time       per draw    per batch of 64\n");
  Random& random = Random::here();
  for (const NoiseKind kind : {NoiseKind::gaussian, NoiseKind::laplace}) {
    const RoundedNoise noise(kind, 1.5);
    std::printf(
        "%-36s %10.4f %10.4f\n", kind == NoiseKind::gaussian ? "Gaussian" : "Laplace",
        per_draw([&] { return noise.add(0, random); }, 4'000'000),
        per_batch([&](std::vector<double>& values) { noise.add(values, random); }, 200'000));
  }
  std::printf("%-36s %10.4f\n", "a naive loop of coins, to check the measurement",
              per_draw([&] { return naive_laplace(random, 1.5); }, 20'000));
}
