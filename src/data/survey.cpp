// Surveys sources: infers their columns, and looks for headers and blanks.
#include "data/api/survey.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "data/engines/engines.hpp"
#include "data/records/header.hpp"
#include "data/records/records.hpp"
#include "data/sql/select.hpp"

namespace sotto {
namespace {

using namespace data_detail;

/// A column with the narrowest type of its values so far.
struct InferredColumn {
  std::string name;
  std::optional<Type> type = std::nullopt;
  bool has_blanks = false;  // a text starts or ends with a space or tab
};

/// Widens a type to one that also has the values of another type.
void widen(std::optional<Type>& type, std::optional<Type> by) {
  if (by) type = type ? wider(*type, *by) : *by;
}

/// Whether a text starts or ends with a space or tab, and has other characters.
bool has_blanks(std::string_view text) {
  const std::string_view plain = trimmed(text);
  return !plain.empty() && plain.size() != text.size();
}

/// The fields of the first record, and the most frequent number of fields among the first records.
struct FirstRecords {
  std::vector<std::string> names;
  std::size_t usual_fields = 0;
};

/// Reads the first 1000 records, as far as they are in the first bytes of the file.
FirstRecords first_records(const File& file, const RecordFormat& format, std::uint64_t start) {
  constexpr std::size_t most = 1000;
  std::string bytes(RecordReader::longest_record, '\0');
  bytes.resize(file.read(start, bytes.data(), bytes.size()));
  std::string_view text = bytes;
  FirstRecords first;
  std::map<std::size_t, std::size_t> counts;
  Record record;
  for (std::size_t i = 0; i < most && !text.empty(); ++i) {
    scan_record(text, start + bytes.size() == file.size(), format, record);
    if (record.length == 0) break;
    text.remove_prefix(record.length);
    if (i == 0) {
      for (const RawField& field : record.fields) first.names.emplace_back(field.text);
    } else if (record.good) {
      ++counts[record.fields.size()];
    }
  }
  const auto usual =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  first.usual_fields = usual == counts.end() ? first.names.size() : usual->first;
  return first;
}

/// Returns the length of the byte order mark; 0 if the file has none.
std::uint64_t byte_order_mark(const File& file) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  char start[3] = {};
  return file.read(0, start, 3) == 3 && std::string_view(start, 3) == mark ? 3 : 0;
}

void add_columns(const std::vector<InferredColumn>& columns, Survey& survey) {
  for (const InferredColumn& column : columns) {
    const bool is_new =
        std::none_of(survey.columns.begin(), survey.columns.end(),
                     [&](const Column& other) { return other.name == column.name; });
    if (column.name.empty() || !is_new) continue;
    survey.columns.push_back({column.name, column.type.value_or(Type::text)});
    const bool in_texts = column.has_blanks && survey.columns.back().type == Type::text;
    if (in_texts || has_blanks(column.name)) survey.with_blanks.push_back(column.name);
  }
}

Survey survey_separated(const File& file, const RecordFormat& format) {
  Survey survey;
  Header header = read_header(file, format, {});
  const FirstRecords first = first_records(file, format, byte_order_mark(file));
  const bool has_header = format.names.empty();
  survey.header_fields = header.names.size();
  survey.usual_fields = first.usual_fields;
  HeaderDoubts doubts(has_header ? first.names : std::vector<std::string>{}, format.trim);
  std::vector<InferredColumn> columns;
  for (std::size_t i = 0; i < header.names.size(); ++i) {
    header.positions.push_back(i);
    columns.push_back({header.names[i]});
  }
  Counters counters;
  const std::vector<Column> no_columns;
  RecordReader reader(file, format, no_columns, header, counters);
  for (RecordReader::Batch batch; reader.cut(10'000, batch); batch = {}) {
    survey.records += static_cast<std::int64_t>(batch.places.size() / columns.size());
    for (std::size_t i = 0; i < batch.places.size(); ++i) {
      const RawField field = batch.field(i);
      InferredColumn& column = columns[i % columns.size()];
      column.has_blanks = column.has_blanks || has_blanks(field.text);
      if (has_header) doubts.compare(i % columns.size(), field.text);
      if (column.type != Type::text) widen(column.type, type_of(field, format.null_text));
    }
  }
  survey.malformed = static_cast<std::int64_t>(counters.malformed.load());
  add_columns(columns, survey);
  survey.doubts = doubts.doubts();
  return survey;
}

Survey survey_json(const File& file, const RecordFormat& format) {
  Survey survey;
  const Header header = read_header(file, format, {});
  std::vector<InferredColumn> columns;
  Counters counters;
  const std::vector<Column> no_columns;
  RecordReader reader(file, format, no_columns, header, counters);
  for (RecordReader::Batch batch; reader.cut(10'000, batch); batch = {}) {
    for (std::size_t i = 0; i < batch.places.size(); ++i) {
      const auto types = types_of_object(batch.field(i).text, format.null_text);
      ++(types ? survey.records : survey.malformed);
      if (!types) continue;
      for (const NamedType& one : *types) {
        if (one.is_nested) {
          if (std::find(survey.left_out.begin(), survey.left_out.end(), one.name) ==
              survey.left_out.end())
            survey.left_out.push_back(one.name);
          continue;
        }
        auto it = std::find_if(columns.begin(), columns.end(), [&](const InferredColumn& column) {
          return column.name == one.name;
        });
        if (it == columns.end()) it = columns.insert(columns.end(), {one.name});
        widen(it->type, one.type);
        it->has_blanks = it->has_blanks || one.has_blanks;
      }
    }
  }
  survey.malformed += static_cast<std::int64_t>(counters.malformed.load());
  add_columns(columns, survey);
  return survey;
}

/// Returns the text columns of a table with spaces or tabs at the ends of texts in its first rows.
std::vector<std::string> texts_with_blanks(const Source& source, const std::vector<Column>& columns,
                                           const Limits& limits) {
  std::vector<Column> texts;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(texts),
               [](const Column& column) { return column.type == Type::text; });
  if (texts.empty()) return {};
  const auto engine = open_engine(source, texts, limits);
  const auto& sql = sql_dialect(engine->dialect());
  const Select first{
      .columns = {all_columns()}, .from = EngineTable{engine->table()}, .limit = 10'000};
  Select counts{.columns = {}, .from = subquery(first, "first")};
  for (const Column& column : texts) {
    const std::string text = sql.name(column.name);
    const SqlExpression has_ends =
        trusted_sql(sql.trimmed(text) + " NOT IN (" + text + ", '')", Binding::comparison);
    counts.columns.push_back(call("COUNT", {case_when({{has_ends, integer(1)}})}));
  }
  const Rows rows = engine->query(print(counts, sql));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (std::get<std::int64_t>(rows.at(0, i)) > 0) names.push_back(texts[i].name);
  }
  return names;
}

Survey survey_table(const Source& source, const Limits& limits) {
  if (std::holds_alternative<IdxSource>(source)) return {.columns = {{"label", Type::integer}}};
  Survey survey;
  if (const auto* table = std::get_if<PostgresSource>(&source)) {
    survey.columns = columns_of_table(*table, limits, survey.left_out);
  } else if (const auto* spark = std::get_if<SparkSource>(&source)) {
    survey.columns = columns_of_spark(*spark, limits);
  } else {
    survey.columns = columns_of_parquet(std::get<FileSource>(source), limits, survey.left_out);
  }
  survey.with_blanks = texts_with_blanks(source, survey.columns, limits);
  return survey;
}

}  // namespace

Survey survey(const Source& source, const Limits& limits) {
  const auto* file = std::get_if<FileSource>(&source);
  if (file == nullptr || format_of(*file) == Format::parquet) return survey_table(source, limits);
  const File opened(file->path);
  const RecordFormat format = record_format_of(opened, *file);
  return format.is_json() ? survey_json(opened, format) : survey_separated(opened, format);
}

std::string format_by_content(const std::filesystem::path& path) {
  const File file(path);
  std::string start(std::size_t{1} << 16U, '\0');
  start.resize(file.read(0, start.data(), start.size()));
  const std::string_view text = start;
  if (text.starts_with("PAR1")) return "parquet";
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return "json";
  if (first != std::string_view::npos && text[first] == '[') return "json-array";
  const std::string_view line = text.substr(0, text.find('\n'));
  const auto tabs = std::count(line.begin(), line.end(), '\t');
  return tabs > std::count(line.begin(), line.end(), ',') &&
                 tabs > std::count(line.begin(), line.end(), ';')
             ? "tsv"
             : "csv";
}

}  // namespace sotto
