// Names and texts inside the SQL of engines.
#pragma once

#include <string>

namespace sotto::data_detail {

inline std::string enclosed(const std::string& text, char quote) {
  std::string result(1, quote);
  for (const char c : text) {
    result += c;
    if (c == quote) result += c;
  }
  return result + quote;
}
inline std::string sql_name(const std::string& name) { return enclosed(name, '"'); }
inline std::string sql_text(const std::string& text) { return enclosed(text, '\''); }

}  // namespace sotto::data_detail
