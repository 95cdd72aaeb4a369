// Prints brackets of random plans: `bench_brackets [COUNT [SEED]]` draws COUNT plans from all
// families in turn, and prints δ and both bounds of ε in hexadecimal. tools/compare_brackets.py
// compares the answers of two builds: they are equal to the bit, or at least do not contradict each
// other.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "bracket.hpp"
#include "core/api/work.hpp"
#include "random_plans.hpp"
#include "sotto/core/errors.hpp"

int main(int argc, char** argv) {
  using namespace sotto;
  const long plans = argc > 1 ? std::atol(argv[1]) : 100;
  bench::Draw draw(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  for (long i = 0; i < plans; ++i) {
    const bench::Family& family =
        bench::families()[static_cast<std::size_t>(i) % bench::families().size()];
    const std::string written = family.plan(draw);
    const std::string at = bench::text("%.3g", draw.between(1e-100, 0.1));
    const double delta = std::strtod(at.c_str(), nullptr);
    std::printf("%s\t%s\t%s\t", family.name, written.c_str(), at.c_str());
    try {
      const Bound bound = bench::epsilon_bracket(written, delta);
      std::printf("%a\t%a\n", bound.lower, bound.upper);
    } catch (const OutsideConditions&) {
      std::printf("refused\trefused\n");
    } catch (const OutOfWork&) {
      std::printf("0x0p+0\tinf\n");
    }
    std::fflush(stdout);
  }
}
