// Times 1,000 points of δ(ε) of a training of 10,000 steps, each from both sides, with a record
// removed and with one added: `bench_curve`.
#include "pld/api/curve.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "accounting/api/pld.hpp"
#include "sotto/plan/text.hpp"

int main() {
  using namespace sotto;
  using Clock = std::chrono::steady_clock;
  constexpr int points = 1000;
  double best = 1e300;
  double widest = 0;
  for (int turn = 0; turn < 5; ++turn) {
    const auto start = Clock::now();
    const PlanLoss loss = loss_of(parse("10000 * poisson(0.01, gaussian(1))"), Side::upper);
    for (const auto* steps : {&loss.removed, &loss.added}) {
      ComposedCurve curve(*steps, 1e-6);
      for (int i = 1; i <= points; ++i) {
        const Bound delta = curve.delta(10.0 * i / points);
        widest = std::max(widest, (delta.upper - delta.lower) / delta.upper);
      }
    }
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::printf("2 x %d points of delta(epsilon) in %.1f ms, the widest bracket %.1e of delta\n",
              points, best, widest);
}
