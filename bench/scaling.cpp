// Measures how the time of one ε grows with the number of equal steps, and with the number of
// different ones. Prints a table, and draws a picture to the file that is named
// (`build/bin/bench_scaling docs/pictures/scaling.svg`).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include "report/api/csv.hpp"
#include "report/api/svg.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/plan/plan.hpp"

namespace {

using namespace sotto;

// Returns the milliseconds of one ε at δ = 10^-6, the best of several loops.
double milliseconds(const Plan& plan) {
  using Clock = std::chrono::steady_clock;
  double best = 1e300;
  for (int run = 0; run < 5; ++run) {
    const auto start = Clock::now();
    int times = 0;
    double elapsed = 0;
    while (elapsed < 20) {
      const volatile double answer = epsilon(plan, Delta(1e-6)).value.upper;
      (void)answer;
      ++times;
      elapsed = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    }
    best = std::min(best, elapsed / times);
  }
  return best;
}

Plan different(int events) {
  std::vector<Plan> parts;
  for (int i = 0; i < events; ++i) {
    const double share = 1 + 0.7 * i / events;
    const double scale = std::sqrt(static_cast<double>(events)) * share;
    parts.push_back(i % 3 == 0   ? gaussian(5 * scale)
                    : i % 3 == 1 ? laplace(6 * scale)
                                 : pure(0.1 / scale));
  }
  return Sum{parts};
}

}  // namespace

int main(int argc, char** argv) {
  Chart chart;
  chart.id = "scaling";
  chart.title = "Time of one certified ε";
  chart.caption =
      "It does not grow with the number of equal steps, and grows linearly with the number of "
      "different ones.";
  chart.x_label = "number of steps";
  chart.y_label = "milliseconds";
  chart.log_x = chart.log_y = true;
  Series equal{"k * poisson(0.01, gaussian(k^(1/4)))"};
  for (double k = 100; k <= 1e8; k *= 10) {
    equal.x.push_back(k);
    equal.y.push_back(milliseconds(k * poisson(0.01, gaussian(std::pow(k, 0.25)))));
  }
  Series laplaces{"k * laplace(3 sqrt k)"};
  for (double k = 100; k <= 1e8; k *= 10) {
    laplaces.x.push_back(k);
    laplaces.y.push_back(milliseconds(k * laplace(3 * std::sqrt(k))));
  }
  Series unequal{"k different gaussian, laplace and pure"};
  for (int k = 3; k <= 10000; k *= 3) {
    unequal.x.push_back(k);
    unequal.y.push_back(milliseconds(different(k)));
  }
  chart.series = {equal, laplaces, unequal};
  std::fputs(csv(chart).c_str(), stdout);
  if (argc > 1) std::ofstream(argv[1]) << svg(chart);
  return 0;
}
