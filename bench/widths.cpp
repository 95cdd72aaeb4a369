// How wide brackets are: random plans of every family, and how many are wider than asked. `bench_widths [COUNT [SEED [FAMILY…]]]`; plans that are
// too wide, or take more than ten seconds, are listed with what to type to see them.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "sotto/accounting/pld.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace {

using namespace sotto;

// Draws parameters, of three digits so that plans can be typed.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : bits_(seed) {}
  double between(double low, double high) {  // uniform in the logarithm
    const double share = std::ldexp(static_cast<double>(bits_() >> 11), -53);
    return low * std::pow(high / low, share);
  }
  long count(double most) { return std::lround(between(1, most)); }
  bool coin() { return (bits_() >> 63) != 0; }

 private:
  std::mt19937_64 bits_;
};

__attribute__((format(printf, 1, 2))) std::string text(const char* form, ...) {
  char all[512];
  va_list values;
  va_start(values, form);
  std::vsnprintf(all, sizeof all, form, values);
  va_end(values);
  return all;
}

std::string sampled_gaussian(Draw& draw, double most, double low = 0.3, double high = 30) {
  const long k = draw.count(most);
  const double q = draw.between(1e-5, 0.5);
  return text("%ld * poisson(%.3g, gaussian(%.3g))", k, q, draw.between(low, high));
}

std::string gaussians(Draw& draw) {
  const long k = draw.count(100);
  return text("%ld * gaussian(%.3g)", k, draw.between(0.5, 100));
}

std::string laplaces(Draw& draw) {
  const long k = draw.count(100);
  return text("%ld * laplace(%.3g)", k, draw.between(1, 1000));
}

std::string without_replacement(Draw& draw, double most) {
  const long k = draw.count(most);
  const long batch = draw.count(1000);
  return text("%ld * without_replacement(%ld, %ld, ", k, batch, std::lround(static_cast<double>(batch) * draw.between(2, 1e4)));
}

struct Family {
  const char* name;
  double wanted;
  std::function<std::string(Draw&)> plan;
};

const std::vector<Family>& families() {
  static const std::vector<Family> all{
      {"sampled", 1e-9, [](Draw& draw) { return sampled_gaussian(draw, 1e8); }},
      {"little-noise", 1e-9, [](Draw& draw) { return sampled_gaussian(draw, 1e8, 0.06, 0.3); }},
      {"two-kinds", 1e-9,
       [](Draw& draw) {
         const std::string one = sampled_gaussian(draw, 1e5);
         const std::string other = sampled_gaussian(draw, 1e5);
         return one + " + " + other + " + " + gaussians(draw);
       }},
      {"arsinh", 1e-9,
       [](Draw& draw) {
         const long k = draw.count(1e4);
         const double a = draw.between(4.1, 1000);
         const double kappa = draw.between(1, 1e4);
         const std::string plan = text("%ld * arsinh(%.3g, %.3g)", k, kappa / (a * a) * 1.01, a);
         return draw.coin() ? plan : plan + " + " + gaussians(draw);
       }},
      {"one-sample", 1e-6,
       [](Draw& draw) {
         const long k = draw.count(1e4);
         const double q = draw.between(1e-5, 0.5);
         std::string inner = text("gaussian(%.3g)", draw.between(0.3, 30));
         const bool pure = draw.coin();
         if (!pure || draw.coin()) inner += text(" + laplace(%.3g)", draw.between(0.5, 30));
         if (pure) inner += text(" + pure(%.3g)", draw.between(0.01, 3));
         return text("%ld * poisson(%.3g, %s)", k, q, inner.c_str());
       }},
      {"laplaces-one-sample", 1e-6,
       [](Draw& draw) {
         const long k = draw.count(1e4);
         const double q = draw.between(1e-5, 0.5);
         return text("%ld * poisson(%.3g, 3 * laplace(%.3g))", k, q, draw.between(0.5, 100));
       }},
      {"sampled-laplace", 1e-6,
       [](Draw& draw) {
         const long k = draw.count(1e8);
         const double q = draw.between(1e-5, 0.5);
         return text("%ld * poisson(%.3g, laplace(%.3g))", k, q, draw.between(0.5, 30));
       }},
      {"sampled-and-releases", 1e-6,
       [](Draw& draw) {
         const std::string plan = sampled_gaussian(draw, 1e5);
         const std::string released = laplaces(draw);
         return plan + " + " + released + (draw.coin() ? " + " + gaussians(draw) : "");
       }},
      {"three-laws", 1e-6,
       [](Draw& draw) {
         const std::string plan = sampled_gaussian(draw, 1e5);
         const long k = draw.count(1000);
         const double q = draw.between(1e-5, 0.1);
         const double b = draw.between(0.5, 10);
         return plan + text(" + %ld * poisson(%.3g, laplace(%.3g)) + ", k, q, b) + laplaces(draw);
       }},
      {"sampled-and-known", 1e-6,
       [](Draw& draw) {
         const std::string plan = sampled_gaussian(draw, 1e5);
         const long k = draw.count(1000);
         const double eps = draw.between(1e-3, 1);
         const long others = draw.count(100);
         return plan + text(" + %ld * pure(%.3g) + %ld * approx(%.3g, 1e-30)", k, eps, others, draw.between(1e-3, 1));
       }},
      {"without-replacement", 1e-6,
       [](Draw& draw) {
         const std::string plan = without_replacement(draw, 1e6);
         const std::string alone = plan + text("gaussian(%.3g))", draw.between(0.3, 30));
         return draw.coin() ? alone : alone + " + " + gaussians(draw);
       }},
      {"without-replacement-laplace", 1e-6,
       [](Draw& draw) {
         const std::string plan = without_replacement(draw, 1e6);
         return plan + text("laplace(%.3g))", draw.between(0.5, 30));
       }},
      {"discrete", 1e-6,
       [](Draw& draw) {
         const long k = draw.count(1e5);
         const std::string plan = text("%ld * discrete_gaussian(%.3g)", k, draw.between(0.3, 100));
         if (draw.coin()) return plan;
         const std::string other = text(" + discrete_laplace(%.3g)", draw.between(0.5, 30));
         return plan + other + (draw.coin() ? " + " + gaussians(draw) : "");
       }},
      {"exponential", 1e-6,
       [](Draw& draw) {
         const long k = draw.count(1e8);
         return text("%ld * exponential(%.3g)", k, draw.between(1e-4, 3));
       }},
      {"approximate", 1e-6,
       [](Draw& draw) {
         const long one = draw.count(1e5);
         const double eps = draw.between(1e-4, 1);
         const long other = draw.count(1e5);
         return text("%ld * approx(%.3g, 1e-110) + %ld * approx(%.3g, 1e-110)", one, eps, other, draw.between(1e-4, 1));
       }},
  };
  return all;
}

