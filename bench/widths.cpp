// Measures the width of brackets of random plans of every family, and counts those wider than
// wanted (1e-9 of ε for plans that people use, 1e-4 for others). `bench_widths [COUNT [SEED
// [FAMILY…]]]` lists plans whose bracket is too wide, or takes more than ten seconds, with the
// command to repeat them.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bracket.hpp"
#include "core/api/work.hpp"
#include "random_plans.hpp"
#include "sotto/core/errors.hpp"

namespace {

using namespace sotto;
using bench::Draw;
using bench::families;
using bench::Family;
using bench::text;

// Counts brackets of ε from 1e-6 to 1000, of the dominating pair. For a larger ε, the lower bound
// may still be small.
void count(const Family& family, long plans, std::uint64_t seed) {
  using Clock = std::chrono::steady_clock;
  Draw draw(seed);
  long counted = 0;
  long wide = 0;
  double widest = 0;
  double slowest = 0;
  double all = 0;
  for (long i = 0; i < 20 * plans && counted < plans; ++i) {
    const std::string written = family.plan(draw);
    const std::string at = text("%.3g", draw.between(1e-100, 0.1));
    const double delta = std::strtod(at.c_str(), nullptr);
    const auto start = Clock::now();
    Bound bound{};
    try {
      bound = bench::epsilon_bracket(written, delta);
    } catch (const OutsideConditions&) {
      continue;
    } catch (const OutOfWork&) {
      bound = {0, 1e4};
    }
    if (!(bound.upper >= 1e-6 && bound.upper <= 1e4 && bound.lower <= 1000)) continue;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const double apart = bound.upper - bound.lower;
    const double width =
        apart <= 1e-12 ? 0 : apart / bound.upper;  // close to 0, the absolute width counts
    ++counted;
    all += seconds;
    slowest = std::max(slowest, seconds);
    if (seconds > 10)
      std::printf("  %.0f seconds: sotto epsilon '%s' --delta %s\n", seconds, written.c_str(),
                  at.c_str());
    widest = std::max(widest, width);
    if (!(width > family.wanted)) continue;
    ++wide;
    std::printf("  wide by %.1e: sotto epsilon '%s' --delta %s\n", width, written.c_str(),
                at.c_str());
  }
  std::printf("%-28s %6.0e %6ld of %5ld %10.1e %12.3f %12.3f\n", family.name, family.wanted, wide,
              counted, widest, all / static_cast<double>(counted), slowest);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const long plans = argc > 1 ? std::atol(argv[1]) : 10;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (plans < 1) {
    std::fprintf(
        stderr,
        "usage: bench_widths [COUNT [SEED [FAMILY…]]]: COUNT plans of each family, at least 1\n");
    return 2;
  }
  std::printf("%-28s %6s %15s %10s %12s %12s\n", "plans", "wanted", "wider", "widest", "mean (s)",
              "slowest (s)");
  bool known = argc <= 3;
  for (const Family& family : families()) {
    bool selected = argc <= 3;
    for (int i = 3; i < argc; ++i) selected = selected || std::string(argv[i]) == family.name;
    known = known || selected;
    if (selected) count(family, plans, seed);
  }
  if (known) return 0;
  std::fprintf(stderr, "FAMILY is not known; there are:");
  for (const Family& family : families()) std::fprintf(stderr, " %s", family.name);
  std::fprintf(stderr, "\n");
  return 2;
}
