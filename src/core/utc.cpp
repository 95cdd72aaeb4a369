// Times by gmtime_r and strftime.
#include "core/api/utc.hpp"

#include <array>

namespace sotto {
namespace {

// `format` has numbers alone, so the locale does not change the text.
std::string formatted(std::time_t time, const char* format) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), format, &parts);
  return text.data();
}

}  // namespace

std::string utc_text(std::time_t time) { return formatted(time, "%Y-%m-%dT%H:%M:%SZ"); }
std::string utc_now() { return utc_text(std::time(nullptr)); }
std::string utc_today() { return formatted(std::time(nullptr), "%Y-%m-%d"); }

}  // namespace sotto
