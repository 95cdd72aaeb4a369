// Prints questions as a study in TOML.
#include "study/api/study_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

// A TOML basic string.
std::string quoted(const std::string& text) {
  static constexpr const char* named[] = {"\\b", "\\t", "\\n", nullptr, "\\f", "\\r"};
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte >= 8 && byte <= 13 && named[byte - 8] != nullptr) {
      out += named[byte - 8];
    } else if (byte < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      out += escape;
    } else if (byte == 0x7f) {
      out += "\\u007F";
    } else {
      out += c;
    }
  }
  return out + '"';
}

// The shortest text of a double that reads back, as Python's repr() writes it: the bytes of a study
// must not depend on the language that built it.
std::string number(double value) {
  if (!std::isfinite(value)) throw InvalidValue("a question holds an infinite number or NaN: give a finite one");
  char digits[40];
  const auto scientific = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific);
  std::string text(digits, scientific.ptr);
  const int exponent = std::stoi(text.substr(text.find('e') + 1));
  if (value != 0 && (exponent < -4 || exponent >= 16)) return text;
  const auto fixed = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed);
  text.assign(digits, fixed.ptr);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

std::string toml(bool value) { return value ? "true" : "false"; }
std::string toml(std::int64_t value) { return std::to_string(value); }
std::string toml(double value) { return number(value); }
std::string toml(const std::string& value) { return quoted(value); }
std::string toml(const std::vector<Value>& values) {
  std::string list = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    list += (i > 0 ? ", " : "") + std::visit([](const auto& v) { return toml(v); }, values[i]);
  }
  return list + "]";
}

template <class T>
void add(std::string& text, const std::string& key, const T& value) {
  text += key + " = " + toml(value) + "\n";
}

std::string top_of(const std::string& data, const Spending& spending) {
  std::string text;
  if (!spending.title.empty()) add(text, "title", spending.title);
  add(text, "data", data);
  if (spending.confidence) add(text, "confidence", *spending.confidence);
  if (spending.epsilon || spending.delta || spending.rho) {
    text += "\n[budget]\n";
    if (spending.epsilon) add(text, "epsilon", *spending.epsilon);
    if (spending.delta) add(text, "delta", *spending.delta);
    if (spending.rho) add(text, "rho", *spending.rho);
  }
  return text;
}

std::string columns_of(const std::vector<TableQuestion>& questions) {
  std::vector<std::pair<std::string, std::vector<Value>>> columns;
  for (const TableQuestion& question : questions) {
    for (const auto& [name, values] : question.listed) {
      const auto same = std::find_if(columns.begin(), columns.end(), [&n = name](const auto& column) { return column.first == n; });
      if (same == columns.end()) {
        columns.emplace_back(name, values);
      } else if (same->second != values) {
        throw InvalidValue("two questions of one run list different values of the column " + quoted(name) +
                           ": ask them in two runs, or list the values of both");
      }
    }
  }
  std::string text;
  for (const auto& [name, values] : columns) {
    text += "\n[columns." + quoted(name) + "]\n";
    add(text, "values", values);
  }
  return text;
}

}  // namespace

std::string study_text(const std::string& data, const std::vector<TableQuestion>& questions, const Spending& spending) {
  if (questions.empty()) throw InvalidValue("a run needs a question, such as count()");
  std::string text = top_of(data, spending) + columns_of(questions);

  std::set<std::string> names;
  for (const TableQuestion& question : questions) {
    text += "\n[[query]]\n";
    for (const auto& [key, setting] : question.settings) {
      if (key != "name") {
        std::visit([&, &k = key](const auto& value) { add(text, k, value); }, setting);
        continue;
      }
      const std::string& wanted = std::get<std::string>(setting);
      std::string name = wanted;
      for (int number = 2; !names.insert(name).second; ++number) name = wanted + " " + std::to_string(number);
      add(text, key, name);
    }
  }
  return text;
}

}  // namespace sotto
