#include "nearest.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "utf8.hpp"

namespace sotto::data_detail {
namespace {

constexpr std::size_t most_shown = 40;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = row[j];
      row[j] = std::min({changed, row[j - 1] + 1, row[j] + 1});
    }
  }
  return row.back();
}

bool is_fit_to_show(const std::string& name) {
  return !name.empty() && name.size() <= 100 && data_detail::is_text(name) &&
         std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace

std::string what_there_is(const std::string& name, const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  std::copy_if(names.begin(), names.end(), std::back_inserter(shown), is_fit_to_show);
  if (shown.empty()) return "";
  std::string what;
  const auto far = [&](const std::string& other) { return name.size() > 100 ? name.size() : distance(lower(name), lower(other)); };
  const auto nearest = std::min_element(shown.begin(), shown.end(), [&](const auto& a, const auto& b) { return far(a) < far(b); });
  if (far(*nearest) <= std::max<std::size_t>(1, name.size() / 3)) what = "; did you mean \"" + *nearest + "\"?";
  std::string list;
  for (std::size_t i = 0; i < std::min(shown.size(), most_shown); ++i) list += (i == 0 ? "" : ", ") + shown[i];
  if (shown.size() > most_shown) list += ", …";
  return what + (what.empty() ? "; there are: " : " There are: ") + list;
}

}  // namespace sotto::data_detail
