// Any text: a network that reads back the same and, if it is small, makes a model or is refused; or
// an InvalidValue.
#include "sotto/learning/network.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "sotto/core/errors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::optional<sotto::Network> network;
  try {
    network = sotto::parse_network(text);
  } catch (const sotto::InvalidValue&) {
    return 0;
  }
  const std::string printed = print(*network);
  if (print(sotto::parse_network(printed)) != printed) std::abort();
  try {
    const auto model = sotto::make_model(*network);
    if (model->description() != printed) std::abort();
    if (model->parameters() <= 10000 && model->start(1).size() != model->parameters()) std::abort();
  } catch (const sotto::InvalidValue&) {
    return 0;
  }
  return 0;
}
