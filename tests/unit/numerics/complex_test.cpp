// Complex functions in doubles: their documented errors, and the accuracy of the C library that
// those assume.
#include "numerics/api/complex.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "numerics/api/elementary.hpp"
#include "numerics/api/normal.hpp"

namespace sotto {
namespace {

constexpr double unit = 0x1p-53;

// Compares the C library with certified reals, at the arguments for which complex.cpp calls it.
TEST(CLibrary, HasErrorsOfAtMostFourUnits) {
  std::mt19937_64 bits(20240607);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto near = [](double value, const Real& truth) {
    const double size = std::abs(truth.estimate()) * 8 * unit;
    return value >= truth.lower() - size && value <= truth.upper() + size;
  };
  for (int i = 0; i < 20000; ++i) {
    const double x = uniform(bits) * std::exp(8 * uniform(bits) - 3);
    EXPECT_TRUE(near(std::exp(x), exp(Real(x)))) << x;
    EXPECT_TRUE(near(std::expm1(x), expm1(Real(x)))) << x;
    EXPECT_TRUE(near(std::sinh(x), sinh(Real(x)))) << x;
    EXPECT_TRUE(near(std::cosh(x), (exp(Real(x)) + exp(Real(-x))) / 2)) << x;
    const double y = std::abs(x) + 1e-300;
    EXPECT_TRUE(near(std::log(y), log(Real(y)))) << y;
    EXPECT_TRUE(near(std::log1p(y), log1p(Real(y)))) << y;
    const double z = 26 * uniform(bits);
    EXPECT_TRUE(near(std::erfc(z) / 2, normal_tail(sqrt(Real(2)) * z))) << z;
    // certified reals have no sine and cosine, so identities at the double of the angle check them
    EXPECT_NEAR(std::sin(2 * x), 2 * std::sin(x) * std::cos(x), 16 * unit) << x;
    EXPECT_NEAR(std::cos(x) * std::cos(x) + std::sin(x) * std::sin(x), 1, 16 * unit) << x;
  }
}

using Long = long double;
struct Wide {
  Long re, im;
};
Wide wide_exp(Wide z) { return {std::exp(z.re) * std::cos(z.im), std::exp(z.re) * std::sin(z.im)}; }

TEST(Complex, FunctionsKeepTheirDocumentedErrors) {
  std::mt19937_64 bits(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < 20000; ++i) {
    const double scale = std::exp(9 * uniform(bits) - 6);
    const Complex z{uniform(bits) * scale, uniform(bits) * scale};
    const Wide e = wide_exp({z.re, z.im});
    const double growth = std::max(1.0, std::exp(z.re));
    const auto off = [](Complex value, Wide truth) {
      return static_cast<double>(std::hypot(static_cast<Long>(value.re) - truth.re,
                                            static_cast<Long>(value.im) - truth.im));
    };
    EXPECT_LE(off(exp(z), e), 16 * unit * std::exp(z.re));
    // e^z - 1 - z cancels in long double, too, which is a reference only for z that are not small
    if (abs(z) > 0.05) {
      EXPECT_LE(off(exp_excess(z), {e.re - 1 - z.re, e.im - z.im}),
                32 * unit * growth * std::min(abs(z) * abs(z), 2 + abs(z)));
    }
    const Wide back = wide_exp({-z.re, -z.im});
    EXPECT_LE(off(sinh(z), {(e.re - back.re) / 2, (e.im - back.im) / 2}),
              16 * unit * abs(z) * std::cosh(z.re) + 1e-18);
    const double distance = abs(Complex{1 + z.re, z.im});
    if (distance > 1e-3) {
      const Complex log = log1p(z);
      const Wide one{static_cast<Long>(1) + z.re, z.im};
      const Wide truth{std::log(std::hypot(one.re, one.im)), std::atan2(one.im, one.re)};
      EXPECT_LE(off(log, truth), 16 * unit * (abs(log) + abs(z) / distance) + 1e-18);
    }
  }
}

TEST(Complex, ExcessIsExactForTinyArguments) {
  for (const double x : {1e-4, 1e-6, 1e-9}) {
    const Complex value = exp_excess({x, 0});
    EXPECT_NEAR(value.re / (x * x / 2), 1 + x / 3 + x * x / 12, 1e-7 * x + 1e-15);
    const Complex turned = exp_excess({0, x});  // -x²/2 + x⁴/24 - i (x³/6 - …)
    EXPECT_NEAR(turned.re / (x * x / 2), -1 + x * x / 12, 1e-15);
    EXPECT_NEAR(turned.im / (x * x * x / 6), -1, 1e-9);
  }
}

}  // namespace
}  // namespace sotto
