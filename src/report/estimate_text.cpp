#include "estimate_text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "sotto/core/decimal.hpp"

namespace sotto::report_detail {

std::string shown(double x, double width) {
  if (!std::isfinite(x)) return shortest(x);
  const int decimals = width > 0 && std::isfinite(width) ? std::clamp(1 - static_cast<int>(std::floor(std::log10(width))), 0, 6) : 2;
  char text[512];
  std::snprintf(text, sizeof text, "%.*f", decimals, x == 0 ? 0.0 : x);
  return text;
}

std::string in_thousands(const std::string& number) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto first = std::find_if(number.begin(), number.end(), is_digit);
  const auto end = std::find_if_not(first, number.end(), is_digit);
  std::string text(number.begin(), first);
  for (auto digit = first; digit != end; ++digit) {
    if (digit != first && (end - digit) % 3 == 0) text += ',';
    text += *digit;
  }
  return text + std::string(end, number.end());
}

std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text;
}

std::string group_name(const Estimate& e) {
  std::string name;
  for (const std::string& key : e.keys) name += (name.empty() ? "" : ", ") + key;
  if (e.from) name += (name.empty() ? "" : ", ") + shortest(*e.from) + " to " + shortest(*e.to);
  if (e.quantile) name += (name.empty() ? "" : ", ") + std::string("quantile ") + shortest(*e.quantile);
  return name.empty() ? "all" : name;
}

std::string question(const QueryAnswer& a) {
  std::string text = name_of(a.ask) + (a.of.empty() ? "" : " of " + a.of);
  for (std::size_t i = 0; i < a.by.size(); ++i) text += (i == 0 ? " by " : ", ") + a.by[i];
  if (!a.where.empty()) text += " where " + on_one_line(a.where);
  return text;
}

std::string error_in_percent(double value, double exact) {
  if (exact == 0) return value == 0 ? "0 %" : "—";
  char text[400];
  std::snprintf(text, sizeof text, "%.2f %%", 100 * std::abs(value - exact) / std::abs(exact));
  return text;
}

}  // namespace sotto::report_detail
