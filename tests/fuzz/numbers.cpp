// Any text as a number: InvalidValue, or a double whose shortest form reads back as the same.
#include "numbers.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  double x = 0;
  try {
    x = sotto::read_number(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const sotto::InvalidValue&) {
    return 0;
  }
  const double again = sotto::read_number(sotto::shortest(x));
  sotto::require_that(again == x || (std::isnan(x) && std::isnan(again)));
  return 0;
}
