// Draws random plans of every family, with parameters of three digits, so that they can be typed.
#pragma once

#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace bench {

// Draws parameters of three digits.
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

__attribute__((format(printf, 1, 2))) inline std::string text(const char* form, ...) {
  char all[512];
  va_list values;
  va_start(values, form);
  std::vsnprintf(all, sizeof all, form, values);
  va_end(values);
  return all;
}

inline std::string sampled_gaussian(Draw& draw, double most, double low = 0.3, double high = 30) {
  const long k = draw.count(most);
  const double q = draw.between(1e-5, 0.5);
  return text("%ld * poisson(%.3g, gaussian(%.3g))", k, q, draw.between(low, high));
}

inline std::string gaussians(Draw& draw) {
  const long k = draw.count(100);
  return text("%ld * gaussian(%.3g)", k, draw.between(0.5, 100));
}

inline std::string laplaces(Draw& draw) {
  const long k = draw.count(100);
  return text("%ld * laplace(%.3g)", k, draw.between(1, 1000));
}

inline std::string without_replacement(Draw& draw, double most) {
  const long k = draw.count(most);
  const long batch = draw.count(1000);
  return text("%ld * without_replacement(%ld, %ld, ", k, batch,
              std::lround(static_cast<double>(batch) * draw.between(2, 1e4)));
}

struct Family {
  const char* name;
  double wanted;
  std::function<std::string(Draw&)> plan;
};

inline const std::vector<Family>& families() {
  static const std::vector<Family> all{
      {"sampled", 1e-9, [](Draw& draw) { return sampled_gaussian(draw, 1e8); }},
      {"little-noise", 1e-9, [](Draw& draw) { return sampled_gaussian(draw, 1e8, 0.06, 0.3); }},
      {"two-kinds", 1e-9,
       [](Draw& draw) {
         const std::string one = sampled_gaussian(draw, 1e5);
         const std::string other = sampled_gaussian(draw, 1e5);
         return one + " + " + other + " + " + gaussians(draw);
       }},
      {"arsinh", 1e-4,
       [](Draw& draw) {
         const long k = draw.count(1e4);
         const double a = draw.between(4.1, 1000);
         const double kappa = draw.between(1, 1e4);
         const std::string plan = text("%ld * arsinh(%.3g, %.3g)", k, kappa / (a * a) * 1.01, a);
         return draw.coin() ? plan : plan + " + " + gaussians(draw);
       }},
      {"one-sample", 1e-4,
       [](Draw& draw) {
         const long k = draw.count(1e4);
         const double q = draw.between(1e-5, 0.5);
         std::string inner = text("gaussian(%.3g)", draw.between(0.3, 30));
         const bool pure = draw.coin();
         if (!pure || draw.coin()) inner += text(" + laplace(%.3g)", draw.between(0.5, 30));
         if (pure) inner += text(" + pure(%.3g)", draw.between(0.01, 3));
         return text("%ld * poisson(%.3g, %s)", k, q, inner.c_str());
       }},
      {"laplaces-one-sample", 1e-4,
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
      {"three-kinds", 1e-6,
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
         return plan + text(" + %ld * pure(%.3g) + %ld * approx(%.3g, 1e-30)", k, eps, others,
                            draw.between(1e-3, 1));
       }},
      {"without-replacement", 1e-4,
       [](Draw& draw) {
         const std::string plan = without_replacement(draw, 1e6);
         const std::string alone = plan + text("gaussian(%.3g))", draw.between(0.3, 30));
         return draw.coin() ? alone : alone + " + " + gaussians(draw);
       }},
      {"without-replacement-laplace", 1e-4,
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
      {"exponential", 1e-4,
       [](Draw& draw) {
         const long k = draw.count(1e8);
         return text("%ld * exponential(%.3g)", k, draw.between(1e-4, 3));
       }},
      {"approximate", 1e-6,
       [](Draw& draw) {
         const long one = draw.count(1e5);
         const double eps = draw.between(1e-4, 1);
         const long other = draw.count(1e5);
         return text("%ld * approx(%.3g, 1e-110) + %ld * approx(%.3g, 1e-110)", one, eps, other,
                     draw.between(1e-4, 1));
       }},
  };
  return all;
}

}  // namespace bench
