// Any bytes: a request or a refusal, and the same however they come in: what is decided of a part
// is decided of the whole.
#include "cli/site_server/http_request.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace {

void demand(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sotto::cli;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const HttpParsed whole = parse_http(bytes);
  demand(whole.status == 0 || whole.status == 200 || whole.status == 400 || whole.status == 414 ||
         whole.status == 431 || whole.status == 505);
  if (size >= most_head_bytes) demand(whole.status != 0);
  for (std::size_t part = 0; part < size; part += 1 + size / 64) {
    const HttpParsed first = parse_http(bytes.substr(0, part));
    if (first.status == 200)
      demand(whole.status == 200 && whole.request.path == first.request.path &&
             whole.request.cookie == first.request.cookie);
    if (first.status > 200) demand(whole.status > 200);
  }
  if (whole.status != 200) return 0;
  const HttpRequest& request = whole.request;
  demand(!request.path.empty() && request.path.front() == '/' &&
         request.path.find('?') == std::string::npos);
  demand(!request.method.empty() &&
         request.path.size() + request.query.size() <= most_target_bytes);
  const auto is_safe = [](char c) { return c > ' ' && c < 0x7f; };
  demand(std::all_of(request.path.begin(), request.path.end(), is_safe) &&
         std::all_of(request.query.begin(), request.query.end(), is_safe));
  demand(request.host.find_first_of("\r\n") == std::string::npos &&
         request.cookie.find_first_of("\r\n") == std::string::npos);
  return 0;
}
