// Conversion of options to values, and files that commands write.
#include "command.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "core/api/suggestion.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::cli {
namespace {

// Returns the exponent of a power of two above 0.
std::optional<int> exponent_of(double number) {
  int exponent = 0;
  if (!(number > 0) || !std::isfinite(number) || std::frexp(number, &exponent) != 0.5)
    return std::nullopt;
  return exponent - 1;
}

}  // namespace

void add_format(Command& command, OutputArguments& output) {
  command.add_option("--format", output.format, "table, json or csv")->capture_default_str();
}

void add_quiet(Command& command, OutputArguments& output) {
  command.add_flag("--quiet", output.quiet, "print nothing but errors on stderr");
}

Format format_of(const OutputArguments& output) {
  if (const auto format = format_named(output.format)) return *format;
  throw InvalidValue("--format " + output.format + " is not known; " +
                     suggestion(output.format, {"table", "json", "csv"}));
}

double number_of(const std::string& text, const char* option) {
  try {
    return read_number(text);
  } catch (const InvalidValue& error) {
    throw InvalidValue(std::string(option) + ": " + error.what());
  }
}

std::int64_t whole_number_of(const std::string& text, const char* option, double least,
                             double most) {
  const double number = number_of(text, option);
  if (number >= least && number <= most && number == std::floor(number))
    return static_cast<std::int64_t>(number);
  const auto exponent = most > 1e6 ? exponent_of(most) : std::nullopt;
  const std::string limit =
      exponent ? "2^" + std::to_string(*exponent) : std::to_string(static_cast<std::int64_t>(most));
  throw InvalidValue(std::string(option) + " " + text +
                     " is not allowed: it must be a whole number from " +
                     std::to_string(static_cast<std::int64_t>(least)) + " to " + limit);
}

std::optional<int> grid_exponent(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto exponent = exponent_of(number_of(text, "--grid"));
  if (!exponent)
    throw InvalidValue("--grid " + text +
                       " is not allowed: it must be a power of two, such as 1, 0.25 or 64");
  return exponent;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file)
    throw std::runtime_error("cannot write " + path.string() +
                             (errno == 0 ? "" : std::string(": ") + std::strerror(errno)));
}

void write_plot(const OutputArguments& output, const std::string& svg) {
  write_file(output.plot, svg);
  if (!output.quiet) std::cerr << "drawn to " << output.plot << "\n";
}

}  // namespace sotto::cli
