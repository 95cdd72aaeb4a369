// Numeric options that set the members of a settings struct.
#pragma once

#include <algorithm>
#include <concepts>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace sotto::cli {

/// The numeric options of a command. Parsing stores them as typed; read() converts them and writes
/// each into its setting. An option that was not typed leaves its setting at the default.
///
/// The settings and this object must live as long as the command.
class NumberOptions {
 public:
  explicit NumberOptions(Command& command) : command_(command) {}
  NumberOptions(const NumberOptions&) = delete;
  NumberOptions& operator=(const NumberOptions&) = delete;

  Option* add(const char* flag, double& setting, const std::string& help) {
    return add_text(flag, help,
                    [flag, &setting](const std::string& text) { setting = number_of(text, flag); });
  }
  Option* add(const char* flag, std::optional<double>& setting, const std::string& help) {
    return add_text(flag, help,
                    [flag, &setting](const std::string& text) { setting = number_of(text, flag); });
  }
  /// Adds an option for a whole number from 1 on; the library checks the upper limit of each
  /// setting.
  template <std::integral Whole>
  Option* add(const char* flag, Whole& setting, const std::string& help) {
    const double most =
        std::min(most_whole, static_cast<double>(std::numeric_limits<Whole>::max() / 2 + 1));
    return add_text(flag, help, [flag, most, &setting](const std::string& text) {
      setting = static_cast<Whole>(whole_number_of(text, flag, 1, most));
    });
  }
  Option* add(const char* flag, std::optional<std::int64_t>& setting, const std::string& help) {
    return add_text(flag, help, [flag, &setting](const std::string& text) {
      setting = whole_number_of(text, flag, 1, most_whole);
    });
  }
  /// Adds an option that may be repeated. The typed numbers replace the default ones.
  Option* add(const char* flag, std::vector<double>& setting, const std::string& help) {
    std::vector<std::string>& texts = lists_.emplace_back();
    readers_.emplace_back([flag, &texts, &setting] {
      if (!texts.empty()) setting.clear();
      for (const std::string& text : texts) setting.push_back(number_of(text, flag));
    });
    return command_.add_option(flag, texts, help)->allow_extra_args(false);
  }

  /// Writes the typed numbers into their settings, in the order in which the options were added.
  /// Throws InvalidValue, which names the option.
  void read() const {
    for (const std::function<void()>& reader : readers_) reader();
  }

 private:
  template <class Reader>
  Option* add_text(const char* flag, const std::string& help, const Reader& reader) {
    std::string& text = texts_.emplace_back();
    readers_.emplace_back([&text, reader] {
      if (!text.empty()) reader(text);
    });
    return command_.add_option(flag, text, help);
  }

  Command& command_;
  std::deque<std::string> texts_;  // deques, because the parser refers to their elements
  std::deque<std::vector<std::string>> lists_;
  std::vector<std::function<void()>> readers_;
};

}  // namespace sotto::cli
