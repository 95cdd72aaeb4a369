#include "data/api/survey.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "data/sql/dialect.hpp"
#include "data/engines/engines.hpp"
#include "data/records/header.hpp"
#include "data/records/records.hpp"

namespace sotto {
namespace {

using namespace data_detail;

struct FoundColumn {
  std::string name;
  std::optional<Type> type = std::nullopt;
  bool has_blanks = false;  // in a text, or in the name
};

void widen(std::optional<Type>& type, std::optional<Type> by) {
  if (by) type = type ? wider(*type, *by) : *by;
}

// A text of a file of separated values starts or ends with a blank, and is not blank altogether.
bool has_blanks(std::string_view text) {
  const std::string_view plain = trimmed(text);
  return !plain.empty() && plain.size() != text.size();
}

// The first record as it stands, and how many fields most of the first records have.
struct FirstRecords {
  std::vector<std::string> names;
  std::size_t usual_fields = 0;
};

FirstRecords first_records(const File& file, const Manner& manner, std::uint64_t start) {
  constexpr std::size_t most = 1000;
  std::string bytes(RecordReader::longest_record, '\0');
  bytes.resize(file.read(start, bytes.data(), bytes.size()));
  std::string_view text = bytes;
  FirstRecords first;
  std::map<std::size_t, std::size_t> counts;
  Record record;
  for (std::size_t i = 0; i < most && !text.empty(); ++i) {
    scan(text, start + bytes.size() == file.size(), manner, record);
    if (record.length == 0) break;
    text.remove_prefix(record.length);
    if (i == 0) {
      for (const RawField& field : record.fields) first.names.emplace_back(field.text);
    } else if (record.good) {
      ++counts[record.fields.size()];
    }
  }
  const auto usual = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  first.usual_fields = usual == counts.end() ? first.names.size() : usual->first;
  return first;
}

std::uint64_t byte_order_mark(const File& file) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  char start[3] = {};
  return file.read(0, start, 3) == 3 && std::string_view(start, 3) == mark ? 3 : 0;
}

void put_columns(const std::vector<FoundColumn>& found, Survey& survey) {
  for (const FoundColumn& column : found) {
    const bool is_new = std::none_of(survey.columns.begin(), survey.columns.end(), [&](const Column& other) { return other.name == column.name; });
    if (column.name.empty() || !is_new) continue;
    survey.columns.push_back({column.name, column.type.value_or(Type::text)});
    const bool in_texts = column.has_blanks && survey.columns.back().type == Type::text;
    if (in_texts || has_blanks(column.name)) survey.with_blanks.push_back(column.name);
  }
}

Survey survey_separated(const File& file, const Manner& manner) {
  Survey survey;
  Header header = read_header(file, manner, {});
  const FirstRecords first = first_records(file, manner, byte_order_mark(file));
  const bool has_header = manner.names.empty();
  survey.header_fields = header.names.size();
  survey.usual_fields = first.usual_fields;
  HeaderDoubts doubts(has_header ? first.names : std::vector<std::string>{}, manner.trim);
  std::vector<FoundColumn> found;
  for (std::size_t i = 0; i < header.names.size(); ++i) {
    header.positions.push_back(i);
    found.push_back({header.names[i]});
  }
  Counters counters;
  const std::vector<Column> none;
  RecordReader reader(file, manner, none, header, counters);
  for (RecordReader::Batch batch; reader.cut(10'000, batch); batch = {}) {
    survey.records += static_cast<std::int64_t>(batch.places.size() / found.size());
    for (std::size_t i = 0; i < batch.places.size(); ++i) {
      const RawField field = batch.field(i);
      FoundColumn& column = found[i % found.size()];
      column.has_blanks = column.has_blanks || has_blanks(field.text);
      if (has_header) doubts.look_at(i % found.size(), field.text);
      if (column.type != Type::text) widen(column.type, type_of(field, manner.null_text));
    }
  }
  survey.malformed = static_cast<std::int64_t>(counters.malformed.load());
  put_columns(found, survey);
  survey.doubts = doubts.found();
  return survey;
}

Survey survey_json(const File& file, const Manner& manner) {
  Survey survey;
  const Header header = read_header(file, manner, {});
  std::vector<FoundColumn> found;
  Counters counters;
  const std::vector<Column> none;
  RecordReader reader(file, manner, none, header, counters);
  for (RecordReader::Batch batch; reader.cut(10'000, batch); batch = {}) {
    for (std::size_t i = 0; i < batch.places.size(); ++i) {
      const auto types = types_of_object(batch.field(i).text, manner.null_text);
      ++(types ? survey.records : survey.malformed);
      if (!types) continue;
      for (const NamedType& one : *types) {
        if (one.is_nested) {
          if (std::find(survey.left_out.begin(), survey.left_out.end(), one.name) == survey.left_out.end()) survey.left_out.push_back(one.name);
          continue;
        }
        auto place = std::find_if(found.begin(), found.end(), [&](const FoundColumn& column) { return column.name == one.name; });
        if (place == found.end()) place = found.insert(found.end(), {one.name});
        widen(place->type, one.type);
        place->has_blanks = place->has_blanks || one.has_blanks;
      }
    }
  }
  survey.malformed += static_cast<std::int64_t>(counters.malformed.load());
  put_columns(found, survey);
  return survey;
}

// Blanks in the first rows of a table.
std::vector<std::string> texts_with_blanks(const Source& source, const std::vector<Column>& columns, const Limits& limits) {
  std::vector<Column> texts;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(texts), [](const Column& column) { return column.type == Type::text; });
  if (texts.empty()) return {};
  const auto engine = open_engine(source, texts, limits);
  const auto& sql = sql_dialect(engine->dialect());
  std::string counts;
  for (const Column& column : texts) {
    const std::string text = sql.name(column.name);
    counts += std::string(counts.empty() ? "" : ", ") + "COUNT(CASE WHEN " + sql.trimmed(text) + " NOT IN (" + text + ", '') THEN 1 END)";
  }
  const Rows rows = engine->query("SELECT " + counts + " FROM (SELECT * FROM " + engine->table() + " LIMIT 10000) AS first");
  std::vector<std::string> found;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (std::get<std::int64_t>(rows.at(0, i)) > 0) found.push_back(texts[i].name);
  }
  return found;
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
  const Manner manner = manner_of(opened, *file);
  return manner.is_json() ? survey_json(opened, manner) : survey_separated(opened, manner);
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
  return tabs > std::count(line.begin(), line.end(), ',') && tabs > std::count(line.begin(), line.end(), ';') ? "tsv" : "csv";
}

}  // namespace sotto
