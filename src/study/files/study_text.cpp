// Prints questions as a study, and a description as a data file, in TOML.
#include "study/api/study_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>

#include "core/api/text.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using Setting = TableQuestion::Setting;

// Returns the text as a TOML basic string, in the bytes that Python's json.dumps writes. Quotes,
// backslashes and control characters are escaped, so the string ends where the text does.
std::string in_toml_quotes(const std::string& text) {
  if (!is_utf8(text))
    throw InvalidValue("the text \"" + escaped_for_terminal(text) +
                       "\" is not UTF-8: convert it first");
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
      std::array<char, 8> escape{};
      (void)std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(byte));
      out += escape.data();
    } else if (byte == 0x7f) {
      out += "\\u007F";
    } else {
      out += c;
    }
  }
  return out + '"';
}

// Returns the shortest text that reads back as this double, in the bytes of Python's repr(): plain
// digits from 1e-4 to below 1e16, an exponent elsewhere, and always a point or an exponent.
std::string number(double value) {
  if (!std::isfinite(value)) throw InvalidValue("a number is infinite or NaN: give a finite one");
  std::array<char, 40> digits{};
  const auto print = [&](std::chars_format format) {
    return std::string(
        digits.data(),
        std::to_chars(digits.data(), digits.data() + digits.size(), value, format).ptr);
  };
  const std::string scientific = print(std::chars_format::scientific);
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  if (value != 0 && (exponent < -4 || exponent >= 16)) return scientific;
  const std::string fixed = print(std::chars_format::fixed);
  return fixed.find('.') == std::string::npos ? fixed + ".0" : fixed;
}

std::string toml(bool value) { return value ? "true" : "false"; }
std::string toml(std::int64_t value) { return std::to_string(value); }
std::string toml(double value) { return number(value); }
std::string toml(const std::string& value) { return in_toml_quotes(value); }
std::string toml(const std::vector<Value>& values) {
  std::string list = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    list += (i > 0 ? ", " : "") + std::visit([](const auto& v) { return toml(v); }, values[i]);
  }
  return list + "]";
}
std::string toml(const Setting& setting) {
  return std::visit([](const auto& value) { return toml(value); }, setting);
}

// A key is printed without quotes. A TableQuestion is open to its users, and a key of any other
// form could write a section.
void require_key(const std::string& key) {
  const bool is_bare = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || c == '_';
  });
  if (!is_bare)
    throw InvalidValue("a question has the setting \"" + escaped_for_terminal(key) +
                       "\": a setting has lower-case letters and _ only");
}

template <class T>
void add(std::string& text, const std::string& key, const T& value) {
  require_key(key);
  try {
    text += key + " = " + toml(value) + "\n";
  } catch (const InvalidValue& error) {
    throw InvalidValue("`" + key + "`: " + error.what());
  }
}

std::string top_of(const std::string& data, const StudySettings& settings) {
  std::string text;
  if (settings.title) add(text, "title", *settings.title);
  add(text, "data", data);
  if (settings.confidence) add(text, "confidence", *settings.confidence);
  if (settings.epsilon || settings.delta || settings.rho) {
    text += "\n[budget]\n";
    if (settings.epsilon) add(text, "epsilon", *settings.epsilon);
    if (settings.delta) add(text, "delta", *settings.delta);
    if (settings.rho) add(text, "rho", *settings.rho);
  }
  return text;
}

// Compares values as Python does: 1, 1.0 and true are equal. The wider type of the comparison has
// the 64 bits that a whole number needs on every processor that sotto supports.
bool equal(const Value& a, const Value& b) {
  const auto as_number = [](const Value& value) {
    if (const auto* yes = std::get_if<bool>(&value)) return static_cast<long double>(*yes);
    if (const auto* whole = std::get_if<std::int64_t>(&value))
      return static_cast<long double>(*whole);
    return static_cast<long double>(std::get<double>(value));
  };
  const bool is_text =
      std::holds_alternative<std::string>(a) || std::holds_alternative<std::string>(b);
  return is_text ? a == b : as_number(a) == as_number(b);
}

// The sections that narrow a column to the values listed for it.
std::string columns_of(const std::vector<TableQuestion>& questions) {
  std::vector<std::pair<std::string, std::vector<Value>>> columns;
  for (const TableQuestion& question : questions) {
    for (const auto& [name, values] : question.listed) {
      const auto same = std::find_if(columns.begin(), columns.end(),
                                     [&n = name](const auto& column) { return column.first == n; });
      if (same == columns.end()) {
        columns.emplace_back(name, values);
      } else if (!std::equal(same->second.begin(), same->second.end(), values.begin(), values.end(),
                             equal)) {
        throw InvalidValue("two questions of one run list different values of the column \"" +
                           escaped_for_terminal(name) +
                           "\": ask them in two runs, or list all the values in both");
      }
    }
  }
  std::string text;
  for (const auto& [name, values] : columns) {
    text += "\n[columns." + in_toml_quotes(name) + "]\n";
    add(text, "values", values);
  }
  return text;
}

// Returns the name, with a number behind it if an earlier question has it.
std::string new_name(const std::string& wanted, std::set<std::string>& names) {
  std::string name = wanted;
  for (int number = 2; !names.insert(name).second; ++number)
    name = wanted + " " + std::to_string(number);
  return name;
}

}  // namespace

std::string study_text(const std::string& data, const std::vector<TableQuestion>& questions,
                       const StudySettings& settings) {
  if (questions.empty()) throw InvalidValue("a run needs a question, such as count()");
  std::string text = top_of(data, settings) + columns_of(questions);

  std::set<std::string> names;
  for (const TableQuestion& question : questions) {
    text += "\n[[query]]\n";
    for (const auto& [key, setting] : question.settings) {
      const auto* name = key == "name" ? std::get_if<std::string>(&setting) : nullptr;
      if (name != nullptr) {
        add(text, key, new_name(*name, names));
      } else {
        add(text, key, setting);
      }
    }
  }
  return text;
}

StudySettings study_settings(const Spending& spending) {
  StudySettings settings;
  if (!spending.title.empty()) settings.title = spending.title;
  settings.confidence = spending.confidence;
  settings.epsilon = spending.epsilon;
  settings.delta = spending.delta;
  settings.rho = spending.rho;
  return settings;
}

std::string description_text(const std::string& name, const TableDescription& description) {
  std::string text;
  add(text, "name", name);
  add(text, "version", description.version);
  add(text, "source", std::string("-"));
  add(text, "ledger", std::string("-"));
  add(text, "unit", description.unit);
  if (description.size) add(text, "public_rows", *description.size);
  for (const TableColumn& column : description.columns) {
    text += "\n[columns." + in_toml_quotes(column.name) + "]\n";
    add(text, "type", name_of(column.type));
    if (column.if_null) {
      text += "null = { value = " +
              std::visit([](const auto& value) { return toml(value); }, *column.if_null) + " }\n";
    } else {
      add(text, "null", std::string("drop"));
    }
    if (column.lower && column.upper)
      add(text, "bounds", std::vector<Value>{*column.lower, *column.upper});
    if (!column.values.empty()) add(text, "values", column.values);
  }
  return text;
}

}  // namespace sotto
