// Turns the arguments of `sotto data init` into a name and a source.
#include "data_arguments.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "cli/arguments/file_format.hpp"
#include "data/api/inspect.hpp"
#include "sotto/core/errors.hpp"
#include "study/api/data_file.hpp"

namespace sotto::cli::data {
namespace {

namespace fs = std::filesystem;

// Replaces each character that a name of data may not have by _.
std::string as_data_name(std::string name) {
  for (char& c : name) {
    if (!is_data_name(std::string("a") + c)) c = '_';
  }
  return name;
}

// Splits --names at its commas.
std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  if (text.empty()) return names;
  std::istringstream words(text + ",");
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t start = word.find_first_not_of(' ');
    names.push_back(start == std::string::npos
                        ? ""
                        : word.substr(start, word.find_last_not_of(' ') - start + 1));
    if (names.back().empty())
      throw InvalidValue(
          "--names has an empty name: type --names age,sex,income, one name for each column");
    if (std::count(names.begin(), names.end(), names.back()) > 1)
      throw InvalidValue("--names has \"" + names.back() + "\" twice");
  }
  return names;
}

}  // namespace

void require_source(const InitArguments& arguments) {
  if (arguments.file.empty() && arguments.postgresql.empty() && arguments.spark.empty()) {
    throw InvalidValue(
        "which data? Type a FILE, --postgresql CONNECTION --table TABLE, or --spark CONNECTION "
        "with --table TABLE or --path PATH");
  }
  if (fs::is_directory(arguments.file)) {
    throw InvalidValue(arguments.file +
                       " is a folder: type the path of a file in it, sotto data init " +
                       (fs::path(arguments.file) / "FILE").string());
  }
  if (arguments.format.empty() && arguments.file.ends_with(".toml")) {
    throw InvalidValue(arguments.file + " is not a table: sotto run " + arguments.file +
                       " runs a study, and sotto data init FILE describes a table");
  }
}

std::string name_of_data(const InitArguments& arguments) {
  if (!arguments.name.empty()) {
    if (is_data_name(arguments.name)) return arguments.name;
    const std::string near = as_data_name(arguments.name);
    throw InvalidValue(
        "--name " + arguments.name +
        " is not allowed: a name of data has letters, digits, _, - and .; type --name " +
        (is_data_name(near) ? near : "NAME"));
  }
  std::string name = arguments.table;
  if (name.empty()) {
    std::string place = arguments.path.empty() ? arguments.file : arguments.path;
    while (place.size() > 1 && place.ends_with('/')) place.pop_back();
    name = fs::path(place).filename().string();
    name = name.substr(0, name.find('.', 1));
  }
  name = as_data_name(name);
  if (!is_data_name(name))
    throw InvalidValue("these data need a name: type --name NAME, of letters, digits, _, - and .");
  return name;
}

Source source_of(const InitArguments& arguments) {
  if (arguments.trim && arguments.no_trim)
    throw InvalidValue("--trim and --no-trim exclude each other: leave one of them out");
  if (arguments.header && !arguments.names.empty())
    throw InvalidValue(
        "--header and --names exclude each other, because a file with --names has no header: leave "
        "one of them out");
  if (static_cast<int>(!arguments.file.empty()) + static_cast<int>(!arguments.postgresql.empty()) +
          static_cast<int>(!arguments.spark.empty()) !=
      1) {
    throw InvalidValue(
        "which data? Type a FILE, --postgresql CONNECTION --table TABLE, or --spark CONNECTION "
        "with --table TABLE or --path PATH");
  }
  if (!arguments.spark.empty()) {
    if (arguments.table.empty() == arguments.path.empty())
      throw InvalidValue("which data of Spark? Type either --table TABLE or --path PATH");
    SparkSource source{.connection = arguments.spark,
                       .table = arguments.table,
                       .path = arguments.path,
                       .format = arguments.path.empty() ? "" : arguments.format};
    if (!arguments.token.empty()) source.token = fs::absolute(arguments.token).lexically_normal();
    if (!arguments.authority.empty())
      source.authority = fs::absolute(arguments.authority).lexically_normal();
    source.trim = arguments.trim;
    (void)identity(source);  // throws unless the source is valid
    return source;
  }
  if (!arguments.postgresql.empty()) {
    if (arguments.table.empty())
      throw InvalidValue("which table of the database? Type --table TABLE");
    return PostgresSource{arguments.postgresql, arguments.table, arguments.trim};
  }
  FileSource source;
  source.path = fs::absolute(arguments.file).lexically_normal();
  source.format = arguments.format;
  source.null_text = arguments.null_text;
  source.delimiter = arguments.delimiter;
  if (!fs::exists(source.path)) throw InvalidValue("there is no file " + arguments.file);
  require_readable_format(arguments.file, arguments.format, arguments.delimiter);
  source.names = names_in(arguments.names);
  source.trim = arguments.trim;
  source.records = arguments.records.empty() ? infer_records(source) : arguments.records;
  return source;
}

}  // namespace sotto::cli::data
