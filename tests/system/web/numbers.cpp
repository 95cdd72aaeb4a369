// Doubles as text and back, the same on every machine: what one build prints another must print
// too.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/api/json.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

int main() {
  std::vector<double> values{0.0,
                             1.0,
                             0.1,
                             1e21,
                             1e22,
                             1e23,
                             5e-324,
                             2.2250738585072014e-308,
                             1.7976931348623157e308,
                             9007199254740993.0,
                             123456789012345680.0};
  for (int power = -1074; power <= 1023; ++power) values.push_back(std::ldexp(1.0, power));
  std::mt19937_64 bits(1);
  for (int i = 0; i < 20000; ++i) {
    const double any = std::bit_cast<double>(bits());
    if (std::isfinite(any)) values.push_back(any);
    values.push_back(static_cast<double>(bits() % 2000001) / 1000 - 1000);
    values.push_back(std::ldexp(static_cast<double>(bits()), -64));
    values.push_back(static_cast<double>(bits() >> (i % 64)));
  }
  for (const double x : values) {
    char fixed[400];
    const auto end = std::to_chars(fixed, fixed + sizeof fixed, x, std::chars_format::fixed, 2).ptr;
    const double back = sotto::Json::parse(sotto::Json(x).dump()).get<double>();
    std::printf("%s %s %s %s %.*s %d\n", sotto::shortest(x).c_str(), sotto::Json(x).dump().c_str(),
                sotto::rounded(x, 7, sotto::Side::upper).c_str(),
                sotto::rounded(x, 3, sotto::Side::lower).c_str(), static_cast<int>(end - fixed),
                fixed, static_cast<int>(back == x));
  }
  for (const char* text : {"1",
                           "-1",
                           "+1",
                           " 1",
                           "1 ",
                           ".5",
                           "5.",
                           ".",
                           "",
                           "-",
                           "e5",
                           "1e",
                           "1e+",
                           "1e5",
                           "1E-5",
                           "0x10",
                           "inf",
                           "INFINITY",
                           "-inf",
                           "nan",
                           "infinit",
                           "1e400",
                           "1e-400",
                           "0e-400",
                           "1.7976931348623159e308",
                           "4.9e-324",
                           "2e-324",
                           "123456789123456789123",
                           "0.30000000000000004",
                           "1e5x",
                           "--1"}) {
    double value = -7;
    const auto [end, error] = std::from_chars(text, text + std::string(text).size(), value);
    const char* what = error == std::errc()                   ? "read"
                       : error == std::errc::invalid_argument ? "invalid"
                                                              : "out of range";
    std::printf("%s: %g %d %s\n", text, value, static_cast<int>(end - text), what);
  }
}
