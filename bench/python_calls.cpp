// Measures without Python what bindings/python/bench/calls.py measures from Python: processor time
// of epsilon of closed-form plans, in microseconds, and of noise on a million numbers, in
// milliseconds. Prints lines of a name, a tab and a number.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <vector>

#include "sotto/accounting/account.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/plan/text.hpp"

namespace {

using namespace sotto;

volatile double sink;

// Returns this thread's processor time, which other work on the machine does not affect.
double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Returns the time of one call: the best of several turns of `times` calls.
double best(int turns, int times, const std::function<void()>& run) {
  double least = 1e9;
  for (int turn = 0; turn < turns; ++turn) {
    const double start = seconds();
    for (int i = 0; i < times; ++i) run();
    least = std::min(least, (seconds() - start) / times);
  }
  return least;
}

}  // namespace

int main() {
  for (const char* text : {"laplace(1)", "gaussian(3)", "100 * gaussian(10)", "pure(1)"}) {
    const Plan plan = parse(text);
    std::printf("%s\t%.3f\n", text,
                1e6 * best(30, 200, [&] { sink = epsilon(plan, Delta(1e-5)).value.upper; }));
  }
  std::vector<double> values(1'000'000);
  for (const char* text : {"gaussian(10)", "laplace(10)"}) {
    const Additive noise(parse(text));
    std::printf("noise %s\t%.4f\n", text,
                1e3 * best(30, 1, [&] { noise.release_in_place(values); }));
  }
}
