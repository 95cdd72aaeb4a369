// Reads data files and finds them in a catalogue. Every error names the line and what to write
// instead.
#include "study/api/data_file.hpp"

#include <algorithm>
#include <set>

#include "core/api/file.hpp"
#include "data/api/inspect.hpp"
#include "sotto/core/errors.hpp"
#include "study/files/section.hpp"

namespace sotto {
namespace {

using namespace study_detail;

constexpr const char* suffix = ".data.toml";

// Data files are copied and mailed, so they must not contain a password.
void require_no_password(const std::string& place, const std::string& where, int line) {
  const std::size_t at = place.find('@');
  const std::size_t scheme = place.find("://");
  const bool in_uri =
      scheme != std::string::npos && at != std::string::npos && place.find(':', scheme + 3) < at;
  if (in_uri || place.find("password") != std::string::npos) {
    throw StudyError(
        "`" + where + "` must not hold a password: keep it in ~/.pgpass or in a service file",
        line);
  }
}

// Returns an absolute path as it is, and a relative one below `folder`.
std::filesystem::path below(const std::filesystem::path& folder, const std::string& path) {
  return std::filesystem::path(path).is_absolute() ? std::filesystem::path(path) : folder / path;
}

IdxSource parse_images(const Section& top, const std::filesystem::path& folder) {
  for (const char* key : {"source", "postgresql", "spark", "table", "path", "token", "authority",
                          "format", "records", "null_text", "delimiter", "names", "trim"}) {
    if (top.find(key) != nullptr)
      throw StudyError("`" + std::string(key) +
                           "` describes a table, and this data file has `images`: remove it",
                       top.line(key));
  }
  IdxSource source;
  source.images = below(folder, top.need_text("images", "\"train-images-idx3-ubyte.gz\""));
  source.labels = below(folder, top.need_text("labels", "\"train-labels-idx1-ubyte.gz\""));
  const auto size = top.numbers("size");
  const auto is_side = [](double side) {
    return side >= 1 && side <= 4096 && side == std::floor(side);
  };
  if (size.size() != 2 || !is_side(size[0]) || !is_side(size[1])) {
    throw StudyError(
        "`size` is missing or wrong: write the height and width of the images, from 1 to 4096: "
        "size = [28, 28]",
        top.line("size"));
  }
  source.height = static_cast<std::size_t>(size[0]);
  source.width = static_cast<std::size_t>(size[1]);
  return source;
}

SparkSource parse_spark(const Section& top, const std::string& connection,
                        const std::filesystem::path& folder) {
  SparkSource source;
  source.connection = connection;
  source.table = top.text("table").value_or("");
  source.path = top.text("path").value_or("");
  if (source.table.empty() == source.path.empty()) {
    throw StudyError(
        "give either `table` or `path` for a Spark source: table = \"survey.people\", or path = "
        "\"s3a://bucket/people\"",
        top.line("spark"));
  }
  if (source.path.empty() && top.find("format") != nullptr)
    throw StudyError("`format` goes with `path`: Spark knows the format of a table. Remove it",
                     top.line("format"));
  source.format = top.text("format").value_or("");
  if (const auto token = top.text("token")) source.token = below(folder, *token);
  if (const auto authority = top.text("authority")) source.authority = below(folder, *authority);
  try {
    (void)identity(source);  // throws InvalidValue for an address that is not allowed
  } catch (const InvalidValue& error) {
    throw StudyError(error.what(), top.line("spark"));
  }
  return source;
}

// Throws StudyError unless `names` are valid names for the columns of a file without a header.
void require_names(const std::vector<std::string>& names, int line) {
  const std::set<std::string> different(names.begin(), names.end());
  if (names.empty() || different.contains("") || different.size() != names.size()) {
    throw StudyError(
        "`names` must list all columns of a file without a header, in order, without empty or "
        "repeated names: names = [\"age\", \"sex\"]",
        line);
  }
}

Source parse_source(const Section& top, const std::filesystem::path& folder) {
  if (top.find("images") != nullptr) return parse_images(top, folder);
  for (const char* key : {"labels", "size"}) {
    if (top.find(key) != nullptr)
      throw StudyError("`" + std::string(key) + "` goes with `images`", top.line(key));
  }
  const auto file = top.text("source");
  const auto server = top.text("postgresql");
  const auto spark = top.text("spark");
  if (static_cast<int>(file.has_value()) + static_cast<int>(server.has_value()) +
          static_cast<int>(spark.has_value()) !=
      1) {
    throw StudyError(
        "say where the data are: source = \"people.csv\", postgresql = \"service=survey\" or spark "
        "= \"sc://HOST:15002/;use_ssl=true\" with table = "
        "\"people\", or images = \"…\" with labels and size",
        0);
  }
  const auto refuse = [&](std::initializer_list<const char*> keys, const char* with) {
    for (const char* key : keys) {
      if (top.find(key) != nullptr)
        throw StudyError("`" + std::string(key) + "` goes with " + with, top.line(key));
    }
  };
  if (!spark) refuse({"path", "token", "authority"}, "`spark`");
  if (!file) refuse({"records", "null_text", "delimiter", "names"}, "`source`, a file");
  const bool trim = top.truth("trim").value_or(false);
  if (spark) {
    SparkSource source = parse_spark(top, *spark, folder);
    source.trim = trim;
    return source;
  }
  if (server) {
    refuse({"format"}, "`source`, a file");
    require_no_password(*server, "postgresql", top.line("postgresql"));
    return PostgresSource{*server, top.need_text("table", "\"people\""), trim};
  }
  refuse({"table"}, "`postgresql` or `spark`");
  if (file->empty())
    throw StudyError("`source` is a file: source = \"people.csv\"", top.line("source"));
  FileSource source;
  source.path = below(folder, *file);
  source.format = top.text("format").value_or("");
  source.records = top.text("records").value_or("");
  if (!source.records.empty() && source.records != "lines" && source.records != "quoted") {
    throw StudyError(
        "`records` is \"lines\" (each line is a record) or \"quoted\" (a field in quotes may hold "
        "line ends)",
        top.line("records"));
  }
  source.null_text = top.texts("null_text");
  source.delimiter = top.text("delimiter").value_or("");
  source.trim = trim;
  source.names = top.texts("names");
  if (top.find("names") != nullptr) require_names(source.names, top.line("names"));
  return source;
}

// Throws StudyError for a column that is not among the `names` of a file without a header.
void require_named(const DataFile& data) {
  const auto* file = std::get_if<FileSource>(&data.source);
  if (file == nullptr || file->names.empty()) return;
  for (const StudyColumn& column : data.columns) {
    if (std::find(file->names.begin(), file->names.end(), column.name) != file->names.end())
      continue;
    throw StudyError("columns." + column.name + ": `names` has no such column; " +
                         suggestion(column.name, file->names),
                     column.line);
  }
}

void require_unit(const DataFile& data, int line) {
  if (data.unit == "row") return;
  std::vector<std::string> names;
  for (const StudyColumn& column : data.columns) {
    names.push_back(column.name);
    if (column.name != data.unit) continue;
    if (column.type == Type::real)
      throw StudyError(
          "`unit` names a column of type real, which cannot identify a unit: use a column of "
          "another type",
          line);
    return;
  }
  throw StudyError("`unit` is \"row\" or a column: there is no column \"" + data.unit + "\"; " +
                       suggestion(data.unit, names),
                   line);
}

// Image data have exactly one column, the label, and each image is a unit.
void require_label(const DataFile& data, int line) {
  if (!std::holds_alternative<IdxSource>(data.source)) return;
  if (data.unit != "row") throw StudyError("each image is a unit: write unit = \"row\"", line);
  const bool is_label = data.columns.size() == 1 && data.columns.front().type == Type::integer &&
                        !data.columns.front().values.empty();
  if (!is_label) {
    throw StudyError(
        "images have one column, their label: [columns.label] with type = \"integer\", null = "
        "\"drop\" and values = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]",
        0);
  }
  for (const Value& value : data.columns.front().values) {
    const std::int64_t label = std::get<std::int64_t>(value);
    if (label < 0 || label > 255)
      throw StudyError("`values` must be labels of images, from 0 to 255",
                       data.columns.front().line);
  }
}

// Reads the keys of public data, which protect nobody and so have no unit and no ledger.
void parse_public(DataFile& data, const Section& top) {
  data.unit = top.text("unit").value_or("row");
  if (data.unit != "row")
    throw StudyError("public data protect nobody: leave out `unit`", top.line("unit"));
  for (const char* key : {"ledger", "key", "witness"}) {
    if (top.find(key) != nullptr)
      throw StudyError("public data have no ledger: leave out `" + std::string(key) + "`",
                       top.line(key));
  }
}

}  // namespace

bool is_data_name(const std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= 100 && name.front() != '.' &&
         name.find("..") == std::string::npos && std::all_of(name.begin(), name.end(), fits);
}

DataFile parse_data_file(const std::string& text, const std::filesystem::path& folder) {
  const toml::table root = parse_toml(text);
  if (root.get("query") != nullptr || root.get("budget") != nullptr) {
    throw StudyError(
        "a data file has no `query` and no `budget`: write them into a study, and describe only "
        "the data here",
        0);
  }
  const Section top(
      root, "",
      {"name",       "version",     "source", "format", "records", "null_text", "delimiter",
       "postgresql", "names",       "trim",   "spark",  "table",   "path",      "token",
       "authority",  "images",      "labels", "size",   "public",  "unit",      "unit_label",
       "publisher",  "public_rows", "ledger", "key",    "witness", "columns"});
  DataFile data;
  data.name = top.need_text("name", "\"survey\", as the file is called: survey.data.toml");
  if (!is_data_name(data.name))
    throw StudyError("`name` may only have letters, digits, _, - and ., such as \"survey\"",
                     top.line("name"));
  data.version = top.need_text("version", "\"2026-01\"; it changes when the data do");
  data.source = parse_source(top, folder);
  data.is_public = top.truth("public").value_or(false);
  if (data.is_public) {
    parse_public(data, top);
  } else {
    data.unit = top.need_text(
        "unit", "\"row\", or the column that says whose a row is, such as \"person\"");
    data.ledger = top.need_text("ledger", "\"survey.sotto\", or \"postgresql://HOST/DATABASE\"");
  }
  data.unit_label = top.text("unit_label").value_or(data.unit);
  data.publisher = top.text("publisher").value_or("");
  data.public_rows = top.positive("public_rows");
  require_no_password(data.ledger, "ledger", top.line("ledger"));
  if (!data.ledger.empty() && data.ledger.find("://") == std::string::npos)
    data.ledger = below(folder, data.ledger).string();
  if (const auto key = top.text("key"); key) data.key = below(folder, *key);
  data.witness = top.text("witness").value_or("");
  for (const auto& [key, node] :
       table_at(root, "columns", "it says what the columns are called and hold")) {
    data.columns.push_back(parse_column(std::string(key.str()), node, ColumnKind::stored));
  }
  if (data.columns.empty())
    throw StudyError(
        "[columns] is empty: add a section such as [columns.age] with type = \"integer\"", 0);
  std::sort(data.columns.begin(), data.columns.end(),
            [](const StudyColumn& a, const StudyColumn& b) { return a.line < b.line; });
  require_named(data);
  require_unit(data, top.line("unit"));
  require_label(data, top.line("unit"));
  return data;
}

std::string unit_type(const DataFile& data) {
  for (const StudyColumn& column : data.columns) {
    if (column.name == data.unit && data.unit != "row") return name_of(column.type);
  }
  return "row";
}

std::filesystem::path catalogue_in(const std::string& configuration,
                                   const std::filesystem::path& folder) {
  const toml::table root = parse_toml(configuration);
  const Section top(root, "", {"catalogue"});
  const auto named = top.text("catalogue");
  return named && !named->empty() ? below(folder, *named) : std::filesystem::path();
}

std::filesystem::path Catalogue::place(const std::string& name) const {
  if (!is_data_name(name)) {
    std::string last = std::filesystem::path(name).filename().string();
    if (last.ends_with(suffix)) last.resize(last.size() - std::string(suffix).size());
    const std::string near = is_data_name(last) ? "; did you mean \"" + last + "\"?" : "";
    throw StudyError(
        "\"" + name +
            "\" is not a valid name of data: use letters, digits, _, - and ., and never a path" +
            near,
        0);
  }
  return folder_ / (name + suffix);
}

DataFile Catalogue::find(const std::string& name) const {
  const std::filesystem::path path = place(name);
  std::string text;
  try {
    text = read_text_file(path);
  } catch (const FileError& error) {
    if (!error.is_absent()) throw StudyError(error.what(), 0);
    const std::vector<std::string> others = names();
    const std::string what =
        "there are no data \"" + name + "\" in the catalogue " + folder_.string();
    if (!std::filesystem::is_directory(folder_))
      throw StudyError(what + ", which does not exist", 0, Remedy::describe_data);
    if (others.empty()) throw StudyError(what + ", which is empty", 0, Remedy::describe_data);
    const Remedy remedy = closest(name, others).empty() ? Remedy::describe_data : Remedy::none;
    throw StudyError(what + "; " + suggestion(name, others), 0, remedy);
  }
  try {
    DataFile data = parse_data_file(text, folder_);
    if (data.name != name)
      throw StudyError("`name` is \"" + data.name + "\", but the file is called " + name + suffix +
                           ": make them equal",
                       0);
    return data;
  } catch (const StudyError& error) {
    throw StudyError(path.string() + ": " + error.what(), 0, error.remedy());
  }
}

std::vector<std::string> Catalogue::names() const {
  std::vector<std::string> all;
  std::error_code ignored;  // a folder that does not exist has no names
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    const std::string file = entry.path().filename().string();
    const std::size_t end = file.size() - std::min(file.size(), std::string(suffix).size());
    if (file.substr(end) == suffix && is_data_name(file.substr(0, end)))
      all.push_back(file.substr(0, end));
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::string> Catalogue::of_source(const std::string& source) const {
  std::vector<std::string> all;
  for (const std::string& name : names()) {
    try {
      if (identity(find(name).source) == source) all.push_back(name);
    } catch (const StudyError&) {  // skip files that cannot be read
    } catch (const EngineError&) {
    } catch (const InvalidValue&) {
    }
  }
  return all;
}

}  // namespace sotto
