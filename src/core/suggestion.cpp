// Words are compared in lower case without separators, by edit distance and by abbreviation.
#include "core/api/suggestion.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/api/join.hpp"
#include "core/api/text.hpp"
#include "sotto/core/decimal.hpp"

namespace sotto {
namespace {

constexpr std::size_t longest = 100;     // bytes of a word that is compared or listed
constexpr std::size_t most_listed = 40;  // words of a list

bool is_separator(char c) { return c == '-' || c == '_' || c == '.' || c == ' '; }

std::string lower(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return folded;
}

std::string fold(std::string_view text) {
  std::string folded = lower(text);
  std::erase_if(folded, is_separator);
  return folded;
}

// Returns how many letters must be changed, added, dropped or swapped with the next one to turn `a`
// into `b` (the optimal string alignment distance).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, std::move(row));
  }
  return last.back();
}

// Returns whether `letters` is a subsequence of the name that contains the first letter of each of
// its parts.
bool abbreviates_each_part(const std::string& letters, const std::string& name) {
  std::vector<bool> reached(letters.size() + 1, false);  // reached[i]: the first i letters match
  reached[0] = true;
  bool at_start = true;
  for (const char c : name) {
    if (is_separator(c)) {
      at_start = true;
      continue;
    }
    std::vector<bool> next = at_start ? std::vector<bool>(reached.size(), false) : reached;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (reached[i] && letters[i] == c) next[i + 1] = true;
    }
    reached = std::move(next);
    at_start = false;
  }
  return reached.back();
}

// Returns whether the word shortens the name, as `wor` does for without_replacement and `gauss` for
// gaussian, or extends it, as `laplace_noise` does for laplace.
bool abbreviates(const std::string& folded, const std::string& name) {
  if (folded.size() < 2) return false;
  const std::string whole = fold(name);
  if (folded.size() >= 3 && whole.starts_with(folded)) return true;
  if (whole.size() >= 4 && folded.starts_with(whole)) return true;
  const bool has_parts = std::any_of(name.begin() + 1, name.end(), is_separator);
  return has_parts && abbreviates_each_part(folded, lower(name));
}

bool is_printable(const std::string& name) {
  return !name.empty() && name.size() <= longest && is_plain(name);
}

}  // namespace

bool same_folded(std::string_view a, std::string_view b) { return fold(a) == fold(b); }

std::string closest(std::string_view word, const std::vector<std::string>& known,
                    const std::vector<Synonym>& synonyms) {
  const std::string folded = fold(word.substr(0, longest + 1));
  if (folded.empty() || word.size() > longest) return "";
  // equality, then synonyms
  for (const std::string& name : known) {
    if (fold(name) == folded) return name;
  }
  for (const Synonym& synonym : synonyms) {
    if (fold(synonym.written) == folded) return std::string(synonym.meant);
  }

  // the name at the least distance; an abbreviation wins over all but a distance of 1
  const std::string* best = nullptr;
  const std::string* abbreviated = nullptr;
  std::size_t least = std::max<std::size_t>(1, folded.size() / 3) + 1;
  for (const std::string& name : known) {
    if (name.empty() || name.size() > longest) continue;
    const std::string other = fold(name);
    const std::size_t away = distance(folded, other);
    if (away < least && away < std::max(folded.size(), other.size())) {
      best = &name;
      least = away;
    }
    if (abbreviated == nullptr && abbreviates(folded, name)) abbreviated = &name;
  }
  if (abbreviated != nullptr && (best == nullptr || least > 1)) best = abbreviated;
  return best == nullptr ? "" : *best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known,
                       const std::vector<Synonym>& synonyms) {
  std::vector<std::string> names;
  std::copy_if(known.begin(), known.end(), std::back_inserter(names), is_printable);
  if (names.empty()) return "";
  const std::string meant = closest(word, names, synonyms);
  const bool all = names.size() <= most_listed;
  if (!all) names.resize(most_listed);
  const std::string question = meant.empty() ? "" : "did you mean \"" + meant + "\"? ";
  return question + (question.empty() ? "there are: " : "There are: ") + join(names) +
         (all ? "" : ", …");
}

std::string advice_on_number(std::string_view text) {
  const auto is_digit = [&](std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  if (text.size() > longest) return "";
  std::string plain(text);
  const bool is_percent = plain.ends_with('%');
  if (is_percent) plain.pop_back();
  while (plain.ends_with(' ')) plain.pop_back();
  const std::size_t comma = plain.find(',');
  if (comma != std::string::npos) {
    if (comma == 0 || !is_digit(comma - 1) || !is_digit(comma + 1)) return "";
    plain[comma] = '.';
  }
  if (plain == text) return "";
  if (is_percent) {  // divide by 100 exactly, in the decimal exponent
    const std::size_t e = plain.find_first_of("eE");
    int exponent = 0;
    if (e != std::string::npos)
      std::from_chars(plain.data() + e + 1 + (plain[e + 1] == '+' ? 1 : 0),
                      plain.data() + plain.size(), exponent);
    plain = plain.substr(0, e) + "e" + std::to_string(exponent - 2);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc{} || end != plain.data() + plain.size() || !std::isfinite(value))
    return "";
  return (is_percent ? ": write a share, " : ": write a decimal point, ") +
         (is_percent ? shortest(value) : plain);
}

}  // namespace sotto
