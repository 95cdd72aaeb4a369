// Parses the fields of records by their declared types, and infers types of fields.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "data/records/records.hpp"
#include "data/text/utf8.hpp"

namespace sotto::data_detail {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::optional<Scalar> boolean(std::string_view text) {
  std::string lower;
  for (const char c : text) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (lower == "true" || lower == "t" || lower == "1") return true;
  if (lower == "false" || lower == "f" || lower == "0") return false;
  return {};
}

template <typename Number>
std::optional<Scalar> number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// Parses an integer, also if it is written as 59.0 or 5.9e1.
std::optional<Scalar> integer(std::string_view text) {
  auto exact = text;
  if (const auto point = text.find('.'); point != std::string_view::npos && point > 0 &&
                                         text[point - 1] >= '0' && text[point - 1] <= '9') {
    if (text.find_first_not_of('0', point + 1) == std::string_view::npos)
      exact = text.substr(0, point);
  }
  if (auto value = number<std::int64_t>(exact)) return value;
  const auto value = number<double>(text);
  if (!value) return {};
  return integer_of(std::get<double>(*value));
}

/// Removes `count` digits from the front of the text and returns their number; -1 if they are
/// absent.
int digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return -1;
  int value = 0;
  for (const char c : text.substr(0, count)) {
    if (c < '0' || c > '9') return -1;
    value = 10 * value + (c - '0');
  }
  text.remove_prefix(count);
  return value;
}

/// Removes the first character if it is c.
bool eat(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

/// Removes a date, 2026-01-31, from the front of the text and returns its days since 1970.
std::optional<std::int64_t> days(std::string_view& text) {
  const int year = digits(text, 4);
  if (year < 1 || !eat(text, '-')) return {};
  const int month = digits(text, 2);
  if (month < 0 || !eat(text, '-')) return {};
  const int day = digits(text, 2);
  if (day < 0) return {};
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return {};
  return std::chrono::sys_days{date}.time_since_epoch().count();
}

std::optional<Scalar> date(std::string_view text) {
  const auto value = days(text);
  if (!value || !text.empty()) return {};
  return *value;
}

/// Parses 23:59, 23:59:59 or 23:59:59.123456, optionally with a final Z, as microseconds.
std::optional<std::int64_t> time_of_day(std::string_view text) {
  std::int64_t micros = 0;
  const int hours = digits(text, 2);
  if (hours < 0 || hours > 23 || !eat(text, ':')) return {};
  const int minutes = digits(text, 2);
  if (minutes < 0 || minutes > 59) return {};
  int seconds = 0;
  if (eat(text, ':')) {
    seconds = digits(text, 2);
    if (seconds < 0 || seconds > 59) return {};
    if (eat(text, '.')) {
      std::int64_t unit = 100'000;
      if (text.empty() || text.front() == 'Z') return {};
      for (; unit > 0 && !text.empty() && text.front() != 'Z'; unit /= 10) {
        const int digit = digits(text, 1);
        if (digit < 0) return {};
        micros += digit * unit;
      }
    }
  }
  eat(text, 'Z');
  if (!text.empty()) return {};
  return micros + ((hours * 60 + minutes) * 60 + seconds) * std::int64_t{1'000'000};
}

/// Parses 2026-01-31, or a date and a time of day with a space or T between them.
std::optional<Scalar> timestamp(std::string_view text) {
  const auto day = days(text);
  if (!day) return {};
  const std::int64_t midnight = *day * 86'400'000'000;
  if (text.empty()) return midnight;
  if (!eat(text, ' ') && !eat(text, 'T')) return {};
  const auto micros = time_of_day(text);
  if (!micros) return {};
  return midnight + *micros;
}

/// Returns the text of a field with doubled quotes as one; empty if it is not UTF-8.
std::optional<std::string> text_of(const RawField& field) {
  if (!data_detail::is_text(field.text)) return {};
  std::string text;
  text.reserve(field.text.size());
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    text += field.text[i];
    if (field.quoted && field.text[i] == '"') ++i;
  }
  return text;
}

bool is_null(std::string_view text, const std::vector<std::string>& null_text) {
  return std::find(null_text.begin(), null_text.end(), text) != null_text.end();
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<Scalar> integer_of(double value) {
  if (!(std::abs(value) <= 0x1p53) || value != std::trunc(value)) return {};
  return static_cast<std::int64_t>(value);
}

std::optional<Scalar> parse_scalar(const RawField& field, Type type, const ValueFormat& format) {
  if (field.text.empty() && !(type == Type::text && field.quoted)) return Scalar{};
  if (type == Type::text) {
    auto text = text_of(field);
    if (!text) return {};
    if (format.trim) text = std::string(trimmed(*text));
    const bool is_blank_field = format.trim && text->empty() && !field.quoted;
    if (is_blank_field || is_null(*text, format.null_text)) return Scalar{};
    return *text;
  }
  const auto text = trimmed(field.text);
  if (text.empty() || is_null(text, format.null_text)) return Scalar{};
  switch (type) {
    case Type::boolean: return boolean(text);
    case Type::integer: return integer(text);
    case Type::real: return number<double>(text);
    case Type::date: return date(text);
    case Type::timestamp: return timestamp(text);
    case Type::text: break;
  }
  return {};
}

std::optional<Type> type_of(const RawField& field, const std::vector<std::string>& null_text) {
  const auto text = trimmed(field.text);
  if (text.empty() || is_null(text, null_text)) return {};
  if (text != "0" && text != "1" && boolean(text)) return Type::boolean;
  if (integer(text)) return Type::integer;
  if (number<double>(text)) return Type::real;
  if (date(text)) return Type::date;
  if (timestamp(text)) return Type::timestamp;
  return Type::text;
}

Type wider(Type a, Type b) {
  const auto either = [&](Type one, Type other) {
    return (a == one && b == other) || (a == other && b == one);
  };
  if (a == b) return a;
  if (either(Type::integer, Type::real)) return Type::real;
  if (either(Type::date, Type::timestamp)) return Type::timestamp;
  return Type::text;
}

}  // namespace sotto::data_detail
