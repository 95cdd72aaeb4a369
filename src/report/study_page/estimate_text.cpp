// Digits follow the width of the interval, so that a reader sees no digit that is only noise.
#include "report/study_page/estimate_text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "sotto/core/decimal.hpp"

namespace sotto::report_detail {

namespace {

// Two significant digits of the width.
int decimals_of(double width) {
  return width > 0 && std::isfinite(width)
             ? std::clamp(1 - static_cast<int>(std::floor(std::log10(width))), 0, 6)
             : 2;
}

}  // namespace

std::string with_interval_digits(double x, double width) {
  if (!std::isfinite(x)) return shortest(x);
  return with_decimals(x == 0 ? 0.0 : x, decimals_of(width));
}

std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text;
}

std::string bin_name(const QueryAnswer& answer, std::size_t at) {
  const auto of_group = [&](std::size_t other) {
    return other < answer.estimates.size() &&
           answer.estimates[other].keys == answer.estimates[at].keys;
  };
  const bool first = at == 0 || !of_group(at - 1);
  const bool last = !of_group(at + 1);
  const Estimate& e = answer.estimates[at];
  if (first && last) return "all";
  if (first) return "below " + readable(*e.to);
  if (last) return readable(*e.from) + " and more";
  return readable(*e.from) + " to " + readable(*e.to);
}

std::string group_name(const QueryAnswer& answer, std::size_t at) {
  const Estimate& e = answer.estimates[at];
  std::string name;
  for (const std::string& key : e.keys) name += (name.empty() ? "" : ", ") + key;
  if (e.from) name += (name.empty() ? "" : ", ") + bin_name(answer, at);
  if (e.quantile)
    name += (name.empty() ? "" : ", ") + std::string("quantile ") + shortest(*e.quantile);
  return name.empty() ? "all" : name;
}

std::string question(const QueryAnswer& a) {
  std::string text = name_of(a.ask) + (a.of.empty() ? "" : " of " + a.of);
  for (std::size_t i = 0; i < a.by.size(); ++i) text += (i == 0 ? " by " : ", ") + a.by[i];
  if (!a.where.empty()) text += " where " + on_one_line(a.where);
  return text;
}

std::string error_in_percent(double value, double truth, double width) {
  if (std::isnan(truth)) return "—";
  if (truth == 0) return value == 0 ? "0 %" : "—";
  // Two different numbers with the same digits differ by less than a unit of the last digit.
  if (value != truth && with_interval_digits(value, width) == with_interval_digits(truth, width)) {
    return "below " +
           rounded(100 * std::pow(10, -decimals_of(width)) / std::abs(truth), 2, Side::upper) +
           " %";
  }
  return with_decimals(100 * std::abs(value - truth) / std::abs(truth), 2) + " %";
}

std::string with_interval_digits_or_dash(double x, double width) {
  return std::isnan(x) ? "—" : with_interval_digits(x, width);
}

std::vector<std::string> remarks(const QueryAnswer& answer, double confidence) {
  std::vector<std::string> all;
  if (!answer.cuts.empty()) {
    std::string cut = "What counts: ";
    for (std::size_t i = 0; i < answer.cuts.size(); ++i)
      cut += (i == 0 ? "" : "; ") + answer.cuts[i];
    all.push_back(cut + ".");
  }
  const auto is_outside = [](const Estimate& e) { return e.value < e.low || e.value > e.high; };
  if (std::any_of(answer.estimates.begin(), answer.estimates.end(), is_outside)) {
    all.emplace_back(
        "An answer outside its interval cannot be the number itself, only what noise made of it: "
        "the number lies in the interval.");
  }
  constexpr std::size_t many = 20;
  if (answer.estimates.size() >= many) {
    const double misses = (1 - confidence) * static_cast<double>(answer.estimates.size());
    all.push_back("Of " + std::to_string(answer.estimates.size()) + " intervals of " +
                  shortest(100 * confidence) + " % about " +
                  (misses < 1 ? "one or none" : std::to_string(std::lround(misses))) +
                  " will not hold the number without noise.");
  }
  return all;
}

}  // namespace sotto::report_detail
