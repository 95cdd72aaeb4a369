// Any text: a plan that reads back the same, or a ParseError whose column lies in the text or just
// behind it.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "round_trip.hpp"
#include "sotto/core/errors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::optional<sotto::Plan> plan;
  try {
    plan = sotto::parse(text);
  } catch (const sotto::ParseError& error) {
    sotto::demand(error.column() >= 1 && error.column() <= size + 1);
    return 0;
  }
  sotto::demand_round_trips(*plan);
  return 0;
}
