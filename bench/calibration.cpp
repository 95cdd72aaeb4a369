// Compares calibrations with bisections by `epsilon`, in value and time, for random plans with a
// hole of every family. `bench_calibration [COUNT [SEED]]` prints a line for each plan whose ratio
// is above 1.0001, then the distributions of ratios and times.
#include "calibration.hpp"

#include <time.h>

#include <cstdlib>

namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void print(const char* what, std::vector<double> values) {
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  const auto share = [&](double part) {
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
  };
  std::printf("%s: median %.6g, 90%% %.6g, 99%% %.6g, most %.6g\n", what, share(0.5), share(0.9),
              share(0.99), share(1));
}

}  // namespace

int main(int argc, char** argv) {
  const long plans = argc > 1 ? std::atol(argv[1]) : 500;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (plans < 1) {
    std::fprintf(
        stderr,
        "usage: bench_calibration [COUNT [SEED]]: COUNT is the number of plans, at least 1\n");
    return 2;
  }
  bench::Draw draw(seed);
  std::vector<double> ratios;
  std::vector<double> work;
  std::vector<double> seconds;
  long refused = 0;
  long far = 0;
  for (long n = 0; n < plans; ++n) {
    const bench::HoledPlan question = bench::holed_plan(draw);
    const double before = processor_seconds();
    try {
      (void)sotto::calibrate(sotto::parse(question.plan), sotto::Epsilon(question.epsilon),
                             sotto::Delta(question.delta));
    } catch (const sotto::OutsideConditions&) {  // refusals are counted below
    }
    seconds.push_back(processor_seconds() - before);
    const bench::CalibrationGap gap = bench::calibration_gap(question);
    refused += gap.refused ? 1 : 0;
    work.push_back(gap.work);
    ratios.push_back(gap.ratio);
    if (gap.ratio <= 1.0001) continue;
    ++far;
    std::printf("%9.6g  sotto calibrate '%s' --epsilon %g --delta %g\n", gap.ratio,
                question.plan.c_str(), question.epsilon, question.delta);
    std::fflush(stdout);
  }
  std::printf("%ld plans, %ld of them refused; %ld more than 1e-4 from a bisection, relatively\n",
              plans, refused, far);
  print("ratio", ratios);
  print("work", work);
  print("processor time, s", seconds);
}