// What is counted: brackets of ε from 1e-6 to 1000, of the pair that dominates. Where ε is larger the lower end may still be small.
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
      bound = composed_epsilon(loss_of(parse(written), Side::upper), {delta, delta});
    } catch (const OutsideConditions&) {
      continue;
    }
    if (!(bound.upper >= 1e-6 && bound.upper <= 1e4 && bound.lower <= 1000)) continue;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const double apart = bound.upper - bound.lower;
    const double width = apart <= 1e-12 ? 0 : apart / bound.upper;  // next to 0, absolutely
    ++counted;
    all += seconds;
    slowest = std::max(slowest, seconds);
    if (seconds > 10) std::printf("  %.0f seconds: sotto epsilon '%s' --delta %s\n", seconds, written.c_str(), at.c_str());
    widest = std::max(widest, width);
    if (!(width > family.wanted)) continue;
    ++wide;
    std::printf("  wide by %.1e: sotto epsilon '%s' --delta %s\n", width, written.c_str(), at.c_str());
  }
  std::printf("%-28s %6.0e %6ld of %5ld %10.1e %12.3f %12.3f\n", family.name, family.wanted, wide, counted, widest,
              all / static_cast<double>(counted), slowest);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const long plans = argc > 1 ? std::atol(argv[1]) : 10;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (plans < 1) {
    std::fprintf(stderr, "usage: bench_widths [COUNT [SEED [FAMILY…]]]: how many plans of each family, from 1 on\n");
    return 2;
  }
  std::printf("%-28s %6s %15s %10s %12s %12s\n", "plans", "wanted", "wider", "widest", "mean (s)", "slowest (s)");
  bool known = argc <= 3;
  for (const Family& family : families()) {
    bool asked = argc <= 3;
    for (int i = 3; i < argc; ++i) asked = asked || std::string(argv[i]) == family.name;
    known = known || asked;
    if (asked) count(family, plans, seed);
  }
  if (known) return 0;
  std::fprintf(stderr, "there is no such family; there are:");
  for (const Family& family : families()) std::fprintf(stderr, " %s", family.name);
  std::fprintf(stderr, "\n");
  return 2;
}
