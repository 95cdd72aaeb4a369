// Measures how long a user waits for the cost of a plan, in the library and as a process, and the
// limits of the machine in the same run: one libm exp against one certified exp, one empty process
// against one answer.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "numerics/api/elementary.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/plan/text.hpp"

namespace {

using namespace sotto;

void library(benchmark::State& state, const char* text, double delta) {
  const Plan plan = parse(text);
  for (auto _ : state) benchmark::DoNotOptimize(epsilon(plan, Delta(delta)).value.upper);
}
BENCHMARK_CAPTURE(library, gaussians, "500 * gaussian(200)", 1e-5)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(library, sampled_training, "10000 * poisson(0.01, gaussian(1))", 1e-5)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(library, without_replacement,
                  "1000 * without_replacement(256, 60000, gaussian(1.1))", 1e-5)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(library, laplace_steps, "1000 * laplace(10)", 1e-5)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(library, optimal_10_to_4, "10000 * pure(0.01)", 1e-6)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(library, optimal_10_to_6, "1000000 * pure(0.001)", 1e-6)
    ->Unit(benchmark::kMicrosecond);

void calibration(benchmark::State& state) {
  const Plan plan = parse("100 * gaussian(?)");
  for (auto _ : state) benchmark::DoNotOptimize(calibrate(plan, Epsilon(1), Delta(1e-5)).value);
}
BENCHMARK(calibration)->Unit(benchmark::kMicrosecond);

void process(benchmark::State& state, const char* arguments) {
  const std::string command = std::string(SOTTO_COMMAND_PATH) + " " + arguments + " > /dev/null";
  for (auto _ : state) {
    if (std::system(command.c_str()) != 0) state.SkipWithError("the command failed");
  }
}
BENCHMARK_CAPTURE(process, nothing, "--version")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(process, gaussians, "epsilon '500 * gaussian(200)' --delta 1e-5")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(process, sampled_training,
                  "epsilon '10000 * poisson(0.01, gaussian(1))' --delta 1e-5")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(process, optimal_10_to_6, "epsilon '1000000 * pure(0.001)' --delta 1e-6")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(process, compare_10_to_6, "compare '1000000 * pure(0.001)' --delta 1e-6")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void exp_of_libm(benchmark::State& state) {
  double x = 0.1;
  for (auto _ : state) benchmark::DoNotOptimize(x = std::exp(-x));
}
BENCHMARK(exp_of_libm);

void exp_certified(benchmark::State& state) {
  double x = 0.1;
  for (auto _ : state) benchmark::DoNotOptimize(x = exp(Real(-x)).upper());
}
BENCHMARK(exp_certified);

}  // namespace
