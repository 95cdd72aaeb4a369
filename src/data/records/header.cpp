// Decides whether the first line of a file holds values instead of names.
#include "data/records/header.hpp"

#include <algorithm>
#include <array>

#include "data/records/records.hpp"
#include "data/text/utf8.hpp"

namespace sotto::data_detail {
namespace {

constexpr const char* of_blanks = "starts or ends with a blank";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Each byte beyond ASCII counts as a letter.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

std::string lower_case(std::string_view text) {
  std::string lower;
  for (const char c : text) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

// Returns the text with each run of letters as one a, and of digits as one 9: "a-9" for "Jan-2026".
std::string shape_of(std::string_view text) {
  std::string shape;
  for (const char c : text) {
    const char kind = is_digit(c) ? '9' : is_letter(c) ? 'a' : c;
    const bool goes_on = (kind == '9' || kind == 'a') && !shape.empty() && shape.back() == kind;
    if (!goes_on) shape += kind;
  }
  return shape;
}

// Returns why a name looks like a value without a look at the data; empty if it does not.
std::string reason(std::string_view name) {
  constexpr std::array<std::string_view, 10> words{"true", "false", "yes",  "no",   "na",
                                                   "n/a",  "nan",   "null", "none", "nil"};
  if (name.empty()) return "is empty";
  if (!is_text(name)) return "is not UTF-8";
  const auto type = type_of(RawField{name, false}, {});
  if (type == Type::integer || type == Type::real) return "is a number";
  if (type == Type::date || type == Type::timestamp) return "is a date";
  if (std::find(words.begin(), words.end(), lower_case(name)) != words.end())
    return "is a value rather than a name";
  if (std::none_of(name.begin(), name.end(), is_letter)) return "has no letter";
  const auto start = name.find_first_not_of("+-$ (");
  if (is_digit(name[start == std::string_view::npos ? 0 : start])) return "starts with a digit";
  if (name.find('@') != std::string_view::npos) return "looks like an address";
  return "";
}

}  // namespace

HeaderDoubts::HeaderDoubts(const std::vector<std::string>& names, bool trim) {
  std::set<std::string> seen;
  for (const std::string& text : names) {
    const std::string plain(trimmed(text));
    Name name{text, plain, "", reason(plain)};
    if (name.why.empty() && !seen.insert(lower_case(plain)).second) name.why = "appears twice";
    if (name.why.empty() && !trim && plain != text) name.why = of_blanks;
    if (std::any_of(plain.begin(), plain.end(), is_digit)) name.shape = shape_of(plain);
    names_.push_back(std::move(name));
  }
}

void HeaderDoubts::compare(std::size_t column, std::string_view value) {
  Name& name = names_[column];
  if (!name.why.empty()) return;
  const std::string_view plain = trimmed(value);
  if (plain == name.plain) {
    name.why = "is also a value in a later line";
  } else if (!name.shape.empty() && plain.size() <= 200 && shape_of(plain) == name.shape) {
    name.why = "looks like the values in later lines";
  }
}

std::vector<NameDoubt> HeaderDoubts::doubts() const {
  std::vector<NameDoubt> doubts;
  for (const Name& name : names_) {
    if (!name.why.empty()) doubts.push_back({name.text, name.why, name.why == of_blanks});
  }
  return doubts;
}

}  // namespace sotto::data_detail
